package binary

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/internal/id"
	"quarry/internal/provider/scripted"
	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
	"quarry/test/site"
	"quarry/test/toolserver"
)

// trove is secrets by what they are for. Each has a random core, which stands in every form of it: as it is, and escaped for JSON, HTML
// or an address, since it is made of letters and digits; in hexadecimal; and in base64, whatever is before it.
type trove struct {
	values  map[string]string
	needles map[string][][]byte
}

func newTrove() *trove { return &trove{map[string]string{}, map[string][][]byte{}} }

// make returns a new secret, by a form with the place of its core.
func (v *trove) make(name, form string) string {
	return v.keep(name, id.Text(20), form)
}

// keep takes a secret with a core that is known.
func (v *trove) keep(name, core, form string) string {
	digits := hex.EncodeToString([]byte(core))
	needles := [][]byte{[]byte(core), []byte(digits), []byte(strings.ToUpper(digits))}
	for skip := range 3 { // the first and the last character depend on what is around it
		whole := base64.StdEncoding.EncodeToString([]byte("--"[:skip] + core))
		needles = append(needles, []byte(whole[4:len(whole)-4]))
	}
	v.values[name], v.needles[name] = fmt.Sprintf(form, core), needles
	return v.values[name]
}

// odd is a form with characters that every encoding writes in its own way.
const odd = `k"%s"&/+ <%%>`

// in returns which secrets a text has.
func (v *trove) in(text []byte) (names []string) {
	for name, needles := range v.needles {
		if slices.ContainsFunc(needles, func(n []byte) bool { return bytes.Contains(text, n) }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// house is a running service, everything that it speaks with, and everything that came out of it.
type house struct {
	*trove
	open      *trove // what is said openly, and has to be found everywhere: else the search would prove nothing
	dir       string
	database  string
	p         *testkit.Process
	model     *scripted.Server
	web       *site.Site
	collector *httptest.Server
	followed  chan []byte // what a reader of the session got, when the program has ended

	mu      sync.Mutex
	answers map[string][]byte // of the service, by request; guarded by mu, like spans
	spans   []byte            // what the collector got
}

// furnished starts a service whose settings hold secrets, too.
func furnished(t *testing.T, database string) *house {
	t.Helper()
	h := &house{trove: newTrove(), open: newTrove(), dir: t.TempDir(), database: database, model: scripted.Start(t), web: site.Start(t, false), followed: make(chan []byte, 1), answers: map[string][]byte{}}
	h.collector = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		raw, _ := io.ReadAll(z)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.spans = append(h.spans, raw...)
	}))
	t.Cleanup(h.collector.Close)
	args := append(on(h.dir), "--log", "debug")
	if database != "" {
		args = append(args, "--database", database)
	}
	h.p = testkit.StartWith(t, h.dir, []string{
		"QUARRY_OTLP_ENDPOINT=" + h.collector.URL, "QUARRY_OTLP_HEADERS=Authorization=" + h.make("otlp header", "Bearer%%20%s"), "QUARRY_OTLP_CONTENT=true",
		"QUARRY_AUDIT_CONTENT=true", "QUARRY_OUTBOUND_ALLOW=127.0.0.1", "QUARRY_WEB_SEARCH_URL=" + h.web.URL, "QUARRY_WEB_SEARCH_KEY=" + h.keep("search key", site.Key, "%s"),
	}, args...)
	return h
}

// ask makes a request, keeps the answer with its headers, and returns its body.
func (h *house) ask(t *testing.T, want int, method, path string, body any) []byte {
	t.Helper()
	var in io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		in = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, h.p.URL+path, in)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("x-api-key", h.p.Key)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all bytes.Buffer
	_ = resp.Header.Write(&all) // into memory
	head := all.Len()
	if _, err := io.Copy(&all, resp.Body); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != want {
		t.Fatalf("%s %s: %d, want %d: %.2000s", method, path, resp.StatusCode, want, all.Bytes()[head:])
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers[fmt.Sprint(len(h.answers), " ", method, " ", path)] = all.Bytes()
	return all.Bytes()[head:]
}

// object is a JSON object.
type object = map[string]any

