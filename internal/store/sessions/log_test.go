package sessions_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/agent/permit"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/usage"
)

// testTurn proves that a turn is written as it was made and read back the same: input, reply with calls, outputs, its end; and
// what the run says on the way.
func testTurn(t *testing.T, b bench) {
	s := b.open(t)
	if s.Started || s.Running {
		t.Errorf("a new session is started %v, running %v", s.Started, s.Running)
	}
	l, now := lease(s.No, "a"), clock.Now()
	in := input(s.No, "what?#x", "and \x00 <&>?")
	in.Caller = session.Caller{Rights: permit.Rights{All: true}, Payers: []usage.Account{{Scope: "agent/1", Name: "one", Budget: usage.Budget{RequestsPerSecond: 3}}}}
	got, err := b.Accept(t.Context(), in, l, now)
	if err != nil {
		t.Fatal(err)
	}
	began := session.Run{Lease: l, AgentNo: s.AgentNo, Turn: 1, First: 1, Opening: 1, Revision: 7, Began: now, Caller: in.Caller}
	first := session.Event{Ord: 1, ID: in.Event, Turn: 1, Type: session.InputMessage, Created: now.Truncate(time.Millisecond), Body: session.Body{Parts: in.Parts}}
	want := session.Accepted{Outcome: session.Began, Event: in.Event, Begun: first, Last: 1, Run: began}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("accepted (-want +got): %s", diff)
	}
	resolved := tool.Kept{Text: `{"x":1}`}
	call := session.Event{ID: id.NewEvent(), Type: session.ToolInput, State: "kept", Body: session.Body{
		CallID: "c1", Tool: "find", ToolName: "corpora_search", Arguments: json.RawMessage(`{"query":"x","n":12345678901234567890}`), Pinned: []string{"a.b"},
	}}
	thought := session.Event{ID: id.NewEvent(), Type: session.Thinking, Body: session.Body{Text: "hm"}}
	reply := b.commit(t, l, session.Commit{
		Events: []session.Event{thought, call}, Progress: &session.Progress{Step: "two", Transitions: 1, Calls: 2},
		Usage: &session.Usage{Input: 3, Output: 4, Window: 5}, Resolved: &resolved,
	})
	if len(reply.Events) != 2 || reply.Ended || reply.Next != nil || reply.Events[1].Ord != 3 || reply.Events[1].Turn != 1 {
		t.Errorf("reply is %+v", reply)
	}
	began.Step, began.Transitions, began.Calls, began.Resolved = "two", 1, 2, resolved
	if diff := cmp.Diff(&began, b.standing(t, s.No).Run); diff != "" {
		t.Errorf("run (-want +got): %s", diff)
	}
	output := session.Event{ID: id.NewEvent(), Type: session.ToolOutput, Body: session.Body{
		CallID: "c1", Tool: "find", ToolName: "corpora_search", Output: json.RawMessage(`{"a":"<"}`), Overrides: json.RawMessage(`{}`),
	}}
	b.commit(t, l, session.Commit{Events: []session.Event{output}})
	structured := session.Event{ID: id.NewEvent(), Type: session.StructuredOutput, Body: session.Body{Schema: "s", Content: json.RawMessage(`[1, null]`)}}
	moved := session.Event{ID: id.NewEvent(), Type: session.StepTransition, Body: session.Body{From: "one", To: "two", Text: "because"}}
	last := b.commit(t, l, session.Commit{Events: []session.Event{structured, moved}, End: &session.End{Step: "two"}})
	if !last.Ended || last.Next != nil {
		t.Errorf("the end is %+v", last)
	}
	all := b.log(t, s.No)
	wantAll := slices.Concat([]session.Event{first}, reply.Events, []session.Event{output}, last.Events)
	wantAll[3].Ord, wantAll[3].Turn = 4, 1
	if diff := cmp.Diff(wantAll, all, cmpopts.IgnoreFields(session.Event{}, "Created")); diff != "" {
		t.Errorf("log (-written +read): %s", diff)
	}
	after, err := b.Load(t.Context(), s.No)
	if err != nil || after.Step != "two" || !after.Started || after.Running || after.Usage == nil || *after.Usage != (session.Usage{Input: 3, Output: 4, Window: 5}) {
		t.Errorf("the session is %+v, %v", after, err)
	}
	if _, err := b.Commit(t.Context(), l, session.Commit{Events: []session.Event{says("late")}}, now); !errors.Is(err, session.ErrLost) {
		t.Errorf("a commit behind the end: %v", err)
	}
	if st := b.standing(t, s.No); st.Run != nil || st.Last != 6 || st.Edits != 0 {
		t.Errorf("standing %+v", st)
	}
}

