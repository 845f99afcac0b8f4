package bulk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/bulk"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/document/documenttest"
	"quarry/internal/fault"
	"quarry/internal/job"
	"quarry/internal/job/jobtest"
)

// power is a power supply: it fails at the nth use, and what was asked for then is done (late) or not.
type power struct {
	left int // uses until it fails; negative: never
	late bool
}

var errPower = errors.New("power failed")

// use runs what with the power that there is.
func (p *power) use(what func() error) error {
	if p.left--; p.left == -1 {
		if p.late {
			_ = what() // done, and nobody was told
		}
		return errPower
	}
	return what()
}

// failingJobs is a job.Store whose checkpoints need power.
type failingJobs struct {
	*jobtest.Memory
	*power
}

func (f failingJobs) Save(ctx context.Context, l job.Lease, c job.Checkpoint) error {
	if c.Progress == nil { // a heartbeat
		return f.Memory.Save(ctx, l, c)
	}
	return f.use(func() error { return f.Memory.Save(ctx, l, c) })
}

// failingDocuments is a store of documents whose writes need power.
type failingDocuments struct {
	*documenttest.Memory
	*power
}

func (f failingDocuments) DeleteMany(ctx context.Context, no, epoch int64, ids []string, cutoff time.Time) (seq int64, n int, err error) {
	err = f.use(func() error {
		seq, n, err = f.Memory.DeleteMany(ctx, no, epoch, ids, cutoff)
		return err
	})
	return seq, n, err
}

func (f failingDocuments) Amend(ctx context.Context, no, epoch int64, edits []document.Edit) (seq int64, err error) {
	err = f.use(func() error {
		seq, err = f.Memory.Amend(ctx, no, epoch, edits)
		return err
	})
	return seq, err
}

// fixture is everything that bulk operations need, in memory, in a bubble of its own clock.
type fixture struct {
	*testing.T
	power
	corpus    corpus.Corpus
	documents *documenttest.Memory
	queue     *job.Queue
	bulk      *bulk.Service
}

// withFixture runs test on a fixture with documents "0000", "0001", … of which each has its number modulo ten as metadata n.
func withFixture(t *testing.T, documents int, test func(*fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &fixture{T: t, power: power{left: -1}, corpus: corpus.Corpus{Key: "k", Enabled: true, Usage: corpus.Usage{Documents: int64(documents)},
			Attributes: []corpus.Attribute{{Name: "n", Level: "document", Type: "integer", Indexed: true}, {Name: "p", Level: "part", Type: "text"}}}}
		h.documents = documenttest.New(h.corpus)
		h.corpus = h.documents.Corpus
		for i := range documents {
			h.insert(fmt.Sprintf("%04d", i), i%10)
		}
		time.Sleep(time.Second) // of the bubble: the documents are older than what follows
		h.queue = job.New(job.Config{Store: failingJobs{new(jobtest.Memory), &h.power}, Log: slog.New(slog.DiscardHandler), Workers: 1})
		store := failingDocuments{h.documents, &h.power}
		h.bulk = bulk.New(bulk.Config{Corpora: h.documents.Corpora(), Store: store, Index: h.documents, Jobs: h.queue,
			Documents: document.NewService(store, h.documents.Corpora(), h.documents, nil, 64)})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.queue.Run(ctx)
		}()
		test(h)
		cancel()
		<-done
	})
}

func (h *fixture) insert(id string, n int) {
	h.Helper()
	d := &document.Document{ID: id, Metadata: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), Digest: "d"}
	if _, err := h.documents.Insert(h.Context(), h.corpus.No, h.corpus.Epoch, d); err != nil {
		h.Fatal(err)
	}
}

// all returns the metadata of every document.
func (h *fixture) all() map[string]string {
	h.Helper()
	docs, err := h.documents.List(h.Context(), h.corpus.No, document.List{Limit: 1e6})
	if err != nil {
		h.Fatal(err)
	}
	out := map[string]string{}
	for _, d := range docs {
		out[d.ID] = string(d.Metadata)
	}
	return out
}

func (h *fixture) counts(b bulk.Begun, err error) bulk.Counts {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
	n, err := h.bulk.Wait(h.Context(), b)
	if err != nil {
		h.Fatal(err)
	}
	return n
}

