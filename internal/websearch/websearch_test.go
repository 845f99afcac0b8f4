package websearch_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/web"
	"quarry/internal/llm"
	"quarry/internal/outbound"
	"quarry/internal/websearch"
	"quarry/test/site"
)

var client = outbound.New(outbound.Config{AllowPrivate: true})

// call calls web_search with an engine.
func call(t *testing.T, p web.Provider, overrides, arguments string) tool.Output {
	t.Helper()
	made, err := web.NewSearch(p)
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.Compile(map[string]json.RawMessage{"t": json.RawMessage(`{"type":"web_search"` + overrides + `}`)}, tool.Kit{
		Types: map[string]tool.Type{web.Search: made}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	bound, _, err := set.Bind(tool.Scene{}, "")
	if err != nil {
		t.Fatal(err)
	}
	planned := bound.Plan([]llm.ToolCall{{ID: "c", Name: "t", Arguments: json.RawMessage(arguments)}}, nil, tool.Scene{})
	return bound.Run(t.Context(), planned[0], tool.Scene{})
}

// TestSearches proves what both services are asked, and that limits and domains hold whatever they answer.
func TestSearches(t *testing.T) {
	t.Parallel()
	s := site.Start(t, false)
	for _, p := range []web.Provider{
		{Name: "tavily", Engine: websearch.NewTavily(client, s.URL, site.Key)},
		{Name: "tavily", Engine: websearch.NewTavily(client, s.URL+"/search", site.Key)},
		{Name: "searxng", Engine: websearch.NewSearXNG(client, s.URL+"/")},
	} {
		for _, c := range []struct {
			arguments string
			found     []string
		}{
			{`{"query":"stones"}`, []string{"Mills", "Docs", "Other", "Near"}},
			{`{"query":"stones","limit":2}`, []string{"Mills", "Docs"}},
			{`{"query":"stones","include_domains":["example.com"]}`, []string{"Mills", "Docs"}},
			{`{"query":"stones","include_domains":["docs.example.com","OTHER.test."]}`, []string{"Docs", "Other"}},
			{`{"query":"stones","include_domains":["*.example.com"]}`, []string{"Docs"}},
			{`{"query":"stones","exclude_domains":["*.example.com"]}`, []string{"Mills", "Other", "Near"}},
			{`{"query":"stones","exclude_domains":["example.com","other.test"],"limit":1}`, []string{"Near"}},
			{`{"query":"stones","include_domains":["example.com"],"exclude_domains":["docs.example.com"]}`, []string{"Mills"}},
			{`{"query":"stones","include_domains":["nowhere.test"]}`, nil},
			{`{"query":"stones","provider":"` + p.Name + `","limit":1}`, []string{"Mills"}},
		} {
			out := call(t, p, "", c.arguments)
			var v struct{ Results []web.Result }
			if err := json.Unmarshal(out.Output, &v); err != nil || out.Failed || v.Results == nil {
				t.Fatalf("%s %s: %s (%v)", p.Name, c.arguments, out.Output, err)
			}
			var titles []string
			for _, r := range v.Results {
				titles = append(titles, r.Title)
				if r.Score <= 0 || r.Score > 1 || r.Content == "" {
					t.Errorf("%+v", r)
				}
			}
			if diff := cmp.Diff(c.found, titles); diff != "" {
				t.Errorf("%s %s (-want +got): %s", p.Name, c.arguments, diff)
			}
		}
	}
	var asked map[string]any
	if err := json.Unmarshal([]byte(s.Seen("/search")[6].Body), &asked); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"query": "stones", "max_results": 20.0, "exclude_domains": []any{"example.com", "other.test"}}, asked); diff != "" {
		t.Errorf("Tavily is asked (-want +got): %s", diff)
	}
}