// testClockBack proves that instants of events don't go back when the clock does, and are the same within a commit.
func testClockBack(t *testing.T, b bench) {
	s, now := b.open(t), clock.Now()
	l := lease(s.No, "a")
	if _, err := b.Accept(t.Context(), input(s.No, "q"), l, now); err != nil {
		t.Fatal(err)
	}
	for i, at := range []time.Time{now.Add(-time.Hour), now.Add(time.Second), now.Add(time.Millisecond)} {
		if _, err := b.Commit(t.Context(), l, session.Commit{Events: []session.Event{says(fmt.Sprint(i)), says("b")}}, at); err != nil {
			t.Fatal(err)
		}
	}
	at := now.Truncate(time.Millisecond)
	var got []time.Duration
	for _, e := range b.log(t, s.No) {
		got = append(got, e.Created.Sub(at))
	}
	if diff := cmp.Diff([]time.Duration{0, 0, 0, time.Second, time.Second, time.Second, time.Second}, got); diff != "" {
		t.Errorf("instants (-want +got): %s", diff)
	}
	if after, err := b.Load(t.Context(), s.No); err != nil || !after.Updated.Equal(now.Add(time.Second)) {
		t.Errorf("updated %v, %v; want %v", after.Updated, err, now.Add(time.Second))
	}
}

// testExternalIDs proves that a part is taken once: known ones are left out, also those of hidden events, of inputs that wait,
// of the same input, and where the session takes nothing any more; those of deleted events count no more.
func testExternalIDs(t *testing.T, b bench) {
	s := b.open(t)
	first := b.send(t, input(s.No, "a#1", "a again#1", "b", "c#2"), session.Began)
	if got := b.send(t, input(s.No, "x#2"), session.Known); got.Event != first.Event {
		t.Errorf("known as %s, want %s", got.Event, first.Event)
	}
	waiting := b.send(t, input(s.No, "d#3", "a#1"), session.Waiting)
	if got := b.send(t, input(s.No, "d#3"), session.Known); got.Event != waiting.Event {
		t.Errorf("known as %s, want %s, which waits", got.Event, waiting.Event)
	}
	got := b.commit(t, first.Run.Lease, session.Commit{Events: []session.Event{says("A")}, End: &session.End{}})
	if diff := cmp.Diff(text("d#3"), got.Inputs[0].Parts); diff != "" {
		t.Errorf("the input that waited (-want +got): %s", diff)
	}
	b.commit(t, got.Next.Lease, session.Commit{Events: []session.Event{says("B")}, End: &session.End{}})
	b.wantLog(t, s.No, "1/1 <a<b<c", "2/1 A", "3/2 <d", "4/2 B")
	if _, err := b.Hide(t.Context(), s.No, first.Event, "manual"); err != nil {
		t.Fatal(err)
	}
	b.send(t, input(s.No, "a#1"), session.Known)
	disabled := opt.Some(false)
	if _, err := b.Update(t.Context(), s.No, session.Change{Enabled: disabled}, clock.Now()); err != nil {
		t.Fatal(err)
	}
	b.send(t, input(s.No, "a#1"), session.Known)
	b.refused(t, input(s.No, "a#1", "new"), "session_disabled")
	if _, err := b.Update(t.Context(), s.No, session.Change{Enabled: opt.Some(true)}, clock.Now()); err != nil {
		t.Fatal(err)
	}
	if err := b.DeleteEvent(t.Context(), s.No, first.Event); err != nil {
		t.Fatal(err)
	}
	b.send(t, input(s.No, "a#1", "d#3", "e"), session.Began)
	b.wantLog(t, s.No, "2/1 A", "3/2 <d", "4/2 B", "5/3 <a<e")
	b.send(t, input(b.open(t).No, "a#1"), session.Began)
}