// Wherever the power fails, before or after a write is done, the job goes on: every document selected is deleted,
// none other, and each is counted once.
func TestDeleteInterrupted(t *testing.T) {
	t.Parallel()
	for _, byID := range []bool{false, true} {
		interrupted(t, func(h *fixture) {
			sel := bulk.Selection{Corpus: "k", Filter: "doc.n < 7"}
			want := bulk.Counts{Done: 420}
			if byID {
				sel = bulk.Selection{Corpus: "k", IDs: []string{"none", "0000", "0000"}}
				for i := range 600 {
					if i%10 < 7 {
						sel.IDs = append(sel.IDs, fmt.Sprintf("%04d", i))
					}
				}
				want.Failed = 1
			}
			if got := h.counts(h.bulk.Delete(h.Context(), sel)); got != want {
				h.Errorf("by id %v: counts %+v, want %+v", byID, got, want)
			}
			left := h.all()
			for i := range 600 {
				if _, there := left[fmt.Sprintf("%04d", i)]; there != (i%10 >= 7) {
					h.Errorf("by id %v: document %d is there: %v", byID, i, there)
				}
			}
		})
	}
}

// The same holds for changes of metadata; documents that were as asked for are skipped.
func TestUpdateInterrupted(t *testing.T) {
	t.Parallel()
	for _, replace := range []bool{false, true} {
		interrupted(t, func(h *fixture) {
			sel := bulk.Selection{Corpus: "k", Filter: "doc.n < 7"}
			got := h.counts(h.bulk.Update(h.Context(), sel, json.RawMessage(`{"n":3}`), replace))
			if want := (bulk.Counts{Done: 360, Skipped: 60}); got != want {
				h.Errorf("counts %+v, want %+v", got, want)
			}
			for id, metadata := range h.all() {
				n := id[3:]
				want := `{"n":3}`
				if n >= "7" {
					want = `{"n":` + n + `}`
				}
				if metadata != want {
					h.Errorf("document %s has %s, want %s", id, metadata, want)
				}
			}
		})
	}
}

// interrupted runs test with the power failing at each use in turn, until it lasts to the end.
func interrupted(t *testing.T, test func(*fixture)) {
	t.Helper()
	for _, late := range []bool{false, true} {
		for at := 0; ; at++ {
			lasted := false
			withFixture(t, 600, func(h *fixture) {
				h.left, h.late = at, late
				test(h)
				lasted = h.left >= 0
			})
			if lasted {
				if at < 5 {
					t.Errorf("only %d uses of power", at)
				}
				break
			}
		}
	}
}

// Documents that are newer than the beginning of the operation are skipped where a filter selects, and not where an
// id names them.
func TestNewer(t *testing.T) {
	t.Parallel()
	for _, byID := range []bool{false, true} {
		withFixture(t, 3, func(h *fixture) {
			h.left = 0 // so that the job waits to be tried again
			sel, want := bulk.Selection{Corpus: "k", Filter: "doc.n >= 0"}, bulk.Counts{Done: 3, Skipped: 1}
			if byID {
				sel, want = bulk.Selection{Corpus: "k", IDs: []string{"0001", "9999"}}, bulk.Counts{Done: 2}
			}
			b, err := h.bulk.Delete(h.Context(), sel)
			if err != nil || b.Filtered == byID {
				h.Fatal(b, err)
			}
			synctest.Wait()
			time.Sleep(time.Microsecond)
			h.insert("9999", 5)
			if got := h.counts(b, nil); got != want {
				h.Errorf("by id %v: counts %+v, want %+v", byID, got, want)
			}
			if _, there := h.all()["9999"]; there == byID {
				h.Errorf("by id %v: the new document is there: %v", byID, there)
			}
		})
	}
}

