package sessions_test

import (
	"testing"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/id"
	"quarry/internal/store"
	"quarry/internal/store/sessions"
	"quarry/internal/store/storetest"
	"quarry/internal/store/traces"
	"quarry/internal/trace"
)

// TestTextsGo proves that the texts of spans go with their session: those of commits with events and without, also where an event that
// leads to them was deleted before, and where something else has come of a commit than was expected.
func TestTextsGo(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, db *store.DB) bench {
		secrets := storetest.Secrets(t, db)
		b := bench{sessions.New(db, secrets), db}
		b.Spans = traces.New(db, secrets)
		return b
	}
	storetest.Each(t, open, map[string]func(*testing.T, bench){"swept": func(t *testing.T, b bench) {
		count := func(query string, want int) {
			t.Helper()
			var n int
			if err := b.db.Reader(t.Context()).QueryRow(query).Scan(&n); err != nil || n != want {
				t.Errorf("%s: %d, %v; want %d", query, n, err, want)
			}
		}
		const texts, found = `SELECT COUNT(*) FROM trace_blocks WHERE sealed IS NOT NULL`, `SELECT COUNT(*) FROM trace_texts`
		s := b.open(t)
		run := b.send(t, input(s.No, "a"), session.Began).Run
		of := trace.NewID(time.Now())
		traced := func(c session.Commit) session.Commit {
			c.Record = func(*session.Committed) []trace.Span {
				now := time.Now().UTC()
				return []trace.Span{{
					Trace: of, ID: trace.NewSpanID(), Parent: trace.NewSpanID(), Operation: trace.Thinking, Started: now, Ended: now,
					Session: trace.Subject{No: s.No}, Content: &trace.Content{Thinking: "hm"},
				}}
			}
			return c
		}
		said := func() session.Event {
			return session.Event{ID: id.NewEvent(), Type: session.Thinking, Body: session.Body{Text: "hm"}}
		}
		first := b.commit(t, run.Lease, traced(session.Commit{Events: []session.Event{said(), said()}}))
		b.commit(t, run.Lease, traced(session.Commit{Events: []session.Event{said()}}))
		count(found, 0)
		if err := b.DeleteEvent(t.Context(), s.No, first.Events[1].ID); err != nil {
			t.Fatal(err)
		}
		count(found, 1)
		of = trace.NewID(time.Now())
		b.commit(t, run.Lease, traced(session.Commit{}))
		count(found, 2)
		of = trace.NewID(time.Now())
		steers := input(s.No, "b")
		steers.Queue, steers.Steer = true, true
		b.send(t, steers, session.Waiting)
		if got := b.commit(t, run.Lease, traced(session.Commit{Events: []session.Event{said()}, End: &session.End{}})); got.Ended {
			t.Error("an input was to steer the turn in place of its end")
		}
		of = trace.NewID(time.Now())
		b.commit(t, run.Lease, traced(session.Commit{Events: []session.Event{said()}, End: &session.End{}}))
		count(texts, 5)
		if err := b.Delete(t.Context(), s.No); err != nil {
			t.Fatal(err)
		}
		for more := true; more; {
			if err := b.db.Write(t.Context(), func(tx *store.Tx) (err error) { more, err = sessions.Sweeper{}.Sweep(tx); return err }); err != nil {
				t.Fatal(err)
			}
		}
		count(texts, 0)
		count(found, 0)
		count(`SELECT COUNT(*) FROM trace_blocks`, 5)
	}})
}
