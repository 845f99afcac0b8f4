package summarize_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"quarry/internal/answer/summarize"
	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/embed"
	"quarry/internal/fault"
	"quarry/internal/index/vector"
	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
)

var registry = sync.OnceValues(embed.NewRegistry)

// shelf is one document; whole counts the reads with vectors.
type shelf struct {
	corpus corpus.Corpus
	doc    document.Document
	whole  *int
}

func (s shelf) Get(context.Context, string, string) (corpus.Corpus, *document.Document, error) {
	d := s.doc
	d.Parts = append([]document.Part(nil), d.Parts...)
	for i := range d.Parts {
		d.Parts[i].Vector = nil
	}
	return s.corpus, &d, nil
}

func (s shelf) Whole(context.Context, string, string) (corpus.Corpus, *document.Document, error) {
	*s.whole++
	d := s.doc
	d.Parts = append([]document.Part(nil), d.Parts...)
	return s.corpus, &d, nil
}

// stored returns a shelf with a document of n sentences under a title, with vectors of the default encoder.
func stored(t *testing.T, n int) shelf {
	t.Helper()
	encoders, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	_, space, _ := encoders.Resolve("")
	d := document.Document{ID: "d", Metadata: []byte(`{"line":"north"}`), Parts: []document.Part{{Text: "Pumps", IsTitle: true, Metadata: []byte(`{"section":1}`)}}}
	for i := range n {
		v, err := vector.Pack([]float32{1, float32(i), 2})
		if err != nil {
			t.Fatal(err)
		}
		d.Parts = append(d.Parts, document.Part{
			Ord: i + 1, Text: fmt.Sprintf("Pump number %d is replaced every year.", i), Lang: "eng", Gap: " ", Vector: v,
			Metadata: fmt.Appendf(nil, `{"section":%d}`, 1+i/2),
		})
	}
	return shelf{corpus.Corpus{EncoderFingerprint: space}, d, new(int)}
}

func service(t *testing.T, s shelf, m *llm.Model) *summarize.Service {
	t.Helper()
	encoders, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	return summarize.New(s, llmtest.Only{Use: m}, encoders)
}

func nothing(summarize.Event) error { return nil }

// TestEvents proves that a summary comes in events whose chunks are the summary, and that an error of emit is returned.
func TestEvents(t *testing.T) {
	t.Parallel()
	var asked llm.Request
	s := service(t, stored(t, 3), &llm.Model{Provider: llmtest.Fixed{Text: "short", Last: &asked}, Name: "m", Can: llm.Abilities{Context: 9000}})
	var seen []string
	out, err := s.Run(t.Context(), summarize.Request{LLM: "m"}, func(e summarize.Event) error {
		switch {
		case e.Prompt != nil:
			seen = append(seen, "prompt")
		case e.Done:
			seen = append(seen, "done")
		default:
			seen = append(seen, e.Chunk)
		}
		return nil
	})
	if err != nil || strings.Join(seen, " ") != "prompt short done" || out.Text != "short" {
		t.Errorf("%v, %q, %q", err, seen, out.Text)
	}
	if want := "Summarise this document:\n\nPumps\n\nPump number 0 is replaced every year. Pump number 1"; !strings.Contains(asked.Messages[1].Plain(), want) || asked.Evidence != nil {
		t.Errorf("the model was asked %v", asked.Messages)
	}
	gone := errors.New("gone")
	if _, err := s.Run(t.Context(), summarize.Request{LLM: "m"}, func(summarize.Event) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("emit failed, and the error is %v", err)
	}
}

// short is a model whose answers its token limit ends.
type short struct{ llmtest.Fixed }

func (s short) Stream(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	a, err := s.Fixed.Stream(ctx, r, emit)
	a.Reason = llm.Length
	return a, err
}

