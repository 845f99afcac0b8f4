package binary

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/id"
	"quarry/internal/provider/scripted"
	"quarry/internal/provider/scripted/transcript"
	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

// hush is secrets of a session, and what they look like in other encodings.
type hush struct {
	pin, question string // with a random word each
	needles       [][]byte
}

func newHush() *hush {
	h := &hush{}
	for _, into := range []*string{&h.pin, &h.question} {
		core := id.Text(24)
		*into = "to \"" + core + "\" <é>"
		h.needles = append(h.needles, []byte(core), []byte(hex.EncodeToString([]byte(core))))
		for skip := range 3 { // base64 of what has it at any offset; the first and the last digits depend on what is around it
			whole := base64.StdEncoding.EncodeToString([]byte("--"[:skip] + core))
			h.needles = append(h.needles, []byte(whole[4:len(whole)-4]))
		}
	}
	return h
}

// in reports whether a text has one of the secrets.
func (h *hush) in(text []byte) bool {
	for _, n := range h.needles {
		if bytes.Contains(text, n) {
			return true
		}
	}
	return false
}

// dump returns all rows of all tables of a database.
func dump(t *testing.T, driver, source, tables string) []byte {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out bytes.Buffer
	each := func(query string, row func(values []any)) {
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values, to := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				to[i] = &values[i]
			}
			if err := rows.Scan(to...); err != nil {
				t.Fatal(err)
			}
			row(values)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	each(tables, func(values []any) { names = append(names, values[0].(string)) })
	for _, name := range names {
		each(`SELECT * FROM "`+name+`"`, func(values []any) {
			for _, v := range values {
				if raw, ok := v.([]byte); ok {
					out.Write(raw)
				} else {
					fmt.Fprint(&out, v)
				}
				out.WriteByte('\n')
			}
		})
	}
	return out.Bytes()
}

// secretive is a service with a session whose tools are given secrets.
type secretive struct {
	*hush
	dir, database string
	args          []string
	p             *testkit.Process
	model         *scripted.Server
}

const secretSession = "/v2/agents/a/sessions/s"

func (s *secretive) start(t *testing.T) {
	t.Helper()
	s.p = testkit.StartWith(t, s.dir, nil, append(append(on(s.dir), "--log", "debug"), s.args...)...)
}

// furnish makes a corpus, a model, a tool, an agent and a session with secrets.
func (s *secretive) furnish(t *testing.T) {
	t.Helper()
	c := s.p.Client()
	createCorpus(t, c, "c")
	c.Must(t, http.StatusCreated, "POST", "/v2/corpora/c/documents", core("d", 1, "The mill grinds."))
	s.model = scripted.Start(t)
	s.model.Respond("worker", func(tr *transcript.Transcript) scripted.Reply {
		if tr.Messages[len(tr.Messages)-1].Role == "user" {
			return scripted.Reply{Calls: []scripted.Call{
				{ID: "c1", Name: "find", Pieces: []string{`{}`}}, {ID: "c2", Name: "ask", Pieces: []string{`{"text":"kestrel"}`}}, {ID: "c3", Name: "fetch", Pieces: []string{`{"text":"merlin"}`}},
			}}
		}
		return scripted.Reply{Text: "The mill grinds."}
	})
	c.Must(t, http.StatusCreated, "POST", "/v2/llms", map[string]any{
		"type": "openai-compatible", "name": "worker", "model": "worker", "uri": s.model.URL + "/v1/chat/completions",
		"capabilities": map[string]any{"tool_calling": true, "context_limit": 2_000_000},
	})
	text := map[string]any{"type": "string"}
	tool := c.Must(t, http.StatusCreated, "POST", "/v2/tools", map[string]any{
		"type": "client", "name": "dialog", "description": "Asks.",
		"input_schema": map[string]any{"type": "object", "properties": map[string]any{"text": text, "pin": text}},
	})["id"]
	pinned := map[string]any{"pin": map[string]any{"$ref": "session.secrets.pin"}}
	c.Must(t, http.StatusCreated, "POST", "/v2/agents", map[string]any{
		"key": "a", "name": "A", "model": map[string]any{"name": "worker"}, "tool_configurations": map[string]any{
			"find": map[string]any{"type": "corpora_search", "argument_override": map[string]any{"query": map[string]any{"$ref": "session.secrets.question"}},
				"query_configuration": map[string]any{"save_history": true, "search": map[string]any{"corpora": []any{map[string]any{"corpus_key": "c"}}}}},
			"ask":           map[string]any{"type": "client", "tool_id": tool, "argument_override": pinned},
			"fetch":         map[string]any{"type": "client", "tool_id": tool, "argument_override": pinned},
			"artifact_read": map[string]any{"type": "artifact_read"},
		},
		"tool_output_offloading": map[string]any{"mode": "artifact", "min_threshold_bytes": 1024, "max_threshold_bytes": 1024},
	})
	made := c.Must(t, http.StatusCreated, "POST", "/v2/agents/a/sessions", map[string]any{"key": "s", "secrets": map[string]any{"pin": s.pin, "question": s.question}})
	s.quiet(t, "the new session", []byte(fmt.Sprint(made)))
}