// testSkills proves that an input writes the skills that it loads behind it, in its order and without their content in its parts, at
// once, from the queue and to steer; and that they are part of it: a turn that fails behind them takes them back, or may run again.
func testSkills(t *testing.T, b bench) {
	s := b.open(t)
	load := func(parts ...session.Part) session.Input {
		in := input(s.No, "x")
		in.Parts, in.Queue = parts, true
		return in
	}
	one, two := session.Part{Skill: "one", Text: "do this"}, session.Part{Skill: "two", Text: "do that", ExternalID: "x"}
	first := b.send(t, load(one, session.Part{Text: "go"}, two), session.Began)
	if first.Begun.Ord != 1 || first.Last != 3 || first.Run.Base() != 3 {
		t.Errorf("accepted %+v", first)
	}
	b.send(t, load(two), session.Known)
	steering := load(one)
	steering.Steer = true
	b.send(t, steering, session.Waiting)
	b.send(t, load(session.Part{Text: "next"}, one), session.Waiting)
	if got := b.commit(t, first.Run.Lease, session.Commit{Events: []session.Event{says("A")}, Steer: true}); len(got.Inputs) != 2 {
		t.Errorf("taken to steer: %+v", got.Inputs)
	}
	got := b.commit(t, first.Run.Lease, session.Commit{Events: []session.Event{says("B")}, End: &session.End{}})
	if got.Next == nil || got.Next.Base() != 9 {
		t.Fatalf("the next turn is %+v", got.Next)
	}
	var log []string
	for _, e := range b.log(t, s.No) {
		line := fmt.Sprint(e.Turn, " ", e.Type, " ", e.Skill, e.Text)
		for _, p := range e.Parts {
			line += fmt.Sprintf("<%s%s>", p.Skill, p.Text)
		}
		log = append(log, line)
	}
	want := []string{
		"1 input_message <one><go><two>", "1 skill_load onedo this", "1 skill_load twodo that", "1 agent_output A", "1 input_message <one>",
		"1 skill_load onedo this", "1 agent_output B", "2 input_message <next><one>", "2 skill_load onedo this",
	}
	if diff := cmp.Diff(want, log); diff != "" {
		t.Errorf("log (-want +got): %s", diff)
	}
	b.commit(t, got.Next.Lease, session.Commit{End: &session.End{Failed: true, TakeBack: true}})
	if all := b.log(t, s.No); len(all) != 7 {
		t.Errorf("taken back, %d events are left", len(all))
	}
	three := session.Part{Skill: "one", Text: "do this", ExternalID: "y"}
	failed := b.send(t, load(three, session.Part{Text: "go"}), session.Began)
	b.commit(t, failed.Run.Lease, session.Commit{End: &session.End{Failed: true}})
	again := b.send(t, load(three), session.Again)
	if again.Begun.ID != failed.Event || again.Last != failed.Last || again.Run.Base() != failed.Run.Base() {
		t.Errorf("again %+v, want %+v", again, failed)
	}
	b.commit(t, again.Run.Lease, session.Commit{Events: []session.Event{says("C")}, End: &session.End{}})
	b.send(t, load(three), session.Known)
}

