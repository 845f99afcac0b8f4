package documents

import (
	"context"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"quarry/internal/clock"
	"quarry/internal/corpus/document"
	"quarry/internal/store"
)

// Amend changes the metadata of documents in one transaction. See document.Store.
func (s *Store) Amend(ctx context.Context, corpusNo, epoch int64, edits []document.Edit) (seq int64, err error) {
	var changed int64
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		generation, now, err := generationOf(tx, corpusNo, epoch)
		if err != nil {
			return err
		}
		seq = now
		a := amend{tx: tx, generation: generation, now: clock.Now().UnixMicro(), t: tally{op: document.OpUpdate}}
		if err := a.read(edits); err != nil {
			return err
		}
		for _, i := range a.order(edits) {
			if err := a.edit(&edits[i]); err != nil {
				return err
			}
		}
		if changed = int64(len(a.t.nos)); changed > 0 {
			seq, err = a.t.write(tx, corpusNo, epoch)
		}
		return err
	})
	s.committed(seq, changed)
	return seq, err
}

// amend is one transaction of Amend.
type amend struct {
	tx              *store.Tx
	generation, now int64
	byNo            map[int64]*state
	byID            map[string]*state
	t               tally
}

// state is what an edit needs of a document.
type state struct {
	no, updated int64
	id          string
	metadata    json.RawMessage
}

func scanState(r store.Row) (*state, error) {
	var st state
	return &st, r.Scan(&st.no, &st.id, (*[]byte)(&st.metadata), &st.updated)
}

// read reads the documents that the edits name, in one or two statements per deleteStep of them.
func (a *amend) read(edits []document.Edit) error {
	a.byNo, a.byID = map[int64]*state{}, map[string]*state{}
	var nos, ids []any
	for i := range edits {
		if e := &edits[i]; e.No != 0 {
			nos = append(nos, e.No)
		} else {
			ids = append(ids, e.ID)
		}
	}
	for column, keys := range map[string][]any{"no": nos, "id": ids} {
		for some := range slices.Chunk(keys, deleteStep) {
			args := padded(append([]any{a.generation}, some...), 1)
			found, err := store.Select(a.tx, "read documents", scanState, `SELECT no, id, metadata, updated FROM documents
				WHERE shelf = $1 AND `+column+` IN (`+store.List(2, len(args)-1)+`)`, args...)
			if err != nil {
				return err
			}
			for _, st := range found {
				if known := a.byNo[st.no]; known != nil { // named by number and by id
					st = known
				}
				a.byNo[st.no], a.byID[st.id] = st, st
			}
		}
	}
	return nil
}

func (a *amend) find(e *document.Edit) *state {
	if e.No != 0 {
		return a.byNo[e.No]
	}
	return a.byID[e.ID]
}

// order returns the places of the edits, sorted by the numbers of their documents: on PostgreSQL all transactions then lock
// rows in the same order and cannot deadlock. Edits of one document keep their order.
func (a *amend) order(edits []document.Edit) []int {
	no := func(i int) int64 {
		if st := a.find(&edits[i]); st != nil {
			return st.no
		}
		return 0
	}
	out := make([]int, len(edits))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(i, j int) int { return int(no(i) - no(j)) })
	return out
}

// edit applies one edit. On PostgreSQL another transaction may have changed the document since it was read; it is then read
// again.
func (a *amend) edit(e *document.Edit) error {
	e.Outcome, e.Err = document.Missing, nil
	for st := a.find(e); st != nil; {
		var next json.RawMessage
		if next, e.Err = e.Amendment.Apply(st.metadata); e.Err != nil {
			e.Outcome = document.Refused
			return nil
		}
		switch {
		case !e.Cutoff.IsZero() && st.updated > e.Cutoff.UnixMicro():
			e.Outcome = document.Newer
			return nil
		case string(next) == string(st.metadata):
			e.Outcome = document.Unchanged
			return nil
		}
		done, err := a.store(st, next)
		if err != nil {
			return err
		}
		if done {
			e.Outcome = document.Updated
			return nil
		}
		if st, err = a.again(st, e); err != nil {
			return err
		}
	}
	return nil
}

// store writes the metadata of a document; done is false when the document has changed since it was read.
func (a *amend) store(st *state, next json.RawMessage) (done bool, err error) {
	updated := max(a.now, st.updated+1)
	bytes := int64(len(next) - len(st.metadata))
	characters := int64(utf8.RuneCount(next) - utf8.RuneCount(st.metadata))
	written, err := store.Select(a.tx, "update document", store.One[int64],
		`UPDATE documents SET metadata = $3, bytes = bytes + $4, metadata_bytes = metadata_bytes + $4,
		characters = characters + $5, metadata_characters = metadata_characters + $5, updated = $6
		WHERE no = $1 AND updated = $2 AND shelf = $7 RETURNING no`,
		st.no, st.updated, string(next), bytes, characters, updated, a.generation)
	if err != nil {
		return false, err
	}
	if len(written) == 0 {
		return false, nil
	}
	st.metadata, st.updated = next, updated
	a.t.nos = append(a.t.nos, st.no)
	a.t.characters, a.t.metadata = a.t.characters+characters, a.t.metadata+characters
	return true, nil
}

// again reads a document that another transaction changed; nil when it was deleted. One that was replaced is found by its
// id, unless the edit is of its number.
func (a *amend) again(st *state, e *document.Edit) (*state, error) {
	column, key := "id", any(st.id)
	if e.No != 0 {
		column, key = "no", e.No
	}
	found, err := store.Select(a.tx, "read document", scanState,
		`SELECT no, id, metadata, updated FROM documents WHERE shelf = $1 AND `+column+` = $2`, a.generation, key)
	if err != nil {
		return nil, err
	}
	delete(a.byNo, st.no)
	delete(a.byID, st.id)
	if len(found) == 0 {
		return nil, nil
	}
	a.byNo[st.no], a.byID[st.id] = found[0], found[0]
	return found[0], nil
}
