package crash

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quarry/internal/provider/scripted"
	"quarry/internal/provider/scripted/transcript"
	"quarry/internal/store"
	"quarry/internal/testkit"
)

// town is sessions of two agents on the real program, and the model of each.
type town struct {
	t        *testing.T
	r        *rand.Rand
	dir      string
	p        *testkit.Process
	c        *testkit.Client
	round    int
	sessions []*conversation
	made     int               // sessions and words so far
	pool     [][]byte          // contents that many files share
	read     map[string]bool   // files whose bytes were compared since the start
	named    map[string]string // event ids, and where each was first seen

	mu   sync.Mutex
	left int    // calls of the language model until the kill; guarded by mu
	kill func() // guarded by mu
}

// move is what is done to a session: what it was, what it will be, nil where it isn't there, and the request.
type move struct {
	name      string
	was, will *conversation
	want      int
	send      func() (int, map[string]any, error)

	status int
	answer map[string]any
	err    error // there was no answer
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// TestSessions proves that of any moves on sessions of two agents, several at once, each has happened whole or not at all whenever the
// program is killed, and whole where it was acknowledged: inputs with and without files, searches, skills, files of tools and of large
// outputs, calls that the client answers, in parts too, or that are superseded, failures, forks, compactions, asked for or not, hidden, shown and deleted
// events, new and deleted sessions. Each session lists the events and the files of a simple model, with their bytes, and the calls that
// wait for the client, and sees no file of another. At the end, what nobody needs is gone from the folder and the database, and
// nothing else.
func TestSessions(t *testing.T) {
	t.Parallel()
	moves := 30
	if *rounds >= 100 {
		moves = 1000
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	w := &town{t: t, r: rand.New(rand.NewPCG(seed, 17)), dir: t.TempDir(), read: map[string]bool{}, named: map[string]string{}}
	for i := range 6 {
		w.pool = append(w.pool, bytes.Repeat([]byte{byte('a' + i), '\n'}, 1+w.r.IntN(60_000)))
	}
	provider := scripted.Start(t)
	provider.Respond("worker", w.reply)
	w.start()
	w.furnish(provider)
	kills := 0
	for w.round = 1; w.round <= moves && !t.Failed(); w.round++ {
		if w.play() {
			kills++
		}
	}
	t.Logf("%d kills", kills)
	if !t.Failed() {
		w.sweep()
	}
}

func (w *town) start() {
	w.p = testkit.StartBinary(w.t, w.dir)
	w.c = w.p.Client()
	clear(w.read)
}

// furnish makes a corpus, a model and the agents.
func (w *town) furnish(provider *scripted.Server) {
	furnishAgent(w.t, w.c, provider)
	for i := range 5 {
		w.c.Must(w.t, http.StatusCreated, "POST", corpus+"/documents", core(1, i))
	}
	tool := w.c.Must(w.t, http.StatusCreated, "POST", "/v2/tools", map[string]any{
		"type": "client", "name": "dialog", "description": "Asks.", "input_schema": map[string]any{"type": "object", "properties": map[string]any{
			"about": map[string]any{"type": "string"}, "pin": map[string]any{"type": "string"},
		}},
		"output_schema": map[string]any{"type": "object", "required": []any{"ok"}},
	})
	tools := map[string]any{
		"look": map[string]any{"type": "corpora_search", "query_configuration": map[string]any{
			"search": map[string]any{"limit": 10, "corpora": []any{map[string]any{"corpus_key": "crash"}}},
		}},
		"artifact_create": map[string]any{"type": "artifact_create"},
		"ask":             map[string]any{"type": "client", "tool_id": tool["id"], "argument_override": map[string]any{"pin": "hunter2"}},
	}
	for key, settings := range map[string]any{plain: map[string]any{"enabled": false}, filing: map[string]any{
		"mode": "artifact", "min_threshold_bytes": 1024, "max_threshold_bytes": 1024,
	}} {
		w.c.Must(w.t, http.StatusCreated, "POST", "/v2/agents", map[string]any{
			"key": key, "name": key, "model": map[string]any{"name": "worker"}, "tool_configurations": tools, "tool_output_offloading": settings,
			"skills": map[string]any{"polite": map[string]any{"description": "Manners.", "content": lesson}},
		})
	}
}

// reply is what the language model says. It follows from the conversation alone.
func (w *town) reply(tr *transcript.Transcript) scripted.Reply {
	w.mu.Lock()
	if w.left--; w.left == 0 && w.kill != nil {
		go w.kill()
	}
	w.mu.Unlock()
	var said []string
	for _, m := range tr.Messages {
		if m.Role != "tool" {
			said = append(said, m.Text)
		}
	}
	switch {
	case strings.HasPrefix(tr.System, "You sum up"):
		return scripted.Reply{Text: summaryOf(distinct(said...))}
	case strings.HasPrefix(tr.System, "Describe in one sentence"):
		return scripted.Reply{Text: "About something."}
	}
	question, done := "", false
	for _, m := range tr.Messages {
		if m.Role == "user" && words.MatchString(m.Text) { // a skill has no word
			question = m.Text
		}
	}
	word := words.FindString(question)
	for _, m := range tr.Messages {
		done = done || slices.ContainsFunc(m.Calls, func(c transcript.Call) bool { return words.FindString(c.ID) == word })
	}
	var out scripted.Reply
	call := func(name, about string, arguments any) {
		raw, _ := json.Marshal(arguments) // strings always encode
		out.Calls = append(out.Calls, scripted.Call{ID: "call-" + about, Name: name, Pieces: []string{string(raw)}})
	}
	look := func() { call("look", word, map[string]any{"query": "valve " + word}) }
	v, _, _ := strings.Cut(question, " zorq")
	switch {
	case v == string(refuses):
		return scripted.Reply{Fault: scripted.Rejected}
	case done:
	case v == string(loads):
		call("invoke_skill", word, map[string]any{"skill_name": "polite"})
	case v == string(looks):
		look()
	case v == string(makes):
		call("artifact_create", word, map[string]any{"filename": "made.txt", "content": "This is " + word})
	case v == string(begs), v == string(both):
		for _, n := range []string{"-0", "-1"} {
			call("ask", word+n, map[string]any{"about": word + n})
		}
		if v == string(both) {
			look()
		}
	}
	if len(out.Calls) == 0 {
		out.Text = answerTo(word, distinct(said...))
	}
	if v == string(fills) {
		out.Usage = scripted.Usage{Input: 1_900_000, Output: 10} // of 2,000,000
	}
	return out
}

// play makes moves on some sessions at once, with a kill among them or without, and compares. It reports whether there was one.
func (w *town) play() (killed bool) {
	killed = w.r.IntN(3) == 0
	var moves []*move
	for _, i := range w.r.Perm(len(w.sessions) + 1)[:min(3, len(w.sessions)+1)] {
		var m *move
		if i == len(w.sessions) {
			m = w.create()
		} else {
			m = w.choose(w.sessions[i], killed)
		}
		if m != nil {
			moves = append(moves, m)
		}
	}
	kill := sync.OnceFunc(w.p.Kill)
	if killed {
		w.arm(kill)
	}
	var group sync.WaitGroup
	for _, m := range moves {
		group.Go(func() { m.status, m.answer, m.err = m.send() })
	}
	group.Wait()
	w.arm(nil)
	if killed {
		kill()
		w.start()
	}
	for _, m := range moves {
		w.settle(m, killed)
	}
	if killed {
		for _, c := range w.sessions {
			w.compare(c)
		}
	}
	return killed
}

// arm sets when the program is killed: at a call of the language model, or at any moment.
func (w *town) arm(kill func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.kill = w.r.IntN(6), kill
	if kill != nil && w.left == 0 {
		time.AfterFunc(time.Duration(w.r.IntN(40))*time.Millisecond, kill)
	}
}

// settle compares the session of a move with what it will be, or was if nothing says that the move was made.
func (w *town) settle(m *move, killed bool) {
	w.t.Helper()
	if m.err == nil && m.status != m.want || m.err != nil && !killed {
		w.t.Fatalf("round %d, %s: %d %v, %v; want %d", w.round, m.name, m.status, m.answer, m.err, m.want)
	}
	of := m.will
	if of == nil {
		of = m.was
	}
	got := w.fetch(of)
	now := m.will
	if m.err != nil && !same(now, got) {
		now = m.was
	}
	if !same(now, got) {
		w.t.Fatalf("round %d, %s of %s (killed %t, answered %t): (-want +got) %s", w.round, m.name, of.path(), killed, m.err == nil, diff(m.will, got))
	}
	w.sessions = slices.DeleteFunc(w.sessions, func(c *conversation) bool { return c == m.was })
	if now != nil {
		w.sessions = append(w.sessions, now)
		w.take(now, got)
	}
}

func same(a, b *conversation) bool {
	return a == nil && b == nil || a != nil && b != nil && slices.Equal(a.lines(), b.lines())
}

func diff(a, b *conversation) string {
	var x, y []string
	if a != nil {
		x = a.lines()
	}
	if b != nil {
		y = b.lines()
	}
	return gocmp.Diff(x, y)
}

// compare compares a session that was not touched.
func (w *town) compare(c *conversation) {
	w.t.Helper()
	got := w.fetch(c)
	if !same(c, got) {
		w.t.Fatalf("round %d: %s has changed (-want +got): %s", w.round, c.path(), diff(c, got))
	}
	w.take(c, got)
}

// take adopts ids, and compares the bytes of files that were not read yet.
func (w *town) take(c, got *conversation) {
	w.t.Helper()
	for _, wrong := range c.adopt(got) {
		w.t.Errorf("round %d, %s: %s", w.round, c.path(), wrong)
	}
	for _, e := range c.log {
		if in := w.named[e.id]; in != "" && in != c.path() {
			w.t.Errorf("round %d: the event %s is in %s and %s", w.round, e.id, in, c.path())
		}
		w.named[e.id] = c.path()
	}
	mine := map[string]bool{}
	for _, f := range c.files {
		mine[f.id] = true
		at := c.path() + "/artifacts/" + f.id
		if w.read[at] {
			continue
		}
		w.read[at] = true
		answer := w.c.Must(w.t, http.StatusOK, "GET", at, nil)
		data, err := base64.StdEncoding.DecodeString(fmt.Sprint(answer["data"]))
		if err != nil || sumOf(data) != f.sum || answer["size_bytes"] != float64(len(data)) {
			w.t.Errorf("round %d: %s has %d bytes of %v, want those of %s: %v", w.round, at, len(data), answer["size_bytes"], f.sum, err)
		}
	}
	for _, other := range w.sessions {
		for _, f := range other.files {
			if !mine[f.id] {
				w.c.Must(w.t, http.StatusNotFound, "GET", c.path()+"/artifacts/"+f.id, nil)
				return
			}
		}
	}
}

// fetch waits for the end of a turn and returns what a session shows, nil if there is none.
func (w *town) fetch(c *conversation) *conversation {
	w.t.Helper()
	for status := "running"; status == "running"; {
		code, answer, err := w.c.Do("GET", c.path(), nil)
		if err != nil || code != http.StatusOK && code != http.StatusNotFound {
			w.t.Fatalf("round %d: %s answers %d, %v", w.round, c.path(), code, err)
		}
		if code == http.StatusNotFound {
			return nil
		}
		status, _ = answer["status"].(string)
	}
	got, calls := &conversation{agent: c.agent, key: c.key}, map[string]string{}
	for raw := range w.pages(c.path()+"/events", "events", "&include_hidden=true") {
		var e struct {
			Type, ID  string
			Call      string `json:"tool_call_id"`
			Hidden    string `json:"hide_reason"`
			Messages  []struct{ Content string }
			Artifacts []struct{ Filename string }
			Content   any
			Summary   string `json:"summary_text"`
			Error     bool
			Arguments struct {
				Query, Content, About string
				Skill                 string `json:"skill_name"`
			} `json:"tool_input"`
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			w.t.Fatalf("round %d: %s: %v", w.round, raw, err)
		}
		x := spoken{kind: e.Type, call: e.Call, id: e.ID, hidden: e.Hidden != ""}
		switch e.Type {
		case "input_message":
			for _, p := range e.Messages {
				x.text += p.Content
			}
		case "artifact_upload":
			var names []string
			for _, f := range e.Artifacts {
				names = append(names, f.Filename)
			}
			x.text = strings.Join(names, " ")
		case "tool_input":
			x.text, calls[e.ID] = strings.TrimPrefix(e.Call, "call-"), e.Call
			told := distinct(e.Arguments.Query, e.Arguments.Content, e.Arguments.About)
			if e.Arguments.Skill == "" && !slices.Equal(told, distinct(e.Call)) {
				w.t.Errorf("round %d: the call %s has arguments about %v", w.round, e.Call, told)
			}
		case "tool_output":
			if x.text = strings.TrimPrefix(e.Call, "call-"); e.Error {
				x.text += " failed"
			}
		case "compaction":
			x.text = e.Summary
		default:
			x.text = fmt.Sprint(e.Content)
		}
		got.log = append(got.log, x)
	}
	for raw := range w.pages(c.path()+"/artifacts", "artifacts", "&order_by=asc") {
		var f struct {
			ID       string `json:"artifact_id"`
			Filename string
			Sum      string `json:"checksum_sha256"`
		}
		if err := json.Unmarshal(raw, &f); err != nil {
			w.t.Fatalf("round %d: %s: %v", w.round, raw, err)
		}
		got.files = append(got.files, kept{f.Filename, f.Sum, f.ID})
	}
	answer := w.c.Must(w.t, http.StatusOK, "GET", c.path()+"/outstanding_client_tool_calls", nil)
	for _, one := range answer["client_tool_calls"].([]any) {
		call := one.(map[string]any)
		about := strings.TrimPrefix(calls[fmt.Sprint(call["event_id"])], "call-")
		if sent := fmt.Sprint(call["arguments"]); sent != "map[about:"+about+" pin:hunter2]" {
			w.t.Errorf("round %d: the client is to call %s", w.round, sent)
		}
		got.open = append(got.open, about)
	}
	return got
}

// pages yields every entry of a list.
func (w *town) pages(path, member, query string) func(func(json.RawMessage) bool) {
	return func(yield func(json.RawMessage) bool) {
		for next := path + "?limit=50" + query; next != ""; {
			answer := w.c.Must(w.t, http.StatusOK, "GET", next, nil)
			for _, one := range answer[member].([]any) {
				raw, _ := json.Marshal(one) // it was JSON
				if !yield(raw) {
					return
				}
			}
			next = ""
			if key, _ := answer["metadata"].(map[string]any)["page_key"].(string); key != "" {
				next = path + "?limit=50" + query + "&page_key=" + key
			}
		}
	}
}

// request returns a request with a JSON body.
func (w *town) request(method, path string, body any) func() (int, map[string]any, error) {
	return func() (int, map[string]any, error) { return w.c.Do(method, path, body) }
}

func (w *town) word() string {
	w.made++
	return fmt.Sprintf("zorq%dq", w.made)
}

func (w *town) create() *move {
	if len(w.sessions) > 7 {
		return nil
	}
	w.made++
	c := &conversation{agent: []string{plain, filing}[w.r.IntN(2)], key: fmt.Sprint("s", w.made)}
	return &move{name: "create", will: c, want: http.StatusCreated, send: w.request("POST", "/v2/agents/"+c.agent+"/sessions", map[string]any{"key": c.key})}
}

// choose returns a move on a session, nil for none. One with a failure of the language model is not killed, nor begins it
// with a compaction, since then its input may stay.
func (w *town) choose(c *conversation, killed bool) *move {
	switch n := w.r.IntN(100); {
	case len(c.open) > 0 && n < 40:
		return w.answer(c)
	case len(c.open) > 0 && n < 50:
		m := &move{name: "interrupt", was: c, will: c.clone(), want: http.StatusCreated}
		m.will.supersede()
		m.send = w.request("POST", c.path()+"/events", map[string]any{"type": "interrupt"})
		return m
	case n < 55 || len(c.log) == 0:
		return w.input(c, killed)
	case n < 70:
		return w.compact(c)
	case n < 80:
		return w.hide(c)
	case n < 86:
		return w.remove(c)
	case n < 90:
		return &move{name: "delete", was: c, want: http.StatusNoContent, send: w.request("DELETE", c.path(), nil)}
	}
	return w.fork(c)
}

// fork goes on from a session, which stays as it is.
func (w *town) fork(c *conversation) *move {
	if len(w.sessions) > 7 {
		return nil
	}
	w.made++
	agent, key, at, from := []string{plain, filing}[w.r.IntN(2)], fmt.Sprint("s", w.made), -1, map[string]any{"session_key": c.key}
	if agent != c.agent || w.r.IntN(2) == 0 {
		from["agent_key"] = c.agent
	}
	how := w.r.IntN(3)
	if how > 0 {
		at = w.anchor(c)
	}
	if at >= 0 {
		from[[]string{"", "include_up_to_event_id", "compact_up_to_event_id"}[how]] = c.log[at].id
	}
	m := &move{name: fmt.Sprintf("fork of %s with %v", c.path(), from), want: http.StatusCreated, will: c.fork(agent, key, at, at >= 0 && how == 2)}
	if m.will == nil {
		m.was, m.will, m.want = c, c, http.StatusBadRequest
	}
	m.send = w.request("POST", "/v2/agents/"+agent+"/sessions", map[string]any{"key": key, "from_session": from})
	return m
}

// answer gives the outputs of one call of the client, or of all.
func (w *town) answer(c *conversation) *move {
	var all []given
	var outputs []any
	for _, n := range w.r.Perm(len(c.open))[:1+w.r.IntN(len(c.open))] {
		g := given{about: c.open[n], failed: w.r.IntN(3) == 0}
		at := slices.IndexFunc(c.log, func(e spoken) bool { return e.kind == "tool_input" && e.text == g.about })
		one := map[string]any{"type": "error", "event_id": c.log[at].id, "error": "no"}
		if !g.failed {
			g.large = w.r.IntN(2) == 0
			note := "yes"
			if g.large {
				note = strings.Repeat("yes ", 500) // no word, since summaries are of outputs, too, also where what was asked is hidden
			}
			one = map[string]any{"type": "success", "event_id": c.log[at].id, "output": map[string]any{"ok": true, "note": note}}
		}
		all, outputs = append(all, g), append(outputs, one)
	}
	m := &move{name: fmt.Sprintf("answer %+v", all), was: c, will: c.clone(), want: http.StatusCreated}
	m.will.answer(all)
	m.send = w.request("POST", c.path()+"/events", map[string]any{"type": "tool_output", "tool_outputs": outputs})
	return m
}

func (w *town) input(c *conversation, killed bool) *move {
	v, word := []verb{tells, fills, looks, makes, loads, begs, both, refuses}[w.r.IntN(8)], w.word()
	if v == refuses && (killed || c.full) {
		v = looks
	}
	m := &move{name: "input " + string(v) + " " + word, was: c, will: c.clone(), want: http.StatusCreated}
	var uploads []kept
	var contents [][]byte
	if w.r.IntN(2) == 0 {
		for i := range 1 + w.r.IntN(3) {
			content := w.pool[w.r.IntN(len(w.pool))]
			if w.r.IntN(3) == 0 {
				content = []byte(fmt.Sprint("only ", i, " of ", word))
			}
			contents = append(contents, content)
			uploads = append(uploads, kept{name: fmt.Sprintf("%s.%d.txt", word, i), sum: sumOf(content)})
		}
	}
	text := len(uploads) == 0 || w.r.IntN(3) > 0
	skill := text && w.r.IntN(4) == 0
	body := []any{map[string]any{"type": "text", "content": string(v) + " " + word}}
	if skill {
		body = append(body, map[string]any{"type": "skill", "skill_name": "polite"})
	}
	switch {
	case len(uploads) == 0:
		m.send = w.request("POST", c.path()+"/events", map[string]any{"messages": body})
	case !text:
		body = nil
		fallthrough
	default:
		m.name += fmt.Sprintf(" with %d files, text %t", len(uploads), text)
		m.send = func() (int, map[string]any, error) { return w.upload(c.path(), uploads, contents, body) }
	}
	if v == refuses && text {
		m.want = http.StatusInternalServerError
		m.will.supersede() // which stays
		return m
	}
	m.will.ask(v, word, uploads, text, skill)
	return m
}

// upload sends an input as a form.
func (w *town) upload(path string, files []kept, contents [][]byte, messages []any) (int, map[string]any, error) {
	var form bytes.Buffer
	out := multipart.NewWriter(&form)
	if messages != nil {
		raw, _ := json.Marshal(messages) // strings always encode
		_ = out.WriteField("messages", string(raw))
	}
	for i, f := range files {
		part, _ := out.CreateFormFile("files", f.name) // like all of the form, in memory
		_, _ = part.Write(contents[i])
	}
	_ = out.Close()
	req, err := http.NewRequestWithContext(w.t.Context(), "POST", w.c.URL+path+"/events", &form)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("x-api-key", w.c.Key)
	req.Header.Set("Content-Type", out.FormDataContentType())
	res, err := w.c.HTTP.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, err
	}
	var answer map[string]any
	return res.StatusCode, answer, json.Unmarshal(raw, &answer)
}

// anchor returns the place of a visible event, -1 if there is none.
func (w *town) anchor(c *conversation) int {
	var at []int
	for i, e := range c.log {
		if !e.hidden {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return -1
	}
	return at[w.r.IntN(len(at))]
}

func (w *town) compact(c *conversation) *move {
	at, body := -1, map[string]any{"type": "compact"}
	if w.r.IntN(2) == 0 {
		at = w.anchor(c)
	}
	if at >= 0 {
		body["compact_up_to_event_id"] = c.log[at].id
	}
	m := &move{name: fmt.Sprint("compact ", at), was: c, will: c.clone(), want: http.StatusCreated, send: w.request("POST", c.path()+"/events", body)}
	switch {
	case len(c.open) > 0:
		m.want = http.StatusConflict
	case !m.will.compact(at):
		m.want = http.StatusBadRequest
	}
	return m
}

func (w *town) hide(c *conversation) *move {
	i, what := w.r.IntN(len(c.log)), "hide"
	if len(c.open) > 0 && c.log[i].turn == c.turn { // what the turn that waits goes on from
		return nil
	}
	m := &move{was: c, will: c.clone(), want: http.StatusOK}
	e := &m.will.log[i]
	if e.hidden = w.r.IntN(2) == 0; !e.hidden {
		what = "unhide"
	}
	if e.hidden == c.log[i].hidden && c.full { // which may change why it is hidden, or nothing
		return nil
	}
	m.will.full = false // nobody knows how full it is
	m.name = fmt.Sprint(what, " ", i)
	m.send = w.request("POST", c.path()+"/events/"+c.log[i].id+"/"+what, nil)
	return m
}

func (w *town) remove(c *conversation) *move {
	i := w.r.IntN(len(c.log))
	if len(c.open) > 0 && c.log[i].turn == c.turn {
		return nil
	}
	m := &move{name: fmt.Sprint("delete event ", i), was: c, will: c.clone(), want: http.StatusNoContent}
	m.will.log, m.will.full = slices.Delete(m.will.log, i, i+1), false
	m.send = w.request("DELETE", c.path()+"/events/"+c.log[i].id, nil)
	return m
}

// sweep waits until the folder has the contents of all files and no others, and compares the rows.
func (w *town) sweep() {
	want, events, files, parked, open := map[string]int{}, 0, 0, 0, 0
	for _, c := range w.sessions {
		parked, open = parked+min(1, len(c.open)), open+len(c.open)
		if about := w.c.Must(w.t, http.StatusOK, "GET", c.path(), nil)["description"]; about != "" && about != "About something." {
			w.t.Errorf("%s is described as %q", c.path(), about)
		}
		if about := w.c.Must(w.t, http.StatusOK, "GET", c.path(), nil)["description"]; about != "" && about != "About something." {
			w.t.Errorf("%s is described as %q", c.path(), about)
		}
		events, files = events+len(c.log), files+len(c.files)
		for _, f := range c.files {
			want[f.sum]++
		}
	}
	names := slices.Sorted(maps.Keys(want))
	difference := "-"
	for end := time.Now().Add(2 * time.Minute); difference != "" && time.Now().Before(end); {
		difference = gocmp.Diff(names, w.contents())
		time.Sleep(100 * time.Millisecond)
	}
	if difference != "" {
		w.t.Errorf("the folder has other contents than the files (-files +folder): %s", difference)
	}
	if err := w.p.Stop(); err != nil {
		w.t.Errorf("the last stop: %v\n%s", err, w.p.Log())
	}
	db, err := store.Open(w.t.Context(), store.Config{Dir: w.dir})
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	type row struct {
		sum         string
		refs, holds int
	}
	rows, err := store.Select(db.Reader(w.t.Context()), "read blobs", func(r store.Row) (x row, err error) {
		err = r.Scan(&x.sum, &x.refs, &x.holds)
		return x, err
	}, `SELECT sum, refs, holds FROM blobs`)
	if err != nil {
		w.t.Fatal(err)
	}
	got := map[string]int{}
	for _, r := range rows {
		if got[r.sum] = r.refs; r.holds != 0 {
			w.t.Errorf("the content %s is held %d times by nobody", r.sum, r.holds)
		}
	}
	if d := gocmp.Diff(want, got); d != "" {
		w.t.Errorf("references to contents (-files +rows): %s", d)
	}
	for table, want := range map[string]int{"events": events, "artifacts": files, "sessions": len(w.sessions), "runs": 0, "inputs": 0,
		"parked": parked, "pending_calls": open, "secrets WHERE name LIKE 'parked/%aev%'": open,
	} {
		var n int
		if err := db.Reader(w.t.Context()).QueryRow(`SELECT COUNT(*) FROM ` + table).Scan(&n); err != nil || n != want {
			w.t.Errorf("%d rows of %s, want %d: %v", n, table, want, err)
		}
	}
}

// contents returns the names of all files in the folder of contents.
func (w *town) contents() (out []string) {
	err := filepath.WalkDir(filepath.Join(w.dir, "blobs"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, d.Name())
		}
		return nil // files go meanwhile
	})
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Sort(out)
	return out
}
