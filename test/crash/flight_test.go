package crash

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/provider/scripted"
	"quarry/internal/provider/scripted/transcript"
	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

// flight is sessions whose turns wait for their model: half of them for its first reply, the others for the one behind their
// searches.
type flight struct {
	agentLoad
	provider *scripted.Server
	gate     *scripted.Gate
	waiting  chan string // the session of each call that waits
}

// held is the turn of every session that waits behind its searches, whose number is odd; the others have none.
func held(session int) (turn, round int) {
	if session%2 == 0 {
		return 0, 0
	}
	return 2, 1
}

func newFlight(t *testing.T) *flight {
	f := &flight{provider: scripted.Start(t), gate: scripted.NewGate(), waiting: make(chan string, 4096)}
	f.provider.Respond("worker", func(tr *transcript.Transcript) scripted.Reply {
		out := scriptedReply(tr)
		word := sentinels.FindStringSubmatch(tr.Question())
		if word == nil {
			return out
		}
		var session int
		_, _ = fmt.Sscan(word[1], &session) // digits
		if _, round := held(session); tr.Round() == round {
			out.Held = f.gate
			f.waiting <- word[1]
		}
		return out
	})
	return f
}

// launch sends the one turn of each session and waits until all wait for their model. Their clients wait until the program
// is gone.
func (f *flight) launch(t *testing.T, sessions int, group *sync.WaitGroup) {
	t.Helper()
	f.open(t, sessions)
	for _, x := range f.talkers {
		turn, _ := held(x.no)
		group.Go(func() { x.send(t, f.client, turn, "", 0) })
	}
	f.await(sessions)
}

// await waits for calls of so many sessions.
func (f *flight) await(sessions int) {
	for came := map[string]bool{}; len(came) < sessions; {
		came[<-f.waiting] = true
	}
}

// land lets all turns go on and compares their logs.
func (f *flight) land(t *testing.T) {
	t.Helper()
	f.gate.Open()
	for _, x := range f.talkers {
		turn, _ := held(x.no)
		if !x.send(t, f.client, turn, "start", 0) {
			t.Fatalf("%s: its turn can't be resumed", x.key)
		}
		got, _ := lines(t, x.key, logOf(t, f.client, x.key))
		if diff := cmp.Diff(planned(x.no, turn), got); diff != "" {
			t.Errorf("%s (-want +got): %s", x.key, diff)
		}
	}
}

// TestKillInFlight proves that 200 turns which are killed together all go on at the next start.
func TestKillInFlight(t *testing.T) {
	t.Parallel()
	const sessions = 200
	f, dir := newFlight(t), t.TempDir()
	p := testkit.StartBinary(t, dir)
	f.client = p.Client()
	furnishAgent(t, f.client, f.provider)
	var clients sync.WaitGroup
	f.launch(t, sessions, &clients)
	p.Kill()
	clients.Wait()
	p = testkit.StartBinary(t, dir)
	f.client = p.Client()
	f.await(sessions)
	f.land(t)
}

// TestStopInFlight proves that turns go on behind any number of orderly stops, and that those who wait for an answer don't
// keep the program.
func TestStopInFlight(t *testing.T) {
	t.Parallel()
	const sessions, stops = 20, 5
	f, dir := newFlight(t), t.TempDir()
	p := testkit.StartBinary(t, dir)
	f.client = p.Client()
	furnishAgent(t, f.client, f.provider)
	var clients sync.WaitGroup
	f.launch(t, sessions, &clients)
	for range stops {
		if err := p.Stop(); err != nil {
			t.Errorf("a stop: %v\n%s", err, p.Log())
		}
		clients.Wait()
		p = testkit.StartBinary(t, dir)
		f.client = p.Client()
		f.await(sessions)
	}
	f.land(t)
}

