package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/provider/scripted"
	"quarry/internal/provider/scripted/transcript"
	"quarry/internal/testkit"
)

// entry is an event as the model of a session has it.
type entry struct {
	kind, text string // of an output, the text is the query of its call
	id, call   string // as the program has them
	external   string // of an input
	hidden     bool
}

func (e entry) line() string { return e.kind + " " + e.text }

// waiting is an input in the queue.
type waiting struct {
	text, external string
	steer          bool
}

// asking is a call of the language model that waits for its answer.
type asking struct {
	prompt []string
	answer chan scripted.Reply
}

// dialogue plays moves on a session of the real program and on a model of it: a list of events, a queue, and a turn that is
// running or not. Between moves the session is idle, or its turn waits for the language model.
type dialogue struct {
	t      *testing.T
	r      *rand.Rand
	dir    string
	p      *testkit.Process
	c      *testkit.Client
	asked  chan *asking
	moves  int
	at     string
	path   string
	result chan int // status of the request that began the turn, 0 for none

	log   []entry
	queue []waiting

	running   bool
	now       *asking
	first     string // external id of the input that the turn began with
	bare      bool   // nothing stands behind that
	waited    bool   // whoever sent it still waits for the answer
	again     bool   // it has failed before
	recovered int    // kills since the last event
	failed    string // external id of the last input, if its turn failed with nothing behind it
}

// TestDialogue proves that after any sequence of inputs, steering and queued ones among them, of inputs sent twice, answers,
// searches, failures, interrupts, hidden, shown and deleted events, stops and kills, a session has the events that the same
// moves leave in a simple model, and every prompt is what the visible ones of them say.
func TestDialogue(t *testing.T) {
	t.Parallel()
	moves := 120
	if *rounds >= 100 {
		moves = 1500
	}
	seed := seeded(t)
	d := &dialogue{t: t, r: rand.New(rand.NewPCG(seed, 16)), dir: t.TempDir(), asked: make(chan *asking, 16), path: "/v2/agents/a/sessions/s"}
	provider := scripted.Start(t)
	d.start()
	furnishAgent(t, d.c, provider)
	provider.Respond("worker", func(tr *transcript.Transcript) scripted.Reply {
		a := &asking{prompt: flat(tr), answer: make(chan scripted.Reply, 1)}
		d.asked <- a
		select {
		case reply := <-a.answer:
			return reply
		case <-t.Context().Done():
			return scripted.Reply{}
		}
	})
	d.c.Must(t, http.StatusCreated, "POST", "/v2/agents/a/sessions", map[string]any{"key": "s", "description": ""})
	plays := []struct {
		weight int
		play   func()
	}{{24, d.input}, {14, d.enqueue}, {26, d.reply}, {14, d.search}, {6, d.fail}, {6, d.interrupt}, {8, d.hide}, {5, d.remove}, {6, d.repeat}, {4, d.restart}}
	for d.moves = 1; d.moves <= moves && !t.Failed(); d.moves++ {
		n := d.r.IntN(113)
		for _, p := range plays {
			if n -= p.weight; n < 0 {
				p.play()
				break
			}
		}
		d.compare()
	}
}

func (d *dialogue) start() {
	d.p = testkit.StartBinary(d.t, d.dir)
	d.c = d.p.Client()
}

// flat is a prompt, a line for each message.
func flat(tr *transcript.Transcript) (out []string) {
	for _, m := range tr.Messages {
		line := m.Role + " " + m.Text
		if m.Role == "tool" {
			line = m.Role + " " + m.CallID
		}
		for _, c := range m.Calls {
			line += " " + c.ID
		}
		out = append(out, line)
	}
	return out
}

// prompt is what the visible events say, as flat returns it.
func (d *dialogue) prompt() (out []string) {
	paired := map[string]int{}
	for _, e := range d.log {
		if e.call != "" && !e.hidden {
			paired[e.call]++
		}
	}
	replying := false
	reply := func(s string) {
		if replying {
			out[len(out)-1] += s
			return
		}
		replying = true
		out = append(out, "assistant "+s)
	}
	calls := ""
	flush := func() {
		if calls != "" {
			reply(calls)
			calls = ""
		}
	}
	for _, e := range d.log {
		switch {
		case e.hidden || e.call != "" && paired[e.call] != 2:
		case e.kind == "agent_output":
			reply(e.text)
		case e.kind == "tool_input":
			calls += " " + e.call
		default:
			flush()
			replying = false
			if e.kind == "tool_output" {
				out = append(out, "tool "+e.call)
			} else {
				out = append(out, "user "+e.text)
			}
		}
	}
	flush()
	return out
}

