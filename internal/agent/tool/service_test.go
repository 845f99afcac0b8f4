package tool_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"quarry/internal/app/apptest"
	"quarry/internal/provider/scripted"
)

// house is a whole service with a corpus "pump" of two teams and a model "writer" that does as a test says.
type house struct {
	*httptest.Server
	model *scripted.Server
	owner string
}

func openHouse(t *testing.T) *house {
	t.Helper()
	a, owner := apptest.Start(t, nil)
	h := &house{httptest.NewServer(a.Handler()), scripted.Start(t), owner}
	t.Cleanup(h.Close)
	h.must(t, 201, "POST", "/v2/corpora", `{"key": "pump", "filter_attributes": [{"name": "team", "level": "document", "type": "text", "indexed": true}]}`)
	for team, text := range map[string]string{"red": "Team red changes the oil every 500 hours.", "blue": "Team blue changes the oil every 900 hours."} {
		h.must(t, 201, "POST", "/v2/corpora/pump/documents", `{"type": "core", "id": "`+team+`", "metadata": {"team": "`+team+`"}, "document_parts": [{"text": "`+text+`"}]}`)
	}
	h.must(t, 201, "POST", "/v2/llms", `{"type": "openai-compatible", "name": "writer", "model": "scripted", "default": true, "uri": "`+h.model.URL+`/v1/chat/completions",
		"auth": {"type": "bearer", "token": "sk-of-the-house"}}`)
	return h
}

