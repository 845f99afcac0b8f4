package rows

import (
	"strings"

	"quarry/internal/index/segment"
)

// versions are the kinds of sections and the version in which each is written. That and all before are read.
var versions = map[string]uint16{
	"meta":   1,
	"doc.no": 1, "doc.byno": 1, "doc.first": 1, "doc.idat": 1, "doc.id": 1,
	"row.doc": 1, "row.ord": 1, "row.length": 1, "row.norm": 1, "row.stemat": 1, "row.stem": 1, "row.dims": 1,
	"stem.dict": 1, "stem.index": 1, "stem.terms": 1, "stem.heads": 1, "stem.posts": 1, "stem.positions": 1,
	"stem.bounds": 1,
	"word.dict":   1, "word.index": 1, "word.terms": 1, "word.heads": 1, "word.posts": 1, "word.positions": 1,
	"vec.hi": 1, "vec.lo": 1, "vec.scale": 1,
	"list.head": 1, "list.hi": 1, "list.scale": 1, "list.run": 1, "list.row": 1, "list.factor": 1, "list.code": 1, "list.at": 1,
	"col":  1, // col.<ordinal of the attribute>
	"sum":  1, // sum.<ordinal of the attribute>
	"live": 1, // of a file of deletes
}

// version returns the version in which a section is written.
func version(name string) uint16 {
	if kind, _, ok := strings.Cut(name, "."); ok && (kind == "col" || kind == "sum") {
		name = kind
	}
	return versions[name]
}

// section returns a section as it is written now.
func section(name string, data []byte) segment.Section {
	return segment.Section{Name: name, Version: version(name), Data: data}
}

// Access returns how searches read a section of so many bytes. Of the low planes and the forward lists it is the rows that come near the
// best, of positions the rows that have every word of a phrase.
func (h Shape) Access(name string, bytes int64) segment.Access {
	switch kind, part, _ := strings.Cut(name, "."); {
	case name == "vec.lo" && h.Rotation != nil && bytes >= int64(h.Rotation.Width())*int64(h.listsFrom()):
		return segment.Apart
	case name == "vec.lo" || part == "positions" || name == "row.stemat" || name == "row.stem":
		return segment.Cold
	case kind == "vec" || kind == "list" || part == "heads" || part == "terms" || part == "bounds" || name == "row.norm":
		return segment.Hot
	}
	return segment.Usual
}