// settle waits until the turn asks its model, or until the session is idle.
func (d *dialogue) settle() {
	d.t.Helper()
	if d.running {
		select {
		case d.now = <-d.asked:
		case <-time.After(2 * time.Minute):
			d.t.Fatalf("move %d, %s: the model is not asked", d.moves, d.at)
		}
		d.adopt()
		if diff := cmp.Diff(d.prompt(), d.now.prompt); diff != "" {
			d.t.Errorf("move %d, %s: prompt (-want +got): %s", d.moves, d.at, diff)
		}
		return
	}
	for status := "running"; status == "running"; { // unstarted where the first input was taken back
		status, _ = d.c.Must(d.t, http.StatusOK, "GET", d.path, nil)["status"].(string)
	}
}

// adopt compares the log with the model, and takes the ids from it and the order of the outputs of one reply.
func (d *dialogue) adopt() {
	d.t.Helper()
	var want []string
	for _, e := range d.log {
		want = append(want, e.line())
	}
	log, queries := logOf(d.t, d.c, "s"), map[string]string{}
	got := make([]entry, len(log))
	var is []string
	for i, e := range log {
		got[i] = entry{kind: e.Type, id: e.ID, call: e.Call, text: fmt.Sprint(e.Content), hidden: e.HideReason != ""}
		switch e.Type {
		case "input_message":
			var parts []struct {
				Content  string
				External string `json:"external_id"`
			}
			if err := json.Unmarshal(e.Messages, &parts); err != nil || len(parts) != 1 {
				d.t.Fatalf("move %d: the input %s", d.moves, e.Messages)
			}
			got[i].text, got[i].external = parts[0].Content, parts[0].External
		case "tool_input":
			got[i].text, queries[e.Call] = e.Input.Query, e.Input.Query
		case "tool_output":
			if got[i].text = queries[e.Call]; got[i].text == "" { // its call was deleted
				at := slices.IndexFunc(d.log, func(x entry) bool { return x.kind == e.Type && x.call == e.Call })
				got[i].text = d.log[max(at, 0)].text
			}
		}
		if i > 0 && e.Created.Before(log[i-1].Created) {
			d.t.Errorf("move %d: event %d is older than the one before it", d.moves, i)
		}
		is = append(is, got[i].line())
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(is))); diff != "" {
		d.t.Fatalf("move %d, %s: log (-want +got): %s", d.moves, d.at, diff)
	}
	for i, e := range d.log {
		if e.kind != "tool_output" && e.line() != is[i] || e.kind == "tool_output" && got[i].kind != e.kind {
			d.t.Fatalf("move %d, %s: event %d is %q, want %q", d.moves, d.at, i, is[i], e.line())
		}
		if e.kind != "tool_output" && (e.hidden != got[i].hidden || e.id != "" && e.id != got[i].id || e.external != got[i].external) {
			d.t.Errorf("move %d, %s: event %d is %+v, want %+v", d.moves, d.at, i, got[i], e)
		}
	}
	d.log = got
}

// compare compares the log, and the number of the visible events.
func (d *dialogue) compare() {
	d.t.Helper()
	d.adopt()
	visible := 0
	for _, e := range d.log {
		if !e.hidden {
			visible++
		}
	}
	answer := d.c.Must(d.t, http.StatusOK, "GET", d.path+"/events?limit=1", nil)
	if n := answer["metadata"].(map[string]any)["total_count"]; n != float64(visible) {
		d.t.Errorf("move %d, %s: total_count is %v, want %d", d.moves, d.at, n, visible)
	}
}

// begin is what an input of an idle session leads to; waits is whether its sender waits for the answer.
func (d *dialogue) begin(in waiting, waits bool) {
	d.log = append(d.log, entry{kind: "input_message", text: in.text, external: in.external})
	d.running, d.first, d.bare, d.waited, d.again, d.recovered, d.failed = true, in.external, true, waits, false, 0, ""
}

