package sessions_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/store"
	"quarry/internal/store/sessions"
)

// fill writes a turn with so many answers and returns all events of the session.
func (b bench) fill(t *testing.T, no int64, answers int) []session.Event {
	t.Helper()
	run := b.send(t, input(no, "q"), session.Began).Run
	c := session.Commit{End: &session.End{}}
	for i := range answers {
		c.Events = append(c.Events, says(fmt.Sprint(i)))
	}
	b.commit(t, run.Lease, c)
	return b.log(t, no)
}

// testEvents proves that pages of the log follow one another without gaps and doubles, whatever is deleted between them, that
// counts are those of all pages, and that what does not exist is said to be missing.
func testEvents(t *testing.T, b bench) {
	s, other := b.open(t), b.open(t)
	b.fill(t, other.No, 3)
	all := b.fill(t, s.No, 24)
	var got []session.Event
	for after, more := int64(0), true; more; {
		var page []session.Event
		var err error
		if page, more, err = b.Events(t.Context(), session.Page{Session: s.No, After: after, Limit: 10}); err != nil || len(page) == 0 {
			t.Fatalf("page after %d: %d events, %v", after, len(page), err)
		}
		got, after = append(got, page...), page[len(page)-1].Ord
		if err := b.DeleteEvent(t.Context(), s.No, page[len(page)-1].ID); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("pages (-log +read): %s", diff)
	}
	for _, hidden := range []bool{false, true} {
		if n, err := b.Count(t.Context(), s.No, hidden); n != 22 || err != nil {
			t.Errorf("%d events, %v", n, err)
		}
	}
	if e, err := b.Event(t.Context(), s.No, all[3].ID); err != nil || cmp.Diff(all[3], e) != "" {
		t.Errorf("one event: %+v, %v", e, err)
	}
	for what, err := range map[string]error{
		"deleted":            b.DeleteEvent(t.Context(), s.No, all[9].ID),
		"of another session": b.DeleteEvent(t.Context(), other.No, all[3].ID),
	} {
		if f, ok := fault.As(err); !ok || f.Code != "event_not_found" || f.ID == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := b.Count(t.Context(), s.No+999, true); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("no session: %v", err)
	}
}

// testHide proves that hidden events are left out unless they are asked for, and that only what changes something counts as an edit.
func testHide(t *testing.T, b bench) {
	s := b.open(t)
	all := b.fill(t, s.No, 3)
	for i, x := range []struct {
		event int
		why   string
		edits int64
		shown int
	}{{1, "manual", 1, 3}, {1, "manual", 1, 3}, {2, "compaction", 2, 2}, {2, "manual", 3, 2}, {1, "", 4, 3}, {1, "", 4, 3}, {2, "", 5, 4}} {
		e, err := b.Hide(t.Context(), s.No, all[x.event].ID, x.why)
		if err != nil || e.Hidden != x.why || e.Text != all[x.event].Text {
			t.Fatalf("%d: %+v, %v", i, e, err)
		}
		page, _, err := b.Events(t.Context(), session.Page{Session: s.No, Limit: 9})
		n, errCount := b.Count(t.Context(), s.No, false)
		if st := b.standing(t, s.No); st.Edits != x.edits || len(page) != x.shown || n != x.shown || err != nil || errCount != nil || len(b.log(t, s.No)) != 4 {
			t.Errorf("%d: %d edits, %d shown, %d counted, %v, %v", i, st.Edits, len(page), n, err, errCount)
		}
	}
	if _, err := b.Hide(t.Context(), s.No, "aev_none", "manual"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("no event: %v", err)
	}
}

