package app_test

import (
	"bytes"
	"errors"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"quarry/internal/api"
	"quarry/internal/app"
	"quarry/internal/app/apptest"
	"quarry/internal/provider/scripted"
)

// list is a list operation with more than one item.
type list struct {
	path, other string // other is the same list of another parent, "" where lists have none
	filter      string // one that the list was not asked with, "" where it has none
}

// single are lists that have one item in a new installation and get no second one by requests.
var single = []string{"listEncoders", "listHallucinationCorrectors"}

// TestPageKeys proves for every list operation of the contract that is built that its page key is taken from the caller to whom it
// was given, and is 400 from any other, for another filter, another parent and another list.
func TestPageKeys(t *testing.T) {
	t.Parallel()
	a, owner := apptest.Start(t, nil)
	lists := filled(t, a, owner)
	stranger := made(t, a, owner, "/v2/api_keys", `{"name":"stranger","api_roles":["owner"]}`)["secret_key"].(string)
	for _, op := range api.Operations {
		pages := slices.ContainsFunc(op.Params, func(p api.Param) bool { return p.Name == "page_key" })
		if !pages || op.Planned || slices.Contains(single, op.ID) {
			continue
		}
		l, ok := lists[op.ID]
		if !ok {
			t.Errorf("%s has no line in the table of lists", op.ID)
			continue
		}
		get := func(key, path string, query ...string) (int, map[string]any) {
			q := url.Values{"limit": {"1"}}
			for i := 0; i < len(query); i += 2 {
				q.Set(query[i], query[i+1])
			}
			return ask(a, key, "GET", path+"?"+q.Encode(), "")
		}
		status, first := get(owner, l.path)
		metadata, _ := first["metadata"].(map[string]any)
		key, _ := metadata["page_key"].(string)
		if key == "" {
			t.Errorf("%s: %d %v, want a page with a key", op.ID, status, first)
			continue
		}
		if status, said := get(owner, l.path, "page_key", key); status != 200 {
			t.Errorf("%s by its caller: %d %v", op.ID, status, said)
		}
		refused := func(what string, status int, said map[string]any) {
			if fields, _ := said["field_errors"].(map[string]any); status != 400 || fields["query.page_key"] == nil {
				t.Errorf("%s %s: %d %v, want 400 for query.page_key", op.ID, what, status, said)
			}
		}
		status, said := get(stranger, l.path, "page_key", key)
		refused("by another caller", status, said)
		if l.filter != "" {
			name, value, _ := strings.Cut(l.filter, "=")
			status, said = get(owner, l.path, "page_key", key, name, value)
			refused("with another "+name, status, said)
		}
		if l.other != "" {
			status, said = get(owner, l.other, "page_key", key)
			refused("of another parent", status, said)
		}
		elsewhere := lists["listCorpora"]
		if op.ID == "listCorpora" {
			elsewhere = lists["listAgents"]
		}
		status, said = get(owner, elsewhere.path, "page_key", key)
		refused("for another list", status, said)
	}
}

// made creates something and returns the answer.
func made(t *testing.T, a *app.App, key, path, body string) map[string]any {
	t.Helper()
	status, answer := ask(a, key, "POST", path, body)
	if status < 200 || status > 299 {
		t.Fatalf("POST %s: %d %v", path, status, answer)
	}
	return answer
}