// TestRefusals proves what a call and a configuration are refused for, and that the key is in no refusal.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := site.Start(t, false)
	answers := func(status int, body string) web.Provider {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(server.Close)
		return web.Provider{Name: "tavily", Engine: websearch.NewTavily(client, server.URL, "tvly-hidden")}
	}
	ours := func(status int, body string) web.Provider {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(server.Close)
		return web.Provider{Name: "searxng", Engine: websearch.NewSearXNG(client, server.URL)}
	}
	gone := answers(200, "")
	tavily := web.Provider{Name: "tavily", Engine: websearch.NewTavily(client, s.URL, "tvly-hidden")}
	for _, c := range []struct {
		p         web.Provider
		arguments string
		class     tool.Class
		says      string
	}{
		{web.Provider{Name: "tavily", Why: "the setting web_search_key is empty"}, `{"query":"x"}`, tool.InvalidConfiguration, "web_search_key"},
		{tavily, `{"query":"x"}`, tool.InvalidConfiguration, "web_search_key"},
		{tavily, `{"query":"x","provider":"searxng"}`, tool.InvalidConfiguration, "web_search"},
		{tavily, `{"query":"x","provider":"google"}`, tool.InvalidInput, "provider"},
		{tavily, `{"query":" "}`, tool.InvalidInput, "blank"},
		{tavily, `{"query":"x","limit":21}`, tool.InvalidInput, "limit"},
		{tavily, `{"query":"x","limit":0}`, tool.InvalidInput, "limit"},
		{tavily, `{"query":"x","include_domains":["example.com/docs"]}`, tool.InvalidInput, "include_domains[0]"},
		{tavily, `{"query":"x","exclude_domains":["a.test","https://example.com"]}`, tool.InvalidInput, "exclude_domains[1]"},
		{tavily, `{"query":"x","exclude_domains":["a.*.test"]}`, tool.InvalidInput, "no domain"},
		{tavily, `{"query":"x","exclude_domains":["` + strings.Repeat(`a.test","`, 50) + `b.test"]}`, tool.InvalidInput, "exclude_domains"},
		{answers(500, "tvly-hidden"), `{"query":"x"}`, tool.ExecutionError, "status 500"},
		{answers(429, ""), `{"query":"x"}`, tool.ExecutionError, "for now"},
		{answers(200, "<html>tvly-hidden"), `{"query":"x"}`, tool.ExecutionError, "no JSON"},
		{ours(403, "<html>"), `{"query":"x"}`, tool.InvalidConfiguration, "search.formats"},
		{ours(200, "<html>"), `{"query":"x"}`, tool.ExecutionError, "search.formats"},
		{answers(200, strings.Repeat(" ", 9<<20)), `{"query":"x"}`, tool.ExecutionError, "more than"},
		{web.Provider{Name: "tavily", Engine: websearch.NewTavily(client, "http://nobody.invalid", "tvly-hidden")}, `{"query":"x"}`, tool.ExecutionError, "nobody.invalid"},
		{web.Provider{Name: "tavily", Engine: websearch.NewTavily(client, "http://169.254.169.254", "tvly-hidden")}, `{"query":"x"}`, tool.ExecutionError, "metadata"},
	} {
		out := call(t, c.p, "", c.arguments)
		if !out.Failed || out.Class != c.class || !strings.Contains(string(out.Output), c.says) || strings.Contains(string(out.Output), "tvly-hidden") {
			t.Errorf("%s: %s %s", c.arguments, out.Class, out.Output)
		}
	}
	if out := call(t, gone, "", `{"query":"x"}`); !out.Failed {
		t.Errorf("an empty answer: %s", out.Output)
	}
	made, err := web.NewSearch(tavily)
	if err != nil {
		t.Fatal(err)
	}
	for pins, field := range map[string]string{
		`"include_domains":["a.test","a.test/x"]`: "include_domains[1]", `"exclude_domains":["http://a.test"]`: "exclude_domains[0]",
		`"limit":30`: "limit", `"provider":"google"`: "provider", `"domains":[]`: "domains",
	} {
		_, err := tool.Compile(map[string]json.RawMessage{"t": json.RawMessage(`{"type":"web_search","argument_override":{` + pins + `}}`)}, tool.Kit{Types: map[string]tool.Type{web.Search: made}})
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", pins, err)
		}
	}
}
