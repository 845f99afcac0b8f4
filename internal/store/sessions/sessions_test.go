package sessions_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/agent/permit"
	"quarry/internal/agent/session"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/store"
	"quarry/internal/store/blobs"
	"quarry/internal/store/sessions"
	"quarry/internal/store/storetest"
)

// bench is a store with the database that it is over.
type bench struct {
	*sessions.Store
	db *store.DB
}

// TestStore proves that the store keeps the promises of session.Store and session.Log on both databases.
func TestStore(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, db *store.DB) bench { return bench{sessions.New(db, storetest.Secrets(t, db)), db} }
	storetest.Each(t, open, map[string]func(*testing.T, bench){
		"a turn": testTurn, "clock that goes back": testClockBack, "external ids": testExternalIDs, "doubles at once": testDoubles, "no place": testFull,
		"queue": testQueue, "steer": testSteer, "full queue": testFullQueue, "closed": testClosed, "failed": testFailed, "taken back": testTakenBack,
		"fence": testFence, "leases": testLeases, "interrupts": testInterrupts, "causes": testCauses, "awaited": testAwaited, "skills": testSkills, "reminders": testReminders, "described": testDescribed,
		"events": testEvents, "hide": testHide, "outputs": testOutputs, "deleted output": testDeletedOutput,
		"manage": testManage, "list": testList, "secrets": testSecrets, "idle": testIdle, "sweep": testSweep, "writers at once": testWriters,
		"file lists": testFileLists, "files once": testFilesOnce, "compaction": testCompaction, "fork": testFork, "at random": testRandomLog,
	})
}

func (b bench) rows() *blobs.Rows { return blobs.NewRows(b.db) }

// exec runs statements about agents, whose own store is not needed here.
func (b bench) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	err := b.db.Write(t.Context(), func(tx *store.Tx) error { return tx.Exec(query, args...) })
	if err != nil {
		t.Fatal(err)
	}
}

// agent makes an agent and returns its number.
func (b bench) agent(t *testing.T, key string) (no int64) {
	t.Helper()
	err := b.db.Write(t.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(`INSERT INTO agents (key, revision, enabled, created, updated, deleted) VALUES ($1, 7, TRUE, 1, 1, 0) RETURNING no`, key).Scan(&no)
	})
	if err != nil {
		t.Fatal(err)
	}
	return no
}

// open makes a session of an agent of its own.
func (b bench) open(t *testing.T) session.Session {
	t.Helper()
	return b.create(t, b.agent(t, id.Text(8)), "ase_"+id.Text(8))
}

func (b bench) create(t *testing.T, agentNo int64, key string) session.Session {
	t.Helper()
	s, err := b.Create(t.Context(), fresh(agentNo, key), nil)
	if err != nil {
		t.Fatalf("create session: %v", err)
	}
	return s
}

func fresh(agentNo int64, key string) session.Session {
	now := clock.Now()
	return session.Session{Key: key, AgentNo: agentNo, Name: "n", Metadata: json.RawMessage(`{}`), Enabled: true, Created: now, Updated: now}
}

// lease returns a fresh lease of a process.
func lease(no int64, node string) session.Lease {
	return session.Lease{Session: no, Holder: id.Text(12), Node: node, Until: clock.Now().Add(30 * time.Second)}
}

func text(words ...string) (out []session.Part) {
	for _, w := range words {
		text, external, _ := strings.Cut(w, "#")
		out = append(out, session.Part{Text: text, ExternalID: external})
	}
	return out
}

func input(no int64, words ...string) session.Input {
	return session.Input{Session: no, Event: id.NewEvent(), Parts: text(words...), Queue: true, Caller: session.Caller{Rights: permit.Rights{Corpora: []string{words[0]}}}}
}

// send accepts an input, which has to have an outcome.
func (b bench) send(t *testing.T, in session.Input, want session.Outcome) session.Accepted {
	t.Helper()
	got, err := b.Accept(t.Context(), in, lease(in.Session, "a"), clock.Now())
	if err != nil || got.Outcome != want {
		t.Fatalf("input %v is %q, %v; want %q", in.Parts, got.Outcome, err, want)
	}
	return got
}

// refused fails unless an input is a conflict of some code.
func (b bench) refused(t *testing.T, in session.Input, code string) {
	t.Helper()
	_, err := b.Accept(t.Context(), in, lease(in.Session, "a"), clock.Now())
	if f, ok := fault.As(err); !ok || f.Code != code {
		t.Errorf("input %v: %v, want %s", in.Parts, err, code)
	}
}

func (b bench) commit(t *testing.T, l session.Lease, c session.Commit) session.Committed {
	t.Helper()
	got, err := b.Commit(t.Context(), l, c, clock.Now())
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return got
}

func says(text string) session.Event {
	return session.Event{ID: id.NewEvent(), Type: session.AgentOutput, Body: session.Body{Text: text}}
}

// log returns all events of a session, the hidden ones included.
func (b bench) log(t *testing.T, no int64) []session.Event {
	t.Helper()
	found, more, err := b.Events(t.Context(), session.Page{Session: no, Limit: 100_000, Hidden: true})
	if err != nil || more {
		t.Fatalf("events: more %v, %v", more, err)
	}
	return found
}

// texts shows events as "ord/turn text".
func texts(events []session.Event) (out []string) {
	for _, e := range events {
		text := e.Text
		for _, p := range e.Parts {
			text += "<" + p.Text
		}
		out = append(out, fmt.Sprintf("%d/%d %s", e.Ord, e.Turn, text))
	}
	return out
}

func (b bench) wantLog(t *testing.T, no int64, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, texts(b.log(t, no)), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("log (-want +got): %s", diff)
	}
}

func (b bench) standing(t *testing.T, no int64) session.Standing {
	t.Helper()
	s, err := b.Standing(t.Context(), no)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
