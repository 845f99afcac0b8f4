package metadata

import (
	"encoding/json"
	"fmt"
	"slices"

	"quarry/internal/corpus"
	"quarry/internal/expr/filter"
	"quarry/internal/fault"
)

// maxFaults is how many values that do not fit are named at once.
const maxFaults = 25

// Amendment is a change of a document's metadata; one serves for many documents. It is immutable.
type Amendment struct {
	given Object
	merge bool
}

// NewAmendment checks metadata that a client sent for documents of c. With merge its members go over those that are
// there, and null removes a member; otherwise it replaces everything. Nothing and null are {}. A value that does not fit
// its declared attribute is fault.KindInvalid under metadata.<name>.
//
// What a merge leaves alone is not checked: the client did not send it. A shallow merge takes every value under the
// names that it has, so what it sends is all that it can spoil.
func NewAmendment(c corpus.Corpus, given json.RawMessage, merge bool) (Amendment, error) {
	schema, err := c.Schema()
	if err != nil {
		return Amendment{}, fmt.Errorf("read attributes of corpus %s: %w", c.Key, err)
	}
	bad := fault.Invalid()
	a := Amendment{merge: merge}
	a.given = Read("metadata", filter.Document, schema, given, func(path, format string, args ...any) {
		if len(bad.Fields) < maxFaults {
			bad.Field(path, format, args...)
		}
	})
	if len(bad.Fields) > 0 {
		return Amendment{}, bad
	}
	return a, nil
}

// Apply returns the metadata that the amendment makes of old: members keep their order, new ones follow in the order
// sent, values keep their exact text. The result is compact. One that is too large is fault.KindInvalid.
func (a Amendment) Apply(old json.RawMessage) (json.RawMessage, error) {
	next := a.given
	if a.merge {
		had, err := Parse(old)
		if err != nil {
			return nil, fmt.Errorf("stored metadata: %w", err)
		}
		next = had.merge(a.given)
	}
	out := next.Encode()
	if len(out) > maxSize {
		return nil, fault.InvalidField("metadata", tooMuch, len(out), maxSize)
	}
	return out, nil
}

// merge returns o with the members of patch over it and without those that patch sets to null; o is not changed.
func (o Object) merge(patch Object) Object {
	at := make(map[string]int, len(o)+len(patch)) // an index, as objects may have a hundred thousand members
	out := make(Object, len(o), len(o)+len(patch))
	copy(out, o)
	for i, m := range out {
		at[m.Key] = i
	}
	removed := map[string]bool{}
	for _, m := range patch {
		removed[m.Key] = string(m.Value) == "null"
		if i, ok := at[m.Key]; ok {
			out[i].Value = m.Value
			continue
		}
		at[m.Key] = len(out)
		out = append(out, m)
	}
	return slices.DeleteFunc(out, func(m Member) bool { return removed[m.Key] })
}