// testDescribed proves that a description is written once, only where it was left out and nobody has set one since, and that it is no
// change of the session otherwise.
func testDescribed(t *testing.T, b bench) {
	first := b.open(t)
	for name, c := range map[string]struct {
		waits  bool
		change session.Change
		want   string
	}{
		"given": {false, session.Change{}, ""}, "left out": {true, session.Change{}, "first"},
		"another change": {true, session.Change{Name: opt.Some("n")}, "first"}, "set": {true, session.Change{Description: opt.Some("mine")}, "mine"},
		"emptied": {true, session.Change{Description: opt.Some("")}, ""},
	} {
		x := first
		x.Key, x.Description, x.Describe = "d-"+id.Text(8), "", c.waits
		s, err := b.Create(t.Context(), x, nil)
		if err != nil || s.Describe != c.waits {
			t.Fatalf("%s: %v, waits %v", name, err, s.Describe)
		}
		if s, err = b.Update(t.Context(), s.No, c.change, s.Updated); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"first", "second"} {
			if err := b.Describe(t.Context(), s.No, text); err != nil {
				t.Fatal(err)
			}
		}
		after, err := b.Load(t.Context(), s.No)
		if err != nil || after.Description != c.want || after.Describe || !after.Updated.Equal(s.Updated) {
			t.Errorf("%s: %+v, %v", name, after, err)
		}
	}
}

// testReminders proves that a commit keeps the texts of reminders with the session, as they are, until another one writes others.
func testReminders(t *testing.T, b bench) {
	s := b.open(t)
	kept := func(want map[string]string) {
		t.Helper()
		if got, err := b.Reminders(t.Context(), s.No); err != nil || !maps.Equal(got, want) {
			t.Errorf("%v, %q, want %q", err, got, want)
		}
	}
	kept(nil)
	first := b.send(t, input(s.No, "a"), session.Began)
	for _, texts := range []map[string]string{{"a": "<&>", "b": ""}, {"c": "x"}} {
		b.commit(t, first.Run.Lease, session.Commit{Events: []session.Event{says("A")}, Rendered: texts})
		b.commit(t, first.Run.Lease, session.Commit{Events: []session.Event{says("B")}})
		kept(texts)
	}
	if err := b.Delete(t.Context(), s.No); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Reminders(t.Context(), s.No); !fault.Is(err, fault.KindNotFound) {
		t.Error(err)
	}
}

// testFull proves that an input that a turn would begin for is refused where none may, before anything is written, and that what
// begins no turn is not.
func testFull(t *testing.T, b bench) {
	s, full := b.open(t), fault.Limited("full", "no place")
	try := func(in session.Input) (session.Outcome, error) {
		in.Full = full
		got, err := b.Accept(t.Context(), in, lease(s.No, "a"), clock.Now())
		return got.Outcome, err
	}
	if _, err := try(input(s.No, "a#1")); !errors.Is(err, full) || len(b.log(t, s.No)) > 0 {
		t.Errorf("idle: %v", err)
	}
	run := b.send(t, input(s.No, "a#1"), session.Began).Run
	for _, in := range []session.Input{input(s.No, "a#1"), input(s.No, "b#2"), input(s.No, "b#2")} {
		if got, err := try(in); err != nil || got == session.Began {
			t.Errorf("running: %s, %v", got, err)
		}
	}
	b.commit(t, run.Lease, session.Commit{Events: []session.Event{says("A")}, End: &session.End{}})
	b.commit(t, run.Lease, session.Commit{End: &session.End{Failed: true}})
	if _, err := try(input(s.No, "b#2")); !errors.Is(err, full) {
		t.Errorf("failed before: %v", err)
	}
	b.send(t, input(s.No, "b#2"), session.Again)
}

// testDoubles proves that of equal inputs that are sent at once, one is taken.
func testDoubles(t *testing.T, b bench) {
	for range 5 {
		s := b.open(t)
		var group sync.WaitGroup
		var mu sync.Mutex
		outcomes := map[session.Outcome]int{}
		for range 8 {
			group.Go(func() {
				got, err := b.Accept(t.Context(), input(s.No, "a#1", "b#2"), lease(s.No, "a"), clock.Now())
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				outcomes[got.Outcome]++
			})
		}
		group.Wait()
		if outcomes[session.Began] != 1 || outcomes[session.Known] != 7 {
			t.Errorf("outcomes are %v", outcomes)
		}
		b.wantLog(t, s.No, "1/1 <a<b")
	}
}

