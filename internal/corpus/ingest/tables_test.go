package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document/documenttest"
	"quarry/internal/corpus/ingest"
	"quarry/internal/corpus/ingest/summary"
	"quarry/internal/extract"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
)

// seeing is a Reader that reports what it was asked, and that it searched seven pages for tables.
type seeing struct{ asked *[]bool }

func (s seeing) Read(_ context.Context, in extract.Input) (*extract.Document, error) {
	*s.asked = append(*s.asked, in.Tables)
	d, err := extract.Read(in)
	if err == nil && in.Tables {
		d.Searched = 7
	}
	return d, err
}

func (seeing) Scanned(_ context.Context, in extract.Input, page extract.Scan) (*extract.Raster, error) {
	return extract.Scanned(in, page)
}

// described is a fixture whose tables a model describes, and what readers and model were asked.
type described struct {
	*fixture
	read  []bool
	asked llm.Request
	calls int
}

func newDescribed(fails error) *described {
	d := &described{fixture: &fixture{store: documenttest.New(corpus.Corpus{Key: "manuals", Seq: 10, Enabled: true}), enc: &documenttest.Encoder{}}}
	d.Service = ingest.New(ingest.Config{
		Corpora: d.store.Corpora(), Documents: d.store, Encoders: d.enc, Index: d.store, Reader: seeing{&d.read},
		Summaries: summary.New(counted{d, llm.Model{Provider: llmtest.Fixed{Text: "Steps and pressures.", Err: fails, Last: &d.asked}, Name: "w", Can: llm.Abilities{Context: 8192}}}),
	})
	return d
}

// counted counts the models that are taken.
type counted struct {
	d     *described
	model llm.Model
}

func (c counted) Model(_ context.Context, name string) (*llm.Model, error) {
	c.d.calls++
	if name == "none" {
		none := fault.Invalid()
		none.Text = "there is none"
		return nil, none
	}
	m := c.model
	return &m, nil
}

// generate asks for descriptions of the tables of a file.
func generate(id, data, model, template string) ingest.Upload {
	u := upload(id, data)
	u.Tables = &ingest.Tables{Generate: &summary.Request{LLM: model, Template: template}}
	return u
}

// TestTablesAreDescribed proves that what the model says becomes the table's description and the part that sums it up, and that the
// model is waited for outside.
func TestTablesAreDescribed(t *testing.T) {
	t.Parallel()
	b := newDescribed(nil)
	outside := 0
	u := generate("manual.md", manual, "", "")
	u.Outside = func(ctx context.Context, wait func(context.Context) error) error { outside++; return wait(ctx) }
	d, err := b.Upload(t.Context(), "manuals", u)
	if err != nil {
		t.Fatal(err)
	}
	stored, _ := b.store.Document("manual.md")
	var parts []string
	for _, p := range stored.Parts {
		if p.TableID != "" {
			parts = append(parts, fmt.Sprint(p.TableID, " ", p.Text))
		}
	}
	if diff := cmp.Diff([]string{"table_1 Steps and pressures.", "table_1 Step: one; Bar: 1"}, parts); diff != "" {
		t.Errorf("parts of the table (-want +got):\n%s", diff)
	}
	if len(stored.Tables) != 1 || stored.Tables[0].Description != "Steps and pressures." || d.Searched != 7 || outside != 1 {
		t.Errorf("%+v, %d pages, waited %d times", stored.Tables, d.Searched, outside)
	}
	if said := b.asked.Messages[len(b.asked.Messages)-1].Plain(); !strings.Contains(said, "| one | 1 |") {
		t.Errorf("the model reads %q", said)
	}
}

// TestTablesAreDescribedOnce proves that a model is not asked for what it has described, nor for what is refused anyway.
func TestTablesAreDescribedOnce(t *testing.T) {
	t.Parallel()
	b := newDescribed(nil)
	first, err := b.Upload(t.Context(), "manuals", generate("manual.md", manual, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, replace := range []bool{false, true} {
		b.asked = llm.Request{}
		u := generate("manual.md", manual, "", "")
		u.Replace = replace
		again, err := b.Upload(t.Context(), "manuals", u)
		if err != nil || b.asked.Messages != nil || again.Searched != 7 || again.Passages != first.Passages {
			t.Errorf("replace %v: %+v, %v; asked %v", replace, again, err, b.asked.Messages)
		}
	}
	changed := strings.ReplaceAll(manual, "one", "two")
	if _, err := b.Upload(t.Context(), "manuals", generate("manual.md", changed, "", "")); !fault.Is(err, fault.KindConflict) || b.asked.Messages != nil {
		t.Errorf("other bytes: %v; asked %v", err, b.asked.Messages)
	}
	u := generate("manual.md", changed, "", "")
	u.Replace = true
	if _, err := b.Upload(t.Context(), "manuals", u); err != nil || b.asked.Messages == nil {
		t.Errorf("other bytes in its place: %v; asked %v", err, b.asked.Messages)
	}
}

// TestTablesRefused proves that a bad request is refused before the file is read, and that nothing is stored where the model fails.
func TestTablesRefused(t *testing.T) {
	t.Parallel()
	other := "textract"
	for _, c := range []struct {
		name  string
		do    func(*ingest.Upload)
		fails error
		kind  fault.Kind
		field string
		reads int
	}{
		{"an extractor that is none", func(u *ingest.Upload) { u.Tables.Extractor = &other }, nil, fault.KindInvalid, "table_extraction_config.extractor.name", 0},
		{"a model that is none", func(u *ingest.Upload) { u.Tables.Generate.LLM = "none" }, nil, fault.KindInvalid, "table_extraction_config.generation.llm_name", 0},
		{"a bad template", func(u *ingest.Upload) { u.Tables.Generate.Template = "#if (" }, nil, fault.KindInvalid, "table_extraction_config.generation.prompt_template", 0},
		{"a model that fails", func(*ingest.Upload) {}, &llm.Error{Failure: llm.Unreachable}, fault.KindUnavailable, "", 1},
	} {
		b := newDescribed(c.fails)
		u := generate("manual.md", manual, "", "")
		c.do(&u)
		_, err := b.Upload(t.Context(), "manuals", u)
		f, ok := fault.As(err)
		if !ok || f.Kind != c.kind || c.field != "" && f.Fields[c.field] == "" || len(b.read) != c.reads {
			t.Errorf("%s: %v, read %d times", c.name, err, len(b.read))
		}
		if _, stored := b.store.Document("manual.md"); stored {
			t.Errorf("%s: it is stored", c.name)
		}
	}
}

// TestTablesNotAskedFor proves that tables are looked for where that is asked for, and that no model is taken for a file without tables.
func TestTablesNotAskedFor(t *testing.T) {
	t.Parallel()
	b := newDescribed(nil)
	for _, u := range []ingest.Upload{upload("a.md", manual), generate("b.md", "No table.", "", "")} {
		if _, err := b.Upload(t.Context(), "manuals", u); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]bool{false, true}, b.read); diff != "" || b.calls != 1 || b.asked.Messages != nil {
		t.Errorf("tables looked for: %v; %d models, asked %v", b.read, b.calls, b.asked.Messages)
	}
}
