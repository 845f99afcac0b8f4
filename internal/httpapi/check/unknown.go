package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"quarry/internal/fault"
	"quarry/internal/secret/redact"
	"quarry/internal/text/fuzzy"
)

// Unknown is a member of a body that the contract doesn't know.
type Unknown struct {
	Place string // as field_errors spell it, with what stands in a name beside letters, digits, _ and - percent-encoded
	Near  string // the known member that was probably meant, "" if none is like it
}

// MaxUnknown is how many unknown members are named.
const MaxUnknown = 10

// Unknown returns the members of v that the schema of this name doesn't know, in the order of their names, at most one
// more than MaxUnknown. Of a union only the form that v has chosen counts, and nothing where it has chosen none. A member
// of several items of a list is named once. path is where v stands, "" for a whole body. v must not have been checked
// before, since Check removes members.
func (s *Schemas) Unknown(name string, v any, path string) ([]Unknown, error) {
	sch, err := s.get(name)
	if err != nil {
		return nil, err
	}
	u := &unknowns{seen: map[string]bool{}, place: place{root: path}}
	u.search([]*jsonschema.Schema{sch}, v)
	return u.found, nil
}

// unknowns searches a value for unknown members.
type unknowns struct {
	place
	found []Unknown
	seen  map[string]bool // places without the indexes of items
}

// search looks into v, for which all of the schemas hold.
func (u *unknowns) search(schemas []*jsonschema.Schema, v any) {
	switch v := v.(type) {
	case map[string]any:
		f := shapeOf(schemas, v)
		if f.free() {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			next, known := f.member(name)
			u.member(encode(name))
			switch {
			case !known:
				u.report(name, f)
			case len(next) > 0:
				u.search(next, v[name])
			}
			u.back()
			if len(u.found) > MaxUnknown {
				return
			}
		}
	case []any:
		var items []*jsonschema.Schema
		for _, s := range shapeOf(schemas, v).parts {
			if s.Items2020 != nil {
				items = append(items, s.Items2020)
			}
		}
		for i := 0; i < len(v) && len(items) > 0 && len(u.found) <= MaxUnknown; i++ {
			u.item(i)
			u.search(items, v[i])
			u.back()
		}
	}
}

// report adds the current place, unless another item of the same lists has the member, too.
func (u *unknowns) report(name string, f shape) {
	same := place{root: u.root}
	for _, s := range u.steps {
		same.steps = append(same.steps, step{s.name, min(s.index, 0)})
	}
	if key := same.String(); !u.seen[key] {
		u.seen[key] = true
		u.found = append(u.found, Unknown{strings.ReplaceAll(u.String(), "…", "~"), f.near(name)})
	}
}

// shape is the schemas that hold for one value, references and unions resolved.
type shape struct {
	parts []*jsonschema.Schema
	open  bool // a union whose form the value doesn't choose
}

func shapeOf(schemas []*jsonschema.Schema, v any) shape {
	var f shape
	for _, s := range schemas {
		f.add(s, v)
	}
	return f
}

// add adds s and what it refers to or consists of.
func (f *shape) add(s *jsonschema.Schema, v any) {
	if s == nil || slices.Contains(f.parts, s) {
		return
	}
	f.parts = append(f.parts, s)
	f.add(s.Ref, v)
	conditions, met := 0, 0
	for _, part := range s.AllOf {
		f.add(part, v)
		if part.If != nil {
			conditions++
			if fits(part.If, v) {
				met++
			}
		}
	}
	f.open = f.open || conditions > 0 && met == 0
	if all := slices.Concat(s.OneOf, s.AnyOf); len(all) > 0 {
		chosen := slices.DeleteFunc(all, func(one *jsonschema.Schema) bool { return !fits(one, v) })
		for _, one := range chosen {
			f.add(one, v)
		}
		f.open = f.open || len(chosen) == 0
	}
	if s.If != nil {
		if fits(s.If, v) {
			f.add(s.Then, v)
		} else {
			f.add(s.Else, v)
		}
	}
}

// fits reports whether v fits s.
func fits(s *jsonschema.Schema, v any) bool {
	c := &checker{bad: fault.Invalid()}
	return c.try(s, v)
}

// free reports whether an object of this form may have any members.
func (f shape) free() bool {
	named := false
	for _, s := range f.parts {
		if any, ok := s.AdditionalProperties.(bool); ok && any {
			return true
		}
		named = named || len(s.Properties)+len(s.PatternProperties) > 0 || s.AdditionalProperties != nil
	}
	return f.open || !named
}

// member returns the schemas that hold for a member, and whether there are any.
func (f shape) member(name string) (next []*jsonschema.Schema, known bool) {
	for _, s := range f.parts {
		if m := s.Properties[name]; m != nil {
			next = append(next, m)
			continue
		}
		matched := false
		for pattern, m := range s.PatternProperties {
			if pattern.MatchString(name) {
				next, matched = append(next, m), true
			}
		}
		if more, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && !matched {
			next = append(next, more)
		}
	}
	return next, len(next) > 0
}

// near returns the known member that is most like name, "" if none is within one typing error in short names and two in
// longer ones. Case and the way in which words are joined don't count.
func (f shape) near(name string) string {
	if len(name) > 2*len("intelligent_query_rewriting") {
		return ""
	}
	plain := func(s string) string { return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s)) }
	given, best := plain(name), ""
	least := 1
	if len(given) > 4 {
		least = 2
	}
	for _, s := range f.parts {
		for _, known := range slices.Sorted(maps.Keys(s.Properties)) {
			d := fuzzy.Distance(given, plain(known), least)
			if d < least || d == least && (best == "" || known < best) {
				best, least = known, d
			}
		}
	}
	return best
}

// maxName is how many bytes of an encoded name are repeated.
const maxName = 64

// encode returns a name as it stands in places: in ASCII, without what separates names, and without secrets.
func encode(name string) string {
	if name == "" {
		return `""`
	}
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	for _, c := range []byte(redact.Text(name)) {
		switch {
		case out.Len() >= maxName:
			return out.String() + "~"
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '$', c == '*':
			out.WriteByte(c)
		default:
			out.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return out.String()
}
