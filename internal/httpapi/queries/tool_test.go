package queries_test

import (
	"encoding/json"
	"strings"
	"testing"

	"quarry/internal/agent/tool/mask"
	"quarry/internal/agent/tool/search"
	"quarry/internal/app/apptest"
	"quarry/internal/corpus"
	"quarry/internal/corpus/draft"
	"quarry/internal/corpus/ingest"
	"quarry/internal/fault"
	"quarry/internal/httpapi/queries"
	"quarry/internal/query"
	"quarry/internal/query/history"
)

// TestSearcherChecks proves that a query of a tool is refused when it is written for everything that is wrong with it whatever
// corpora, presets and models there are, and for nothing else.
func TestSearcherChecks(t *testing.T) {
	t.Parallel()
	s := queries.NewSearcher(query.New(query.Config{MaxCorpora: 2}))
	for _, c := range []struct{ request, field string }{
		{`{"query": "?", "search": {"corpora": [{"corpus_key": "none", "metadata_filter": "doc.nothing = 'x'"}, {}]}, "generation": {"generation_preset_name": "none"}}`, ""},
		{`{"query": "?", "search": {"corpora": [{}, {"metadata_filter": "doc.x = "}]}}`, "search.corpora[1].metadata_filter"},
		{`{"query": "?", "search": {"corpora": [{}, {}, {}]}}`, "search.corpora"},
		{`{"query": "?", "search": {"corpora": [{"query": " "}]}}`, "search.corpora[0].query"},
		{`{"query": "?", "search": {"limit": 1001, "corpora": [{}]}}`, "search.limit"},
		{`{"query": "?", "search": {"limit": 1.5, "corpora": [{}]}}`, ""},
		{`{"query": "?", "search": {"corpora": [{}], "reranker": {"type": "chain", "rerankers": [{"type": "userfn", "user_function": "1 +"}]}}}`, "search.reranker.rerankers[0].user_function"},
		{`{"query": "?", "search": {"corpora": [{}]}, "generation": {"prompt_template": "#foreach ("}}`, "generation.prompt_template"},
		{`{"query": "?", "search": {"corpora": [{}]}, "generation": {"prompt_text": "#foreach ("}}`, "generation.prompt_text"},
	} {
		err := s.Check(json.RawMessage(c.request))
		f, ok := fault.As(err)
		if strings.Contains(c.request, "1.5") { // where exactly is the schema's to say
			if err == nil {
				t.Errorf("%s is taken", c.request)
			}
			continue
		}
		if c.field == "" && err != nil || c.field != "" && (!ok || len(f.Fields) != 1 || f.Fields[c.field] == "") {
			t.Errorf("%s: %v, want a fault of %q", c.request, err, c.field)
		}
	}
}

// TestSearcherSearches proves that a query of a tool answers as the query of a client does, and that its record names agent and
// session and has no secret.
func TestSearcherSearches(t *testing.T) {
	t.Parallel()
	a, _ := apptest.Start(t, nil)
	if _, err := a.Corpora.Create(t.Context(), corpus.Create{Key: "c", Attributes: []corpus.Attribute{{Name: "team", Level: "document", Type: "text", Indexed: true}}}); err != nil {
		t.Fatal(err)
	}
	for id, text := range map[string]string{"oil": "Change the oil of the pump every 500 hours.", "lunch": "The canteen serves lunch at noon."} {
		d := &draft.Core{ID: id, Metadata: json.RawMessage(`{"team": "` + id + `-secret"}`), Parts: []draft.CorePart{{Text: text}}}
		if _, err := a.Ingest.Create(t.Context(), "c", d, ingest.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	s := queries.NewSearcher(a.Query)
	search := func(request string) (map[string]any, error) {
		raw, err := s.Search(t.Context(), search.Query{
			Request: json.RawMessage(request), Agent: "helper", Session: "talk", Mask: mask.New("doc.team = 'oil-secret'", "500 hours"),
		})
		var out map[string]any
		if err == nil {
			err = json.Unmarshal(raw, &out)
		}
		return out, err
	}
	got, err := search(`{"query": "How often is the oil changed?", "save_history": true, "generation": {"prompt_template": "In 500 hours: $vectaraQuery"},
		"search": {"corpora": [{"corpus_key": "c", "metadata_filter": "doc.team = 'oil-secret'"}]}}`)
	if err != nil {
		t.Fatal(err)
	}
	results, _ := got["search_results"].([]any)
	if len(results) != 1 || !strings.Contains(got["summary"].(string), "500 hours") || results[0].(map[string]any)["document_id"] != "oil" {
		t.Errorf("answer: %v", got)
	}
	if _, err := search(`{"query": "lunch?", "save_history": false, "search": {"corpora": [{"corpus_key": "c"}]}}`); err != nil {
		t.Error(err)
	}
	for request, kind := range map[string]fault.Kind{
		`{"query": "lunch?", "search": {"corpora": [{"corpus_key": "none"}]}}`:                                   fault.KindNotFound,
		`{"query": "lunch?", "search": {"corpora": [{"corpus_key": "c", "metadata_filter": "doc.none = 'x'"}]}}`: fault.KindInvalid,
	} {
		if _, err := search(request); !fault.Is(err, kind) {
			t.Errorf("%s: %v", request, err)
		}
	}
	kept, _, err := a.History.List(t.Context(), history.List{Limit: 10, Reader: history.Reader{All: true}})
	if err != nil || len(kept) != 1 {
		t.Fatalf("%v, kept: %+v", err, kept)
	}
	r, err := a.History.Get(t.Context(), string(kept[0].ID), history.Reader{All: true})
	if err != nil {
		t.Fatal(err)
	}
	prompt := ""
	for _, span := range r.Spans {
		prompt += span.Prompt + span.Generation
	}
	if r.AgentKey != "helper" || r.SessionKey != "talk" || !strings.Contains(string(r.Request), `"metadata_filter":"****"`) || strings.Contains(string(r.Request)+prompt+*r.Generation, "500 hours") || !strings.Contains(prompt, "****") {
		t.Errorf("record: %+v, request %s, prompt %q, generation %q", r.Summary, r.Request, prompt, *r.Generation)
	}
}
