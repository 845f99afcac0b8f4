package ingest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/draft"
	"quarry/internal/corpus/ingest"
	"quarry/internal/fault"
)

var replacing = ingest.Options{Replace: true}

// core returns a document of one part for each text.
func core(id, metadata string, texts ...string) document.Draft {
	d := draft.Core{ID: id, Metadata: json.RawMessage(metadata)}
	for _, s := range texts {
		d.Parts = append(d.Parts, draft.CorePart{Text: s})
	}
	return d
}

func (b *fixture) create(t *testing.T, d document.Draft, o ingest.Options) *ingest.Added {
	t.Helper()
	a, err := b.Create(t.Context(), "manuals", d, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestReplace(t *testing.T) {
	// Proves that of a document that is replaced only the passages are encoded that the old one did not have, wherever they
	// stand, and that the title that is encoded with a passage counts.
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true})
	if a := b.create(t, core("d", `{"title":"Pumps"}`, "One.", "Two.", "Three."), replacing); a.Passages != a.Encoded || a.Encoded == 0 {
		t.Errorf("replacing nothing: %d passages, %d encoded", a.Passages, a.Encoded)
	}
	for _, x := range []struct {
		name     string
		draft    document.Draft
		encoded  []string
		passages int
	}{
		{"one more, moved", core("d", `{"title":"Pumps"}`, "Three.", "Four.", "One.", "Two."), []string{"Pumps. Four."}, 4},
		{"the same twice", core("d", `{"title":"Pumps"}`, "One.", "One."), nil, 2},
		{"another title", core("d", `{"title":"Valves"}`, "One.", "Two."), []string{"Valves. One.", "Valves. Two."}, 2},
		{"other metadata", core("d", `{"title":"Valves","n":1}`, "One.", "Two."), nil, 2},
		{"fewer", core("d", `{"title":"Valves"}`, "Two."), nil, 1},
	} {
		before := len(b.encoded())
		old, _ := b.store.Document("d")
		a := b.create(t, x.draft, replacing)
		if diff := cmp.Diff(x.encoded, slices.Clip(b.encoded()[before:]), equateEmpty); diff != "" || a.Encoded != len(x.encoded) || a.Passages != x.passages {
			t.Errorf("%s: %d of %d encoded (-want +got): %s", x.name, a.Encoded, a.Passages, diff)
		}
		now, _ := b.store.Document("d")
		for _, p := range now.Parts {
			if len(p.Vector) == 0 {
				t.Errorf("%s: part %d has no vector", x.name, p.Ord)
			}
		}
		if !now.Created.Equal(old.Created) || !now.Updated.After(old.Updated) || len(now.Parts) != x.passages {
			t.Errorf("%s: stored %+v", x.name, now)
		}
	}
	if n := len(b.store.Indexed()); n != 6 {
		t.Errorf("searches were waited for %d times, want 6", n)
	}
}

var equateEmpty = cmp.Transformer("list", func(l []string) []string { return append([]string{}, l...) })

func TestReplaceByTheSame(t *testing.T) {
	// Proves that a document that stands there in every particular is answered with 201's content and not written again, and
	// that one whose metadata was changed meanwhile is, without encoding anything.
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true})
	same := core("d", `{"n":1}`, "One.", "Two.")
	b.create(t, same, replacing)
	first, _ := b.store.Document("d")
	if a := b.create(t, same, replacing); a.Encoded != 0 || a.Passages != 2 || a.No != first.No || b.store.Corpus.Seq != 11 {
		t.Errorf("the same again: %+v, change %d", a, b.store.Corpus.Seq)
	}
	b.store.Edit("d", func(d *document.Document) { d.Metadata = json.RawMessage(`{"n":2}`) })
	a := b.create(t, same, replacing)
	now, _ := b.store.Document("d")
	if a.Encoded != 0 || b.store.Corpus.Seq != 12 || string(now.Metadata) != `{"n":1}` {
		t.Errorf("after a change of the metadata: %d encoded, change %d, metadata %s", a.Encoded, b.store.Corpus.Seq, now.Metadata)
	}
	b.store.Edit("d", func(d *document.Document) { d.Parts[1].Lang = "deu" })
	if b.create(t, same, replacing); b.store.Corpus.Seq != 13 {
		t.Error("a document with other parts, as of an earlier program, was taken for the same")
	}
}

