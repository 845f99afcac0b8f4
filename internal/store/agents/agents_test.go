package agents_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/store"
	"quarry/internal/store/agents"
	"quarry/internal/store/sessions"
	"quarry/internal/store/storetest"
	"quarry/internal/usage"
)

// stores are those of one database.
type stores struct {
	*agents.Store
	db *store.DB
}

// TestStore proves that the store keeps the promises of agent.Store on both databases.
func TestStore(t *testing.T) {
	t.Parallel()
	open := func(_ *testing.T, db *store.DB) stores { return stores{agents.New(db), db} }
	storetest.Each(t, open, map[string]func(*testing.T, stores){
		"create": testCreate, "list": testList, "replace": testReplace, "at once": testAtOnce, "delete": testDelete, "sweep": testSweep,
		"pins": testPins, "pins at once": testPinsAtOnce, "sealed": testSealed, "derived": testDerived, "manual": testManual, "identity gone": testIdentityGone, "earlier": testEarlier,
		"secrets": testSecrets, "secrets at once": testSecretsAtOnce, "secrets rotated": testSecretsRotated,
	})
}

// full returns an agent with every member set.
func full(key string) agent.Agent {
	now := clock.Now()
	return agent.Agent{Key: key, Created: now, Updated: now, Definition: agent.Definition{
		Name: "Ünï", Description: "d", Enabled: true, Entry: "a", Metadata: json.RawMessage(`{"n":9007199254740993}`),
		Model:      agent.Model{Name: "m", Parameters: json.RawMessage(`{"t":0.10}`), Retry: &agent.DefaultRetry},
		Tools:      map[string]json.RawMessage{"s": json.RawMessage(`{"type":"x"}`)},
		Compaction: agent.DefaultCompaction, Budget: &usage.Budget{RequestsPerSecond: 1, Quota: usage.Quota{InputPerMinute: 2, OutputPerMonth: 1 << 60}}, Offloading: json.RawMessage(`{}`), Guardrails: json.RawMessage(`null`), Memory: json.RawMessage(`[1]`),
		Steps: map[string]agent.Step{
			"a": {
				Instructions: []agent.Instruction{{Name: "i", Description: "d", Template: "t", Plain: true, Metadata: json.RawMessage(`{}`), Enabled: true}},
				Output:       agent.Output{Schema: &llm.Format{Type: "json_schema", Name: "n", Schema: json.RawMessage(`{"type":"object"}`), Strict: true}, Nullable: true},
				Next:         []agent.Transition{{Condition: "1 == 1", Step: "b"}, {Step: "a"}}, AllowedTools: &[]string{}, Reentry: "b",
			},
			"b": {AllowedTools: &[]string{"s"}},
		},
	}}
}

func (s stores) make(t *testing.T, a agent.Agent) agent.Agent {
	t.Helper()
	made, err := s.Create(t.Context(), a)
	if err != nil {
		t.Fatalf("create agent %s: %v", a.Key, err)
	}
	return made
}

func (s stores) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	if err := s.db.Write(t.Context(), func(tx *store.Tx) error { return tx.Exec(query, args...) }); err != nil {
		t.Fatal(err)
	}
}