// testQueue proves that inputs wait in order, that each gets a turn of its own, with the agent's configuration of that time and
// its own caller, and that an input that must not wait is refused with advice.
func testQueue(t *testing.T, b bench) {
	s := b.open(t)
	run := b.send(t, input(s.No, "a"), session.Began).Run
	_, err := b.Accept(t.Context(), session.Input{Session: s.No, Event: id.NewEvent(), Parts: text("x")}, lease(s.No, "a"), clock.Now())
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindConflict || f.Code != "session_busy" || !strings.Contains(f.Text, "since") {
		t.Errorf("busy: %v", err)
	}
	b.send(t, input(s.No, "b"), session.Waiting)
	b.send(t, input(s.No, "c"), session.Waiting)
	b.exec(t, `UPDATE agents SET revision = 8 WHERE no = $1`, s.AgentNo)
	b.commit(t, run.Lease, session.Commit{Progress: &session.Progress{Step: "far", Transitions: 3, Calls: 4}})
	next := b.commit(t, run.Lease, session.Commit{Events: []session.Event{says("A")}, End: &session.End{Step: "there"}})
	want := session.Run{
		Lease: run.Lease, AgentNo: s.AgentNo, Turn: 2, First: 3, Opening: 1, Revision: 8, Step: "there", Began: next.Next.Began, Caller: session.Caller{Rights: permit.Rights{Corpora: []string{"b"}}},
	}
	if diff := cmp.Diff(&want, next.Next); diff != "" || !next.Ended || next.Steers {
		t.Errorf("next turn (-want +got): %s of %+v", diff, next)
	}
	if diff := cmp.Diff(&want, b.standing(t, s.No).Run); diff != "" {
		t.Errorf("stored run (-want +got): %s", diff)
	}
	b.commit(t, run.Lease, session.Commit{End: &session.End{}})
	last := b.commit(t, run.Lease, session.Commit{Events: []session.Event{says("C")}, End: &session.End{}})
	if last.Next != nil || !last.Ended {
		t.Errorf("the last turn: %+v", last)
	}
	b.wantLog(t, s.No, "1/1 <a", "2/1 A", "3/2 <b", "4/3 <c", "5/3 C")
}

// testSteer proves that inputs that steer go on in their turn, when it asks for them and in place of its end, and that a turn that
// stops leaves them in the queue.
func testSteer(t *testing.T, b bench) {
	s := b.open(t)
	steer := func(words ...string) session.Input {
		in := input(s.No, words...)
		in.Steer = true
		return in
	}
	run := b.send(t, steer("a"), session.Began).Run
	b.send(t, input(s.No, "later"), session.Waiting)
	b.send(t, steer("s1"), session.Waiting)
	b.send(t, steer("s2"), session.Waiting)
	if got := b.commit(t, run.Lease, session.Commit{Events: []session.Event{says("A")}}); !got.Steers || got.Inputs != nil {
		t.Errorf("with inputs that steer: %+v", got)
	}
	if got := b.commit(t, run.Lease, session.Commit{Events: []session.Event{says("B")}, Steer: true}); got.Steers || len(got.Inputs) != 2 || got.Ended {
		t.Errorf("steered: %+v", got)
	}
	b.send(t, steer("s3"), session.Waiting)
	if got := b.commit(t, run.Lease, session.Commit{Events: []session.Event{says("C")}, End: &session.End{Step: "x"}}); got.Ended || len(got.Inputs) != 1 || got.Next != nil {
		t.Errorf("in place of the end: %+v", got)
	}
	b.send(t, steer("s4"), session.Waiting)
	got := b.commit(t, run.Lease, session.Commit{End: &session.End{Stop: true}})
	if !got.Ended || got.Next == nil || got.Next.Turn != 2 {
		t.Errorf("stopped: %+v", got)
	}
	b.wantLog(t, s.No, "1/1 <a", "2/1 A", "3/1 B", "4/1 <s1", "5/1 <s2", "6/1 C", "7/1 <s3", "8/2 <later")
	b.commit(t, run.Lease, session.Commit{Steer: true})
	b.commit(t, run.Lease, session.Commit{End: &session.End{}})
	if x := b.log(t, s.No); texts(x)[8] != "9/2 <s4" || b.standing(t, s.No).Run != nil {
		t.Errorf("at the end: %v", texts(x))
	}
}