// end is what follows on the end of a turn.
func (d *dialogue) end() {
	d.t.Helper()
	d.running, d.now = false, nil
	if len(d.queue) > 0 {
		in := d.queue[0]
		d.queue = d.queue[1:]
		d.begin(in, false)
	}
	d.settle()
}

// steered takes the inputs that were sent to steer, and reports whether there were any.
func (d *dialogue) steered() bool {
	before := len(d.queue)
	for _, in := range d.queue {
		if in.steer {
			d.log = append(d.log, entry{kind: "input_message", text: in.text, external: in.external})
		}
	}
	d.queue = slices.DeleteFunc(d.queue, func(in waiting) bool { return in.steer })
	return len(d.queue) < before
}

func (d *dialogue) fresh() waiting {
	return waiting{text: fmt.Sprintf("Message %d?", d.moves), external: fmt.Sprint("x", d.moves)}
}

// post sends an input and returns the status of its answer, in whose stead 0 stands where none came.
func (d *dialogue) post(in waiting, more map[string]any) (int, []any) {
	body := map[string]any{"messages": []any{map[string]any{"type": "text", "content": in.text, "external_id": in.external}}}
	for k, v := range more {
		body[k] = v
	}
	status, answer, err := d.c.Do("POST", d.path+"/events", body)
	if err != nil {
		return 0, nil
	}
	events, _ := answer["events"].([]any)
	return status, events
}

// launch sends an input whose sender waits for the end of its turn.
func (d *dialogue) launch(in waiting) {
	d.result = make(chan int, 1)
	result := d.result
	go func() {
		status, _ := d.post(in, nil)
		result <- status
	}()
}

func (d *dialogue) input() {
	d.at = "input"
	in := d.fresh()
	if d.running {
		if status, _ := d.post(in, nil); status != http.StatusConflict {
			d.t.Errorf("move %d: an input of a running session answers %d", d.moves, status)
		}
		return
	}
	d.launch(in)
	d.begin(in, true)
	d.settle()
}

// enqueue sends an input that waits, and leaves once it was accepted.
func (d *dialogue) enqueue() {
	if !d.running || len(d.queue) > 5 {
		return
	}
	d.at = "queue"
	in := d.fresh()
	in.steer = d.r.IntN(2) == 0
	body := map[string]any{
		"messages": []any{map[string]any{"type": "text", "content": in.text, "external_id": in.external}}, "since": "start", "stream_response": true,
	}
	if in.steer {
		body["behavior"] = "steer"
	}
	raw, _ := json.Marshal(body) // strings always encode
	ctx, leave := context.WithCancel(d.t.Context())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, "POST", d.c.URL+d.path+"/events", bytes.NewReader(raw))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("x-api-key", d.c.Key)
	req.Header.Set("Content-Type", "application/json")
	res, err := d.c.HTTP.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusCreated {
		d.t.Fatalf("move %d: an input that waits answers %s", d.moves, res.Status)
	}
	d.queue = append(d.queue, in)
}

// reply answers in words.
func (d *dialogue) reply() {
	if !d.running {
		d.input()
		return
	}
	d.at = "reply"
	text := fmt.Sprintf("Answer %d.", d.moves)
	d.now.answer <- scripted.Reply{Text: text}
	d.log = append(d.log, entry{kind: "agent_output", text: text})
	d.bare, d.recovered = false, 0
	if d.steered() {
		d.settle()
		return
	}
	d.end()
}

// search answers with one or two searches.
func (d *dialogue) search() {
	if !d.running {
		d.input()
		return
	}
	d.at = "search"
	reply := scripted.Reply{}
	if d.r.IntN(2) == 0 {
		reply.Text = fmt.Sprintf("Search %d.", d.moves)
		d.log = append(d.log, entry{kind: "agent_output", text: reply.Text})
	}
	var outputs []entry
	for i := range 1 + d.r.IntN(2) {
		query, id := fmt.Sprintf("valve %d of %d", i, d.moves), fmt.Sprintf("call-%d-%d", d.moves, i)
		reply.Calls = append(reply.Calls, scripted.Call{ID: id, Name: "look", Pieces: []string{`{"query": "` + query + `"}`}})
		d.log = append(d.log, entry{kind: "tool_input", text: query, call: id})
		outputs = append(outputs, entry{kind: "tool_output", text: query, call: id})
	}
	d.now.answer <- reply
	d.log = append(d.log, outputs...)
	d.bare, d.recovered = false, 0
	d.steered()
	d.settle()
}

