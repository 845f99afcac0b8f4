package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/document/documenttest"
	"quarry/internal/corpus/draft"
	"quarry/internal/corpus/ingest"
	"quarry/internal/embed"
	"quarry/internal/fault"
)

// fixture is a service over fakes.
type fixture struct {
	*ingest.Service
	store *documenttest.Memory
	enc   *documenttest.Encoder
}

func newBench(c corpus.Corpus) *fixture { return newBenchOf(c, ingest.OCR{}) }

// newBenchOf is newBench with something that recognises text.
func newBenchOf(c corpus.Corpus, o ingest.OCR) *fixture {
	c.Key, c.Seq = "manuals", 10
	b := &fixture{store: documenttest.New(c), enc: &documenttest.Encoder{}}
	b.Service = ingest.New(ingest.Config{Corpora: b.store.Corpora(), Documents: b.store, Encoders: b.enc, Index: b.store, OCR: o})
	return b
}

// encoded returns the texts that the encoder saw.
func (b *fixture) encoded() []string { texts, _, _ := b.enc.Asked(); return texts }

func text(id, s string) document.Draft {
	return draft.Structured{ID: id, Title: "Pumps", Sections: []draft.Section{{Title: "Why?", Text: s}}}
}

func TestCreate(t *testing.T) {
	// Proves the way of a document: encoded with its heading, committed with a vector for each part, and visible
	// before the answer.
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true})
	d, err := b.Create(t.Context(), "manuals", text("d1", "They move water. They last."), ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Pumps", "Why?", "Pumps. Why? They move water.", "Pumps. Why? They last."}
	if diff := cmp.Diff(want, b.encoded()); diff != "" {
		t.Errorf("encoded texts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{11}, b.store.Indexed()); diff != "" {
		t.Errorf("sequence numbers waited for: %s", diff)
	}
	stored, _ := b.store.Document("d1")
	for _, p := range stored.Parts {
		if len(p.Vector) == 0 {
			t.Errorf("part %d was stored without a vector", p.Ord)
		}
	}
	if d.ID != "d1" || d.Usage.Bytes == 0 {
		t.Errorf("answer %+v", d)
	}
	if _, err := b.Create(t.Context(), "manuals", text("d2", "x y."), ingest.Options{Wait: ingest.Durable}); err != nil || len(b.store.Indexed()) != 1 {
		t.Errorf("wait_for=indexed: %v, waited %d times", err, len(b.store.Indexed())-1)
	}
}

func TestCreateAsQuestions(t *testing.T) {
	// Proves that documents_are_questions changes the role in which parts are encoded.
	t.Parallel()
	for questions, want := range map[bool]embed.Kind{false: embed.Passage, true: embed.Question} {
		b := newBench(corpus.Corpus{Enabled: true, DocumentsAreQuestions: questions})
		if _, err := b.Create(t.Context(), "manuals", text("d", "Is it so?"), ingest.Options{}); err != nil {
			t.Fatal(err)
		}
		if _, kind, _ := b.enc.Asked(); kind != want {
			t.Errorf("documents_are_questions %v: kind %v, want %v", questions, kind, want)
		}
	}
}

func TestCreateConflicts(t *testing.T) {
	// Proves the texts that clients match on a taken id, with and without the race, and that a conflict costs no encoding.
	t.Parallel()
	tests := []struct {
		name, text, want string
		race             bool
	}{
		{"identical", "They move water.", "ALREADY_EXISTS", false},
		{"different", "They move oil.", "CONFLICT: Indexing doesn't support updating documents.", false},
		{"identical, committed meanwhile", "They move water.", "ALREADY_EXISTS", true},
		{"different, committed meanwhile", "They move oil.", "CONFLICT: Indexing doesn't support updating documents.", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(corpus.Corpus{Enabled: true})
			if _, err := b.Create(t.Context(), "manuals", text("d", "They move water."), ingest.Options{}); err != nil {
				t.Fatal(err)
			}
			b.store.Blind = tt.race
			before := len(b.encoded())
			_, err := b.Create(t.Context(), "manuals", text("d", tt.text), ingest.Options{})
			f, ok := fault.As(err)
			if !ok || f.Kind != fault.KindConflict || !strings.Contains(f.Text, tt.want) || !strings.Contains(f.Text, "document id 'd'") {
				t.Errorf("got %v, want a conflict with %q", err, tt.want)
			}
			if !tt.race && len(b.encoded()) != before {
				t.Error("a known conflict was encoded")
			}
		})
	}
}