// testOutputs proves that the latest output of each tool is found, errors and hidden ones left out, and the call of an output.
func testOutputs(t *testing.T, b bench) {
	s := b.open(t)
	call := func(of, tool string) session.Event {
		return session.Event{ID: id.NewEvent(), Type: session.ToolInput, Body: session.Body{CallID: of, Tool: tool, Arguments: json.RawMessage(`{"of":"` + of + `"}`)}}
	}
	output := func(of, tool string, failed bool) session.Event {
		return session.Event{ID: id.NewEvent(), Type: session.ToolOutput, Body: session.Body{CallID: of, Tool: tool, Failed: failed, Output: json.RawMessage(`{"of":"` + of + `"}`)}}
	}
	run := b.send(t, input(s.No, "q"), session.Began).Run
	hidden, last := output("c4", "b", false), output("c2", "b", false)
	b.commit(t, run.Lease, session.Commit{Events: []session.Event{
		call("c1", "a"), output("c1", "a", false), call("c2", "b"), call("c3", "a"), output("c3", "a", true), last, hidden, output("c5", "c", true),
	}})
	if _, err := b.Hide(t.Context(), s.No, hidden.ID, "manual"); err != nil {
		t.Fatal(err)
	}
	got, err := b.Latest(t.Context(), s.No)
	if diff := cmp.Diff(map[string]json.RawMessage{"a": json.RawMessage(`{"of":"c1"}`), "b": json.RawMessage(`{"of":"c2"}`)}, got); diff != "" || err != nil {
		t.Errorf("outputs: %v (-want +got): %s", err, diff)
	}
	stored, err := b.Event(t.Context(), s.No, last.ID)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := b.Call(t.Context(), s.No, &stored); err != nil || string(c.Arguments) != `{"of":"c2"}` {
		t.Errorf("the call is %+v, %v", c, err)
	}
	stored.CallID = "none"
	if _, err := b.Call(t.Context(), s.No, &stored); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("no call: %v", err)
	}
}

