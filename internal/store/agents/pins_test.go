package agents_test

import (
	"errors"
	"sync"
	"testing"

	"quarry/internal/agent"
	"quarry/internal/agent/instruction"
	"quarry/internal/clock"
	"quarry/internal/id"
	"quarry/internal/store/instructions"
)

// written is an instruction of n versions.
func (s stores) written(t *testing.T, n int) instruction.Instruction {
	t.Helper()
	rows, now := instructions.New(s.db), clock.Now()
	in, err := rows.Create(t.Context(), instruction.Instruction{ID: id.NewInstruction(), Created: now, Updated: now, Text: instruction.Text{Name: "n"}})
	for ; err == nil && in.Version < int64(n); in, err = rows.Add(t.Context(), in) {
	}
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// refers is an agent whose first step has references.
func refers(key string, refs ...instruction.Reference) agent.Agent {
	a := full(key)
	step := agent.Step{}
	for _, r := range refs {
		step.Instructions = append(step.Instructions, agent.Instruction{Ref: &r})
	}
	a.Steps = map[string]agent.Step{"a": step}
	return a
}

// testPins proves that an agent begins to name only versions that are there, that those which it names stay, and that it can be
// written on with a version whose instruction was deleted.
func testPins(t *testing.T, s stores) {
	rows, in := instructions.New(s.db), s.written(t, 3)
	pin := func(version int64) instruction.Reference { return instruction.Reference{ID: in.ID, Version: version} }
	if _, err := s.Create(t.Context(), refers("none", pin(1), pin(9))); !errors.Is(err, instruction.ErrGone) {
		t.Errorf("a version that never was: %v", err)
	}
	if n := s.count(t, `SELECT (SELECT COUNT(*) FROM agents) + (SELECT COUNT(*) FROM instruction_pins)`); n > 0 {
		t.Errorf("%d rows of an agent that is refused", n)
	}
	a := s.make(t, refers("a", pin(0), pin(1), instruction.Reference{ID: "ins_none"}))
	pinned := func(what string, version int64, want bool) {
		t.Helper()
		_, is := errors.AsType[*instruction.PinnedError](rows.DeleteVersion(t.Context(), in, version))
		if is != want {
			t.Errorf("%s: version %d is pinned: %v", what, version, is)
		}
	}
	pinned("at first", 1, true)
	next := refers("a", pin(2))
	next.No, next.Revision = a.No, a.Revision
	a, err := s.Replace(t.Context(), next)
	if err != nil {
		t.Fatal(err)
	}
	pinned("then", 2, true)
	pinned("then", 1, false)
	back := refers("a", pin(2), pin(1))
	back.No, back.Revision = a.No, a.Revision
	if _, err := s.Replace(t.Context(), back); !errors.Is(err, instruction.ErrGone) {
		t.Errorf("a version that is gone: %v", err)
	}
	if err := rows.Delete(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	same := refers("a", pin(2))
	same.No, same.Revision, same.Description = a.No, a.Revision, "changed"
	if _, err := s.Replace(t.Context(), same); err != nil {
		t.Errorf("changed after its instruction was deleted: %v", err)
	}
}

// testPinsAtOnce proves that a version is either pinned or deleted where both are asked for at once.
func testPinsAtOnce(t *testing.T, s stores) {
	rows := instructions.New(s.db)
	for range 20 {
		in := s.written(t, 2)
		var wg sync.WaitGroup
		var made agent.Agent
		var pinned, deleted error
		wg.Go(func() {
			made, pinned = s.Create(t.Context(), refers("a"+id.Text(8), instruction.Reference{ID: in.ID, Version: 1}))
		})
		wg.Go(func() { deleted = rows.DeleteVersion(t.Context(), in, 1) })
		wg.Wait()
		switch _, kept := errors.AsType[*instruction.PinnedError](deleted); {
		case pinned == nil && kept && made.No > 0:
		case deleted == nil && errors.Is(pinned, instruction.ErrGone):
		default:
			t.Fatalf("pinned: %v, deleted: %v", pinned, deleted)
		}
	}
}