// What can't be selected or set is refused before a job is made.
func TestRefused(t *testing.T) {
	t.Parallel()
	withFixture(t, 1, func(h *fixture) {
		many := make([]string, bulk.MaxIDs+1)
		for i := range many {
			many[i] = fmt.Sprint(i)
		}
		for _, c := range []struct {
			sel   bulk.Selection
			field string
		}{
			{bulk.Selection{Corpus: "k"}, "metadata_filter"},
			{bulk.Selection{Corpus: "k"}, "document_ids"},
			{bulk.Selection{Corpus: "k", IDs: many}, "document_ids"},
			{bulk.Selection{Corpus: "k", Filter: "part.p = 'x'"}, "metadata_filter"},
			{bulk.Selection{Corpus: "k", Filter: "doc.n ="}, "metadata_filter"},
		} {
			_, err := h.bulk.Delete(h.Context(), c.sel)
			if f, ok := fault.As(err); !ok || f.Fields[c.field] == "" {
				h.Errorf("%.80v: error %v, want a fault of %s", c.sel, err, c.field)
			}
		}
		if _, err := h.bulk.Delete(h.Context(), bulk.Selection{Corpus: "k", IDs: many[1:]}); err != nil {
			h.Errorf("%d ids: %v", bulk.MaxIDs, err)
		}
		_, err := h.bulk.Update(h.Context(), bulk.Selection{Corpus: "k", Filter: "doc.n = 1"}, json.RawMessage(`{"n":"one"}`), false)
		if f, ok := fault.As(err); !ok || f.Fields["metadata.n"] == "" {
			h.Errorf("error %v, want a fault of metadata.n", err)
		}
		if _, err := h.bulk.Delete(h.Context(), bulk.Selection{Corpus: "none", IDs: []string{"a"}}); !fault.Is(err, fault.KindNotFound) {
			h.Errorf("error %v, want not found", err)
		}
	})
}

// A job whose corpus was reset fails with the reason, one whose corpus is gone is aborted, and those who wait hear it;
// those whose time is over hear the job's id.
func TestOtherEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*fixture)
		kind   fault.Kind
		state  job.State
	}{
		{func(h *fixture) { h.documents.Corpus.Epoch++ }, fault.KindConflict, job.Failed},
		{func(h *fixture) { h.documents.Corpus.No++ }, fault.KindNotFound, job.Aborted},
		{func(h *fixture) { h.documents.Corpus.Key = "other" }, fault.KindNotFound, job.Aborted},
	} {
		withFixture(t, 3, func(h *fixture) {
			h.left = 0 // so that the job waits to be tried again
			b, err := h.bulk.Delete(h.Context(), bulk.Selection{Corpus: "k", Filter: "doc.n >= 0"})
			if err != nil {
				h.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(h.Context(), 100*time.Millisecond)
			defer cancel()
			if _, err := h.bulk.Wait(ctx, b); !fault.Is(err, fault.KindTimeout) || !strings.Contains(err.Error(), string(b.Job)) {
				h.Errorf("error %v, want a timeout with the job's id", err)
			}
			c.change(h)
			if _, err := h.bulk.Wait(h.Context(), b); !fault.Is(err, c.kind) {
				h.Errorf("error %v, want kind %d", err, c.kind)
			}
			if j, err := h.queue.Get(h.Context(), "", b.Job); err != nil || j.State != c.state {
				h.Errorf("job %+v, %v; want %s", j, err, c.state)
			}
		})
	}
}

// The comment of a job tells how far it is, in words for people, and in the end what it did.
func TestComment(t *testing.T) {
	t.Parallel()
	withFixture(t, 1500, func(h *fixture) {
		var seen []string
		h.documents.Hold = func() {
			page, _, err := h.queue.List(h.Context(), job.List{Limit: 1})
			if err != nil || len(page) != 1 {
				h.Error(page, err)
				return
			}
			seen = append(seen, page[0].Comment)
		}
		b, err := h.bulk.Update(h.Context(), bulk.Selection{Corpus: "k", Filter: "doc.n >= 0", CreatedBy: "ann"}, json.RawMessage(`{"new":1}`), false)
		if got := h.counts(b, err); got != (bulk.Counts{Done: 1500}) {
			h.Errorf("counts %+v", got)
		}
		var want []string
		for n := 64; n < 1000; n += 64 {
			want = append(want, fmt.Sprint(n, " of 1,500 documents"))
		}
		for _, n := range []string{"1,024", "1,088", "1,152", "1,216", "1,280", "1,344", "1,408", "1,472", "1,500"} {
			want = append(want, n+" of 1,500 documents")
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			h.Error("comments (-want +got):", diff)
		}
		j, err := h.queue.Get(h.Context(), "", b.Job)
		if err != nil || j.Comment != "1,500 updated, 0 skipped, 0 failed" || j.CreatedBy != "ann" {
			h.Errorf("job %+v, %v", j, err)
		}
	})
}