// testFullQueue proves that as many inputs wait as may, and one more is refused.
func testFullQueue(t *testing.T, b bench) {
	s := b.open(t)
	run := b.send(t, input(s.No, "a"), session.Began).Run
	for range session.MaxQueued {
		b.send(t, input(s.No, "b"), session.Waiting)
	}
	b.refused(t, input(s.No, "x#1"), "session_queue_full")
	b.commit(t, run.Lease, session.Commit{End: &session.End{}})
	b.send(t, input(s.No, "x#1"), session.Waiting)
}

// testClosed proves that a disabled session, a disabled agent and what does not exist take no input, and that inputs that were
// accepted before run.
func testClosed(t *testing.T, b bench) {
	s := b.open(t)
	run := b.send(t, input(s.No, "a"), session.Began).Run
	b.send(t, input(s.No, "b"), session.Waiting)
	b.exec(t, `UPDATE agents SET enabled = FALSE WHERE no = $1`, s.AgentNo)
	b.refused(t, input(s.No, "x"), "agent_disabled")
	if got := b.commit(t, run.Lease, session.Commit{End: &session.End{}}); got.Next == nil {
		t.Error("the input that waited does not run")
	}
	if _, err := b.Create(t.Context(), fresh(s.AgentNo, "other"), nil); !fault.Is(err, fault.KindConflict) {
		t.Errorf("a session of a disabled agent: %v", err)
	}
	b.exec(t, `UPDATE agents SET deleted = 1, key = NULL WHERE no = $1`, s.AgentNo)
	b.refused(t, input(s.No, "x"), "agent_not_found")
	if _, err := b.Create(t.Context(), fresh(s.AgentNo, "other"), nil); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("a session of a deleted agent: %v", err)
	}
	b.refused(t, input(s.No+1000, "x"), "session_not_found")
}

// testFailed proves that the same input runs a turn again that has failed with nothing behind its input, and not otherwise.
func testFailed(t *testing.T, b bench) {
	s := b.open(t)
	one := b.send(t, input(s.No, "a#1"), session.Began)
	failed := session.Commit{End: &session.End{Failed: true}}
	b.commit(t, one.Run.Lease, failed)
	again := b.send(t, input(s.No, "a#1"), session.Again)
	if again.Event != one.Event || again.Run.First != 1 || again.Run.Turn != 1 || again.Begun.Parts[0].Text != "a" {
		t.Errorf("again: %+v", again)
	}
	b.send(t, input(s.No, "a#1"), session.Known) // it runs
	b.commit(t, again.Run.Lease, failed)
	two := b.send(t, input(s.No, "a#1", "b#2"), session.Began)
	b.commit(t, two.Run.Lease, session.Commit{Events: []session.Event{says("B")}})
	b.commit(t, two.Run.Lease, failed)
	b.send(t, input(s.No, "a#1"), session.Known)
	b.send(t, input(s.No, "b#2"), session.Known)
	three := b.send(t, input(s.No, "c#3"), session.Began)
	b.send(t, input(s.No, "d#4"), session.Waiting)
	b.commit(t, three.Run.Lease, failed)
	b.send(t, input(s.No, "c#3"), session.Known) // d stands behind it
	b.commit(t, three.Run.Lease, failed)
	b.exec(t, `UPDATE agents SET enabled = FALSE WHERE no = $1`, s.AgentNo)
	b.refused(t, input(s.No, "d#4"), "agent_disabled")
	b.wantLog(t, s.No, "1/1 <a", "2/2 <b", "3/2 B", "4/3 <c", "5/4 <d")
}