func (s stores) count(t *testing.T, query string, args ...any) (n int) {
	t.Helper()
	if err := s.db.Reader(t.Context()).QueryRow(query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func missing(t *testing.T, what string, err error) {
	t.Helper()
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindNotFound || f.Code != "agent_not_found" {
		t.Errorf("%s: %v, want agent_not_found", what, err)
	}
}

// testCreate proves that an agent comes back as it was written, JSON as it stood, and that a taken key is a conflict.
func testCreate(t *testing.T, s stores) {
	want := full("a")
	made := s.make(t, want)
	want.No, want.Revision = made.No, 1
	got, err := s.Get(t.Context(), "a")
	if diff := cmp.Diff(want, got); diff != "" || err != nil || made.No == 0 {
		t.Errorf("%v (-want +got): %s", err, diff)
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("returned (-want +got): %s", diff)
	}
	_, err = s.Create(t.Context(), full("a"))
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindConflict || f.Code != "agent_exists" {
		t.Errorf("a taken key: %v", err)
	}
	_, err = s.Get(t.Context(), "b")
	missing(t, "an agent that is not there", err)
}

// testList proves the order of a list, its pages and what it leaves out.
func testList(t *testing.T, s stores) {
	at := clock.Now()
	var want []string
	for i := range 7 {
		a := full(fmt.Sprintf("k%d", i))
		a.Created, a.Enabled, a.Name = at.Add(time.Duration(i/2)*time.Second), i%3 != 0, strings.Repeat("x", i)
		s.make(t, a)
		want = append([]string{a.Key}, want...)
	}
	gone := s.make(t, full("gone"))
	if err := s.Delete(t.Context(), gone.No, at); err != nil {
		t.Fatal(err)
	}
	walk := func(l agent.List) (keys []string) {
		for l.Limit = 2; ; {
			page, more, err := s.List(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range page {
				keys = append(keys, a.Key)
			}
			if !more {
				return keys
			}
			l.After = page[len(page)-1].Position()
		}
	}
	on, off := true, false
	for name, c := range map[string]struct {
		list agent.List
		want []string
	}{
		"all":           {agent.List{All: true}, want},
		"enabled":       {agent.List{All: true, Enabled: &on}, []string{"k5", "k4", "k2", "k1"}},
		"disabled":      {agent.List{All: true, Enabled: &off}, []string{"k6", "k3", "k0"}},
		"some":          {agent.List{Keys: []string{"k1", "gone", "k6", "none"}}, []string{"k6", "k1"}},
		"some, enabled": {agent.List{Keys: []string{"k1", "k6"}, Enabled: &on}, []string{"k1"}},
		"none":          {agent.List{}, nil},
		"matching":      {agent.List{All: true, Match: func(a *agent.Agent) bool { return len(a.Name) > 3 }}, []string{"k6", "k5", "k4"}},
	} {
		if got := walk(c.list); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// testReplace proves that a change is the next configuration, that one of an older state is refused, and that the older
// configuration can still be read.
func testReplace(t *testing.T, s stores) {
	was := s.make(t, full("a"))
	next := was
	next.Name, next.Enabled, next.Updated = "new", false, was.Updated.Add(time.Second)
	got, err := s.Replace(t.Context(), next)
	next.Revision = 2
	if diff := cmp.Diff(next, got); diff != "" || err != nil {
		t.Fatalf("%v (-want +got): %s", err, diff)
	}
	if kept, err := s.Get(t.Context(), "a"); err != nil || !cmp.Equal(kept, next) {
		t.Errorf("kept: %+v, %v", kept, err)
	}
	if _, err := s.Replace(t.Context(), was); !errors.Is(err, agent.ErrChanged) {
		t.Errorf("a change of an older state: %v", err)
	}
	first, err := s.Revision(t.Context(), was.No, 1)
	if err != nil || first.Name != was.Name || first.Revision != 1 {
		t.Errorf("the older configuration: %+v, %v", first, err)
	}
	_, err = s.Revision(t.Context(), was.No, 3)
	missing(t, "a configuration that is not there", err)
	if page, _, err := s.List(t.Context(), agent.List{All: true, Limit: 5}); err != nil || len(page) != 1 || page[0].Name != "new" {
		t.Errorf("listed: %+v, %v", page, err)
	}
}

// testAtOnce proves that of changes of one state at once exactly one is kept.
func testAtOnce(t *testing.T, s stores) {
	was := s.make(t, full("a"))
	var wg sync.WaitGroup
	done := make([]bool, 8)
	for i := range done {
		wg.Go(func() {
			next := was
			next.Name = fmt.Sprint(i)
			_, err := s.Replace(t.Context(), next)
			if done[i] = err == nil; err != nil && !errors.Is(err, agent.ErrChanged) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	won := slices.Index(done, true)
	if kept, err := s.Get(t.Context(), "a"); err != nil || won < 0 || slices.Index(done[won+1:], true) >= 0 || kept.Name != fmt.Sprint(won) || kept.Revision != 2 {
		t.Errorf("%v: kept %q, revision %d, %v", done, kept.Name, kept.Revision, err)
	}
}

// testDelete proves that a deleted agent is gone at once in every way, that its key is free, and that the row of the next
// one is another.
func testDelete(t *testing.T, s stores) {
	a := s.make(t, full("a"))
	if err := s.Delete(t.Context(), a.No, clock.Now()); err != nil {
		t.Fatal(err)
	}
	_, err := s.Get(t.Context(), "a")
	missing(t, "read", err)
	_, err = s.Revision(t.Context(), a.No, 1)
	missing(t, "read by row", err)
	if _, err := s.Replace(t.Context(), a); !errors.Is(err, agent.ErrChanged) {
		t.Errorf("change: %v", err)
	}
	missing(t, "delete", s.Delete(t.Context(), a.No, clock.Now()))
	if b := s.make(t, full("a")); b.No == a.No {
		t.Errorf("both have the row %d", a.No)
	}
}

// testSweep proves what a sweep removes: agents that were deleted and have no session, with what was granted on them, and
// configurations that were replaced a while ago and that no turn uses.
func testSweep(t *testing.T, s stores) {
	gone, busy, kept := s.make(t, full("gone")), s.make(t, full("busy")), s.make(t, full("kept"))
	for _, a := range []agent.Agent{gone, busy, kept} {
		s.exec(t, `INSERT INTO agent_grants (holder, ord, agent_no, role) VALUES ($1, 0, $2, 'agent_user')`, "of "+a.Key, a.No)
	}
	log := sessions.New(s.db, storetest.Secrets(t, s.db))
	open := map[int64]session.Session{}
	for _, a := range []agent.Agent{busy, kept} {
		one, err := log.Create(t.Context(), session.Session{AgentNo: a.No, Key: "s", Metadata: json.RawMessage(`{}`), Enabled: true, Created: clock.Now(), Updated: clock.Now()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		open[a.No] = one
	}
	// a turn of the first configuration
	input := session.Input{Session: open[kept.No].No, Event: id.NewEvent(), Parts: []session.Part{{Text: "?"}}}
	if _, err := log.Accept(t.Context(), input, session.Lease{Session: input.Session, Holder: "h", Node: "n", Until: clock.Now().Add(time.Hour)}, clock.Now()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		next, err := s.Replace(t.Context(), kept)
		if err != nil {
			t.Fatal(err)
		}
		kept = next
	}
	s.exec(t, `UPDATE agent_revisions SET replaced = 1 WHERE replaced > 0 AND revision < 3`) // the third was replaced just now
	for _, a := range []agent.Agent{gone, busy} {
		if err := s.Delete(t.Context(), a.No, clock.Now()); err != nil {
			t.Fatal(err)
		}
	}
	sweep := func(by store.Sweeper) {
		t.Helper()
		for more := true; more; {
			if err := s.db.Write(t.Context(), func(tx *store.Tx) (err error) {
				more, err = by.Sweep(tx)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	sweep(agents.Sweeper{})
	if n := s.count(t, `SELECT COUNT(*) FROM agents WHERE no = $1`, gone.No) + s.count(t, `SELECT COUNT(*) FROM agent_revisions WHERE agent_no = $1`, gone.No); n != 0 {
		t.Errorf("%d rows of the deleted agent are left", n)
	}
	if n := s.count(t, `SELECT COUNT(*) FROM agents WHERE no = $1`, busy.No); n != 1 {
		t.Error("a deleted agent is gone before its session")
	}
	if n := s.count(t, `SELECT COUNT(*) FROM agent_grants`); n != 1 {
		t.Errorf("%d roles are left, want that on the agent that is kept", n)
	}
	left, err := store.Select(s.db.Reader(t.Context()), "read", store.One[int64], `SELECT revision FROM agent_revisions WHERE agent_no = $1 ORDER BY revision`, kept.No)
	if err != nil || !slices.Equal(left, []int64{1, 3, 4}) {
		t.Errorf("configurations %v are left, want that of the turn, that replaced just now, and the current one (%v)", left, err)
	}
	if err := log.Delete(t.Context(), input.Session); err != nil {
		t.Fatal(err)
	}
	s.exec(t, `UPDATE agent_revisions SET replaced = 1 WHERE replaced > 0`)
	sweep(sessions.Sweeper{})
	sweep(agents.Sweeper{})
	if n := s.count(t, `SELECT COUNT(*) FROM agents`); n != 1 {
		t.Errorf("%d agents are left", n)
	}
	if n := s.count(t, `SELECT COUNT(*) FROM agent_revisions`); n != 1 {
		t.Errorf("%d configurations are left", n)
	}
}