func ref(to string) object { return object{"$ref": to} }

// follow begins to read along, until the program ends.
func (h *house) follow(t *testing.T) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", h.p.URL+keeper+"/events?follow=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("x-api-key", h.p.Key)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer resp.Body.Close()
		all, _ := io.ReadAll(resp.Body) // the program is killed
		h.followed <- all
	}()
}

// member returns a member of a JSON object, which is a text.
func member(t *testing.T, raw []byte, name string) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	text, _ := v[name].(string)
	return text
}

// models registers the models: one whose replies the inputs say, and one that repeats.
func (h *house) models(t *testing.T) {
	for _, name := range []string{"told", "echo"} {
		h.ask(t, http.StatusCreated, "POST", "/v2/llms", object{
			"type": "openai-compatible", "name": name, "model": name, "uri": h.model.URL + "/v1/chat/completions", "auth": object{"type": "bearer", "token": h.make("model "+name, "sk-%s")},
			"capabilities": object{"tool_calling": true, "context_limit": 2_000_000},
		})
	}
}

// server registers a tool server and returns the id of its first tool.
func (h *house) server(t *testing.T) string {
	t.Helper()
	tools := toolserver.Start(t)
	made := h.ask(t, http.StatusCreated, "POST", "/v2/tool_servers", object{
		"type": "mcp", "name": "weather", "uri": tools.URL + "/weather", "transport": "streamable-http", "auth": object{"type": "bearer", "token": h.make("tool server", "ts-%s")},
		"headers": object{"X-Token": h.make("tool server header", "th-%s")},
	})
	h.await(t, member(t, made, "id"), "ok")
	wrong := h.ask(t, http.StatusCreated, "POST", "/v2/tool_servers", object{ // it repeats the credentials that it refuses
		"type": "mcp", "name": "guarded", "uri": tools.URL + "/guarded", "transport": "streamable-http", "auth": object{"type": "bearer", "token": h.make("wrong token", "wt-%s")},
	})
	h.await(t, member(t, wrong, "id"), "failed")
	var list struct {
		Tools []struct{ ID, Name string }
	}
	if err := json.Unmarshal(h.ask(t, http.StatusOK, "GET", "/v2/tools?tool_server_id="+member(t, made, "id"), nil), &list); err != nil || len(list.Tools) == 0 {
		t.Fatalf("%v: no tools", err)
	}
	return list.Tools[0].ID
}

