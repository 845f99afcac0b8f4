package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/ingest"
	"quarry/internal/fault"
)

// many returns a batch of these documents.
func many(replace bool, drafts ...document.Draft) ingest.Batch {
	return ingest.Batch{Size: len(drafts), Replace: replace, Draft: func(_ context.Context, i int) (document.Draft, error) {
		if drafts[i] == nil {
			return nil, fault.InvalidField("file", "is not there")
		}
		return drafts[i], nil
	}}
}

// broken is a draft whose making panics.
type broken struct{}

func (broken) Build(corpus.Corpus) (*document.Document, error) { panic("a bad day") }

func outcomes(all []ingest.Result) (out []string) {
	for _, r := range all {
		s := fmt.Sprint(r.Outcome)
		if r.Document != nil {
			s = r.ID + " " + s
		}
		out = append(out, s)
	}
	return out
}

func TestCreateAll(t *testing.T) {
	// Proves that each document of a batch has its own outcome, that those refused don't keep out the others, that a batch sent
	// again changes nothing, and that searches are waited for once, with the last change.
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true})
	b.create(t, core("there", `{}`, "Other."), ingest.Options{Wait: ingest.Durable})
	batch := many(false, core("a", `{"n":1}`, "One."), core("there", `{}`, "Two."), nil, core("b", `{}`), broken{}, core("c", `{}`, "Three."))
	all, err := b.CreateAll(t.Context(), "manuals", batch)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a 1", "0", "0", "0", "0", "c 1"}, outcomes(all)); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	for i, kind := range map[int]fault.Kind{1: fault.KindConflict, 2: fault.KindInvalid, 3: fault.KindInvalid} {
		if !fault.Is(all[i].Err, kind) {
			t.Errorf("document %d: %v", i, all[i].Err)
		}
	}
	if _, ok := fault.As(all[4].Err); ok || all[4].Err == nil {
		t.Errorf("a panic: %v", all[4].Err)
	}
	if diff := cmp.Diff([]int64{13}, b.store.Indexed()); diff != "" {
		t.Errorf("sequence numbers waited for: %s", diff)
	}
	all, err = b.CreateAll(t.Context(), "manuals", batch)
	if diff := cmp.Diff([]string{"a 3", "0", "0", "0", "0", "c 3"}, outcomes(all)); err != nil || diff != "" || b.store.Corpus.Seq != 13 {
		t.Errorf("again: %v, change %d, outcomes (-want +got):\n%s", err, b.store.Corpus.Seq, diff)
	}
	b.store.Edit("a", func(d *document.Document) { d.Metadata = json.RawMessage(`{"n":2}`) })
	all, err = b.CreateAll(t.Context(), "manuals", many(false, core("a", `{"n":1}`, "One.")))
	if err != nil || all[0].Outcome != ingest.Refused || !fault.Is(all[0].Err, fault.KindConflict) {
		t.Errorf("metadata was changed since: %v, %+v", err, all)
	}
}

func TestCreateAllReplacing(t *testing.T) {
	// Proves that a batch that replaces writes each document anew, equal ones too, without encoding what was encoded before.
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true})
	batch := many(true, core("a", `{}`, "One."), core("b", `{}`, "Two."))
	b.create(t, core("a", `{}`, "One."), ingest.Options{})
	for turn, want := range [][]string{{"a 2", "b 1"}, {"a 2", "b 2"}} {
		all, err := b.CreateAll(t.Context(), "manuals", batch)
		if diff := cmp.Diff(want, outcomes(all)); err != nil || diff != "" {
			t.Errorf("turn %d: %v, (-want +got):\n%s", turn, err, diff)
		}
	}
	if got := b.encoded(); len(got) != 2 || b.store.Corpus.Seq != 15 {
		t.Errorf("encoded %q, change %d", got, b.store.Corpus.Seq)
	}
}

func TestCreateAllRefused(t *testing.T) {
	// Proves that a corpus that takes no documents refuses a batch as a whole, and that a failing store is the error of each document.
	t.Parallel()
	b := newBench(corpus.Corpus{})
	if _, err := b.CreateAll(t.Context(), "manuals", many(false, core("a", `{}`, "One."))); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("a disabled corpus: %v", err)
	}
	if _, err := b.CreateAll(t.Context(), "none", many(false, core("a", `{}`, "One."))); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("no corpus: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b = newBench(corpus.Corpus{Enabled: true})
	b.enc.Err = errors.New("no power")
	all, err := b.CreateAll(ctx, "manuals", many(false, core("a", `{}`, "One."), core("b", `{}`, "Two.")))
	if err != nil || all[0].Err == nil || all[1].Err == nil {
		t.Errorf("a failing encoder: %v, %+v", err, all)
	}
}
