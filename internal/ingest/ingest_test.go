package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/document"
	"quarry/internal/embed"
	"quarry/internal/fault"
	"quarry/internal/ingest"
)

// bench is a service over fakes.
type bench struct {
	*ingest.Service
	store *memory
	index *index
	enc   *encoder
}

func newBench(c corpus.Corpus) *bench {
	c.Key, c.No, c.Epoch, c.Seq = "manuals", 3, 77, 10
	b := &bench{store: newMemory(c), index: &index{}, enc: &encoder{}}
	b.Service = ingest.New(ingest.Config{Corpora: corpora{b.store}, Documents: b.store, Encoders: encoders{b.enc}, Index: b.index})
	return b
}

func text(id, s string) document.Draft {
	return document.Structured{ID: id, Title: "Pumps", Sections: []document.Section{{Title: "Why?", Text: s}}}
}

func TestCreate(t *testing.T) {
	// Proves the way of a document: encoded with its heading, committed with a vector for each part, and visible
	// before the answer.
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true})
	d, err := b.Create(t.Context(), "manuals", text("d1", "They move water. They last."), ingest.Searchable)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Pumps", "Why?", "Pumps. Why? They move water.", "Pumps. Why? They last."}
	if diff := cmp.Diff(want, b.enc.texts); diff != "" {
		t.Errorf("encoded texts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{11}, b.index.seq); diff != "" {
		t.Errorf("sequence numbers waited for: %s", diff)
	}
	stored := b.store.docs["d1"]
	for _, p := range stored.Parts {
		if len(p.Vector) == 0 {
			t.Errorf("part %d was stored without a vector", p.Ord)
		}
	}
	if d.ID != "d1" || d.Usage.Bytes == 0 {
		t.Errorf("answer %+v", d)
	}
	if _, err := b.Create(t.Context(), "manuals", text("d2", "x y."), ingest.Durable); err != nil || len(b.index.seq) != 1 {
		t.Errorf("wait_for=indexed: %v, waited %d times", err, len(b.index.seq)-1)
	}
}

func TestCreateAsQuestions(t *testing.T) {
	// Proves that documents_are_questions changes the role in which parts are encoded.
	t.Parallel()
	for questions, want := range map[bool]embed.Kind{false: embed.Passage, true: embed.Question} {
		b := newBench(corpus.Corpus{Enabled: true, DocumentsAreQuestions: questions})
		if _, err := b.Create(t.Context(), "manuals", text("d", "Is it so?"), ingest.Searchable); err != nil {
			t.Fatal(err)
		}
		if b.enc.kinds[0] != want {
			t.Errorf("documents_are_questions %v: kind %v, want %v", questions, b.enc.kinds[0], want)
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
			if _, err := b.Create(t.Context(), "manuals", text("d", "They move water."), ingest.Searchable); err != nil {
				t.Fatal(err)
			}
			b.store.blind = tt.race
			before := len(b.enc.texts)
			_, err := b.Create(t.Context(), "manuals", text("d", tt.text), ingest.Searchable)
			f, ok := fault.As(err)
			if !ok || f.Kind != fault.KindConflict || !strings.Contains(f.Text, tt.want) || !strings.Contains(f.Text, "document id 'd'") {
				t.Errorf("got %v, want a conflict with %q", err, tt.want)
			}
			if !tt.race && len(b.enc.texts) != before {
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
		setup func(*bench)
		check func(error) bool
	}{
		{"unknown corpus", t.Context(), "other", text("d", "x"), func(*bench) {}, func(err error) bool { return fault.Is(err, fault.KindNotFound) }},
		{"disabled corpus", t.Context(), "manuals", text("d", "x"), func(b *bench) { b.store.corpus.Enabled = false },
			func(err error) bool {
				f, ok := fault.As(err)
				return ok && f.Kind == fault.KindInvalid && strings.Contains(f.Text, "corpus manuals is disabled")
			}},
		{"bad draft", t.Context(), "manuals", text("", "x"), func(*bench) {}, func(err error) bool { return fault.Is(err, fault.KindInvalid) }},
		{"encoder fails", t.Context(), "manuals", text("d", "x"), func(b *bench) { b.enc.err = errors.New("no model") },
			func(err error) bool { _, ok := fault.As(err); return err != nil && !ok }},
		{"caller left", gone, "manuals", text("d", "x"), func(*bench) {}, func(err error) bool { return errors.Is(err, context.Canceled) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(corpus.Corpus{Enabled: true})
			tt.setup(b)
			if _, err := b.Create(tt.ctx, tt.key, tt.draft, ingest.Searchable); !tt.check(err) {
				t.Errorf("Create: %v", err)
			}
			if len(b.store.docs) != 0 || len(b.index.seq) != 0 {
				t.Errorf("%d documents stored, index asked %d times", len(b.store.docs), len(b.index.seq))
			}
		})
	}
}

func TestCreateIndexBehind(t *testing.T) {
	// Proves that a durable document is a success even when the index can't be brought up now: queries do that first.
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true})
	b.index.err = errors.New("index is being rebuilt")
	if _, err := b.Create(t.Context(), "manuals", text("d", "x"), ingest.Searchable); err != nil {
		t.Errorf("Create: %v", err)
	}
}

func TestCreateLarge(t *testing.T) {
	// Proves that a document of thousands of parts is encoded in batches of bounded size, each part once.
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true})
	core := document.Core{ID: "d", Metadata: json.RawMessage(`{}`)}
	for range 3001 {
		core.Parts = append(core.Parts, document.CorePart{Text: "one part"})
	}
	if _, err := b.Create(t.Context(), "manuals", core, ingest.Searchable); err != nil {
		t.Fatal(err)
	}
	if len(b.enc.texts) != 3001 || b.enc.largest > 256 {
		t.Errorf("%d texts encoded, at most %d at a time", len(b.enc.texts), b.enc.largest)
	}
}