func (s *secretive) quiet(t *testing.T, what string, text []byte) {
	t.Helper()
	if s.in(text) {
		t.Errorf("%s has a secret: %.2000s", what, text)
	}
}

// send sends an input and returns the answer.
func (s *secretive) send(t *testing.T, body any) string {
	t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	status, answer := raw(t, s.p, "POST", secretSession+"/events", encoded, nil)
	if status != http.StatusCreated {
		t.Fatalf("input: %d %s", status, answer)
	}
	return answer
}

// get returns what a request for reading is answered with.
func (s *secretive) get(t *testing.T, path string) string {
	t.Helper()
	status, answer := raw(t, s.p, "GET", path, nil, nil)
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, status, answer)
	}
	return answer
}

// follower reads the session until the program ends.
type follower struct {
	seen chan struct{} // closed at the frame that is awaited, or at the end
	all  chan []byte
}

// follow begins to follow the session. A frame with the text awaited is the last that the test needs.
func (s *secretive) follow(t *testing.T, awaited string) *follower {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.p.URL+secretSession+"/events?follow=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-api-key", s.p.Key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	f := &follower{make(chan struct{}), make(chan []byte, 1)}
	go func() {
		defer res.Body.Close()
		var all bytes.Buffer
		seen := false
		for lines := bufio.NewReader(res.Body); ; {
			line, err := lines.ReadBytes('\n')
			all.Write(line)
			if !seen && (err != nil || bytes.Contains(line, []byte(awaited))) {
				close(f.seen)
				seen = true
			}
			if err != nil { // the program was killed
				break
			}
		}
		f.all <- all.Bytes()
	}()
	return f
}

// outstanding returns the list of calls that wait, and their events by the tool.
func (s *secretive) outstanding(t *testing.T) (answer string, calls map[string]string) {
	t.Helper()
	answer = s.get(t, secretSession+"/outstanding_client_tool_calls")
	var body struct {
		Calls []struct {
			Event string `json:"event_id"`
			Tool  string `json:"tool_configuration_name"`
		} `json:"client_tool_calls"`
	}
	if err := json.Unmarshal([]byte(answer), &body); err != nil {
		t.Fatal(err)
	}
	calls = map[string]string{}
	for _, c := range body.Calls {
		calls[c.Tool] = c.Event
	}
	return answer, calls
}

// stopped kills the program and searches in all that it has kept, logged, sent to its model and shown to a follower.
func (s *secretive) stopped(t *testing.T, when string, f *follower, awaited string) {
	t.Helper()
	<-f.seen
	s.p.Kill()
	stream := <-f.all
	s.quiet(t, when+": the stream of a follower", stream)
	if !bytes.Contains(stream, []byte(awaited)) {
		t.Errorf("%s: a follower does not get %s: %s", when, awaited, stream)
	}
	s.quiet(t, when+": the log", []byte(s.p.Log()))
	for _, r := range s.model.Requests() {
		s.quiet(t, when+": a request to the model", r.Body)
	}
	each(t, s.dir, func(name string, _ fs.FileInfo) { s.quiet(t, when+": the file "+name, read(t, name)) })
	var rows []byte
	if s.database != "" {
		rows = dump(t, "pgx", s.database, `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`)
	} else {
		rows = dump(t, "sqlite", "file:"+filepath.Join(copyFolder(t, s.dir), "quarry.db"), `SELECT name FROM sqlite_master WHERE type = 'table'`)
	}
	s.quiet(t, when+": a row", rows)
	if !bytes.Contains(rows, []byte("kestrel")) || !bytes.Contains(rows, []byte("****")) {
		t.Errorf("%s: %d bytes of rows without the calls", when, len(rows))
	}
}

