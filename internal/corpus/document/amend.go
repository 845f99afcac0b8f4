package document

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"quarry/internal/corpus"
	"quarry/internal/expr/filter"
	"quarry/internal/fault"
)

// maxMetadata bounds the metadata of a document in bytes (contract: limits.max_metadata_bytes). Merging would let it
// grow without end.
const (
	maxMetadata     = 10 << 20
	tooMuchMetadata = "the document's metadata would have %d bytes; at most %d are allowed"
)

// Amendment is what is to happen to a document's metadata: one for many documents. It is immutable.
type Amendment struct {
	given object
	merge bool
}

// NewAmendment checks metadata that a client sent for documents of c. With merge its members go over those that are
// there, and null removes a member; otherwise it replaces everything. Nothing and null are {}. A value that does not fit
// its declared attribute is fault.KindInvalid under metadata.<name>.
func NewAmendment(c corpus.Corpus, metadata json.RawMessage, merge bool) (Amendment, error) {
	// What a merge leaves alone is not checked: the client did not send it. A shallow merge takes every value under the
	// names that it has, so what it sends is all that it can spoil.
	b, err := newBuilder(&c, "amended")
	if err != nil {
		return Amendment{}, err
	}
	a := Amendment{given: b.metadata("metadata", filter.Document, metadata), merge: merge}
	if len(b.faults.Fields) > 0 {
		return Amendment{}, b.faults
	}
	return a, nil
}

// Apply gives the metadata that comes of old: members keep their order, new ones follow in the order sent, values keep
// their exact text. The result is compact. It is fault.KindInvalid when that grows too large.
func (a Amendment) Apply(old json.RawMessage) (json.RawMessage, error) {
	next := a.given
	if a.merge {
		had, err := parseObject(old)
		if err != nil {
			return nil, fmt.Errorf("stored metadata: %w", err)
		}
		next = had.merge(a.given)
	}
	out := next.encode()
	if len(out) > maxMetadata {
		return nil, fault.InvalidField("metadata", tooMuchMetadata, len(out), maxMetadata)
	}
	return out, nil
}

// merge gives o with the members of patch over it and without those that patch sets to null; o is not changed.
func (o object) merge(patch object) object {
	at := make(map[string]int, len(o)+len(patch))
	out := make(object, len(o), len(o)+len(patch))
	copy(out, o)
	for i, m := range out {
		at[m.key] = i
	}
	removed := map[string]bool{}
	for _, m := range patch {
		removed[m.key] = string(m.value) == "null"
		if i, ok := at[m.key]; ok {
			out[i].value = m.value
			continue
		}
		at[m.key] = len(out)
		out = append(out, m)
	}
	return slices.DeleteFunc(out, func(m member) bool { return removed[m.key] })
}

// Outcome says what became of an Edit.
type Outcome uint8

// The outcomes of an edit.
const (
	Missing   Outcome = iota // no document has this id or number
	Updated                  // the metadata changed
	Unchanged                // it was already so
	Newer                    // the document is newer than Cutoff
	Refused                  // Err says why
)

// Edit is an amendment of one document, named by No or else by ID. Outcome and Err are for Store.Amend to set.
type Edit struct {
	No        int64
	ID        string
	Amendment Amendment
	Cutoff    time.Time // only a document created or updated at this time or before is changed; zero = any
	Outcome   Outcome
	Err       error
}
