package sessions_test

import (
	"encoding/json"
	"slices"
	"testing"

	"quarry/internal/agent/session"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
)

// testCompaction proves that a compaction waits as an input does and is awaited while it runs, that its event and what it hides
// are written at once, that one that comes to nothing leaves no trace, and that latest outputs stay in reach when they are summed up.
func testCompaction(t *testing.T, b bench) {
	s := b.open(t)
	wish := session.Input{Session: s.No, Event: id.NewEvent(), Compaction: &session.Wish{Message: "short"}}
	got := b.send(t, wish, session.Began)
	if got.Run.Base() != 0 || got.Run.First != 1 {
		t.Errorf("the run of an empty session begins at %d", got.Run.Base())
	}
	b.commit(t, got.Run.Lease, session.Commit{End: &session.End{Failed: true}})
	if after, err := b.Load(t.Context(), s.No); err != nil || after.Started {
		t.Errorf("a compaction that came to nothing has started the session: %v", err)
	}
	turn := b.send(t, input(s.No, "one"), session.Began)
	output := session.Event{ID: id.NewEvent(), Type: session.ToolOutput, Body: session.Body{CallID: "c", Tool: "find", Output: json.RawMessage(`{"n":1}`)}}
	b.commit(t, turn.Run.Lease, session.Commit{Events: []session.Event{output}, Usage: &session.Usage{Input: 9}})
	if after, _ := b.Load(t.Context(), s.No); after.Measured != (session.Measured{Ord: 2}) {
		t.Errorf("measured at %+v", after.Measured)
	}
	wish.Event = id.NewEvent()
	b.send(t, wish, session.Waiting)
	done := b.commit(t, turn.Run.Lease, session.Commit{Events: []session.Event{says("it")}, End: &session.End{Step: "two"}})
	want := session.Compacting{Event: wish.Event, Wish: *wish.Compaction}
	if done.Next == nil || done.Next.Compaction == nil || *done.Next.Compaction != want || len(done.Inputs) > 0 || done.Next.Base() != 3 || done.Next.Step != "two" {
		t.Fatalf("behind the turn comes %+v", done)
	}
	if waits, err := b.Awaited(t.Context(), s.No, wish.Event); err != nil || !waits {
		t.Errorf("the compaction is awaited: %v, %v", waits, err)
	}
	summary := session.Event{ID: wish.Event, Type: session.Compaction, Body: session.Body{Text: "so far", Summed: &session.Summed{Turns: 1, Events: 3, Key: "sum_x"}}}
	last := b.commit(t, done.Next.Lease, session.Commit{
		Events: []session.Event{summary}, Hide: []session.Span{{From: 1, To: 3}}, End: &session.End{Step: "two", Stop: true},
	})
	if !last.Ended || last.Next != nil || last.Edits != 1 {
		t.Errorf("the end is %+v", last)
	}
	shown, _, err := b.Events(t.Context(), session.Page{Session: s.No, Limit: 10})
	if err != nil || len(shown) != 1 || shown[0].Ord != 4 || *shown[0].Summed != *summary.Summed {
		t.Errorf("shown is %+v, %v", shown, err)
	}
	for _, e := range b.log(t, s.No)[:3] {
		if e.Hidden != session.Compacted {
			t.Errorf("event %d is hidden as %q", e.Ord, e.Hidden)
		}
	}
	if n, err := b.Count(t.Context(), s.No, false); err != nil || n != 1 {
		t.Errorf("%d events are counted, %v", n, err)
	}
	for _, why := range []string{session.Compacted, session.Manual} {
		if _, err := b.Hide(t.Context(), s.No, output.ID, why); err != nil {
			t.Fatal(err)
		}
		latest, err := b.Latest(t.Context(), s.No)
		if err != nil || (len(latest) == 1) != (why == session.Compacted) {
			t.Errorf("hidden as %q, the latest outputs are %s, %v", why, latest, err)
		}
	}
	if _, err := b.Update(t.Context(), s.No, session.Change{Enabled: opt.Some(false)}, clock.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Accept(t.Context(), wish, lease(s.No, "a"), clock.Now()); !isConflict(err, "session_disabled") {
		t.Errorf("a disabled session is compacted: %v", err)
	}
}

func isConflict(err error, code string) bool {
	f, ok := fault.As(err)
	return ok && f.Kind == fault.KindConflict && f.Code == code
}

// testFork proves what a fork takes over beside events: the step only if it is asked for, secrets of its own, no call of the last
// turn without an output, no usage; that the source stays as it was; and that a source that was deleted is missed.
func testFork(t *testing.T, b bench) {
	s := b.open(t)
	run := b.send(t, input(s.No, "one#x"), session.Began).Run
	call := func(id id.Event, kind session.Type, name string) session.Event {
		return session.Event{ID: id, Type: kind, State: "kept", Body: session.Body{CallID: name, Tool: "find"}}
	}
	b.commit(t, run.Lease, session.Commit{
		Usage: &session.Usage{Input: 3}, Progress: &session.Progress{Step: "two"},
		Events: []session.Event{says("let me see"), call(id.NewEvent(), session.ToolInput, "a"), call(id.NewEvent(), session.ToolInput, "b"), call(id.NewEvent(), session.ToolOutput, "b"),
			call(id.NewEvent(), session.ToolInput, "c"), call(id.NewEvent(), session.SkillLoad, "c")},
	})
	before := b.log(t, s.No)
	made, err := b.Fork(t.Context(), fresh(s.AgentNo, "f"), map[string]string{"own": "secret"}, session.Copy{Source: s.No, Step: true})
	if err != nil {
		t.Fatal(err)
	}
	if made.Usage != nil || made.Running || !made.Started || !slices.Equal(made.Secrets, []string{"own"}) || made.Step != "" {
		t.Errorf("the fork is %+v", made)
	}
	var ords []int64
	for _, e := range b.log(t, made.No) {
		ords = append(ords, e.Ord)
		if e.Type == session.ToolInput && e.State != "kept" {
			t.Error("the state of a call is lost")
		}
	}
	if !slices.Equal(ords, []int64{1, 2, 4, 5, 6, 7}) { // the call at 3 has no output
		t.Errorf("copied are %v", ords)
	}
	if again := b.send(t, input(made.No, "again#x"), session.Known); again.Event == before[0].ID {
		t.Error("the external id leads to the event of the source")
	}
	if after := b.log(t, s.No); len(after) != len(before) {
		t.Errorf("the source has %d events, and had %d", len(after), len(before))
	}
	b.commit(t, run.Lease, session.Commit{End: &session.End{Step: "two", Stop: true}})
	if moved, err := b.Fork(t.Context(), fresh(s.AgentNo, "g"), nil, session.Copy{Source: s.No, Step: true}); err != nil || moved.Step != "two" {
		t.Errorf("the fork begins at %q, %v", moved.Step, err)
	}
	if err := b.Delete(t.Context(), s.No); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Fork(t.Context(), fresh(s.AgentNo, "h"), nil, session.Copy{Source: s.No}); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("a fork of a session that was deleted: %v", err)
	}
	if _, err := b.Get(t.Context(), s.AgentNo, "h"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("it was made: %v", err)
	}
}
