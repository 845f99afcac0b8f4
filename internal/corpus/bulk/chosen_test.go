package bulk_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus/bulk"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/metadata"
	"quarry/internal/fault"
	"quarry/internal/id"
)

// TestChosenInterrupted proves that a deletion of documents that were chosen beforehand goes on wherever the power fails, and
// that the job is found again with what was chosen.
func TestChosenInterrupted(t *testing.T) {
	t.Parallel()
	interrupted(t, func(h *fixture) {
		sel := bulk.Selection{Corpus: "k", Filter: "doc.n < 7"}
		d, err := h.bulk.DeleteChosen(h.Context(), "job_1", sel, 420)
		if err != nil || len(d.IDs) != 420 {
			h.Fatalf("%d chosen: %v", len(d.IDs), err)
		}
		again, ok, err := h.bulk.Resume(h.Context(), "job_1")
		if err != nil || !ok || again.Job != d.Job || !again.Began.Equal(d.Began) || !slices.Equal(again.IDs, d.IDs) {
			h.Errorf("found again: %+v, %v, %v", again.Begun, ok, err)
		}
		if got := h.counts(again.Begun, nil); got != (bulk.Counts{Done: 420}) {
			h.Errorf("counts %+v", got)
		}
		if left := h.all(); len(left) != 180 {
			h.Errorf("%d documents are left", len(left))
		}
	})
}

// TestChosen proves which documents are chosen, and that what can't be chosen is refused before a job is made.
func TestChosen(t *testing.T) {
	t.Parallel()
	withFixture(t, 30, func(h *fixture) {
		for _, c := range []struct {
			name string
			sel  bulk.Selection
			most int
			want []string
			kind fault.Kind // of the refusal; 0: none
		}{
			{"ids", bulk.Selection{IDs: []string{"0001", "none", "0002", "0001", "a\x00b", ""}}, 9, []string{"0001", "0002"}, 0},
			{"a filter", bulk.Selection{Filter: "doc.n = 3"}, 3, []string{"0003", "0013", "0023"}, 0},
			{"both", bulk.Selection{IDs: []string{"0014", "0003", "0005", "none"}, Filter: "doc.n >= 4"}, 9, []string{"0014", "0005"}, 0},
			{"nothing passes", bulk.Selection{IDs: []string{"0001"}, Filter: "doc.n = 9"}, 9, nil, 0},
			{"nothing is there", bulk.Selection{IDs: []string{"none"}}, 9, nil, 0},
			{"too many", bulk.Selection{Filter: "doc.n = 3"}, 2, nil, fault.KindInvalid},
			{"neither", bulk.Selection{}, 9, nil, fault.KindInvalid},
			{"a bad filter", bulk.Selection{IDs: []string{"0001"}, Filter: "doc.none = 1"}, 9, nil, fault.KindInvalid},
			{"a bad filter alone", bulk.Selection{Filter: "doc.n = ="}, 9, nil, fault.KindInvalid},
			{"no corpus", bulk.Selection{Corpus: "none", IDs: []string{"0001"}}, 9, nil, fault.KindNotFound},
		} {
			if c.sel.Corpus == "" {
				c.sel.Corpus = "k"
			}
			h.left = 0 // the job doesn't begin
			d, err := h.bulk.DeleteChosen(h.Context(), jobID(c.name), c.sel, c.most)
			if f, ok := fault.As(err); (err != nil) != (c.kind != 0) || ok && f.Kind != c.kind || !cmp.Equal(d.IDs, c.want) {
				h.Errorf("%s: %q, %v", c.name, d.IDs, err)
			}
			if _, there, err := h.bulk.Resume(h.Context(), jobID(c.name)); err != nil || there != (c.want != nil) {
				h.Errorf("%s: there is a job: %v, %v", c.name, there, err)
			}
			synctest.Wait()
		}
	})
}

// TestChosenAreMeant proves that a document that is changed or replaced after a filter has chosen it stays, that one that was
// named goes as it is, and that those that stay are told.
func TestChosenAreMeant(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{"", "doc.n >= 0"} {
		withFixture(t, 4, func(h *fixture) {
			h.left = 0 // so that the job waits to be tried again
			d, err := h.bulk.DeleteChosen(h.Context(), "job_1", bulk.Selection{Corpus: "k", IDs: []string{"0000", "0001", "0002"}, Filter: filter}, 9)
			if err != nil {
				h.Fatal(err)
			}
			synctest.Wait()
			time.Sleep(time.Microsecond)
			less, err := metadata.NewAmendment(h.corpus, json.RawMessage(`{"n":-1}`), true)
			if err != nil {
				h.Fatal(err)
			}
			if _, err := h.documents.Amend(h.Context(), h.corpus.No, h.corpus.Epoch, []document.Edit{{ID: "0000", Amendment: less}}); err != nil {
				h.Fatal(err)
			}
			if _, err := h.documents.Replace(h.Context(), h.corpus.No, h.corpus.Epoch, &document.Document{ID: "0001", Metadata: json.RawMessage(`{"n":-1}`)}); err != nil {
				h.Fatal(err)
			}
			n := h.counts(d.Begun, nil)
			left, err := h.bulk.Left(h.Context(), "k", d.IDs)
			if filter == "" {
				if n != (bulk.Counts{Done: 3}) || left != nil || err != nil {
					h.Errorf("named: %+v, left %q, %v", n, left, err)
				}
			} else if n != (bulk.Counts{Done: 1, Failed: 2}) || !slices.Equal(left, []string{"0000", "0001"}) || err != nil {
				h.Errorf("chosen: %+v, left %q, %v", n, left, err)
			}
		})
	}
}

func jobID(name string) id.Job { return id.Job(fmt.Sprintf("job_%x", name)) }
