package toolservers_test

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
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/server"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/page"
	"quarry/internal/store"
	"quarry/internal/store/agents"
	"quarry/internal/store/storetest"
	"quarry/internal/store/tools"
	"quarry/internal/store/toolservers"
)

// stores are those of one database.
type stores struct {
	*toolservers.Store
	tools  *tools.Store
	agents *agents.Store
	db     *store.DB
}

// TestStore proves that the store keeps the promises of server.Store on both databases.
func TestStore(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, db *store.DB) stores {
		return stores{toolservers.New(db, storetest.Secrets(t, db)), tools.New(db), agents.New(db), db}
	}
	storetest.Each(t, open, map[string]func(*testing.T, stores){
		"read": testRead, "list": testList, "replace": testReplace, "claim": testClaim, "claim at once": testClaimAtOnce, "finish": testFinish,
		"names": testNames, "delete": testDelete, "sealed": testSealed,
	})
}

func one(name string) server.Server {
	now := clock.Now()
	return server.Server{
		ID: id.NewToolServer(), Revision: 1, Sync: server.Sync{Status: server.Never}, Created: now, Updated: now,
		Definition: server.Definition{
			Name: name, Description: "Ünï", URI: "https://a.test/mcp", Transport: server.SSE, Headers: map[string]string{"X-A": "1"}, Enabled: true,
			Metadata: json.RawMessage(`{"n":9007199254740993}`),
		},
	}
}