// await waits until a tool server was synced so.
func (h *house) await(t *testing.T, server, status string) {
	t.Helper()
	for {
		if at := h.ask(t, http.StatusOK, "GET", "/v2/tool_servers/"+server, nil); member(t, at, "sync_status") == status {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal("a tool server was never synced")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// tools returns the configurations of the tools, most of which get a secret of the agent that is called like them.
func (h *house) tools(t *testing.T) object {
	t.Helper()
	echo := h.web.URL + "/echo/x"
	get := func(override object, more ...any) object {
		out := object{"type": "web_get", "argument_override": override}
		for i := 0; i < len(more); i += 2 {
			out[more[i].(string)] = more[i+1]
		}
		return out
	}
	forms := `{plain: %[1]s, base64: (%[1]s|@base64), address: (%[1]s|@uri), json: (%[1]s|tojson), html: (%[1]s|@html), shell: (%[1]s|@sh), both: (%[1]s|tojson|@base64), user: ("me:"+%[1]s|@base64)}`
	client := member(t, h.ask(t, http.StatusCreated, "POST", "/v2/tools", object{
		"type": "client", "name": "dialog", "description": "Asks.", "input_schema": object{"type": "object", "properties": object{"pin": object{"type": "string"}}},
	}), "id")
	return object{
		"header":   get(object{"url": echo, "headers": object{"X-Key": ref("agent.secrets.header")}}),
		"bearer":   get(object{"url": echo, "auth": object{"type": "bearer", "token": ref("session.secrets.bearer")}}),
		"literal":  get(object{"url": echo, "auth": object{"type": "bearer", "token": h.make("literal", "lit-%s")}}),
		"page":     get(object{"url": ref("agent.secrets.page")}),
		"down":     get(object{"url": ref("agent.secrets.down")}),
		"bad":      get(object{"url": echo, "method": ref("agent.secrets.bad")}),
		"indirect": get(object{"url": echo, "headers": object{"X-Key": ref("agent.secrets[session.metadata.user]")}}),
		"coded":    get(object{}, "input_transform", `{url: "`+echo+`", method: "POST", body: (`+fmt.Sprintf(forms, ".agent.secrets.coded")+`|tojson)}`),
		"query":    get(object{}, "input_transform", `{url: ("`+echo+`?b=\(.agent.secrets.query|@base64|@uri)&u=\(.agent.secrets.query|@uri)")}`),
		"map":      get(object{}, "input_transform", `{url: "`+echo+`", method: "POST", body: (.agent.secrets|tojson)}`),
		"after":    get(object{"url": echo, "headers": object{"X-Key": ref("agent.secrets.after")}}, "output_transform", fmt.Sprintf(forms, ".content")),
		"number":   get(object{"url": echo}, "input_transform", `.agent.secrets.number|tonumber`),
		"index":    get(object{"url": echo, "headers": object{"X-Key": ref("agent.secrets.index")}}, "output_transform", `.content|tonumber`),
		"status":   get(object{"method": "POST", "url": h.web.URL + "/teapot", "body": ref("agent.secrets.status")}),
		"octets":   get(object{"url": echo + "?as=application/octet-stream", "headers": object{"X-Key": ref("agent.secrets.octets")}}),
		"enrich":   get(object{"url": echo, "headers": object{"X-Key": ref("agent.secrets.enrich"), "X-Own": ref("session.secrets.bearer")}}),
		"file":     object{"type": "artifact_create", "argument_override": object{"content": ref("agent.secrets.file")}},
		"find":     object{"type": "web_search", "argument_override": object{"query": ref("agent.secrets.find")}},
		"search": object{"type": "corpora_search", "argument_override": object{"query": ref("agent.secrets.search")},
			"query_configuration": object{"save_history": true, "search": object{"corpora": []any{object{"corpus_key": "c"}}}}},
		"mcp":  object{"type": "mcp", "tool_id": h.server(t), "argument_override": object{"place": ref("agent.secrets.mcp")}},
		"ask":  object{"type": "client", "tool_id": client, "argument_override": object{"pin": ref("agent.secrets.pin")}},
		"help": object{"type": "sub_agent", "sub_agent_configuration": object{"agent_key": "helper", "session_metadata": object{"of": ref("agent.secrets.inherited")}}},
		"tell": object{"type": "sub_agent", "sub_agent_configuration": object{"agent_key": "parrot"}, "argument_override": object{"message": ref("agent.secrets.told")}},
	}
}

// agents makes the agents, their secrets, and a session that has some, too.
func (h *house) agents(t *testing.T) {
	t.Helper()
	said := h.open.keep("open", strings.ToLower(id.Text(20)), "%s")
	h.ask(t, http.StatusCreated, "POST", "/v2/corpora", object{"key": "c"})
	h.ask(t, http.StatusCreated, "POST", "/v2/corpora/c/documents", core(said, 1, "It is "+said+"."))
	h.ask(t, http.StatusCreated, "POST", "/v2/agents", object{"key": "parrot", "name": "Parrot", "model": object{"name": "echo"}})
	h.ask(t, http.StatusCreated, "POST", "/v2/agents", object{"key": "helper", "name": "Helper", "model": object{"name": "told"}, "tool_configurations": object{
		"header": object{"type": "web_get", "argument_override": object{"url": h.web.URL + "/echo/h", "headers": object{"X-Key": ref("agent.secrets.inner")}}},
	}})
	h.ask(t, http.StatusOK, "PUT", "/v2/agents/helper/secrets", object{"secrets": object{"inner": h.make("inner", odd)}})
	h.ask(t, http.StatusCreated, "POST", "/v2/agents", object{
		"key": "keeper", "name": "Keeper", "model": object{"name": "told"}, "tool_configurations": h.tools(t), "description": said,
		"enrichment": []any{object{"tool_configuration": "enrich", "output_transform": `{said: .content, code: (.content|@base64), all: ($agent|tojson|@base64)}`}},
	})
	secrets := object{}
	for _, name := range []string{
		"header", "bad", "u1", "coded", "query", "after", "number", "index", "status", "octets", "enrich", "file", "find", "search", "mcp", "pin", "inherited", "told",
	} {
		secrets[name] = h.make(name, odd)
	}
	secrets["page"], secrets["down"] = h.make("page", h.web.URL+"/echo/x?key=%s"), h.make("down", "http://127.0.0.1:1/?key=%s")
	h.ask(t, http.StatusOK, "PUT", "/v2/agents/keeper/secrets", object{"secrets": secrets})
	h.ask(t, http.StatusOK, "PATCH", "/v2/agents/keeper/secrets", object{"secrets": object{"u2": h.make("u2", odd), "u3": nil}})
	h.ask(t, http.StatusBadRequest, "PATCH", "/v2/agents/keeper/secrets", object{"secrets": object{"a.b": h.make("bad name", odd)}})
	h.ask(t, http.StatusBadRequest, "PUT", "/v2/agents/keeper/secrets", object{"secrets": object{"long": h.make("too long", strings.Repeat("x", 4097)+"%s")}})
	h.ask(t, http.StatusCreated, "POST", "/v2/agents/keeper/sessions", object{
		"key": "s", "metadata": object{"user": "u2"}, "secrets": object{"bearer": h.make("bearer", "b-%s")},
	})
}

// telling returns an input that lets the model make calls, each in a reply of its own.
func telling(names ...string) string {
	var rounds []any
	for _, name := range names {
		arguments := object{}
		switch name {
		case "file":
			arguments["filename"] = "a.txt"
		case "help":
			arguments["message"] = telling("header")
		}
		rounds = append(rounds, object{"calls": []any{object{"name": name, "arguments": arguments}}})
	}
	raw, _ := json.Marshal(append(rounds, object{"text": "Done."})) // texts
	return string(raw)
}

const keeper = "/v2/agents/keeper/sessions/s"

// send sends an input, streamed or not.
func (h *house) send(t *testing.T, streamed bool, text string) string {
	t.Helper()
	return string(h.ask(t, http.StatusCreated, "POST", keeper+"/events", object{"stream_response": streamed, "messages": []any{object{"type": "text", "content": text}}}))
}

// work lets the tools work. What the client of a client tool is sent is the one answer with a secret, that of this tool.
func (h *house) work(t *testing.T) {
	t.Helper()
	h.send(t, false, "["+string(mustJSON(object{"text": h.open.values["open"]}))+"]")
	for i, name := range []string{
		"header", "bearer", "literal", "page", "down", "bad", "indirect", "coded", "query", "map", "after", "number", "index", "status", "octets", "enrich", "file", "find", "search", "mcp", "help", "tell",
	} {
		said := h.send(t, i%2 == 0, telling(name, name))
		if !strings.Contains(said, "tool_output") {
			t.Errorf("%s: %s", name, said)
		}
	}
	h.send(t, false, telling("ask"))
	h.forget(t, "pin")
	var list struct {
		Calls []struct {
			Event string `json:"event_id"`
		} `json:"client_tool_calls"`
	}
	if err := json.Unmarshal(h.ask(t, http.StatusOK, "GET", keeper+"/outstanding_client_tool_calls", nil), &list); err != nil || len(list.Calls) != 1 {
		t.Fatalf("%v: %d calls wait", err, len(list.Calls))
	}
	h.forget(t, "pin")
	pin := h.values["pin"]
	h.ask(t, http.StatusCreated, "POST", keeper+"/events", object{"type": "tool_output", "tool_outputs": []any{object{"type": "success", "event_id": list.Calls[0].Event, "output": object{
		"said": pin, "coded": base64.StdEncoding.EncodeToString([]byte("it is " + pin)), "digits": hex.EncodeToString([]byte(pin)),
	}}}})
}

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// forget takes the last answer out of what is searched, which has one secret, and no other.
func (h *house) forget(t *testing.T, name string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for request, raw := range h.answers {
		if !strings.HasPrefix(request, fmt.Sprint(len(h.answers)-1, " ")) {
			continue
		}
		if got := h.in(raw); !slices.Equal(got, []string{name}) {
			t.Errorf("%s has %v, and should have %s alone: %.2000s", request, got, name, raw)
		}
		h.answers[request] = nil
	}
}

// reads reads all that can be read.
func (h *house) reads(t *testing.T) {
	t.Helper()
	for _, path := range []string{
		"/v2/agents", "/v2/agents/keeper", "/v2/agents/helper", "/v2/agents/keeper/secrets", "/v2/agents/keeper/sessions", keeper, keeper + "/events?include_hidden=true&limit=100",
		"/v2/agents/helper/sessions", "/v2/agents/parrot/sessions", "/v2/tools", "/v2/tool_servers", "/v2/llms", "/v2/queries", "/v2/audit_events?limit=100", "/v2/jobs",
		"/v2/agents/keeper/identity", "/v2/metrics",
	} {
		h.ask(t, http.StatusOK, "GET", path, nil)
	}
	for _, agent := range []string{"helper", "parrot"} {
		var list struct {
			Sessions []struct{ Key string }
		}
		if err := json.Unmarshal(h.ask(t, http.StatusOK, "GET", "/v2/agents/"+agent+"/sessions", nil), &list); err != nil || len(list.Sessions) == 0 {
			t.Fatalf("%s: %v, %d sessions", agent, err, len(list.Sessions))
		}
		for _, s := range list.Sessions {
			h.ask(t, http.StatusOK, "GET", "/v2/agents/"+agent+"/sessions/"+s.Key+"/events?include_hidden=true&limit=100", nil)
		}
	}
	var files struct {
		Artifacts []struct {
			ID string `json:"artifact_id"`
		}
	}
	if err := json.Unmarshal(h.ask(t, http.StatusOK, "GET", keeper+"/artifacts", nil), &files); err != nil || len(files.Artifacts) < 4 {
		t.Fatalf("%v: %d files", err, len(files.Artifacts))
	}
	for _, f := range files.Artifacts {
		var file struct{ Data []byte }
		raw := h.ask(t, http.StatusOK, "GET", keeper+"/artifacts/"+f.ID, nil)
		if err := json.Unmarshal(raw, &file); err != nil {
			t.Fatal(err)
		}
		h.mu.Lock()
		h.answers["the file "+f.ID] = file.Data
		h.mu.Unlock()
	}
	h.traces(t)
}

// traces reads the record of all turns, with texts.
func (h *house) traces(t *testing.T) {
	t.Helper()
	var list struct {
		Traces []struct {
			ID string `json:"trace_id"`
		}
	}
	if err := json.Unmarshal(h.ask(t, http.StatusOK, "GET", "/v2/agent_analytics/traces?limit=100", nil), &list); err != nil || len(list.Traces) < 20 {
		t.Fatalf("%v: %d traces", err, len(list.Traces))
	}
	for _, one := range list.Traces {
		h.ask(t, http.StatusOK, "GET", "/v2/agent_analytics/traces/"+one.ID+"/spans?include_content=true&limit=500", nil)
	}
}

// places returns all that came out of the house or is kept in it, by where it is.
func (h *house) places(t *testing.T) map[string]map[string][]byte {
	t.Helper()
	out := map[string]map[string][]byte{"answers": {}, "log": {"log": []byte(h.p.Log())}, "files": {}, "prompts": {}, "rows": {}, "spans": {"spans": h.spans}}
	for request, raw := range h.answers {
		out["answers"][request] = raw
	}
	for i, r := range h.model.Requests() {
		out["prompts"][fmt.Sprint(i, " ", r.Path)] = r.Body
	}
	each(t, h.dir, func(name string, _ fs.FileInfo) {
		if filepath.Base(name) != "owner.key" {
			out["files"][name] = read(t, name)
		}
	})
	if h.database != "" {
		out["rows"]["rows"] = dump(t, "pgx", h.database, `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`)
	} else {
		out["rows"]["rows"] = dump(t, "sqlite", "file:"+filepath.Join(copyFolder(t, h.dir), "quarry.db"), `SELECT name FROM sqlite_master WHERE type = 'table'`)
	}
	return out
}

// TestNoSecretAnywhere proves that of all secrets that agents, sessions, configurations, tool servers, models and settings have, none
// stands in a file, a row, the log, an answer, a stream, an artifact, a span, what a collector gets or what a model reads: as it is,
// escaped, in base64 or in hexadecimal, although tools repeat them, transforms encode them and errors quote them. What was said
// openly is found in each of these places, by the same search.
func TestNoSecretAnywhere(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		noSecretAnywhere(t, furnished(t, ""))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		noSecretAnywhere(t, furnished(t, storetest.Postgres(t)))
	})
}

func noSecretAnywhere(t *testing.T, h *house) {
	h.models(t)
	h.agents(t)
	h.follow(t)
	h.work(t)
	h.logged(t)
	h.reads(t)
	h.arrived(t)
	h.p.Kill() // the log of the database stays
	h.answers["a reader of the session"] = <-h.followed
	for kind, all := range h.places(t) {
		seen, told := false, map[string]bool{}
		for where, raw := range all {
			for _, name := range h.in(raw) {
				if !told[name] { // one place of a kind is enough to look for the others
					t.Errorf("%s: %s has %s: %s", kind, where, name, h.around(raw, name))
				}
				told[name] = true
			}
			seen = seen || len(h.open.in(raw)) > 0
		}
		if kind == "files" && h.database != "" {
			seen = len(all) > 0 // the folder has indexes alone, which don't keep texts as they are
		}
		if !seen {
			t.Errorf("%s: what was said openly isn't found either, so the search proves nothing", kind)
		}
	}
}

// logged makes a request, whose id is in the log, and so has to be found there.
func (h *house) logged(t *testing.T) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", h.p.URL+"/v2/corpora", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("x-api-key", h.p.Key)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close() // only the log counts
	h.open.keep("request", resp.Header.Get("X-Request-Id"), "%s")
}