// testTakenBack proves that an input that is taken back leaves nothing, that its place in the log stays empty, and that it stays if
// an event stands behind it.
func testTakenBack(t *testing.T, b bench) {
	s := b.open(t)
	back := session.Commit{End: &session.End{TakeBack: true, Stop: true}}
	one := b.send(t, input(s.No, "a#1"), session.Began)
	if got := b.commit(t, one.Run.Lease, back); !got.Ended || got.Edits != 1 {
		t.Errorf("taken back: %+v", got)
	}
	if after, err := b.Load(t.Context(), s.No); err != nil || after.Started {
		t.Errorf("started %v, %v", after.Started, err)
	}
	two := b.send(t, input(s.No, "a#1"), session.Began)
	b.send(t, input(s.No, "b"), session.Waiting)
	if got := b.commit(t, two.Run.Lease, back); got.Next == nil || got.Next.Turn != 1 {
		t.Errorf("with an input that waits: %+v", got)
	}
	b.commit(t, two.Run.Lease, session.Commit{Events: []session.Event{says("B")}})
	b.commit(t, two.Run.Lease, back)
	b.wantLog(t, s.No, "3/1 <b", "4/1 B")
	if n, err := b.Count(t.Context(), s.No, true); n != 2 || err != nil {
		t.Errorf("%d events, %v", n, err)
	}
}

// testFence proves that whose lease was claimed by another writes nothing, nor who works for a deleted session or agent.
func testFence(t *testing.T, b bench) {
	lost := func(what string, l session.Lease) {
		t.Helper()
		_, err := b.Commit(t.Context(), l, session.Commit{Events: []session.Event{says("late")}, End: &session.End{}}, clock.Now())
		if !errors.Is(err, session.ErrLost) {
			t.Errorf("%s: %v", what, err)
		}
	}
	s := b.open(t)
	run := b.send(t, input(s.No, "a"), session.Began).Run
	taken, err := b.Claim(t.Context(), clock.Now(), true, 0, func(no int64) session.Lease { return lease(no, "b") })
	if err != nil || len(taken) != 1 || taken[0].Recovered != 1 || taken[0].Node != "b" || taken[0].First != 1 {
		t.Fatalf("claimed %+v, %v", taken, err)
	}
	lost("claimed", run.Lease)
	if b.commit(t, taken[0].Lease, session.Commit{Events: []session.Event{says("A")}}); b.standing(t, s.No).Run.Recovered != 0 {
		t.Error("an event does not count as progress")
	}
	if err := b.Delete(t.Context(), s.No); err != nil {
		t.Fatal(err)
	}
	lost("deleted", taken[0].Lease)
	other := b.open(t)
	run = b.send(t, input(other.No, "a"), session.Began).Run
	b.exec(t, `UPDATE agents SET deleted = 1, key = NULL WHERE no = $1`, other.AgentNo)
	lost("agent deleted", run.Lease)
	if got, err := b.Claim(t.Context(), clock.Now(), true, 0, func(no int64) session.Lease { return lease(no, "c") }); err != nil || len(got) != 0 {
		t.Errorf("claimed of a deleted agent: %v, %v", got, err)
	}
	b.wantLog(t, other.No, "1/1 <a")
}

