package catalog_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/search"
	"quarry/internal/fault"
	"quarry/internal/opt"
	"quarry/internal/store"
	"quarry/internal/store/storetest"
	"quarry/internal/store/tools"
)

// searcher takes every query.
type searcher struct{}

func (searcher) Check(json.RawMessage) error { return nil }

func (searcher) Search(context.Context, search.Query) (json.RawMessage, error) { return nil, nil }

func open(t *testing.T) *catalog.Service {
	t.Helper()
	searching, err := search.New(searcher{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := catalog.New(tools.New(storetest.Open(t, store.Config{Dir: t.TempDir()})), tool.Kit{Types: map[string]tool.Type{search.Name: searching}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func create(t *testing.T, s *catalog.Service, c catalog.Change) catalog.Tool {
	t.Helper()
	made, err := s.Create(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func named(name string) catalog.Change {
	return catalog.Change{Name: opt.Some(name), Description: opt.Some("d")}
}

// TestUnlisted proves that a program whose kit has a type without a line in the catalogue doesn't start: it could be configured
// and would not be listed.
func TestUnlisted(t *testing.T) {
	t.Parallel()
	other := func(json.RawMessage) (*tool.Tool, error) { return nil, nil }
	if _, err := catalog.New(nil, tool.Kit{Types: map[string]tool.Type{"other": other}}); err == nil || !strings.Contains(err.Error(), "other") {
		t.Errorf("%v", err)
	}
}

// TestPages proves that pages of any size have each tool once, built-in and created ones, in one order.
func TestPages(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, name := range []string{"a", "b", "c"} {
		create(t, s, named(name))
	}
	for _, size := range []int{1, 2, 3, 4, 5} {
		var got []string
		l := catalog.List{Limit: size}
		for {
			found, next, err := s.List(t.Context(), l)
			if err != nil || len(found) > size {
				t.Fatalf("%v, %d tools on a page of %d", err, len(found), size)
			}
			for _, x := range found {
				got = append(got, x.Name)
			}
			if l.After = next; next == nil {
				break
			}
		}
		if want := []string{"c", "b", "a", "corpora_search"}; !slices.Equal(got, want) { // the newest first
			t.Errorf("pages of %d: %v, want %v", size, got, want)
		}
	}
}

// TestKnown proves what a configuration becomes: the tool as it is at that moment, with the schema that models ask for; and what
// one whose tool is gone is, when an agent is written and in a turn.
func TestKnown(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := named("dialog")
	c.Input, c.Output = opt.Some(json.RawMessage(` { "properties": {"a":{"type":"string"}} }`)), opt.Some(json.RawMessage(`{"type":"object"}`))
	made := create(t, s, c)
	all := map[string]json.RawMessage{"d": json.RawMessage(`{"type":"client","tool_id":"` + string(made.ID) + `"}`)}
	compile := func(lenient bool) (*tool.Set, string, error) {
		known, err := s.Known(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		known.Lenient = lenient
		set, err := tool.Compile(all, known.Kit(tool.Kit{}))
		return set, known.Stamp(), err
	}
	offer := func(set *tool.Set) string {
		bound, _, err := set.Bind(tool.Scene{}, "")
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, x := range bound.Offer(nil) {
			out = append(out, x.Name+" "+x.Description+" "+string(x.Parameters))
		}
		return strings.Join(out, "|")
	}
	set, stamp, err := compile(false)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := offer(set), `d d {"type":"object","properties":{"a":{"type":"string"}}}`; got != want {
		t.Errorf("offered %s, want %s", got, want)
	}
	if _, err := s.Update(t.Context(), made, catalog.Change{Enabled: opt.Some(false)}); err != nil {
		t.Fatal(err)
	}
	set, later, err := compile(false)
	if err != nil || later == stamp || offer(set) != "" {
		t.Errorf("%v, a tool that is disabled: %q, stamps %q and %q", err, offer(set), stamp, later)
	}
	if err := s.Delete(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	if _, _, err := compile(false); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("an agent with a tool that is gone: %v", err)
	}
	if set, _, err := compile(true); err != nil || offer(set) != "" {
		t.Errorf("a turn with a tool that is gone: %v", err)
	}
}
