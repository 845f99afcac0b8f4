package summary_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"quarry/internal/corpus/document"
	"quarry/internal/corpus/ingest/summary"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
)

// models are a model for each call; the texts that they are asked are kept.
type models struct {
	mu      sync.Mutex
	names   []string
	prompts []string
	answer  func(prompt string) (string, error)
	admit   error
	inside  bool
	context int
}

func (m *models) Model(_ context.Context, name string) (*llm.Model, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names = append(m.names, name)
	if name == "none" {
		f := fault.Invalid()
		f.Text = "there is none"
		return nil, f
	}
	return &llm.Model{Provider: m, Name: "writer", Embedded: m.inside, Can: llm.Abilities{Context: m.context}}, nil
}

func (m *models) Admit(context.Context) error { return m.admit }

func (m *models) Stream(_ context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	text := r.Messages[len(r.Messages)-1].Plain()
	if m.inside {
		text = ""
		for _, e := range r.Evidence {
			text += e.Text + "|"
		}
	}
	m.mu.Lock()
	m.prompts = append(m.prompts, text)
	m.mu.Unlock()
	said, err := text, error(nil)
	if m.answer != nil {
		said, err = m.answer(text)
	}
	if err != nil {
		return llm.Answer{}, err
	}
	return llm.Answer{Text: said, Reason: llm.Stop}, emit(llm.Event{Text: said})
}

// pumps returns a table of so many rows.
func pumps(title string, rows int) *document.Table {
	var all []string
	for i := range rows {
		all = append(all, fmt.Sprintf(`[{"text_value":"pump %d"},{"text_value":"%d"}]`, i, 3+i))
	}
	return &document.Table{
		ID: "table_1", Title: title,
		Data: json.RawMessage(`{"headers":[[{"text_value":"Pump"},{"text_value":"Bar"}]],"rows":[` + strings.Join(all, ",") + `]}`),
	}
}

func describe(t *testing.T, m *models, r summary.Request, tables ...*document.Table) error {
	t.Helper()
	if m.context == 0 {
		m.context = 8192
	}
	p, err := summary.New(m).Plan(t.Context(), r)
	if err != nil {
		return err
	}
	return p.Describe(t.Context(), tables)
}

// TestDescribe proves that each table is described by its own call with what the template shows of it.
func TestDescribe(t *testing.T) {
	t.Parallel()
	m := &models{answer: func(p string) (string, error) { return " about " + p + "\n", nil }}
	one, two := pumps("One", 1), pumps("Two", 2)
	r := summary.Request{LLM: "w", Template: "$table.title(), $vectaraTable.title(), [$table.description()]: $table.markdown() $table.json()"}
	if err := describe(t, m, r, one, two); err != nil {
		t.Fatal(err)
	}
	want := `about One, One, []: | Pump | Bar |
| --- | --- |
| pump 0 | 3 | {"id":"table_1","title":"One","data":{"headers":[[{"text_value":"Pump"},{"text_value":"Bar"}]],"rows":[[{"text_value":"pump 0"},{"text_value":"3"}]]}}`
	if one.Description != want || !strings.HasPrefix(two.Description, "about Two, Two, []: ") {
		t.Errorf("%s\n%s", one.Description, two.Description)
	}
	if len(m.prompts) != 2 || strings.Join(m.names, " ") != "w w" {
		t.Errorf("%q, %q", m.names, m.prompts)
	}
}

// TestDefaultTemplate proves that without a template the model sees title and cells, and that a table without a title has no line for it.
func TestDefaultTemplate(t *testing.T) {
	t.Parallel()
	m := &models{}
	titled, bare := pumps(`"One"`, 1), pumps("", 1)
	if err := describe(t, m, summary.Request{}, titled, bare); err != nil {
		t.Fatal(err)
	}
	const cells = "\n\n| Pump | Bar |\n| --- | --- |\n| pump 0 | 3 |"
	if titled.Description != "Describe this table:\n\nTitle: \"One\""+cells || bare.Description != "Describe this table:"+cells {
		t.Errorf("%q\n%q", titled.Description, bare.Description)
	}
}