func (s stores) make(t *testing.T, name string) server.Server {
	t.Helper()
	made, err := s.Create(t.Context(), one(name), server.Secrets{}, true)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// testRead proves that a server is read as it was written with its secrets, that a name is taken once, and that missing ones are
// told so.
func testRead(t *testing.T, s stores) {
	v, sealed := one("read"), server.Secrets{Auth: &server.Auth{Type: server.Bearer, Token: "t0p"}, Headers: map[string]string{"X-Key": "s3cret"}}
	made, err := s.Create(t.Context(), v, sealed, false)
	if err != nil {
		t.Fatal(err)
	}
	v.No = made.No
	got, err := s.Get(t.Context(), v.ID)
	if diff := cmp.Diff(v, got); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	held, err := s.Secrets(t.Context(), v.ID)
	if diff := cmp.Diff(sealed, held); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	if _, err := s.Create(t.Context(), one("read"), server.Secrets{}, false); !errors.Is(err, server.ErrTaken) {
		t.Errorf("a second server of the name: %v", err)
	}
	if _, err := s.Get(t.Context(), "tsr_none"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("read one that is not there: %v", err)
	}
	if held, err := s.Secrets(t.Context(), "tsr_none"); err != nil || held.Auth != nil {
		t.Errorf("%v, %v", held, err)
	}
}

// testList proves that pages have every server that matches once, newest first.
func testList(t *testing.T, s stores) {
	var want []id.ToolServer
	for _, name := range []string{"a", "b", "c"} {
		want = append(want, s.make(t, name).ID)
	}
	slices.Reverse(want)
	var got []id.ToolServer
	var after *page.Position
	for more := true; more; {
		var found []server.Server
		var err error
		if found, more, err = s.List(t.Context(), after, 2, func(v *server.Server) bool { return v.Name != "none" }); err != nil {
			t.Fatal(err)
		}
		for _, x := range found {
			got, after = append(got, x.ID), x.Position()
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// testReplace proves that a change is written on the revision that it was made on, that secrets stay unless they are given, and
// that a name is taken once.
func testReplace(t *testing.T, s stores) {
	v := one("replace")
	v, err := s.Create(t.Context(), v, server.Secrets{Auth: &server.Auth{Type: server.Bearer, Token: "t"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	s.make(t, "other")
	next := v
	next.Name, next.Enabled = "renamed", false
	next, err = s.Replace(t.Context(), next, nil, false)
	if held, _ := s.Secrets(t.Context(), v.ID); err != nil || next.Revision != 2 || next.Name != "renamed" || next.Enabled || held.Auth == nil {
		t.Errorf("%v, %+v, %v", err, next, held)
	}
	if _, err := s.Replace(t.Context(), v, nil, false); !errors.Is(err, server.ErrChanged) {
		t.Errorf("a change of an old revision: %v", err)
	}
	taken := next
	taken.Name = "other"
	if _, err := s.Replace(t.Context(), taken, nil, false); !errors.Is(err, server.ErrTaken) {
		t.Errorf("a name of another: %v", err)
	}
	if _, err = s.Replace(t.Context(), next, &server.Secrets{}, true); err != nil {
		t.Fatal(err)
	}
	if held, err := s.Secrets(t.Context(), v.ID); err != nil || held.Auth != nil {
		t.Errorf("%v, %v", held, err)
	}
	if due, err := s.Due(t.Context(), clock.Now()); err != nil || !slices.Contains(due, v.ID) {
		t.Errorf("%v, %v", due, err)
	}
}

func lease(which id.ToolServer, now time.Time) server.Lease {
	return server.Lease{Server: which, Holder: id.Text(8), Until: now.Add(time.Minute)}
}

// testClaim proves the life of a sync: due when it is waited for, with one holder, due again when the lease has run out, was
// released or freed, and not when it has ended.
func testClaim(t *testing.T, s stores) {
	v, now := s.make(t, "claim"), clock.Now()
	due := func(at time.Time, want bool) {
		t.Helper()
		found, err := s.Due(t.Context(), at)
		if err != nil || slices.Contains(found, v.ID) != want {
			t.Errorf("%v, %v, want %v", found, err, want)
		}
	}
	due(now, true)
	first := lease(v.ID, now)
	c, err := s.Claim(t.Context(), now, first, true)
	if err != nil || c.Attempts != 1 || c.Server.ID != v.ID || c.Server.Sync.Status != server.Running {
		t.Fatalf("%v, %+v", err, c)
	}
	due(now, false)
	for _, waited := range []bool{true, false} {
		if _, err := s.Claim(t.Context(), now, lease(v.ID, now), waited); !errors.Is(err, server.ErrSyncing) {
			t.Errorf("claimed twice: %v", err)
		}
	}
	late := now.Add(time.Hour)
	due(late, true)
	second := lease(v.ID, late)
	if c, err = s.Claim(t.Context(), late, second, true); err != nil || c.Attempts != 2 {
		t.Errorf("%v, %d attempts", err, c.Attempts)
	}
	for _, end := range []error{s.Fail(t.Context(), first, "x"), s.Release(t.Context(), first), s.Finish(t.Context(), first, 1, late, nil)} {
		if !errors.Is(end, server.ErrLost) {
			t.Errorf("a lease that was lost ends the sync: %v", end)
		}
	}
	if err := s.Release(t.Context(), second); err != nil {
		t.Error(err)
	}
	due(late, true)
	third := lease(v.ID, late)
	if c, err = s.Claim(t.Context(), late, third, true); err != nil || c.Attempts != 2 {
		t.Errorf("%v, %d attempts after one that was released", err, c.Attempts)
	}
	if err := s.Free(t.Context(), third.Until); err != nil {
		t.Error(err)
	}
	if _, err := s.Claim(t.Context(), late, lease(v.ID, late), true); !errors.Is(err, server.ErrSyncing) {
		t.Errorf("a lease of this process was freed: %v", err)
	}
	if err := s.Free(t.Context(), third.Until.Add(time.Microsecond)); err != nil {
		t.Error(err)
	}
	due(late, true)
	fourth := lease(v.ID, late)
	if _, err = s.Claim(t.Context(), late, fourth, true); err != nil {
		t.Error(err)
	}
	if err := s.Fail(t.Context(), fourth, "no \x00 answer"); err != nil {
		t.Error(err)
	}
	got, err := s.Get(t.Context(), v.ID)
	if want := (server.Sync{Status: server.Failed, Message: "no \uFFFD answer"}); err != nil || got.Sync != want {
		t.Errorf("%v, %+v", err, got.Sync)
	}
	due(late, false)
	if _, err := s.Claim(t.Context(), late, lease(v.ID, late), true); !errors.Is(err, server.ErrSyncing) {
		t.Errorf("claimed although nothing is due: %v", err)
	}
	if c, err = s.Claim(t.Context(), late, lease(v.ID, late), false); err != nil || c.Attempts != 1 {
		t.Errorf("%v, %d attempts", err, c.Attempts)
	}
	if _, err := s.Claim(t.Context(), late, lease("tsr_none", late), false); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("claimed one that is not there: %v", err)
	}
}

// testClaimAtOnce proves that of claims at once one is given.
func testClaimAtOnce(t *testing.T, s stores) {
	v, now := s.make(t, "claim at once"), clock.Now()
	var group sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		group.Go(func() { _, errs[i] = s.Claim(t.Context(), now, lease(v.ID, now), i%2 == 0) })
	}
	group.Wait()
	given := 0
	for _, err := range errs {
		if err == nil {
			given++
		} else if !errors.Is(err, server.ErrSyncing) {
			t.Error(err)
		}
	}
	if given != 1 {
		t.Errorf("%d leases", given)
	}
}

// tool returns a tool of a server.
func tool(which id.ToolServer, own string) catalog.Tool {
	now := clock.Now()
	return catalog.Tool{ID: id.NewTool(), Version: 1, Created: now, Updated: now, Definition: catalog.Definition{
		Type: catalog.MCP, Description: "d", Enabled: true, Input: json.RawMessage(`{}`), Remote: &catalog.Remote{Server: which, Name: own},
	}}
}

// sync makes a sync that changes what plan says.
func (s stores) sync(t *testing.T, v server.Server, plan func([]catalog.Tool) server.Changes) error {
	t.Helper()
	l := lease(v.ID, clock.Now())
	if _, err := s.Claim(t.Context(), clock.Now(), l, false); err != nil {
		t.Fatal(err)
	}
	err := s.Finish(t.Context(), l, v.Revision, clock.Now(), plan)
	if err != nil {
		if err := s.Release(t.Context(), l); err != nil {
			t.Error(err)
		}
	}
	return err
}

// added returns changes that add tools, each under the first of its names that is free.
func added(which id.ToolServer, names ...[]string) func([]catalog.Tool) server.Changes {
	return func([]catalog.Tool) (c server.Changes) {
		for _, all := range names {
			c.Added = append(c.Added, server.Added{Tool: tool(which, all[0]), Names: all})
		}
		c.Message = fmt.Sprint(len(names), " tools")
		return c
	}
}

// testFinish proves that a sync writes what its plan says in one transaction with its end, that tools are read back with the state of
// their server, and that a server that was changed meanwhile keeps the tools that it has.
func testFinish(t *testing.T, s stores) {
	v, other := s.make(t, "finish"), s.make(t, "finish other")
	if err := s.sync(t, other, added(other.ID, []string{"of_other"})); err != nil {
		t.Fatal(err)
	}
	if err := s.sync(t, v, added(v.ID, []string{"first"}, []string{"second"})); err != nil {
		t.Fatal(err)
	}
	got, err := s.Get(t.Context(), v.ID)
	if err != nil || got.Sync.Status != server.OK || got.Sync.Message != "2 tools" || got.Sync.At.IsZero() || got.Revision != v.Revision {
		t.Errorf("%v, %+v", err, got)
	}
	var first catalog.Tool
	err = s.sync(t, v, func(have []catalog.Tool) (c server.Changes) {
		if len(have) != 2 {
			t.Errorf("%d tools, want those of the server", len(have))
		}
		first = have[slices.IndexFunc(have, func(x catalog.Tool) bool { return x.Name == "first" })]
		changed := first
		changed.Description = "changed"
		return server.Changes{Changed: []catalog.Tool{changed}}
	})
	if now, _ := s.tools.Get(t.Context(), first.ID); err != nil || now.Description != "changed" || now.Version != first.Version+1 || now.Remote.Off || !now.Offered() {
		t.Errorf("%v, %+v", err, now)
	}
	off := v
	off.Enabled = false
	if off, err = s.Replace(t.Context(), off, nil, false); err != nil {
		t.Fatal(err)
	}
	if now, err := s.tools.Get(t.Context(), first.ID); err != nil || !now.Remote.Off || now.Offered() || !now.Available() {
		t.Errorf("%v, a tool of a server that is disabled: %+v", err, now.Remote)
	}
	if err := s.sync(t, v, added(v.ID, []string{"third"})); !errors.Is(err, server.ErrChanged) {
		t.Errorf("a sync of an old revision: %v", err)
	}
	if got, _ := s.Get(t.Context(), v.ID); got.Sync.Status != server.Running {
		t.Errorf("a sync that did not end: %+v", got.Sync)
	}
	if err := s.sync(t, off, func(have []catalog.Tool) server.Changes {
		if len(have) != 2 {
			t.Errorf("%d tools after a sync that was refused", len(have))
		}
		return server.Changes{}
	}); err != nil {
		t.Error(err)
	}
}

// testNames proves that a tool gets the first of its names that no tool has, and that a sync in which one gets none writes
// nothing.
func testNames(t *testing.T, s stores) {
	a, b := s.make(t, "names a"), s.make(t, "names b")
	if err := s.sync(t, a, added(a.ID, []string{"n", "a_n"}, []string{"n", "a_n", "a_n2"})); err != nil {
		t.Fatal(err)
	}
	if err := s.sync(t, b, added(b.ID, []string{"n", "b_n"}, []string{"m"})); err != nil {
		t.Fatal(err)
	}
	var got []string
	found, _, err := s.tools.List(t.Context(), nil, 10, nil)
	for _, x := range found {
		got = append(got, x.Name)
	}
	slices.Sort(got)
	if want := []string{"a_n", "b_n", "m", "n"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", err, got, want)
	}
	if err := s.sync(t, b, added(b.ID, []string{"fresh"}, []string{"n", "m"})); !errors.Is(err, server.ErrNames) {
		t.Errorf("no name is free: %v", err)
	}
	if found, _, _ := s.tools.List(t.Context(), nil, 10, nil); len(found) != 4 {
		t.Errorf("%d tools after a sync that has failed", len(found))
	}
}

// testDelete proves that a server goes with its tools and its secrets, and stays as long as an agent has one of them.
func testDelete(t *testing.T, s stores) {
	v, err := s.Create(t.Context(), one("delete"), server.Secrets{Auth: &server.Auth{Type: server.Bearer, Token: "t"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.sync(t, v, added(v.ID, []string{"used"}, []string{"unused"})); err != nil {
		t.Fatal(err)
	}
	found, _, err := s.tools.List(t.Context(), nil, 10, func(x *catalog.Tool) bool { return x.Name == "used" })
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	now := clock.Now()
	a, err := s.agents.Create(t.Context(), agent.Agent{Key: "user", Created: now, Updated: now, Definition: agent.Definition{
		Name: "user", Tools: map[string]json.RawMessage{"t": json.RawMessage(`{"type":"mcp","tool_id":"` + string(found[0].ID) + `"}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var used *catalog.InUseError
	if err := s.Delete(t.Context(), v); !errors.As(err, &used) || !slices.Equal(used.Agents, []string{"user"}) {
		t.Errorf("deleted in use: %v", err)
	}
	if _, err := s.Get(t.Context(), v.ID); err != nil {
		t.Errorf("after a deletion that was refused: %v", err)
	}
	if err := s.agents.Delete(t.Context(), a.No, clock.Now()); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	if left, _, err := s.tools.List(t.Context(), nil, 10, nil); err != nil || len(left) != 0 {
		t.Errorf("%v, %d tools are left", err, len(left))
	}
	if held, err := s.Secrets(t.Context(), v.ID); err != nil || held.Auth != nil {
		t.Errorf("%v, its secrets are left", err)
	}
	if err := s.Delete(t.Context(), v); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
}

// testSealed proves that no row but that of sealed values has anything of the secrets of a server, and that one has them sealed.
func testSealed(t *testing.T, s stores) {
	v := one("sealed")
	v.Headers["X-Key"] = server.Mask
	if _, err := s.Create(t.Context(), v, server.Secrets{Auth: &server.Auth{Type: server.Bearer, Token: "t0psecret"}, Headers: map[string]string{"X-Key": "t0psecret"}}, false); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{`SELECT definition FROM tool_servers`, `SELECT sealed FROM secrets`} {
		rows, err := store.Select(s.db.Reader(t.Context()), "look for secrets", store.One[[]byte], query)
		if err != nil || len(rows) != 1 || strings.Contains(string(rows[0]), "t0psecret") {
			t.Errorf("%v, %q", err, rows)
		}
	}
}