func TestRenamed(t *testing.T) {
	// Proves that a file under another name takes its vectors from the document of the same bytes, also when the id is free
	// and nothing may be replaced, and that the name alone does not make a file the same.
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true})
	send := func(id, text string, replace bool) *ingest.Added {
		u := upload(id, text)
		u.Replace = replace
		a, err := b.Upload(t.Context(), "manuals", u)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := send("a.md", manual, true); a.Encoded != a.Passages {
		t.Errorf("new: %d of %d encoded", a.Encoded, a.Passages)
	}
	for _, replace := range []bool{true, false} {
		a := send(fmt.Sprint("moved/", replace, ".md"), manual, replace)
		if a.Encoded != 0 || a.Passages == 0 {
			t.Errorf("renamed, replace %v: %d of %d encoded", replace, a.Encoded, a.Passages)
		}
	}
	if a := send("b.md", strings.ReplaceAll(manual, "3 bar", "4 bar"), true); a.Encoded != a.Passages {
		t.Errorf("other bytes under a new name: %d of %d encoded", a.Encoded, a.Passages)
	}
	if a := send("a.md", strings.ReplaceAll(manual, "3 bar", "5 bar"), true); a.Encoded != 1 {
		t.Errorf("one sentence changed: %d of %d encoded", a.Encoded, a.Passages)
	}
	if a := send("b.md", manual, true); a.Encoded != 0 {
		t.Errorf("swapped with a file that has its bytes: %d of %d encoded", a.Encoded, a.Passages)
	}
}

func TestReplaceFails(t *testing.T) {
	// Proves that whatever keeps a document from being replaced leaves the old one whole: an encoder that fails, a corpus that
	// was reset, a draft at fault, a disabled corpus.
	t.Parallel()
	for name, x := range map[string]struct {
		setup func(*fixture)
		draft document.Draft
	}{
		"encoder": {func(b *fixture) { b.enc.Err = errors.New("no model") }, core("d", `{}`, "New.")},
		"reset":   {func(b *fixture) { b.enc.Then = func() { b.store.Corpus.Epoch++ } }, core("d", `{}`, "New.")},
		"draft":   {func(*fixture) {}, core("d", `{}`, "")},
		"corpus":  {func(b *fixture) { b.store.Corpus.Enabled = false }, core("d", `{}`, "New.")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(corpus.Corpus{Enabled: true})
			b.create(t, core("d", `{"n":1}`, "Old.", "Parts."), ingest.Options{})
			before, _ := b.store.Document("d")
			x.setup(b)
			if _, err := b.Create(t.Context(), "manuals", x.draft, replacing); err == nil {
				t.Fatal("no error")
			} else if f, ok := fault.As(err); name == "reset" && (!ok || f.Code != "corpus_changed") {
				t.Errorf("after a reset: %v", err)
			}
			now, _ := b.store.Document("d")
			if diff := cmp.Diff(before, now); diff != "" || b.store.Corpus.Seq != 11 {
				t.Errorf("change %d (-before +after): %s", b.store.Corpus.Seq, diff)
			}
		})
	}
}

func TestOtherEncoder(t *testing.T) {
	// Proves that vectors of an encoder that is not in use any more are not kept.
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true, EncoderFingerprint: "of an earlier model"})
	b.create(t, core("d", `{}`, "One."), replacing)
	if a := b.create(t, core("d", `{}`, "One.", "Two."), replacing); a.Encoded != 2 {
		t.Errorf("%d encoded, want 2", a.Encoded)
	}
}
