package audit_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/clock"
	"quarry/internal/id"
	"quarry/internal/identity/audit"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
	sqlaudit "quarry/internal/store/audit"
	"quarry/internal/store/storetest"
)

// suite is one fresh database.
type suite struct {
	store  audit.Store
	driver string // with source, the way of another program to it
	source string
}

// raw runs a statement as another program over the same database would.
func (s suite) raw(t *testing.T, statement string) error {
	t.Helper()
	db, err := sql.Open(s.driver, s.source)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // only the statement matters
	_, err = db.ExecContext(t.Context(), statement)
	return err
}

var cases = map[string]func(*testing.T, suite){
	"add and set outcome": testAdd, "list": testList, "append only": testAppendOnly, "at once": testAtOnce,
}

// TestSQLite proves that the store keeps the promises of audit.Store on SQLite.
func TestSQLite(t *testing.T) {
	t.Parallel()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			test(t, suite{open(t, store.Config{Dir: dir}), "sqlite", "file:" + filepath.Join(dir, "quarry.db") + "?_pragma=busy_timeout(10000)"})
		})
	}
}

// TestPostgres proves that the store keeps the same promises on PostgreSQL.
func TestPostgres(t *testing.T) {
	t.Parallel()
	storetest.Postgres(t) // skips here rather than in every case
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := storetest.Postgres(t)
			test(t, suite{open(t, store.Config{URL: url}), "pgx", url})
		})
	}
}

func open(t *testing.T, c store.Config) audit.Store { return sqlaudit.New(storetest.Open(t, c)) }

// event returns an event of an actor, with every member set.
func event(at time.Time, actor, action string) audit.Event {
	at = clock.Stored(at)
	return audit.Event{
		ID: id.NewAudit(at), At: at, Action: action, Address: "2001:db8::1", RequestID: id.NewRequest(),
		Actor:   audit.Actor{Kind: authz.User, ID: "usr_" + actor, Name: actor, Credential: "aky_" + actor},
		Target:  map[string]string{"username": "é<&>\"'"},
		Changes: json.RawMessage(`{"a":1.50,"b":"é<&>","c":[null]}`),
	}
}

func record(t *testing.T, s suite, e audit.Event) audit.Event {
	t.Helper()
	if err := s.store.Add(t.Context(), e); err != nil {
		t.Fatalf("add event: %v", err)
	}
	return e
}

// listAll reads a whole list with pages of n.
func listAll(t *testing.T, s suite, l audit.List) []audit.Event {
	t.Helper()
	var all []audit.Event
	for range 100 {
		page, more, err := s.store.List(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > l.Limit {
			t.Fatalf("%d events on a page of %d", len(page), l.Limit)
		}
		all = append(all, page...)
		if !more {
			return all
		}
		l.Behind = page[len(page)-1].ID
	}
	t.Fatal("the list does not end")
	return nil
}

// testAdd proves that an event is read as it was added, with every member set or none, its outcome unknown until it
// is set, which happens once and records what was made.
func testAdd(t *testing.T, s suite) {
	now := time.Now()
	full := record(t, s, event(now, "ann", "createUser"))
	bare := audit.Event{ID: id.NewAudit(now.Add(-time.Second)), At: clock.Stored(now.Add(-time.Second)), Actor: audit.Actor{Kind: audit.Anonymous}, Action: "signIn", Status: 401}
	record(t, s, bare)
	odd := event(now.Add(-time.Minute), "NUL\x00", "deleteUser")
	odd.Target = map[string]string{"username": "a\x00b"}
	record(t, s, odd)
	odd.Actor.ID, odd.Actor.Name, odd.Actor.Credential = "usr_NUL\uFFFD", "NUL\uFFFD", "aky_NUL\uFFFD"
	if diff := cmp.Diff([]audit.Event{full, bare, odd}, listAll(t, s, audit.List{Limit: 9}), cmpopts.EquateEmpty()); diff != "" {
		t.Error("events (-added +read):", diff)
	}
	if err := s.store.SetOutcome(t.Context(), full.ID, 201, map[string]string{"user_id": "usr_1"}); err != nil {
		t.Error("set outcome:", err)
	}
	for _, again := range []id.Audit{full.ID, bare.ID, id.NewAudit(now)} {
		if err := s.store.SetOutcome(t.Context(), again, 500, map[string]string{"username": "someone else"}); err == nil {
			t.Errorf("the outcome of %s was set, which has one or does not exist", again)
		}
	}
	if got := listAll(t, s, audit.List{Limit: 9}); got[0].Status != 201 || got[1].Status != 401 || got[2].Status != 0 {
		t.Errorf("outcomes %d, %d, %d; want 201, 401 and none", got[0].Status, got[1].Status, got[2].Status)
	}
	full.Status, full.Target["user_id"] = 201, "usr_1"
	if diff := cmp.Diff([]audit.Event{full, bare, odd}, listAll(t, s, audit.List{Limit: 9}), cmpopts.EquateEmpty()); diff != "" {
		t.Error("what was made is not in the target (-want +read):", diff)
	}
	if err := s.store.Add(t.Context(), full); err == nil {
		t.Error("the same event was added twice")
	}
}

// testList proves that a list gives every event that passes the filters once, newest first, whatever the size of the
// page; events that arrive meanwhile do not disturb the pages that follow.
func testList(t *testing.T, s suite) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC)
	for i, e := range []struct{ actor, action string }{
		{"ann", "createUser"}, {"bob", "createUser"}, {"ann", "deleteUser"}, {"carl", "createUser"}, {"ann", "createUser"},
	} {
		x := event(at.Add(time.Duration(i)*time.Microsecond), e.actor, e.action)
		x.RequestID = fmt.Sprint(i)
		record(t, s, x)
	}
	for _, c := range []struct {
		name string
		list audit.List
		want string
	}{
		{"all", audit.List{}, "43210"},
		{"name", audit.List{Actor: "ann"}, "420"},
		{"id", audit.List{Actor: "usr_ann"}, "420"},
		{"credential", audit.List{Actor: "aky_bob"}, "1"},
		{"nobody", audit.List{Actor: "an"}, ""},
		{"action", audit.List{Action: "createUser"}, "4310"},
		{"both", audit.List{Actor: "ann", Action: "createUser"}, "40"},
		{"at or after", audit.List{After: at.Add(2 * time.Microsecond)}, "432"},
		{"after, within a microsecond", audit.List{After: at.Add(2*time.Microsecond + 1)}, "43"},
		{"before", audit.List{Before: at.Add(2 * time.Microsecond)}, "10"},
		{"before, within a microsecond", audit.List{Before: at.Add(2*time.Microsecond + 1)}, "210"},
		{"in another zone", audit.List{Before: at.Add(2 * time.Microsecond).In(time.FixedZone("", 3600))}, "10"},
		{"everything", audit.List{Actor: "ann", Action: "createUser", After: at.Add(1), Before: at.Add(time.Hour)}, "4"},
		{"before 1970", audit.List{Before: time.Unix(-5, 0)}, ""},
		{"after 1970", audit.List{After: time.Unix(-5, 0)}, "43210"},
	} {
		for limit := 1; limit <= 6; limit++ {
			c.list.Limit = limit
			var got strings.Builder
			for _, e := range listAll(t, s, c.list) {
				got.WriteString(e.RequestID)
			}
			if got.String() != c.want {
				t.Errorf("%s, pages of %d: %q, want %q", c.name, limit, got.String(), c.want)
			}
		}
	}
	first, more, err := s.store.List(t.Context(), audit.List{Limit: 2})
	if err != nil || !more || len(first) != 2 {
		t.Fatalf("first page: %d events, more %v, %v", len(first), more, err)
	}
	record(t, s, event(at.Add(time.Hour), "ann", "createUser"))
	rest := listAll(t, s, audit.List{Limit: 2, Behind: first[1].ID})
	if len(rest) != 3 || rest[0].RequestID != "2" {
		t.Errorf("an event that came between two pages shifted them: %v", rest)
	}
	if page, more, err := s.store.List(t.Context(), audit.List{}); len(page) > 0 || more || err != nil {
		t.Errorf("a page of no event: %v, %v, %v", page, more, err)
	}
}

