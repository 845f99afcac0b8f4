package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/internal/provider/scripted"
	"quarry/internal/provider/scripted/transcript"
	"quarry/internal/sse"
	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

// talker is a session with one client, which knows exactly what was accepted.
type talker struct {
	key   string
	no    int
	next  int      // the turn that is sent next; those before it were accepted
	last  string   // id of the newest event that was seen
	seen  []string // ids of events that were shown
	texts map[string]string
}

// agentLoad is many sessions of one agent.
type agentLoad struct {
	client  *testkit.Client
	turns   int
	talkers []*talker

	mu    sync.Mutex
	armed bool   // guarded by mu
	left  int    // calls of the model and answers until the kill; guarded by mu
	kill  func() // guarded by mu
}

// TestKillAgents proves that whenever the program is killed every accepted input is answered exactly once, in the order in
// which the inputs were accepted, with the events of a program that was never killed: nothing lost, doubled or reordered, no
// instant before an earlier one, no search made again whose result was there, nothing shown that is not kept, and no word of
// another session in any prompt. Turns think, search in parallel and go through steps.
func TestKillAgents(t *testing.T) {
	t.Parallel()
	sessions, turns := 8, 6
	if *rounds >= 100 {
		sessions, turns = 100, 20
	}
	killAgents(t, sessions, turns, *rounds)
}

// TestKillAgentsPostgres proves the same where each lease of a dead process has to run out first, which takes half a minute.
func TestKillAgentsPostgres(t *testing.T) {
	t.Parallel()
	killAgents(t, 4, 4, max(1, *rounds/50), "--database", storetest.Postgres(t))
}

func killAgents(t *testing.T, sessions, turns, kills int, args ...string) {
	t.Helper()
	dir, seed := t.TempDir(), seeded(t)
	r := rand.New(rand.NewPCG(seed, 0))
	l := &agentLoad{turns: turns}
	provider := scripted.Start(t)
	provider.Respond("worker", func(tr *transcript.Transcript) scripted.Reply {
		l.happened()
		return scriptedReply(tr)
	})
	killed := 0
	for life := 0; ; life++ {
		p := testkit.StartBinary(t, dir, args...)
		if l.client = p.Client(); life == 0 {
			furnishAgent(t, l.client, provider)
			l.open(t, sessions)
		}
		if l.done() || killed >= kills {
			l.work(t, seed, life, false)
			l.verify(t, provider)
			if err := p.Stop(); err != nil {
				t.Errorf("the last stop: %v\n%s", err, p.Log())
			}
			t.Logf("%d kills", killed)
			return
		}
		l.mu.Lock()
		l.armed, l.left = false, 1+r.IntN(max(2, 4*sessions*turns/kills))
		l.kill = sync.OnceFunc(p.Kill)
		l.mu.Unlock()
		// A turn that is taken over three times without a new event ends, so every second life begins with one of each.
		l.work(t, seed, life, life%2 == 1)
		l.kill()
		killed++
		if t.Failed() {
			return
		}
	}
}

// furnishAgent makes the corpus, the model and the agent.
func furnishAgent(t *testing.T, c *testkit.Client, provider *scripted.Server) {
	t.Helper()
	c.Must(t, http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": "crash"})
	c.Must(t, http.StatusCreated, "POST", corpus+"/documents", core(0, 0))
	c.Must(t, http.StatusCreated, "POST", "/v2/llms", map[string]any{
		"type": "openai-compatible", "name": "worker", "model": "worker", "uri": provider.URL + "/v1/chat/completions",
		"capabilities": map[string]any{"tool_calling": true, "structured_outputs": true, "context_limit": 2_000_000},
	})
	search := map[string]any{"limit": 1, "corpora": []any{map[string]any{"corpus_key": "crash"}}}
	c.Must(t, http.StatusCreated, "POST", "/v2/agents", map[string]any{
		"key": "a", "name": "A", "model": map[string]any{"name": "worker"}, "first_step_name": "ask",
		"tool_configurations": map[string]any{"look": map[string]any{
			"type": "corpora_search", "query_configuration": map[string]any{"save_history": true, "search": search},
		}},
		"steps": map[string]any{
			"ask": map[string]any{"next_steps": []any{map[string]any{"step_name": "check", "condition": "get('$.output.text') == '" + toCheck + "'"}}},
			"check": map[string]any{
				"reentry_step": "ask", "allowed_tools": []any{}, "output_parser": map[string]any{"type": "structured", "json_schema": map[string]any{
					"name": "checked", "schema": map[string]any{"type": "object", "properties": map[string]any{"seen": map[string]any{"type": "string"}}},
				}},
			},
		},
	})
}

// toCheck is the answer that leads to the step check.
const toCheck = "To be checked."

// sentinel is a word that only this turn of this session has.
func sentinel(session, turn int) string { return fmt.Sprintf("zorq%dx%dq", session, turn) }

var sentinels = regexp.MustCompile(`zorq(\d+)x(\d+)q`)

// say is one reply of the model.
type say struct {
	thought, text string
	searches      []string
}

// plan returns the replies of the step ask.
func plan(session, turn int) []say {
	word := sentinel(session, turn)
	answer := say{thought: "Hm, " + word + " it is.", text: "That is " + word + " at three bar."}
	if turn%3 == 2 {
		answer.text = toCheck
	}
	search := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("valve %d of %s", i, word))
		}
		return out
	}
	switch turn % 4 {
	case 1:
		return []say{{text: "I look for " + word + ".", searches: search(1)}, answer}
	case 2:
		return []say{{thought: "Many of " + word + ".", searches: search(3)}, answer}
	case 3:
		return []say{{text: "First " + word + ".", searches: search(2)}, {thought: "And again.", searches: []string{"seal of " + word}}, answer}
	}
	return []say{answer}
}