// TestCutOff proves that a summary which the token limit ended is told as such, and one of the embedded generator, which then
// chooses fewer sentences, is not.
func TestCutOff(t *testing.T) {
	t.Parallel()
	for embedded, want := range map[bool]int{false: 1, true: 0} {
		m := &llm.Model{Provider: short{llmtest.Fixed{Text: "A pump is"}}, Name: "m", Embedded: embedded, Can: llm.Abilities{Context: 9000}}
		out, err := service(t, stored(t, 3), m).Run(t.Context(), summarize.Request{LLM: "m"}, nothing)
		if err != nil || out.Text != "A pump is" || len(out.Warnings) != want || want > 0 && !strings.HasPrefix(out.Warnings[0], "answer_cut_off: ") {
			t.Errorf("embedded %v: %+v, %v; want %d warnings", embedded, out, err, want)
		}
	}
}

// TestEvidence proves what the embedded generator gets: all parts in order with their sections, labels and the vectors of its own
// encoder, whatever the length, and that other models get no vectors read.
func TestEvidence(t *testing.T) {
	t.Parallel()
	var asked llm.Request
	inside := &llm.Model{Provider: llmtest.Fixed{Text: "x", Last: &asked}, Name: "m", Embedded: true, Can: llm.Abilities{Context: llm.MinContext}}
	long := stored(t, 2000)
	if _, err := service(t, long, inside).Run(t.Context(), summarize.Request{LLM: "m"}, nothing); err != nil {
		t.Fatal(err)
	}
	e := asked.Evidence
	if !asked.Summarize || asked.Language != "eng" || len(e) != 2001 || !e[0].Label || e[1].Label || len(e[1].Vector) != 3 ||
		e[1].Section != e[2].Section || e[3].Section == e[2].Section {
		t.Errorf("asked with %d pieces: %+v", len(e), e[:min(4, len(e))])
	}
	long.corpus.EncoderFingerprint = "of another encoder"
	if _, err := service(t, long, inside).Run(t.Context(), summarize.Request{LLM: "m"}, nothing); err != nil || asked.Evidence[1].Vector != nil {
		t.Errorf("%v; the vectors of another encoder are not for the generator", err)
	}
	other := stored(t, 3)
	far := &llm.Model{Provider: llmtest.Fixed{Text: "x"}, Name: "m", Can: llm.Abilities{Context: 9000}}
	if _, err := service(t, other, far).Run(t.Context(), summarize.Request{LLM: "m"}, nothing); err != nil || *other.whole != 0 {
		t.Errorf("%v; vectors were read %d times for a model that does not use them", err, *other.whole)
	}
}

// full is a model that admits no call.
type full struct{ llmtest.Fixed }

func (full) Admit(context.Context) error { return fault.Limited("llm_quota_exhausted", "full") }

// TestRefusals proves what is refused before the first event, with its field.
func TestRefusals(t *testing.T) {
	t.Parallel()
	never := func(summarize.Event) error { t.Error("an event came"); return nil }
	small := &llm.Model{Provider: llmtest.Fixed{Text: "x"}, Name: "m", Can: llm.Abilities{Context: llm.MinContext}}
	_, err := service(t, stored(t, 2000), small).Run(t.Context(), summarize.Request{LLM: "m"}, never)
	if f, ok := fault.As(err); !ok || !strings.HasPrefix(f.Text, "the document ") || f.Fields["llm_name"] != f.Text {
		t.Errorf("a document that is too long: %v is not a sentence by itself", err)
	}
	for _, c := range []struct {
		name    string
		parts   int
		model   *llm.Model
		request summarize.Request
		want    []string
	}{
		{"no model", 3, small, summarize.Request{}, []string{"llm_name"}},
		{"a template that is none", 3, small, summarize.Request{LLM: "m", Template: "#if ("}, []string{"prompt_template"}},
		{"a template that gives nothing", 3, small, summarize.Request{LLM: "m", Template: "## nothing"}, []string{"prompt_template"}},
		{"too long", 2000, small, summarize.Request{LLM: "m"}, []string{"llm_name", "need about", "takes 3072 beside"}},
		{"too long with its answer", 250, small, summarize.Request{LLM: "m", Parameters: llm.Parameters{MaxTokens: new(3000)}}, []string{"takes 2048 beside"}},
		{"over a limit", 3, &llm.Model{Provider: full{}, Name: "m", Can: llm.Abilities{Context: 9000}}, summarize.Request{LLM: "m"}, []string{"full"}},
	} {
		_, err := service(t, stored(t, c.parts), c.model).Run(t.Context(), c.request, never)
		if _, ok := fault.As(err); !ok {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q in it", c.name, err, want)
			}
		}
	}
	empty := stored(t, 0)
	empty.doc.Parts[0].Text = " "
	if _, err := service(t, empty, small).Run(t.Context(), summarize.Request{LLM: "m"}, never); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("a document without text: %v", err)
	}
	empty.doc.Parts[0].Text = "😀 ([{ — …"
	inside := &llm.Model{Provider: llmtest.Fixed{}, Name: "m", Embedded: true, Can: llm.Abilities{Context: 9000}}
	if _, err := service(t, empty, inside).Run(t.Context(), summarize.Request{LLM: "m"}, never); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("a document without words: %v", err)
	}
	if _, err := service(t, empty, small).Run(t.Context(), summarize.Request{LLM: "m"}, nothing); err != nil {
		t.Errorf("a document without words for a model that reads signs: %v", err)
	}
}

