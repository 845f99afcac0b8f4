package tools_test

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/page"
	"quarry/internal/store"
	"quarry/internal/store/agents"
	"quarry/internal/store/storetest"
	"quarry/internal/store/tools"
)

// stores are those of one database.
type stores struct {
	*tools.Store
	agents *agents.Store
}

// TestStore proves that the store keeps the promises of catalog.Store on both databases.
func TestStore(t *testing.T) {
	t.Parallel()
	open := func(_ *testing.T, db *store.DB) stores { return stores{tools.New(db), agents.New(db)} }
	storetest.Each(t, open, map[string]func(*testing.T, stores){
		"read": testRead, "list": testList, "at once": testAtOnce, "use": testUse, "use at once": testUseAtOnce,
	})
}

func (s stores) make(t *testing.T, name string) catalog.Tool {
	t.Helper()
	now := clock.Now()
	made, err := s.Create(t.Context(), catalog.Tool{ID: id.NewTool(), Version: 1, Created: now, Updated: now, Definition: catalog.Definition{
		Type: catalog.Client, Name: name, Title: "Ünï", Description: "d", Enabled: true, Input: json.RawMessage(`{"n":9007199254740993}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// testRead proves that a tool is read as it was written, that a name is taken once, and that missing ones are told so.
func testRead(t *testing.T, s stores) {
	one := s.make(t, "read")
	got, err := s.Get(t.Context(), one.ID)
	if diff := cmp.Diff(one, got); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	found, err := s.Find(t.Context(), []id.Tool{"tol_none", one.ID})
	if err != nil || len(found) != 1 || found[0].ID != one.ID {
		t.Errorf("%v, %v", found, err)
	}
	again := one
	again.ID = id.NewTool()
	if _, err := s.Create(t.Context(), again); !errors.Is(err, catalog.ErrTaken) {
		t.Errorf("a second tool of the name: %v", err)
	}
	if err := s.Delete(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), one.ID); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("read after the deletion: %v", err)
	}
	if err := s.Delete(t.Context(), one); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
}

// testList proves that pages have every tool that matches once, newest first.
func testList(t *testing.T, s stores) {
	var want []id.Tool
	for _, name := range []string{"list_a", "list_b", "list_c"} {
		want = append(want, s.make(t, name).ID)
	}
	slices.Reverse(want)
	var got []id.Tool
	var after *page.Position
	for more := true; more; {
		var found []catalog.Tool
		var err error
		found, more, err = s.List(t.Context(), after, 2, func(x *catalog.Tool) bool { return slices.Contains(want, x.ID) })
		if err != nil {
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

// testAtOnce proves that of changes at once of one version one is written.
func testAtOnce(t *testing.T, s stores) {
	one := s.make(t, "at_once")
	var group sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		group.Go(func() {
			next := one
			next.Updated = one.Updated.Add(time.Second)
			_, errs[i] = s.Replace(t.Context(), next)
		})
	}
	group.Wait()
	written := 0
	for _, err := range errs {
		switch {
		case err == nil:
			written++
		case !errors.Is(err, catalog.ErrChanged):
			t.Error(err)
		}
	}
	if got, err := s.Get(t.Context(), one.ID); err != nil || written != 1 || got.Version != 2 {
		t.Errorf("%v, %d written, version %d", err, written, got.Version)
	}
}

// with returns an agent that has tools.
func with(key string, which ...id.Tool) agent.Agent {
	now := clock.Now()
	a := agent.Agent{Key: key, Created: now, Updated: now, Definition: agent.Definition{Name: key, Tools: map[string]json.RawMessage{}}}
	for _, one := range which {
		a.Tools["t"+string(one)] = json.RawMessage(`{"type":"client","tool_id":"` + string(one) + `"}`)
	}
	return a
}

// testUse proves that a tool stays as long as the current configuration of an agent has it, and that the refusal names the agents.
func testUse(t *testing.T, s stores) {
	one, other := s.make(t, "use_one"), s.make(t, "use_other")
	a, err := s.agents.Create(t.Context(), with("use-a", one.ID, other.ID))
	if err != nil {
		t.Fatal(err)
	}
	var used *catalog.InUseError
	if err := s.Delete(t.Context(), one); !errors.As(err, &used) || !slices.Equal(used.Agents, []string{"use-a"}) {
		t.Errorf("deleted in use: %v", err)
	}
	next := with("use-a", other.ID)
	a.Definition = next.Definition
	if a, err = s.agents.Replace(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), one); err != nil {
		t.Errorf("not deleted although nobody has it: %v", err)
	}
	if err := s.agents.Delete(t.Context(), a.No, clock.Now()); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), other); err != nil {
		t.Errorf("not deleted although its agent is: %v", err)
	}
	if _, err := s.agents.Create(t.Context(), with("use-b", one.ID)); !fault.Is(err, fault.KindConflict) {
		t.Errorf("an agent has a tool that was deleted: %v", err)
	}
}

// testUseAtOnce proves that a tool which is deleted while an agent takes it is either there and used, or gone and refused.
func testUseAtOnce(t *testing.T, s stores) {
	for i := range 10 {
		name := "race" + string(rune('a'+i))
		one := s.make(t, name)
		var group sync.WaitGroup
		var taken, removed error
		group.Go(func() { _, taken = s.agents.Create(t.Context(), with(name, one.ID)) })
		group.Go(func() { removed = s.Delete(t.Context(), one) })
		group.Wait()
		if (taken == nil) == (removed == nil) {
			t.Errorf("taken: %v, removed: %v", taken, removed)
		}
	}
}
