package documents

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"strings"

	"quarry/internal/corpus/document"
	"quarry/internal/store"
)

// qualified is partColumns of parts p.
var qualified = "p." + strings.ReplaceAll(partColumns, ", ", ", p.")

// passageStep bounds the parameters of one pair of statements; a page of results is far below it.
const passageStep = 4096

// roundUp returns the power of two from n on: lists in statements are filled up to it with what finds nothing new, so
// that there are few texts to parse.
func roundUp(n int) int { return 1 << bits.Len(uint(n-1)) }

// Passages reads, for each ref, the part with its neighbours and its document's head. See document.Store.
func (s *Store) Passages(ctx context.Context, corpusNo int64, refs []document.Ref, w document.Window) (out []document.Passage, err error) {
	for some := range slices.Chunk(refs, passageStep) {
		found, err := s.passages(ctx, corpusNo, some, w)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// passages needs no snapshot over its statements: rows of a document never change their number, so a document that goes
// between them only loses its parts, and the ref is left out. The parts of one that is replaced stay for longer.
func (s *Store) passages(ctx context.Context, corpusNo int64, refs []document.Ref, w document.Window) ([]document.Passage, error) {
	nos := make([]int64, len(refs))
	for i, r := range refs {
		nos[i] = r.No
	}
	heads, err := s.heads(ctx, corpusNo, nos)
	if err != nil {
		return nil, err
	}
	var args []any
	spans := map[span][]document.Part{}
	var order []span
	for _, r := range refs {
		at := spanOf(r, w)
		if _, known := spans[at]; known || heads[r.No] == nil {
			continue
		}
		spans[at] = nil
		args = append(args, len(order), at.no, at.from, at.to)
		order = append(order, at)
	}
	if len(order) == 0 {
		return nil, nil
	}
	for len(args) < 4*roundUp(len(order)) {
		args = append(args, 0) // no document has number 0
	}
	err = store.Each(s.db.Reader(ctx), "read passages", func(r store.Row) error {
		var k int
		_, p, err := scanPart(r, false, &k)
		if err == nil {
			spans[order[k]] = append(spans[order[k]], p)
		}
		return err
	}, `WITH w (k, doc_no, lo, hi) AS (VALUES `+windows(len(args)/4)+`)
		SELECT w.k, `+qualified+` FROM w CROSS JOIN parts p
		WHERE p.doc_no = w.doc_no AND p.ord >= w.lo AND p.ord <= w.hi ORDER BY w.k, p.ord`, args...)
	if err != nil {
		return nil, err
	}
	var out []document.Passage
	for _, r := range refs {
		parts := spans[spanOf(r, w)]
		if len(parts) == 0 || r.Ord < parts[0].Ord || r.Ord > parts[len(parts)-1].Ord {
			continue
		}
		out = append(out, document.Passage{Ref: r, Document: *heads[r.No], Parts: parts})
	}
	return out, nil
}

// padded fills up the list that comes after the fixed arguments by repeating its last.
func padded(args []any, fixed int) []any {
	for want := fixed + roundUp(len(args)-fixed); len(args) < want; {
		args = append(args, args[len(args)-1])
	}
	return args
}

// span is a run of parts of one document.
type span struct{ no, from, to int64 }

func spanOf(r document.Ref, w document.Window) span {
	if w.Whole {
		return span{r.No, 0, math.MaxInt32}
	}
	return span{r.No, int64(r.Ord) - int64(max(w.Before, 0)), int64(r.Ord) + int64(max(w.After, 0))}
}

// heads reads documents by number, also those that were replaced a short while ago.
func (s *Store) heads(ctx context.Context, corpusNo int64, nos []int64) (map[int64]*document.Document, error) {
	out := map[int64]*document.Document{}
	args := []any{corpusNo}
	for _, no := range nos {
		if _, known := out[no]; !known {
			out[no] = nil
			args = append(args, no)
		}
	}
	args = padded(args, 1)
	found, err := store.Select(s.db.Reader(ctx), "read documents", scanHead,
		`SELECT `+headColumns+ofCurrent+` AND d.no IN (`+store.List(2, len(args)-1)+`)`, args...)
	if err != nil {
		return nil, err
	}
	for i := range found {
		out[found[i].No] = &found[i]
	}
	if len(found) == len(out) {
		return out, nil
	}
	return out, s.retired(ctx, out, args)
}

// retired adds the heads of documents that were replaced and not removed afterwards.
func (s *Store) retired(ctx context.Context, heads map[int64]*document.Document, args []any) error {
	return store.Each(s.db.Reader(ctx), "read replaced documents", func(r store.Row) error {
		d, err := scanHead(r)
		heads[d.No] = &d
		return err
	}, `SELECT `+headColumns+` FROM documents d JOIN replaced r ON r.doc_no = d.no JOIN corpora c ON c.shelf = r.shelf
		JOIN documents next ON next.shelf = r.shelf AND next.id = d.id
		WHERE c.no = $1 AND d.no IN (`+store.List(2, len(args)-1)+`)`, args...)
}
