package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/instruction"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/search"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/opt"
	"quarry/internal/store"
	"quarry/internal/store/agents"
	"quarry/internal/store/instructions"
	"quarry/internal/store/storetest"
	"quarry/internal/store/tools"
)

// models has the model "m" alone.
type models struct{}

func (models) Model(_ context.Context, name string) (*llm.Model, error) {
	if name != "m" {
		f := fault.Invalid()
		f.Text = "there is no language model " + name
		return nil, f
	}
	return &llm.Model{Name: name}, nil
}

// searcher takes every query.
type searcher struct{}

func (searcher) Check(json.RawMessage) error { return nil }

func (searcher) Search(context.Context, search.Query) (json.RawMessage, error) {
	return nil, nil
}

// open returns a service over a database of its own.
func open(t *testing.T) (*agent.Service, *agents.Store) {
	t.Helper()
	s, rows, _ := openWith(t, nil)
	return s, rows
}

// openWith returns a service with the instructions that it refers to, through v unless it is nil.
func openWith(t *testing.T, v *vanishing) (*agent.Service, *agents.Store, *instruction.Service) {
	t.Helper()
	searching, err := search.New(searcher{})
	if err != nil {
		t.Fatal(err)
	}
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	rows, kit := agents.New(db), tool.Kit{Types: map[string]tool.Type{search.Name: searching}}
	known, err := catalog.New(tools.New(db), kit)
	if err != nil {
		t.Fatal(err)
	}
	texts := instruction.New(instructions.New(db))
	c := agent.Config{Store: rows, Models: models{}, Kit: kit, Tools: known, Instructions: texts}
	if v != nil {
		v.Service, c.Instructions = texts, v
	}
	return agent.New(c), rows, texts
}

// anyone may read every corpus.
var anyone = agent.Writer{Rights: permit.Rights{All: true}}

// named is a new agent of a name.
func named(name string) agent.Change {
	return agent.Change{Name: opt.Some(name), Model: opt.Some(agent.Model{Name: "m"})}
}

func create(t *testing.T, s *agent.Service, key string, c agent.Change) agent.Agent {
	t.Helper()
	a, err := s.Create(t.Context(), anyone, key, c)
	if err != nil {
		t.Fatalf("create %q: %v", key, err)
	}
	return a
}

// TestKeys proves how keys are made from names, that each is a key and another one, and which are refused.
func TestKeys(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	for name, want := range map[string]string{
		"Help Desk 24": `^agt_help_desk_24_[0-9a-f]{4}$`, "  --Ünï--  ": `^agt_n_[0-9a-f]{4}$`, "日本語": `^agt_agent_[0-9a-f]{4}$`,
		strings.Repeat("Ab", 25): `^agt_(ab){20}a_[0-9a-f]{4}$`,
	} {
		seen := map[string]bool{}
		for range 3 {
			a := create(t, s, "", named(name))
			if !regexp.MustCompile(want).MatchString(a.Key) || len(a.Key) > 50 || seen[a.Key] {
				t.Errorf("%q is named %s, want %s", name, a.Key, want)
			}
			seen[a.Key] = true
		}
	}
	for _, key := range []string{"a.b", "a b", "ä", strings.Repeat("k", 51)} {
		if _, err := s.Create(t.Context(), anyone, key, named("n")); !fault.Is(err, fault.KindInvalid) {
			t.Errorf("the key %q: %v", key, err)
		}
	}
}

// TestChangesAtOnce proves that every one of many changes at once takes effect, those of the same member and those of others.
func TestChangesAtOnce(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	a := create(t, s, "a", named("n"))
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			c := agent.Change{Steps: opt.Some(map[string]*agent.StepChange{fmt.Sprint(i): {}})}
			if _, err := s.Update(t.Context(), anyone, a, c); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, err := s.Get(t.Context(), "a"); err != nil || len(got.Steps) != 13 || got.Revision != 13 {
		t.Errorf("%d steps in revision %d, want 13 (%v)", len(got.Steps), got.Revision, err)
	}
}

