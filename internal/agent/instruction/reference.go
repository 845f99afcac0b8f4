package instruction

import (
	"slices"

	"quarry/internal/id"
)

// Reference is what stands in a step for an instruction that is kept. The JSON names are those of the store.
type Reference struct {
	ID      id.Instruction `json:"id"`
	Version int64          `json:"version,omitempty"` // 0: the latest at each turn
	Name    string         `json:"-"`                 // instead of ID, as clients may send it
}

// Found is what references name.
type Found struct {
	versions map[Reference]Instruction // by id and version, 0 for the latest
	named    map[string][]id.Instruction
}

// Gather returns what rows hold: versions of instructions, with the latest of each of these among them.
func Gather(rows []Instruction) Found {
	f := Found{map[Reference]Instruction{}, map[string][]id.Instruction{}}
	for _, in := range rows {
		f.versions[Reference{ID: in.ID, Version: in.Version}] = in
		if in.Version != in.Latest {
			continue
		}
		f.versions[Reference{ID: in.ID}] = in
		if ids := f.named[in.Name]; !slices.Contains(ids, in.ID) {
			f.named[in.Name] = append(ids, in.ID)
		}
	}
	return f
}

// Of returns what a reference by id names. It is false where instruction or version was deleted.
func (f Found) Of(r Reference) (Instruction, bool) {
	in, ok := f.versions[Reference{ID: r.ID, Version: r.Version}]
	return in, ok
}

// Named returns the instructions whose latest version has a name.
func (f Found) Named(name string) []id.Instruction { return f.named[name] }