// TestKillWithoutProgress proves that a turn which kills the program three times without an event ends, and that its input
// runs again when it is sent again.
func TestKillWithoutProgress(t *testing.T) {
	t.Parallel()
	f, dir := newFlight(t), t.TempDir()
	p := testkit.StartBinary(t, dir)
	f.client = p.Client()
	furnishAgent(t, f.client, f.provider)
	var clients sync.WaitGroup
	f.launch(t, 2, &clients)
	for life := range 3 {
		p.Kill()
		clients.Wait()
		p = testkit.StartBinary(t, dir)
		if f.client = p.Client(); life < 2 {
			f.await(2)
		}
	}
	for _, x := range f.talkers { // what there is, once the turn has ended
		turn, round := held(x.no)
		want := planned(x.no, turn)
		want = want[:slices.IndexFunc(want, func(line string) bool { return strings.HasSuffix(line, planText(x.no, turn, round)) })]
		for status := ""; status != "stopped"; {
			status, _ = f.client.Must(t, http.StatusOK, "GET", "/v2/agents/a/sessions/"+x.key, nil)["status"].(string)
		}
		got, _ := lines(t, x.key, logOf(t, f.client, x.key))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got): %s", x.key, diff)
		}
	}
	f.gate.Open()
	x := f.talkers[0]
	x.send(t, f.client, 0, "start", 0)
	got, _ := lines(t, x.key, logOf(t, f.client, x.key))
	if diff := cmp.Diff(planned(x.no, 0), got); diff != "" {
		t.Errorf("sent again (-want +got): %s", diff)
	}
}

// planText is what the model says or thinks first in a round.
func planText(session, turn, round int) string {
	one := plan(session, turn)[round]
	if one.thought != "" {
		return one.thought
	}
	return one.text
}

// twoNodes starts two processes over one database.
func twoNodes(t *testing.T) (one, two *testkit.Process) {
	t.Helper()
	database, first, second := storetest.Postgres(t), t.TempDir(), t.TempDir()
	one = testkit.StartBinary(t, first, "--database", database)
	if err := os.Symlink(filepath.Join(first, "secret.key"), filepath.Join(second, "secret.key")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(second, "owner.key"), []byte(one.Key), 0o600); err != nil { // for the test
		t.Fatal(err)
	}
	return one, testkit.StartBinary(t, second, "--database", database)
}

// TestKillNode proves that of two processes over one database each takes inputs, interrupts and readers of sessions that the
// other works on, and that the sessions of one that is killed go on on the other.
func TestKillNode(t *testing.T) {
	t.Parallel()
	const sessions = 8
	one, two := twoNodes(t)
	f := newFlight(t)
	f.client = one.Client()
	furnishAgent(t, f.client, f.provider)
	var clients sync.WaitGroup
	f.launch(t, sessions, &clients)
	other := two.Client()

	x := f.talkers[0] // interrupted through the other node
	path := "/v2/agents/a/sessions/" + x.key
	answer := other.Must(t, http.StatusCreated, "POST", path+"/events", map[string]any{"type": "interrupt"})
	if events, _ := answer["events"].([]any); len(events) != 1 || events[0].(map[string]any)["type"] != "session_interrupted" {
		t.Errorf("an interrupt through the other node answers %v", answer)
	}
	for status := ""; status != "stopped"; {
		status, _ = other.Must(t, http.StatusOK, "GET", path, nil)["status"].(string)
	}

	y := f.talkers[1] // has another input through the other node, which waits there for its end
	next := make(chan bool)
	go func() { next <- y.send(t, other, 4, "start", -1) }()
	other.Must(t, http.StatusConflict, "POST", "/v2/agents/a/sessions/"+y.key+"/events", map[string]any{
		"messages": []any{map[string]any{"type": "text", "content": "Busy?"}},
	})
	if got, _ := lines(t, y.key, logOf(t, other, y.key)); len(got) < 2 {
		t.Errorf("the other node shows %v of a running turn", got)
	}
	one.Kill()
	clients.Wait()
	f.client, f.talkers = other, f.talkers[1:]
	f.await(sessions - 1)
	f.gate.Open()
	if !<-next {
		t.Error("the input through the other node was not accepted")
	}
	for _, x := range f.talkers {
		turn, _ := held(x.no)
		want := planned(x.no, turn)
		if x == y {
			want = append(want, planned(x.no, 4)...)
		} else if !x.send(t, other, turn, "start", 0) {
			t.Errorf("%s: its turn can't be resumed", x.key)
		}
		got, _ := lines(t, x.key, logOf(t, other, x.key))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got): %s", x.key, diff)
		}
	}
	for _, e := range logOf(t, other, y.key) { // thinking has no id while it comes
		if !slices.Contains(y.seen, e.ID) && e.Type != "thinking" {
			t.Errorf("who read along through the other node was not shown %+v", e)
		}
	}
}