// scriptedReply is what the model says next; it follows from the conversation alone.
func scriptedReply(tr *transcript.Transcript) scripted.Reply {
	var words []string
	for _, m := range tr.Messages {
		if m.Role == "user" {
			words = append(words, sentinels.FindStringSubmatch(m.Text)...)
		}
	}
	if len(words) < 3 {
		return scripted.Reply{Text: "Nobody asked."}
	}
	session, _ := strconv.Atoi(words[len(words)-2])
	turn, _ := strconv.Atoi(words[len(words)-1])
	if strings.HasPrefix(tr.Question(), `Step "ask" is done`) {
		return scripted.Reply{Text: `{"seen": "` + sentinel(session, turn) + `"}`}
	}
	all := plan(session, turn)
	one := all[min(tr.Round(), len(all)-1)]
	out := scripted.Reply{Text: one.text, Reasoning: one.thought, Pace: time.Millisecond}
	for i, query := range one.searches {
		raw, _ := json.Marshal(map[string]string{"query": query}) // strings always encode
		out.Calls = append(out.Calls, scripted.Call{ID: fmt.Sprintf("call-%d-%d-%d", turn, tr.Round(), i), Name: "look", Pieces: []string{string(raw)}})
	}
	return out
}

// planned returns the log of a turn, a line for each event, the outputs of one reply sorted.
func planned(session, turn int) []string {
	out := []string{"input_message " + asks(session, turn)}
	for _, one := range plan(session, turn) {
		if one.thought != "" {
			out = append(out, "thinking "+one.thought)
		}
		if one.text != "" {
			out = append(out, "agent_output "+one.text)
		}
		for _, query := range one.searches {
			out = append(out, "tool_input "+query)
		}
		for _, query := range one.searches {
			out = append(out, "tool_output "+query)
		}
	}
	if turn%3 == 2 {
		out = append(out, "step_transition ask check", `structured_output {"seen":"`+sentinel(session, turn)+`"}`)
	}
	return out
}

func asks(session, turn int) string { return "What of " + sentinel(session, turn) + "?" }

func (l *agentLoad) open(t *testing.T, sessions int) {
	t.Helper()
	for i := range sessions {
		key := fmt.Sprint("s", i)
		l.client.Must(t, http.StatusCreated, "POST", "/v2/agents/a/sessions", map[string]any{"key": key, "description": ""})
		l.talkers = append(l.talkers, &talker{key: key, no: i, texts: map[string]string{}})
	}
}

func (l *agentLoad) done() bool {
	return !slices.ContainsFunc(l.talkers, func(x *talker) bool { return x.next < l.turns })
}

// happened counts down to the kill, which follows a moment later.
func (l *agentLoad) happened() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.armed {
		return
	}
	if l.left--; l.left == 0 {
		time.AfterFunc(time.Duration(rand.IntN(20))*time.Millisecond, l.kill)
	}
}