// testAppendOnly proves that no statement deletes an event or changes one, but for the outcome, once.
func testAppendOnly(t *testing.T, s suite) {
	open := record(t, s, event(time.Now(), "ann", "createUser"))
	done := record(t, s, event(time.Now(), "bob", "createUser"))
	if err := s.store.SetOutcome(t.Context(), done.ID, 201, nil); err != nil {
		t.Fatal(err)
	}
	before := listAll(t, s, audit.List{Limit: 9})
	const row = `SELECT id, kind, actor_id, actor_name, credential, action, target, changes, address, request_id, 200 FROM audit_events`
	const into = `(id, kind, actor_id, actor_name, credential, action, target, changes, address, request_id, status) `
	for _, statement := range []string{
		`DELETE FROM audit_events`,
		`DELETE FROM audit_events WHERE status = 0`,
		`TRUNCATE audit_events`,
		`UPDATE audit_events SET actor_name = 'eve'`,
		`UPDATE audit_events SET status = 0`,
		`UPDATE audit_events SET status = 403 WHERE status = 201`,
		`UPDATE audit_events SET status = 201 WHERE status = 201`,
		`UPDATE audit_events SET status = 201, changes = '{}' WHERE status = 0`,
		`UPDATE audit_events SET status = 201, no = 77 WHERE status = 0`,
		`UPDATE audit_events SET status = 201, id = 'aud_0' WHERE status = 0`,
		`UPDATE audit_events SET status = 201, target = NULL WHERE status = 0`,
		`INSERT OR REPLACE INTO audit_events ` + into + row,
		`REPLACE INTO audit_events (no, ` + into[1:] + `SELECT no, ` + row[len("SELECT "):],
		`INSERT INTO audit_events ` + into + row + ` WHERE TRUE ON CONFLICT (id) DO UPDATE SET action = 'none'`,
		`UPDATE OR REPLACE audit_events SET id = '` + string(open.ID) + `' WHERE id = '` + string(done.ID) + `'`,
	} {
		if err := s.raw(t, statement); err == nil {
			t.Errorf("%s: was obeyed", statement)
		}
	}
	if diff := cmp.Diff(before, listAll(t, s, audit.List{Limit: 9})); diff != "" {
		t.Error("events (-before +after):", diff)
	}
	if err := s.raw(t, `UPDATE audit_events SET status = 200 WHERE status = 0`); err != nil {
		t.Error("the outcome is refused:", err)
	}
}

// testAtOnce proves that events that many callers add and complete at once are all there, each with its own outcome.
func testAtOnce(t *testing.T, s suite) {
	const n = 40
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			e := event(time.Now(), "ann", "createUser")
			if err := s.store.Add(t.Context(), e); err != nil {
				t.Error(err)
			}
			if err := s.store.SetOutcome(t.Context(), e.ID, 200+i, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	seen := map[int]bool{}
	for _, e := range listAll(t, s, audit.List{Limit: 7}) {
		seen[e.Status] = true
	}
	if len(seen) != n || seen[0] {
		t.Errorf("%d outcomes, want %d", len(seen), n)
	}
}