// fail lets the call of the model fail.
func (d *dialogue) fail() {
	if !d.running {
		d.input()
		return
	}
	d.at = "failure"
	d.now.answer <- scripted.Reply{Fault: scripted.Rejected}
	i := slices.IndexFunc(d.log, func(e entry) bool { return e.external == d.first })
	switch {
	case d.bare && d.waited && !d.again:
		d.log = slices.Delete(d.log, i, i+1)
		if status := <-d.result; status < 500 {
			d.t.Errorf("move %d: an input that was taken back answers %d", d.moves, status)
		}
	case d.bare:
		d.failed = d.first
	}
	d.end()
}

func (d *dialogue) interrupt() {
	d.at = "interrupt"
	answer := d.c.Must(d.t, http.StatusCreated, "POST", d.path+"/events", map[string]any{"type": "interrupt"})
	if events, _ := answer["events"].([]any); (len(events) == 1) != d.running {
		d.t.Errorf("move %d: an interrupt answers %v; running: %t", d.moves, answer, d.running)
	}
	if d.running {
		d.now.answer <- scripted.Reply{} // to nobody
		d.end()
	}
}

func (d *dialogue) hide() {
	if len(d.log) == 0 {
		return
	}
	d.at = "hide"
	e := &d.log[d.r.IntN(len(d.log))]
	e.hidden = d.r.IntN(2) == 0
	what := map[bool]string{true: "hide", false: "unhide"}[e.hidden]
	d.c.Must(d.t, http.StatusOK, "POST", d.path+"/events/"+e.id+"/"+what, nil)
}

// remove deletes an event, but not the input of the turn that is running.
func (d *dialogue) remove() {
	if len(d.log) == 0 {
		return
	}
	d.at = "delete"
	i := d.r.IntN(len(d.log))
	e := d.log[i]
	if d.running && e.external == d.first {
		return
	}
	d.c.Must(d.t, http.StatusNoContent, "DELETE", d.path+"/events/"+e.id, nil)
	d.log = slices.Delete(d.log, i, i+1)
	if e.external != "" && e.external == d.failed {
		d.failed = ""
	}
}

// repeat sends an input a second time: nothing changes, unless its turn has failed with nothing behind it.
func (d *dialogue) repeat() {
	d.at = "repeat"
	i := slices.IndexFunc(d.log, func(e entry) bool { return e.external == d.failed && !e.hidden })
	if d.failed != "" && i >= 0 && !d.running {
		d.launch(waiting{text: "Again?", external: d.failed})
		d.running, d.first, d.bare, d.waited, d.again, d.recovered, d.failed = true, d.failed, true, true, true, 0, ""
		d.settle()
		return
	}
	var known []string
	for _, in := range d.queue {
		known = append(known, in.external)
	}
	for _, e := range d.log {
		if e.external != "" && e.external != d.failed {
			known = append(known, e.external)
		}
	}
	if len(known) == 0 {
		return
	}
	external := known[d.r.IntN(len(known))]
	if status, events := d.post(waiting{text: "Again?", external: external}, nil); status != http.StatusCreated || len(events) > 0 {
		d.t.Errorf("move %d: %s sent again answers %d %v", d.moves, external, status, events)
	}
	if d.running {
		return
	}
	var want []string
	for _, e := range d.log {
		if !e.hidden {
			want = append(want, e.id)
		}
	}
	_, events := d.post(waiting{text: "Again?", external: external}, map[string]any{"since": "start"})
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprint(e.(map[string]any)["id"]))
	}
	if strings.Join(want, " ") != strings.Join(got, " ") {
		d.t.Errorf("move %d: a resume of %s has the events %v, want %v", d.moves, external, got, want)
	}
}

// restart stops or kills the program. A turn that was killed three times without a new event would end.
func (d *dialogue) restart() {
	if d.at = "stop"; d.r.IntN(2) == 0 && d.recovered < 2 {
		d.at = "kill"
		d.p.Kill()
		d.recovered++
	} else if err := d.p.Stop(); err != nil {
		d.t.Errorf("move %d: the stop: %v\n%s", d.moves, err, d.p.Log())
	}
	if d.now != nil {
		d.now.answer <- scripted.Reply{} // to nobody
	}
	d.waited = false
	d.start()
	if d.running {
		d.settle()
	}
}