// TestSecretsOfParkedTurns proves that of all that is stored, logged, streamed and answered in a run with calls of the client, over a
// crash while it is parked, only client_tool_pending for the sender and the list of outstanding calls have secrets of the session:
// also where a search is given one, where an output repeats one, and where that output becomes a file.
func TestSecretsOfParkedTurns(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		secretsOfParkedTurns(t, &secretive{hush: newHush(), dir: t.TempDir()})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		at := storetest.Postgres(t)
		secretsOfParkedTurns(t, &secretive{hush: newHush(), dir: t.TempDir(), database: at, args: []string{"--database", at}})
	})
}

func secretsOfParkedTurns(t *testing.T, s *secretive) {
	s.start(t)
	s.furnish(t)
	followed := s.follow(t, `"client_tool_pending"`)
	sent := s.send(t, map[string]any{"stream_response": true, "messages": []any{map[string]any{"type": "text", "content": "When?"}}})
	for line := range strings.Lines(sent) {
		if pending := strings.Contains(line, "client_tool_pending"); pending != s.in([]byte(line)) {
			t.Errorf("the sender gets, with a secret %v: %s", !pending, line)
		}
	}
	if !strings.Contains(sent, "client_tool_pending") || !strings.Contains(sent, "The mill grinds.") {
		t.Errorf("the search has found nothing, or nothing waits: %s", sent)
	}
	s.stopped(t, "parked", followed, `"client_tool_pending"`)

	s.start(t)
	followed = s.follow(t, `"artifact_id"`)
	list, calls := s.outstanding(t)
	if !s.in([]byte(list)) || len(calls) != 2 {
		t.Errorf("after a crash the client is shown %s", list)
	}
	s.reads(t, "it is ****")
	s.quiet(t, "an output that was refused", []byte(s.refused(t, calls["ask"])))
	large := map[string]any{"lines": []any{s.pin, strings.Repeat("line ", 2000), "it is " + s.pin}}
	part := s.send(t, map[string]any{"type": "tool_output", "stream_response": true, "tool_outputs": []any{map[string]any{"type": "success", "event_id": calls["fetch"], "output": large}}})
	for line := range strings.Lines(part) {
		if strings.Contains(line, "client_tool_pending") != s.in([]byte(line)) {
			t.Errorf("who answers one call gets: %s", line)
		}
	}
	s.stopped(t, "answered in part", followed, `"artifact_id"`)

	s.start(t)
	followed = s.follow(t, `agent_output`)
	last := s.send(t, map[string]any{"type": "tool_output", "stream_response": true, "tool_outputs": []any{map[string]any{"type": "error", "event_id": calls["ask"], "error": "no " + s.pin}}})
	s.quiet(t, "the rest of the turn", []byte(last))
	if !strings.Contains(last, "no ****") || !strings.Contains(last, "streaming_agent_output") {
		t.Errorf("the turn goes on with %s", last)
	}
	if list, calls := s.outstanding(t); len(calls) != 0 || s.in([]byte(list)) {
		t.Errorf("after the answers wait %s", list)
	}
	s.reads(t, "it is ****")
	s.stopped(t, "at the end", followed, `agent_output`)
}

// refused sends an output that can't be taken, and returns the answer.
func (s *secretive) refused(t *testing.T, call string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"type": "tool_output", "tool_outputs": []any{map[string]any{"type": "success", "event_id": call, "output": s.pin}}})
	if err != nil {
		t.Fatal(err)
	}
	status, answer := raw(t, s.p, "POST", secretSession+"/events", body, nil)
	if status != http.StatusBadRequest {
		t.Errorf("an output that is no object: %d %s", status, answer)
	}
	return answer
}

// reads searches in what reading operations answer, with the files of the session, each of which has a text with a masked secret.
func (s *secretive) reads(t *testing.T, masked string) {
	t.Helper()
	for _, path := range []string{"/v2/agents/a", "/v2/agents/a/sessions", secretSession, secretSession + "/events?include_hidden=true", "/v2/queries", "/v2/tools"} {
		s.quiet(t, path, []byte(s.get(t, path)))
	}
	var list struct {
		Artifacts []struct {
			ID string `json:"artifact_id"`
		} `json:"artifacts"`
	}
	if err := json.Unmarshal([]byte(s.get(t, secretSession+"/artifacts")), &list); err != nil {
		t.Fatal(err)
	}
	for _, a := range list.Artifacts {
		var file struct{ Data []byte }
		if err := json.Unmarshal([]byte(s.get(t, secretSession+"/artifacts/"+a.ID)), &file); err != nil {
			t.Fatal(err)
		}
		s.quiet(t, "the file "+a.ID, file.Data)
		if !bytes.Contains(file.Data, []byte(masked)) {
			t.Errorf("the file %s has %.300s", a.ID, file.Data)
		}
	}
}