func TestCreateRefused(t *testing.T) {
	// Proves that a refusal stores nothing: unknown and disabled corpora, bad drafts, a corpus reset meanwhile, an encoder that fails, a
	// caller that left.
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name  string
		ctx   context.Context
		key   string
		draft document.Draft
		setup func(*fixture)
		check func(error) bool
	}{
		{"unknown corpus", t.Context(), "other", text("d", "x"), func(*fixture) {}, func(err error) bool { return fault.Is(err, fault.KindNotFound) }},
		{"disabled corpus", t.Context(), "manuals", text("d", "x"), func(b *fixture) { b.store.Corpus.Enabled = false },
			func(err error) bool {
				f, ok := fault.As(err)
				return ok && f.Kind == fault.KindInvalid && strings.Contains(f.Text, "corpus manuals is disabled")
			}},
		{"bad draft", t.Context(), "manuals", text("", "x"), func(*fixture) {}, func(err error) bool { return fault.Is(err, fault.KindInvalid) }},
		{"encoder fails", t.Context(), "manuals", text("d", "x"), func(b *fixture) { b.enc.Err = errors.New("no model") },
			func(err error) bool { _, ok := fault.As(err); return err != nil && !ok }},
		{"caller left", gone, "manuals", text("d", "x"), func(*fixture) {}, func(err error) bool { return errors.Is(err, context.Canceled) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(corpus.Corpus{Enabled: true})
			tt.setup(b)
			if _, err := b.Create(tt.ctx, tt.key, tt.draft, ingest.Options{}); !tt.check(err) {
				t.Errorf("Create: %v", err)
			}
			if _, stored := b.store.Document("d"); stored || len(b.store.Indexed()) != 0 {
				t.Errorf("document stored: %v, index asked %d times", stored, len(b.store.Indexed()))
			}
		})
	}
}

func TestCreateIndexBehind(t *testing.T) {
	// Proves that a durable document is a success even when the index can't be brought up now: queries do that first.
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true})
	b.store.Behind = errors.New("index is being rebuilt")
	if _, err := b.Create(t.Context(), "manuals", text("d", "x"), ingest.Options{}); err != nil {
		t.Errorf("Create: %v", err)
	}
}

func TestCreateLarge(t *testing.T) {
	// Proves that a document of thousands of parts is encoded in batches of bounded size, each part once.
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true})
	core := draft.Core{ID: "d", Metadata: json.RawMessage(`{}`)}
	for range 3001 {
		core.Parts = append(core.Parts, draft.CorePart{Text: "one part"})
	}
	if _, err := b.Create(t.Context(), "manuals", core, ingest.Options{}); err != nil {
		t.Fatal(err)
	}
	if texts, _, largest := b.enc.Asked(); len(texts) != 3001 || largest > 256 {
		t.Errorf("%d texts encoded, at most %d at a time", len(texts), largest)
	}
}

func TestCreateAtOnce(t *testing.T) {
	// Proves that of several creates of one id at once exactly one succeeds and the others are conflicts.
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true})
	const callers = 8
	errs := make(chan error, callers)
	for i := range callers {
		go func() {
			_, err := b.Create(t.Context(), "manuals", text("d", strings.Repeat("Words. ", i+1)), ingest.Options{})
			errs <- err
		}()
	}
	won := 0
	for range callers {
		switch err := <-errs; {
		case err == nil:
			won++
		case !fault.Is(err, fault.KindConflict):
			t.Errorf("Create: %v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d creates succeeded", won)
	}
}