// testDeletedOutput proves that a call whose output is deleted doesn't count as open, and one without an output still does.
func testDeletedOutput(t *testing.T, b bench) {
	s := b.open(t)
	call := func(of string) session.Event {
		return session.Event{ID: id.NewEvent(), Type: session.ToolInput, Body: session.Body{CallID: of, Tool: "a", Arguments: json.RawMessage(`{"of":"<1.50>"}`)}}
	}
	output := session.Event{ID: id.NewEvent(), Type: session.ToolOutput, Body: session.Body{CallID: "c1", Tool: "a", Output: json.RawMessage(`{}`)}}
	run := b.send(t, input(s.No, "q"), session.Began).Run
	answered, open := call("c1"), call("c2")
	b.commit(t, run.Lease, session.Commit{Events: []session.Event{answered, open, output}})
	if err := b.DeleteEvent(t.Context(), s.No, output.ID); err != nil {
		t.Fatal(err)
	}
	all, _, err := b.Events(t.Context(), session.Page{Session: s.No, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if left := session.Unanswered(all); len(left) != 1 || left[0].ID != open.ID {
		t.Errorf("open are %+v, want %s alone", left, open.ID)
	}
	got, err := b.Event(t.Context(), s.No, answered.ID)
	if want := `{"of":"<1.50>"}`; err != nil || string(got.Arguments) != want {
		t.Errorf("the call has the arguments %s, %v, want %s", got.Arguments, err, want)
	}
}

// testManage proves that a session is read as it was written and changed, that keys are an agent's own, and that a deleted one is
// gone at once with its key free.
func testManage(t *testing.T, b bench) {
	no, other := b.agent(t, "one"), b.agent(t, "two")
	want := fresh(no, "k")
	want.Name, want.Description, want.Metadata = "N \x00", "D", json.RawMessage(`{"a": [1.50, "<"]}`)
	want.Enabled, want.IdleMinutes = false, 7
	want.Compaction = agent.Compaction{Enabled: true, Threshold: 80, KeepInputs: 2, Message: "m", ToolEventPolicy: "include_all"}
	got, err := b.Create(t.Context(), want, nil)
	if err != nil {
		t.Fatal(err)
	}
	want.No, want.AgentKey, want.Name, want.Secrets = got.No, "one", "N \uFFFD", []string{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("created (-want +got): %s", diff)
	}
	if _, err := b.Create(t.Context(), fresh(no, "k"), nil); !fault.Is(err, fault.KindConflict) {
		t.Errorf("a taken key: %v", err)
	}
	b.create(t, other, "k")
	at := clock.Now().Add(time.Second)
	change := session.Change{Name: opt.Some("M"), Metadata: opt.Some(json.RawMessage(`{"b":1}`)), Enabled: opt.Some(true)}
	changed, err := b.Update(t.Context(), got.No, change, at)
	want.Name, want.Metadata, want.Enabled, want.Updated = "M", json.RawMessage(`{"b":1}`), true, at
	if diff := cmp.Diff(want, changed); diff != "" || err != nil {
		t.Errorf("changed: %v (-want +got): %s", err, diff)
	}
	changed, err = b.Update(t.Context(), got.No, session.Change{Description: opt.Some(""), IdleMinutes: opt.Some(int64(0))}, at)
	want.Description, want.IdleMinutes = "", 0
	if diff := cmp.Diff(want, changed); diff != "" || err != nil {
		t.Errorf("changed again: %v (-want +got): %s", err, diff)
	}
	for how, read := range map[string]func() (session.Session, error){
		"by key":    func() (session.Session, error) { return b.Get(t.Context(), no, "k") },
		"by number": func() (session.Session, error) { return b.Load(t.Context(), got.No) },
	} {
		if found, err := read(); err != nil || cmp.Diff(want, found) != "" {
			t.Errorf("%s: %v (-want +got): %s", how, err, cmp.Diff(want, found))
		}
	}
	if err := b.Delete(t.Context(), got.No); err != nil {
		t.Fatal(err)
	}
	_, gone := b.Get(t.Context(), no, "k")
	_, unchanged := b.Update(t.Context(), got.No, change, at)
	for what, err := range map[string]error{"get": gone, "update": unchanged, "delete": b.Delete(t.Context(), got.No)} {
		if f, ok := fault.As(err); !ok || f.Code != "session_not_found" {
			t.Errorf("%s of a deleted session: %v", what, err)
		}
	}
	if again := b.create(t, no, "k"); again.No == got.No || again.Started {
		t.Errorf("the next session of the key is %+v", again)
	}
}

// testList proves that lists have the order asked for, page by page, and what matches.
func testList(t *testing.T, b bench) {
	no := b.agent(t, "a")
	b.create(t, b.agent(t, "b"), "other")
	at := clock.Now()
	for i := range 7 {
		s := fresh(no, fmt.Sprint("s", i))
		s.Created = at.Add(time.Duration(i/2) * time.Second)
		s.Updated = s.Created
		if _, err := b.Create(t.Context(), s, nil); err != nil {
			t.Fatal(err)
		}
	}
	first, err := b.Get(t.Context(), no, "s0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Update(t.Context(), first.No, session.Change{Name: opt.Some("x")}, at.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	deleted := b.create(t, no, "deleted")
	if err := b.Delete(t.Context(), deleted.No); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		byEvent, oldest bool
		want            string
	}{
		{false, false, "s6 s5 s4 s3 s2 s1 s0"}, {false, true, "s0 s1 s2 s3 s4 s5 s6"},
		{true, false, "s0 s6 s5 s4 s3 s2 s1"}, {true, true, "s1 s2 s3 s4 s5 s6 s0"},
	} {
		var got []string
		l := session.List{AgentNo: no, ByEvent: x.byEvent, Oldest: x.oldest, Limit: 3}
		for more := true; more; {
			var page []session.Session
			if page, more, err = b.List(t.Context(), l); err != nil || len(page) == 0 {
				t.Fatalf("%+v: %d, %v", l, len(page), err)
			}
			for i := range page {
				got = append(got, page[i].Key)
			}
			l.After = page[len(page)-1].Place(x.byEvent)
		}
		if s := strings.Join(got, " "); s != x.want {
			t.Errorf("by event %v, oldest first %v: %s, want %s", x.byEvent, x.oldest, s, x.want)
		}
	}
	match := func(s *session.Session) bool { return s.Key == "s2" || s.Key == "s5" }
	if got, more, err := b.List(t.Context(), session.List{AgentNo: no, Limit: 1, Match: match}); err != nil || !more || got[0].Key != "s5" {
		t.Errorf("what matches: %+v, %v, %v", got, more, err)
	}
}

// testSecrets proves that secrets are sealed, changed one by one, listed by name, and gone with their session.
func testSecrets(t *testing.T, b bench) {
	no := b.agent(t, "a")
	s, err := b.Create(t.Context(), fresh(no, "s"), map[string]string{"b": "two", "a": "one"})
	if err != nil || !slices.Equal(s.Secrets, []string{"a", "b"}) {
		t.Fatalf("%v, %v", s.Secrets, err)
	}
	other, err := b.Create(t.Context(), fresh(no, "t"), map[string]string{"a": "kept"})
	if err != nil {
		t.Fatal(err)
	}
	want := func(when string, no int64, want map[string]string) {
		t.Helper()
		got, err := b.Secrets(t.Context(), no)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got): %s", when, err, diff)
		}
	}
	want("at first", s.No, map[string]string{"a": "one", "b": "two"})
	s, err = b.Update(t.Context(), s.No, session.Change{Secrets: map[string]opt.Field[string]{
		"a": opt.Null[string](), "b": opt.Some("deux"), "c": opt.Some("trois"), "none": opt.Null[string](),
	}}, clock.Now())
	if err != nil || !slices.Equal(s.Secrets, []string{"b", "c"}) {
		t.Errorf("changed: %v, %v", s.Secrets, err)
	}
	want("changed", s.No, map[string]string{"b": "deux", "c": "trois"})
	raw, err := store.Select(b.db.Reader(t.Context()), "read", func(r store.Row) (s string, err error) {
		var sealed []byte
		err = r.Scan(&sealed)
		return string(sealed), err
	}, `SELECT sealed FROM secrets WHERE name LIKE 'session/%'`)
	if err != nil || len(raw) != 3 || strings.Contains(strings.Join(raw, ""), "deux") {
		t.Errorf("%d secrets in the database, %v", len(raw), err)
	}
	many := map[string]opt.Field[string]{}
	for i := range session.MaxSecrets - 1 {
		many[fmt.Sprint("s", i)] = opt.Some("x")
	}
	if _, err := b.Update(t.Context(), s.No, session.Change{Secrets: many}, clock.Now()); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("too many secrets: %v", err)
	}
	if err := b.Delete(t.Context(), s.No); err != nil {
		t.Fatal(err)
	}
	want("deleted", s.No, nil)
	want("of the other session", other.No, map[string]string{"a": "kept"})
}