// TestRefusals proves that what is wrong with a request is found before there are tables, with its field.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		request summary.Request
		field   string
	}{
		{summary.Request{LLM: "none"}, "llm_name"},
		{summary.Request{Template: " "}, "prompt_template"},
		{summary.Request{Template: "#if ("}, "prompt_template"},
		{summary.Request{Template: "$!table.none()"}, "prompt_template"},
		{summary.Request{Template: `[{"role":"wizard","content":"x"}]`}, "prompt_template"},
		{summary.Request{Template: "#foreach($i in [1..9000])#foreach($j in [1..9000])x#end#end"}, "prompt_template"},
	} {
		_, err := summary.New(&models{context: 8192}).Plan(t.Context(), c.request)
		if f, ok := fault.As(err); !ok || f.Kind != fault.KindInvalid || f.Fields[c.field] == "" {
			t.Errorf("%+v: %v", c.request, err)
		}
	}
}

// TestLongTables proves that of a table that does not fit the model its first rows are shown, and that a model for which even the template is
// too long is refused.
func TestLongTables(t *testing.T) {
	t.Parallel()
	m := &models{context: 4096}
	long := pumps("Long", 20_000)
	whole := string(long.Data)
	if err := describe(t, m, summary.Request{}, long); err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(long.Description, "\n| pump"); rows < 50 || rows > 500 || !strings.Contains(long.Description, "pump 0 |") || string(long.Data) != whole {
		t.Errorf("%d rows are shown, of %d bytes %d are left", rows, len(whole), len(long.Data))
	}
	err := describe(t, m, summary.Request{Template: strings.Repeat("many words ", 3000) + "$table.markdown()"}, pumps("", 1))
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindInvalid || f.Fields["llm_name"] == "" {
		t.Errorf("a template that is too long: %v", err)
	}
}

// TestFailures proves what becomes of a model that fails or has no place, and that no table is described then.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fails  error
		says   string
		kind   fault.Kind
		status int
	}{
		{&llm.Error{Failure: llm.TimedOut}, "", fault.KindTimeout, 0},
		{&llm.Error{Failure: llm.Unreachable}, "", fault.KindUnavailable, 0},
		{&llm.Error{Failure: llm.Limited}, "", fault.KindLimited, 0},
		{&llm.Error{Failure: llm.Rejected, Status: 400, Text: "no"}, "", fault.KindInvalid, 0},
		{&llm.Error{Failure: llm.Broken, Status: 500}, "", fault.KindUpstream, 500},
		{nil, " \n", fault.KindUpstream, 0},
		{nil, strings.Repeat("without end ", 10_000), fault.KindUpstream, 0},
	} {
		m := &models{answer: func(p string) (string, error) {
			if strings.Contains(p, "Two") {
				return c.says, c.fails
			}
			return "fine", nil
		}}
		one, two := pumps("One", 1), pumps("Two", 1)
		err := describe(t, m, summary.Request{}, one, two)
		if f, ok := fault.As(err); !ok || f.Kind != c.kind || f.Status != c.status || one.Description+two.Description != "" {
			t.Errorf("%v, %.20q: %v; %q, %q", c.fails, c.says, err, one.Description, two.Description)
		}
	}
	full := errors.New("full")
	m := &models{admit: full}
	if err := describe(t, m, summary.Request{}, pumps("One", 1)); !errors.Is(err, full) || len(m.prompts) > 0 {
		t.Errorf("a model without a place: %v, asked %q", err, m.prompts)
	}
}

// TestEmbedded proves that the model inside the program chooses among rows, behind what is said of the table, and is not asked where there
// is nothing to choose.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	m := &models{inside: true}
	two, none := pumps("", 2), pumps("", 0)
	if err := describe(t, m, summary.Request{}, two, none); err != nil {
		t.Fatal(err)
	}
	if want := "Table with 2 rows and the columns Pump, Bar. Pump: pump 0; Bar: 3.|Pump: pump 1; Bar: 4.|"; two.Description != want {
		t.Errorf("%q, want %q", two.Description, want)
	}
	if none.Description != "Table with 0 rows and the columns Pump, Bar." || len(m.prompts) != 1 {
		t.Errorf("%q, asked %d times", none.Description, len(m.prompts))
	}
}

// TestNothing proves that a file without tables needs no place at the model.
func TestNothing(t *testing.T) {
	t.Parallel()
	if err := describe(t, &models{admit: errors.New("full")}, summary.Request{}); err != nil {
		t.Error(err)
	}
	if p, err := summary.New(llmtest.Only{Use: &llm.Model{Provider: llmtest.Fixed{}, Embedded: true}}).Plan(t.Context(), summary.Request{}); err != nil || p.Waits() {
		t.Errorf("the model inside the program is no other service: %v", err)
	}
}