// send sends a request with a key and returns status and body.
func (h *house) send(t *testing.T, key, method, path, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, h.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := h.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

func (h *house) must(t *testing.T, want int, method, path, body string) string {
	t.Helper()
	status, answer := h.send(t, h.owner, method, path, body)
	if status != want {
		t.Fatalf("%s %s answers %d, want %d: %s", method, path, status, want, answer)
	}
	return answer
}

// event is what the tests read of an event.
type event struct {
	Type      string          `json:"type"`
	Tool      string          `json:"tool_configuration_name"`
	ToolName  string          `json:"tool_name"`
	Input     json.RawMessage `json:"tool_input"`
	Paths     []string        `json:"argument_override_paths"`
	Output    json.RawMessage `json:"tool_output"`
	Failed    bool            `json:"error"`
	Overrides json.RawMessage `json:"resolved_argument_overrides"`
}

func events(t *testing.T, answer string) (out []event) {
	t.Helper()
	var body struct{ Events []event }
	if err := json.Unmarshal([]byte(answer), &body); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return body.Events
}

// line returns an event on one line.
func (e *event) line() string {
	switch e.Type {
	case "tool_input":
		return fmt.Sprintf("%s %s %s %s %q", e.Type, e.Tool, e.ToolName, e.Input, e.Paths)
	case "tool_output":
		return fmt.Sprintf("%s %s %v %s %s", e.Type, e.Tool, e.Failed, e.Output, e.Overrides)
	}
	return e.Type
}

const hello = `{"messages": [{"type": "text", "content": "How often is the oil changed?"}]}`

// TestCallsOfATurn proves through the whole service that calls of one reply run in the order of what they read, that what is
// stored has the model's part and the masked rest, that bad calls are outputs, and that neither the model, nor an event, nor
// the query history has a secret.
func TestCallsOfATurn(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	h.must(t, 201, "POST", "/v2/agents", `{"key": "a", "name": "Helper", "model": {"name": "writer"}, "metadata": {"region": "eu"}, "tool_configurations": {
		"find": {"type": "corpora_search", "description_template": "Finds what $agent.name of $agent.metadata.region knows", "output_transform": ".search_results | {found: map(.text)}",
			"query_configuration": {"save_history": true, "search": {"limit": 1, "corpora": [{"corpus_key": "pump", "metadata_filter": {"$ref": "session.secrets.filter"}}]}}},
		"more": {"type": "corpora_search", "argument_override": {"query": {"$ref": "tools.find.outputs.latest.found[0]"}},
			"output_transform": ".search_results | map(.document_id)", "query_configuration": {"search": {"corpora": [{"corpus_key": "pump"}]}}}}}`)
	h.must(t, 201, "POST", "/v2/agents/a/sessions", `{"key": "s", "secrets": {"filter": "doc.team = 'red'"}}`)
	h.model.Then(scripted.Reply{Calls: []scripted.Call{
		{ID: "c1", Name: "more", Pieces: []string{`{}`}}, {ID: "c2", Name: "find", Pieces: []string{`{"query":"oil"}`}},
		{ID: "c3", Name: "lose", Pieces: []string{`{}`}}, {ID: "c4", Name: "more", Pieces: []string{`{"x":5}`}},
	}}, scripted.Reply{Text: "Every 500 hours."})
	n := len(h.model.Requests())
	answer := h.must(t, 201, "POST", "/v2/agents/a/sessions/s/events", hello)
	all := events(t, answer)
	var inputs []string
	outputs := map[string]string{}
	for _, e := range all {
		switch e.Type {
		case "tool_input":
			inputs = append(inputs, e.line())
		case "tool_output":
			outputs[e.Tool+fmt.Sprint(e.Failed)] = e.line()
		}
	}
	want := []string{`tool_input more corpora_search {} ["query"]`, `tool_input find corpora_search {"query":"oil"} []`, `tool_input lose lose {} []`, `tool_input more corpora_search {"x":5} ["query"]`}
	if strings.Join(inputs, "\n") != strings.Join(want, "\n") || len(all) != 10 {
		t.Errorf("%d events, inputs:\n%s", len(all), strings.Join(inputs, "\n"))
	}
	if got := outputs["findfalse"]; got != `tool_output find false {"found":["Team red changes the oil every 500 hours."]} {}` {
		t.Error(got)
	}
	if got := outputs["moretrue"]; got != `tool_output more true {"error":"the arguments don't fit: additional properties 'x' not allowed"} ` {
		t.Error(got)
	}
	if got := outputs["losetrue"]; !strings.Contains(got, `there is no tool \"lose\"; there are: find, more`) {
		t.Error(got)
	}
	if got := outputs["morefalse"]; got != `tool_output more false {"content":["red","blue"]} {"query":"Team red changes the oil every 500 hours."}` {
		t.Error(got)
	}
	prompts := ""
	for _, r := range h.model.Requests()[n:] {
		prompts += string(r.Body)
	}
	if !strings.Contains(prompts, "Finds what Helper of eu knows") || !strings.Contains(prompts, `every 500 hours`) {
		t.Errorf("prompts: %s", prompts)
	}
	history := h.must(t, 200, "GET", "/v2/queries?limit=10", "")
	var kept struct{ Queries []map[string]any }
	if err := json.Unmarshal([]byte(history), &kept); err != nil || len(kept.Queries) != 1 || kept.Queries[0]["agent_key"] != "a" || kept.Queries[0]["session_key"] != "s" {
		t.Fatalf("history: %s", history)
	}
	record := h.must(t, 200, "GET", fmt.Sprint("/v2/queries/", kept.Queries[0]["id"]), "")
	for what, text := range map[string]string{"answer": answer, "prompts": prompts, "record": record, "log": h.must(t, 200, "GET", "/v2/agents/a/sessions/s/events", "")} {
		if strings.Contains(text, "doc.team") {
			t.Errorf("the %s: %s", what, text)
		}
	}
}

// TestUnresolvedStoresNothing proves that a turn without a value for its filter is refused in the contract's words, before
// anything is stored or a model is called.
func TestUnresolvedStoresNothing(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	h.must(t, 201, "POST", "/v2/agents", `{"key": "a", "name": "Helper", "model": {"name": "writer"}, "tool_configurations": {"find": {"type": "corpora_search",
		"query_configuration": {"search": {"corpora": [{"corpus_key": "pump", "metadata_filter": {"$ref": "session.metadata.acl"}}]}}}}}`)
	h.must(t, 201, "POST", "/v2/agents/a/sessions", `{"key": "s"}`)
	n := len(h.model.Requests())
	if got := h.must(t, 422, "POST", "/v2/agents/a/sessions/s/events", hello); !strings.Contains(got, "Failed to resolve eager references: tool 'find': unresolved refs [session.metadata.acl]") {
		t.Error(got)
	}
	if got := h.must(t, 200, "GET", "/v2/agents/a/sessions/s/events", ""); len(events(t, got)) > 0 || len(h.model.Requests()) > n {
		t.Errorf("stored: %s", got)
	}
	h.must(t, 200, "PATCH", "/v2/agents/a/sessions/s", `{"metadata": {"acl": "doc.team = 'blue'"}}`)
	h.model.Then(scripted.Reply{Calls: []scripted.Call{{ID: "c", Name: "find", Pieces: []string{`{"query":"oil"}`}}}}, scripted.Reply{Text: "Every 900 hours."})
	got := h.must(t, 201, "POST", "/v2/agents/a/sessions/s/events", hello)
	if !strings.Contains(got, "Team blue") || strings.Contains(got, "Team red") {
		t.Error(got)
	}
}

// TestCorpusOfTheCaller proves that a corpus that a reference names is searched with the rights of whoever sent the input, and
// one that the agent names with those of whoever wrote it.
func TestCorpusOfTheCaller(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	h.must(t, 201, "POST", "/v2/agents", `{"key": "a", "name": "Helper", "model": {"name": "writer"}, "tool_configurations": {
		"theirs": {"type": "corpora_search", "query_configuration": {"search": {"corpora": [{"corpus_key": {"$ref": "session.metadata.corpus"}}]}}},
		"ours": {"type": "corpora_search", "query_configuration": {"search": {"corpora": [{"corpus_key": "pump"}]}}}}}`)
	var key struct {
		Secret string `json:"secret_key"`
	}
	if err := json.Unmarshal([]byte(h.must(t, 201, "POST", "/v2/api_keys", `{"name": "user", "agent_roles": [{"agent_key": "a", "role": "agent_user"}]}`)), &key); err != nil {
		t.Fatal(err)
	}
	h.must(t, 201, "POST", "/v2/agents/a/sessions", `{"key": "s", "metadata": {"corpus": "pump"}}`)
	for sender, refused := range map[string]bool{h.owner: false, key.Secret: true} {
		h.model.Then(scripted.Reply{Calls: []scripted.Call{
			{ID: "c1", Name: "theirs", Pieces: []string{`{"query":"oil"}`}}, {ID: "c2", Name: "ours", Pieces: []string{`{"query":"oil"}`}},
		}}, scripted.Reply{Text: "Done."})
		_, answer := h.send(t, sender, "POST", "/v2/agents/a/sessions/s/events", hello)
		for _, e := range events(t, answer) {
			if e.Type == "tool_output" && e.Failed != (refused && e.Tool == "theirs") {
				t.Errorf("refused %v: %s", refused, e.line())
			}
		}
	}
}