// around returns where a text has a secret.
func (h *house) around(raw []byte, name string) string {
	for _, n := range h.needles[name] {
		if at := bytes.Index(raw, n); at >= 0 {
			return fmt.Sprintf("%q", raw[max(0, at-300):min(len(raw), at+100)])
		}
	}
	return ""
}

// arrived proves that the tools were given the secrets, which they could not repeat otherwise, and waits for the spans.
func (h *house) arrived(t *testing.T) {
	t.Helper()
	var heard bytes.Buffer
	for _, r := range h.web.Seen("/") {
		_ = r.Header.Write(&heard) // into memory
		fmt.Fprintln(&heard, r.Path, r.Query, r.Body)
	}
	got := h.in(heard.Bytes())
	for _, name := range []string{"after", "bearer", "coded", "enrich", "find", "header", "index", "inner", "literal", "octets", "page", "query", "search key", "status", "u2"} {
		if !slices.Contains(got, name) {
			t.Errorf("the web was never sent %s: the test leaks nothing", name)
		}
	}
	for {
		h.mu.Lock()
		done := len(h.open.in(h.spans)) > 0 && bytes.Contains(h.spans, []byte("execute_tool"))
		h.mu.Unlock()
		if done {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal("no span was exported")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// TestSearchFinds proves that the search finds a secret in each form that it has to find.
func TestSearchFinds(t *testing.T) {
	t.Parallel()
	v := newTrove()
	s := v.make("a", odd)
	quoted, _ := json.Marshal(s)
	for form, text := range map[string]string{
		"plain": s, "JSON": string(quoted), "base64": base64.StdEncoding.EncodeToString([]byte("x" + s)), "base64 for addresses": base64.RawURLEncoding.EncodeToString([]byte("xy" + s)),
		"hexadecimal": hex.EncodeToString([]byte(s)), "large": strings.ToUpper(hex.EncodeToString([]byte(s))), "an address": "https://x/?a=" + strings.ReplaceAll(s, " ", "%20"),
	} {
		if len(v.in([]byte("before "+text+" after"))) != 1 {
			t.Errorf("%s isn't found", form)
		}
	}
	if len(v.in([]byte(strings.Repeat("k\"&/+ <%>", 100)))) != 0 {
		t.Error("what is no secret is found")
	}
}