// TestPlaces proves that a place among the waiting calls is taken for a model outside the process alone, before it is asked.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, inside := range []bool{true, false} {
		waits := 0
		m := &llm.Model{Provider: llmtest.Fixed{Text: "x"}, Name: "m", Embedded: inside, Can: llm.Abilities{Context: 9000}}
		_, err := service(t, stored(t, 3), m).Run(t.Context(), summarize.Request{LLM: "m", Await: func(context.Context) error { waits++; return nil }}, nothing)
		if err != nil || (waits == 0) != inside {
			t.Errorf("embedded %v: %v, waited %d times", inside, err, waits)
		}
	}
}

// TestFailures proves what becomes of failures of the model: a provider's error without a body keeps its status, others have theirs.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fails  error
		says   string
		kind   fault.Kind
		status int
	}{
		{&llm.Error{Failure: llm.Rejected, Status: 418}, "", fault.KindUpstream, 418},
		{&llm.Error{Failure: llm.Broken, Status: 500}, "", fault.KindUpstream, 500},
		{&llm.Error{Failure: llm.Rejected, Status: 418, Text: "no"}, "", fault.KindInvalid, 0},
		{&llm.Error{Failure: llm.Empty, Status: 200}, "", fault.KindUpstream, 0},
		{&llm.Error{Failure: llm.TimedOut}, "", fault.KindTimeout, 0},
		{nil, " ", fault.KindUpstream, 0},
	} {
		m := &llm.Model{Provider: llmtest.Fixed{Text: c.says, Err: c.fails}, Name: "m", Can: llm.Abilities{Context: 9000}}
		_, err := service(t, stored(t, 3), m).Run(t.Context(), summarize.Request{LLM: "m"}, nothing)
		if f, ok := fault.As(err); !ok || f.Kind != c.kind || f.Status != c.status {
			t.Errorf("%v and %q: %+v", c.fails, c.says, err)
		}
	}
}

// TestLongDocuments proves that a template may go through a document that is longer than prompts usually are.
func TestLongDocuments(t *testing.T) {
	t.Parallel()
	var asked llm.Request
	inside := &llm.Model{Provider: llmtest.Fixed{Text: "x", Last: &asked}, Name: "m", Embedded: true}
	long := stored(t, 12_000)
	for i := range long.doc.Parts {
		long.doc.Parts[i].Text += strings.Repeat(" Again and again.", 12)
	}
	r := summarize.Request{LLM: "m", Template: "#foreach ($p in $document.parts())#if ($p.hasTable())$p.table().json()#end$p.text() $p.metadata().get(\"section\")\n#end"}
	out, err := service(t, long, inside).Run(t.Context(), r, nothing)
	if err != nil || len(out.Prompt) < 2<<20 {
		t.Errorf("%d bytes of prompt, %v", len(out.Prompt), err)
	}
	r.Template = "#foreach ($p in $document.parts())#foreach ($q in $document.parts())x#end#end"
	if _, err := service(t, long, inside).Run(t.Context(), r, nothing); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("a template that goes through the document for each of its parts: %v", err)
	}
}