// filled puts more than one item into every list, and returns the lists by operation.
func filled(t *testing.T, a *app.App, key string) map[string]list {
	t.Helper()
	model := scripted.Start(t).URL + "/v1/chat/completions"
	for _, n := range []string{"1", "2"} {
		for _, c := range [][2]string{
			{"/v2/corpora", `{"key":"cN"}`},
			{"/v2/corpora/c1/documents", `{"id":"dN","type":"core","document_parts":[{"text":"The pump is dry."}]}`},
			{"/v2/corpora/c1/query", `{"query":"Is it dry?","search":{},"save_history":true}`},
			{"/v2/chats", `{"query":"Is it dry?","search":{"corpora":[{"corpus_key":"c1"}]}}`},
			{"/v2/llms", `{"type":"openai-compatible","name":"mN","model":"echo","uri":"` + model + `"}`},
			{"/v2/api_keys", `{"name":"kN","api_roles":["viewer"]}`},
			{"/v2/app_clients", `{"name":"pN","type":"client_credentials","api_roles":["viewer"]}`},
			{"/v2/users", `{"email":"uN@example.test","username":"uN"}`},
			{"/v2/tool_servers", `{"type":"mcp","name":"sN","uri":"http://127.0.0.1:1/","enabled":false}`},
			{"/v2/tool_configurations", `{"name":"tN","type":"artifact_read"}`},
			{"/v2/instructions", `{"type":"initial","name":"iN","template":"Be brief."}`},
			{"/v2/agents", `{"key":"aN","name":"A","model":{"name":"extractive-1.0"}}`},
			{"/v2/agents/a1/sessions", `{"key":"sN"}`},
			{"/v2/agents/a1/sessions/s1/events", `{"messages":[{"type":"text","content":"Hello."}]}`},
			{"/v2/glossaries", `{"key":"gN","name":"G"}`},
		} {
			made(t, a, key, c[0], strings.ReplaceAll(c[1], "N", n))
		}
		if status, said := ask(a, key, "DELETE", "/v2/corpora/c1/documents?async=false&document_ids=x", ""); status != 200 {
			t.Fatalf("a job: %d %v", status, said)
		}
		upload(t, a, key, "/v2/agents/a1/sessions/s1/events")
	}
	made(t, a, key, "/v2/glossaries/g1/entries", `{"entries":{"PM":"pump","HPU":"unit"}}`)
	_, found := ask(a, key, "GET", "/v2/agent_analytics/traces", "")
	var traces []string
	for _, one := range found["traces"].([]any) {
		traces = append(traces, "/v2/agent_analytics/traces/"+one.(map[string]any)["trace_id"].(string)+"/spans")
	}
	const session = "/v2/agents/a1/sessions/"
	return map[string]list{
		"listCorpora":            {"/v2/corpora", "", "filter=c"},
		"listCorpusDocuments":    {"/v2/corpora/c1/documents", "/v2/corpora/c2/documents", "metadata_filter=doc.id = 'd1'"},
		"getQueryHistories":      {"/v2/queries", "", "corpus_key=c1"},
		"listChats":              {"/v2/chats", "", ""},
		"listLLMs":               {"/v2/llms", "", "filter=m"},
		"listGenerationPresets":  {"/v2/generation_presets", "", "filter=rag"},
		"listRerankers":          {"/v2/rerankers", "", "filter=R"},
		"listJobs":               {"/v2/jobs", "", "corpus_key=c2"},
		"listUsers":              {"/v2/users", "", "corpus_key=c1"},
		"listApiKeys":            {"/v2/api_keys", "", "api_key_role=serving"},
		"listAppClient":          {"/v2/app_clients", "", "filter=p"},
		"listAuditEvents":        {"/v2/audit_events", "", "action=createCorpus"},
		"listToolServers":        {"/v2/tool_servers", "", "filter=s"},
		"listToolConfigurations": {"/v2/tool_configurations", "", "filter=t"},
		"listTools":              {"/v2/tools", "", "filter=a"},
		"listInstructions":       {"/v2/instructions", "", "filter=i"},
		"listAgents":             {"/v2/agents", "", "filter=A"},
		"listAgentSessions":      {"/v2/agents/a1/sessions", "/v2/agents/a2/sessions", "filter=s"},
		"listAgentEvents":        {session + "s1/events", session + "s2/events", "include_hidden=true"},
		"listSessionArtifacts":   {session + "s1/artifacts", session + "s2/artifacts", "order_by=asc"},
		"listTraces":             {"/v2/agent_analytics/traces", "", "agent_key=a1"},
		"listTraceSpans":         {traces[0], traces[1], "include_content=true"},
		"listGlossaries":         {"/v2/glossaries", "", "filter=G"},
		"listGlossaryEntries":    {"/v2/glossaries/g1/entries", "/v2/glossaries/g2/entries", ""},
	}
}

// upload sends an input with a file.
func upload(t *testing.T, a *app.App, key, path string) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("files", "stock.csv")
	if err == nil {
		_, err = file.Write([]byte("lamp,12"))
	}
	if err = errors.Join(err, form.WriteField("messages", `[{"type":"text","content":"How many?"}]`), form.Close()); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", path, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("x-api-key", key)
	w := httptest.NewRecorder()
	if a.Handler().ServeHTTP(w, r); w.Code != http.StatusCreated {
		t.Fatalf("an input with a file: %d %s", w.Code, w.Body)
	}
}
