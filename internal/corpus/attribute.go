package corpus

import (
	"fmt"
	"unicode/utf8"

	"quarry/internal/fault"
)

// attributeTypes are the type names of interface.md and of the older contract, such as real and real_number.
var attributeTypes = map[string]bool{
	"integer": true, "real": true, "real_number": true, "text": true, "boolean": true,
	"list[integer]": true, "list[real]": true, "list[real_number]": true, "list[text]": true,
}

// CheckAttributes returns the faults of a list of attributes: fault.KindInvalid under filter_attributes[i].
func CheckAttributes(all []Attribute) error {
	f := fault.Invalid()
	checkAttributes(f, all)
	return f.Err()
}

// maxDeclared bounds the filter attributes of a corpus, and its custom dimensions, as every document or part needs memory
// for each of them.
const maxDeclared = 1000

// checkAttributes adds a field fault for every bad attribute. Names are unique within the corpus, whatever the level
// (contract: Filter attribute).
func checkAttributes(f *fault.Fault, all []Attribute) {
	if len(all) > maxDeclared {
		f.Field("filter_attributes", "has %d items; a corpus may declare %d", len(all), maxDeclared)
		return
	}
	seen := map[string]bool{}
	for i, a := range all {
		at := func(member string) string { return fmt.Sprintf("filter_attributes[%d].%s", i, member) }
		checkName(f, at("name"), a.Name, seen)
		if a.Level != "document" && a.Level != "part" {
			f.Field(at("level"), "must be document or part, not %q", a.Level)
		}
		if !attributeTypes[a.Type] {
			f.Field(at("type"), "must be integer, real, text, boolean, list[integer], list[real_number] or list[text], not %q", a.Type)
		}
	}
}

// checkName adds a fault of path to f unless name is one that a corpus can declare and not among those seen.
func checkName(f *fault.Fault, path, name string, seen map[string]bool) {
	switch {
	case name == "" || utf8.RuneCountInString(name) > 64:
		f.Field(path, "must be 1 to 64 characters")
	case seen[name]:
		f.Field(path, "the name %q is used twice", name)
	}
	seen[name] = true
}