// TestChangeOfAnotherAgent proves that a change of an agent that was deleted meanwhile is no change of a later agent of its key.
func TestChangeOfAnotherAgent(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	a := create(t, s, "a", named("old"))
	if err := s.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	create(t, s, "a", named("new"))
	for what, err := range map[string]error{
		"change":  func() error { _, err := s.Update(t.Context(), anyone, a, named("x")); return err }(),
		"replace": func() error { _, err := s.Replace(t.Context(), anyone, a, named("x")); return err }(),
		"delete":  s.Delete(t.Context(), a),
	} {
		if f, ok := fault.As(err); !ok || f.Code != "agent_not_found" || f.ID != "a" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got, err := s.Get(t.Context(), "a"); err != nil || got.Name != "new" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestUnchanged proves that a change of nothing is no new configuration, and neither is what was there already.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	a := create(t, s, "a", named("n"))
	for _, c := range []agent.Change{{}, named("n"), {Description: opt.Null[string]()}, {Steps: opt.Some(map[string]*agent.StepChange{agent.FirstStep: {}})}} {
		if got, err := s.Update(t.Context(), anyone, a, c); err != nil || !cmp.Equal(got, a) {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	if got, err := s.Replace(t.Context(), anyone, a, named("n")); err != nil || got.Revision != 1 {
		t.Errorf("replaced by itself: %+v, %v", got, err)
	}
}

// TestRights proves whose right to read corpora is asked for when an agent is written: that of the writer, on every corpus that a
// tool names which is sent, and on none that stays or that a reference names.
func TestRights(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	search := func(corpora string) json.RawMessage {
		return json.RawMessage(`{"type": "corpora_search", "query_configuration": {"search": {"corpora": [` + corpora + `]}}}`)
	}
	secret := named("n")
	secret.Tools = opt.Some(map[string]json.RawMessage{"s": search(`{"corpus_key": "secret"}`)})
	a := create(t, s, "a", secret)
	reader := agent.Writer{Rights: permit.Rights{Corpora: []string{"open"}}}
	for name, c := range map[string]struct {
		tools   map[string]json.RawMessage
		refused bool
	}{
		"none":                 {nil, false},
		"one that is open":     {map[string]json.RawMessage{"t": search(`{"corpus_key": "open"}`)}, false},
		"both":                 {map[string]json.RawMessage{"t": search(`{"corpus_key": "open"}, {"corpus_key": "secret"}`)}, true},
		"the same tool":        {map[string]json.RawMessage{"s": search(`{"corpus_key": "secret"}`)}, true},
		"a reference":          {map[string]json.RawMessage{"t": search(`{"corpus_key": {"$ref": "session.metadata.c"}}`)}, false},
		"removed, and an open": {map[string]json.RawMessage{"s": nil, "t": search(`{"corpus_key": "open"}`)}, false},
	} {
		change := agent.Change{Description: opt.Some(name)}
		if c.tools != nil {
			change.Tools = opt.Some(c.tools)
		}
		_, err := s.Update(t.Context(), reader, a, change)
		if fault.Is(err, fault.KindForbidden) != c.refused || err != nil && !c.refused {
			t.Errorf("change, %s: %v", name, err)
		}
		change.Name, change.Model = opt.Some("n"), opt.Some(agent.Model{Name: "m"})
		_, err = s.Create(t.Context(), reader, "", change)
		if fault.Is(err, fault.KindForbidden) != c.refused || err != nil && !c.refused {
			t.Errorf("create, %s: %v", name, err)
		}
		if _, err = s.Replace(t.Context(), reader, a, change); fault.Is(err, fault.KindForbidden) != c.refused {
			t.Errorf("replace, %s: %v", name, err)
		}
	}
}

// TestDisabledModel proves that an agent can be changed when its model is gone, but for the model.
func TestDisabledModel(t *testing.T) {
	t.Parallel()
	s, rows := open(t)
	gone := create(t, s, "a", named("n"))
	gone.Model.Name = "gone"
	gone, err := rows.Replace(t.Context(), gone)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(t.Context(), anyone, gone, agent.Change{Description: opt.Some("d")}); err != nil {
		t.Error(err)
	}
	_, err = s.Update(t.Context(), anyone, gone, agent.Change{Model: opt.Some(agent.Model{Name: "gone"})})
	if f, ok := fault.As(err); !ok || f.Fields["model.name"] == "" {
		t.Error(err)
	}
}