// testLeases proves that runs are claimed when their lease has run out, up to a number, once each, that a lease that was renewed
// holds, and that one that was given back is not counted as recovered.
func testLeases(t *testing.T, b bench) {
	now := clock.Now()
	agent := b.agent(t, "a")
	runs := map[int64]session.Run{}
	for i := range 6 {
		s := b.create(t, agent, fmt.Sprint("s", i))
		l := lease(s.No, []string{"a", "b"}[i%2])
		l.Until = now.Add(time.Duration(i) * time.Second)
		got, err := b.Accept(t.Context(), input(s.No, "q"), l, now)
		if err != nil {
			t.Fatal(err)
		}
		runs[s.No] = got.Run
	}
	take := func(at time.Time, limit int) []session.Run {
		t.Helper()
		got, err := b.Claim(t.Context(), at, false, limit, func(no int64) session.Lease {
			return session.Lease{Session: no, Holder: id.Text(9), Node: "c", Until: now.Add(time.Hour)}
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := take(now.Add(-time.Second), 9); len(got) != 0 {
		t.Errorf("claimed before their time: %+v", got)
	}
	if err := b.Renew(t.Context(), "a", now.Add(30*time.Second)); err != nil {
		t.Fatal(err)
	}
	if got := take(now.Add(5*time.Second), 2); len(got) != 2 || got[0].Recovered != 1 || runs[got[0].Session].Node != "b" {
		t.Errorf("claimed two: %+v", got)
	}
	if got := take(now.Add(5*time.Second), 9); len(got) != 1 {
		t.Errorf("claimed the rest of b: %+v", got)
	}
	if err := b.Release(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	got := take(now, 9)
	if len(got) != 3 || got[0].Recovered != 0 || got[2].Recovered != 0 {
		t.Errorf("claimed of a: %+v", got)
	}
	again, err := b.Claim(t.Context(), now, true, 1, func(no int64) session.Lease { return lease(no, "d") })
	if err != nil || len(again) != 6 {
		t.Errorf("claimed everything: %+v, %v", again, err)
	}
}

// testCauses proves that why turns have not come to their ends is kept, oldest first, of as many as may have waited.
func testCauses(t *testing.T, b bench) {
	s := b.open(t)
	if got := b.standing(t, s.No).Causes; got != nil {
		t.Errorf("at first: %q", got)
	}
	var want []string
	for i := range session.MaxQueued + 5 {
		run := b.send(t, input(s.No, fmt.Sprint(i)), session.Began).Run
		end := session.End{}
		if i%2 == 0 || i > 4 {
			end.Cause = fmt.Sprintf(`{"turn":%d}`, run.Turn)
			want = append(want, end.Cause)
		}
		b.commit(t, run.Lease, session.Commit{End: &end})
	}
	if got := b.standing(t, s.No).Causes; !slices.Equal(got, want[len(want)-session.MaxQueued:]) {
		t.Errorf("kept %q", got)
	}
}

// testInterrupts proves that a turn in progress is asked to end once, that its process sees it, and that the next turn is not.
func testInterrupts(t *testing.T, b bench) {
	s := b.open(t)
	if run, err := b.Interrupt(t.Context(), s.No); run != nil || err != nil {
		t.Errorf("idle: %+v, %v", run, err)
	}
	run := b.send(t, input(s.No, "a"), session.Began).Run
	b.send(t, input(s.No, "b"), session.Waiting)
	if got, err := b.Interrupt(t.Context(), s.No); err != nil || got == nil || got.Node != "a" || !got.Interrupted || got.Interruption() != run.Interruption() {
		t.Errorf("running: %+v, %v", got, err)
	}
	for node, want := range map[string][]int64{"a": {s.No}, "b": nil} {
		if got, err := b.Interrupted(t.Context(), node); err != nil || !slices.Equal(got, want) {
			t.Errorf("interrupted of %s: %v, %v", node, got, err)
		}
	}
	if got := b.commit(t, run.Lease, session.Commit{Events: []session.Event{says("A")}}); !got.Interrupted {
		t.Errorf("the commit says %+v", got)
	}
	if got := b.commit(t, run.Lease, session.Commit{End: &session.End{Stop: true}}); !got.Interrupted || got.Next == nil || got.Next.Interrupted {
		t.Errorf("the end says %+v", got)
	}
	if got := b.commit(t, run.Lease, session.Commit{}); got.Interrupted {
		t.Errorf("the next turn says %+v", got)
	}
}

// testAwaited proves that an input is awaited from when it is accepted to the end of its turn.
func testAwaited(t *testing.T, b bench) {
	s := b.open(t)
	one := b.send(t, input(s.No, "a"), session.Began)
	two := b.send(t, input(s.No, "b"), session.Waiting)
	want := func(when string, first, second bool) {
		t.Helper()
		for e, want := range map[id.Event]bool{one.Event: first, two.Event: second, "aev_none": false} {
			if got, err := b.Awaited(t.Context(), s.No, e); got != want || err != nil {
				t.Errorf("%s, %s: %v, %v", when, e, got, err)
			}
		}
	}
	want("at first", true, true)
	b.commit(t, one.Run.Lease, session.Commit{End: &session.End{}})
	want("in the second turn", false, true)
	b.commit(t, one.Run.Lease, session.Commit{End: &session.End{}})
	want("at the end", false, false)
}