// testIdle proves that a session is deleted when nothing has happened to it for its time, unless a turn is in progress.
func testIdle(t *testing.T, b bench) {
	no, at := b.agent(t, "a"), clock.Now()
	for key, minutes := range map[string]int64{"never": 0, "short": 5, "long": 60, "running": 5, "used": 5} {
		s := fresh(no, key)
		s.Created, s.Updated, s.IdleMinutes = at, at, minutes
		made, err := b.Create(t.Context(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		switch key {
		case "running":
			b.send(t, input(made.No, "q"), session.Began)
		case "used":
			got, err := b.Accept(t.Context(), input(made.No, "q"), lease(made.No, "a"), at.Add(4*time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			b.commit(t, got.Run.Lease, session.Commit{End: &session.End{}})
		}
	}
	for _, x := range []struct {
		after   time.Duration
		limit   int
		removed int
		left    string
	}{
		{5*time.Minute - time.Microsecond, 9, 0, "long never running short used"}, {5 * time.Minute, 9, 1, "long never running used"},
		{9 * time.Minute, 9, 1, "long never running"}, {48 * time.Hour, 9, 1, "never running"}, {1e6 * time.Hour, 9, 0, "never running"},
	} {
		n, err := b.Idle(t.Context(), at.Add(x.after), x.limit)
		found, _, errList := b.List(t.Context(), session.List{AgentNo: no, Limit: 9})
		var left []string
		for i := range found {
			left = append(left, found[i].Key)
		}
		slices.Sort(left)
		if s := strings.Join(left, " "); n != x.removed || err != nil || errList != nil || s != x.left {
			t.Errorf("after %v: removed %d, %v, %v; left %s, want %s", x.after, n, err, errList, s, x.left)
		}
	}
}

// testSweep proves that what a deleted session and the sessions of a deleted agent leave is removed in small steps, and nothing else.
func testSweep(t *testing.T, b bench) {
	no, doomed := b.agent(t, "a"), b.agent(t, "b")
	keep := b.create(t, no, "keep")
	b.fill(t, keep.No, 3)
	b.send(t, input(keep.No, "x#1"), session.Began)
	for i := range 3 {
		s, err := b.Create(t.Context(), fresh(doomed, fmt.Sprint(i)), map[string]string{"x": "y"})
		if err != nil {
			t.Fatal(err)
		}
		b.fill(t, s.No, 450)
		b.send(t, input(s.No, "x#1"), session.Began)
		b.send(t, input(s.No, "x#2"), session.Waiting)
		if i == 0 {
			if err := b.Delete(t.Context(), s.No); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.exec(t, `UPDATE agents SET deleted = 1, key = NULL WHERE no = $1`, doomed)
	for steps, more := 0, true; more; steps++ {
		if steps > 100 {
			t.Fatal("the sweep has no end")
		}
		err := b.db.Write(t.Context(), func(tx *store.Tx) (err error) {
			more, err = sessions.Sweeper{}.Sweep(tx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for table, want := range map[string]int{"sessions": 1, "events": 5, "external_ids": 1, "inputs": 0, "runs": 1, "secrets": 0} {
		var n int
		if err := b.db.Reader(t.Context()).QueryRow(`SELECT COUNT(*) FROM ` + table).Scan(&n); err != nil || n != want {
			t.Errorf("%s has %d rows, %v; want %d", table, n, err, want)
		}
	}
}

// testWriters proves that commits, inputs, hides and deletions of one session at once leave a log whose places are counted
// upwards and whose counts are right.
func testWriters(t *testing.T, b bench) {
	s := b.open(t)
	run := b.send(t, input(s.No, "q"), session.Began).Run
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for i := range 20 {
				e := says(fmt.Sprint(i))
				if _, err := b.Commit(t.Context(), run.Lease, session.Commit{Events: []session.Event{e, says("x")}}, clock.Now()); err != nil {
					t.Error(err)
				}
				if _, err := b.Hide(t.Context(), s.No, e.ID, "manual"); err != nil {
					t.Error(err)
				}
				if i%2 == 0 {
					if err := b.DeleteEvent(t.Context(), s.No, e.ID); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Go(func() {
		for range 20 {
			if _, err := b.Accept(t.Context(), input(s.No, "w"), lease(s.No, "a"), clock.Now()); err != nil {
				t.Error(err)
			}
		}
	})
	group.Wait()
	log := b.log(t, s.No)
	for i := 1; i < len(log); i++ {
		if log[i].Ord <= log[i-1].Ord || log[i].Created.Before(log[i-1].Created) {
			t.Errorf("event %d follows %d", log[i].Ord, log[i-1].Ord)
		}
	}
	n, err := b.Count(t.Context(), s.No, false)
	if st := b.standing(t, s.No); len(log) != 1+3*30 || n != 1+3*20 || err != nil || st.Last != 121 || st.Edits != 3*30 {
		t.Errorf("%d events, %d shown, %v; standing %+v", len(log), n, err, st)
	}
}