// work sends turns until all are sent or the program is dead. calm lets every turn in progress end before the kill.
func (l *agentLoad) work(t *testing.T, seed uint64, life int, calm bool) {
	t.Helper()
	if calm {
		for _, x := range l.talkers {
			x.learn(t, l.client)
		}
	}
	var ready, group sync.WaitGroup
	ready.Add(len(l.talkers))
	for _, x := range l.talkers {
		r := rand.New(rand.NewPCG(seed, uint64(life*len(l.talkers)+x.no+1)))
		group.Go(func() {
			alive := true
			if calm && x.next > 0 {
				alive = x.send(t, l.client, x.next-1, "start", 0) // the newest one, which waits for all
			}
			ready.Done()
			for alive && x.next < l.turns {
				if alive = x.talk(t, l.client, r); alive {
					l.happened()
				}
			}
		})
	}
	if calm {
		ready.Wait()
	}
	l.mu.Lock()
	l.armed = l.kill != nil
	l.mu.Unlock()
	group.Wait()
	l.mu.Lock()
	l.armed = false
	l.mu.Unlock()
}

// learn finds the turns that were accepted though no answer said so.
func (x *talker) learn(t *testing.T, c *testkit.Client) {
	t.Helper()
	accepted := 0
	for _, e := range logOf(t, c, x.key) {
		if e.Type == "input_message" {
			accepted++
		}
	}
	x.next = max(x.next, accepted)
}

// talk sends the next turn in one of several ways, and reports whether the program is alive. A turn that may have been sent
// before is sent in the same way: its external id makes sure that it counts once.
func (x *talker) talk(t *testing.T, c *testkit.Client, r *rand.Rand) bool {
	since, frames := "", 0
	if r.IntN(2) == 0 {
		if since = "start"; x.last != "" && r.IntN(2) == 0 {
			since = x.last
		}
	}
	switch r.IntN(4) {
	case 0:
		frames = 1 + r.IntN(3) // leave early, so that the next input finds a turn running
	case 1, 2:
		frames = -1
	}
	if !x.send(t, c, x.next, since, frames) {
		return false
	}
	x.next++
	return true
}

// send sends a turn and reads what follows: frames to the end with -1, at most so many else, and the whole answer with 0. It
// reports whether the input is known to be accepted.
func (x *talker) send(t *testing.T, c *testkit.Client, turn int, since string, frames int) bool {
	body := map[string]any{"stream_response": frames != 0, "messages": []any{
		map[string]any{"type": "text", "content": asks(x.no, turn), "external_id": fmt.Sprint("turn ", turn)},
	}}
	if since != "" {
		body["since"] = since
	}
	raw, _ := json.Marshal(body) // strings always encode
	req, err := http.NewRequest("POST", c.URL+"/v2/agents/a/sessions/"+x.key+"/events", bytes.NewReader(raw))
	if err != nil {
		t.Error(err)
		return false
	}
	req.Header.Set("x-api-key", c.Key)
	req.Header.Set("Content-Type", "application/json")
	res, err := c.HTTP.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusConflict && since == "": // an earlier turn is running
		return x.send(t, c, turn, "start", frames)
	case res.StatusCode == http.StatusServiceUnavailable: // the program is about to stop
		return false
	case res.StatusCode != http.StatusCreated:
		t.Errorf("%s, turn %d: %s", x.key, turn, res.Status)
		return false
	case frames != 0:
		x.read(t, res, frames)
		return true
	}
	var answer struct{ Events []agentEvent }
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return true // it was accepted, and killed before the answer was here
	}
	for _, e := range answer.Events {
		x.note(t, &e)
	}
	return true
}

// read reads up to a number of frames.
func (x *talker) read(t *testing.T, res *http.Response, frames int) {
	in, text := sse.NewReader(res.Body, sse.Limits{}), ""
	for n := 0; frames < 0 || n < frames; n++ {
		frame, err := in.Next()
		if err != nil {
			return
		}
		var e agentEvent
		if err := json.Unmarshal(frame.Data, &e); err != nil {
			t.Errorf("%s: a frame is %s", x.key, frame.Data)
			return
		}
		switch e.Type {
		case "streaming_agent_output":
			piece, _ := e.Content.(string)
			text += piece
		case "streaming_agent_output_end":
			x.texts[e.EventID], text = text, ""
			x.seen = append(x.seen, e.EventID)
		case "end":
			return
		default:
			x.note(t, &e)
		}
	}
}

// note keeps what was shown.
func (x *talker) note(t *testing.T, e *agentEvent) {
	switch e.Type {
	case "input_message", "tool_input", "tool_output", "step_transition", "structured_output", "agent_output", "thinking":
		if e.ID != "" {
			x.last, x.seen = e.ID, append(x.seen, e.ID)
		}
	case "error":
		t.Errorf("%s: an error: %v", x.key, e.Messages)
	}
}
