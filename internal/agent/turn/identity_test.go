package turn_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"testing"

	"quarry/internal/agent"
	"quarry/internal/agent/identity"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/turn"
	"quarry/internal/identity/authz"
	"quarry/internal/llm"
	"quarry/internal/opt"
	"quarry/internal/store"
	"quarry/internal/store/agents"
)

// TestRoleTakenAway proves that a role which is taken from an agent while a turn runs, by another node, counts from the next call of a
// tool in that turn on, and one that is given likewise.
func TestRoleTakenAway(t *testing.T) {
	t.Parallel()
	b := prepare(t)
	rules := func(p authz.Principal) (r permit.Rights) {
		r.UseAll = slices.Contains(p.APIRoles, "agent_user")
		return r
	}
	give := func(ctx context.Context, roles ...string) error { // as another process does
		_, err := identity.New(agents.New(b.db), rules).Update(ctx, authz.Principal{APIRoles: []string{"owner"}}, b.agent.No, identity.Change{Manual: opt.Some(true), API: opt.Some(roles)})
		return err
	}
	var calls atomic.Int32
	var allowed [3]bool
	run := func(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
		n := calls.Add(1) - 1
		err := c.Permit(permit.Need{Agent: "other", Level: permit.Use})
		allowed[n] = err == nil
		if n == 0 {
			return json.RawMessage(`{}`), give(ctx)
		}
		return json.RawMessage(`{}`), give(ctx, "agent_user")
	}
	asking := model(func(_ context.Context, _ llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		if calls.Load() == 3 {
			return llm.Answer{Text: "done", Reason: llm.Stop}, emit(llm.Event{Text: "done"})
		}
		return llm.Answer{Calls: []llm.ToolCall{{ID: "c", Name: "probe", Arguments: json.RawMessage(`{}`)}}, Reason: llm.Calls}, nil
	})
	b.open(t, asking, func(c *turn.Config, a *agent.Agent) {
		probes(tool.Never, run)(c, a)
		c.Identities = identity.New(agents.New(b.db), rules)
	})
	err := b.db.Write(t.Context(), func(tx *store.Tx) error {
		return tx.Exec(`INSERT INTO agent_identities (agent_no, client_id, manual, api_roles, derived) VALUES ($1, 'agc_1', FALSE, '[]', 1)`, b.agent.No)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := give(t.Context(), "agent_user"); err != nil {
		t.Fatal(err)
	}
	sent, err := b.Send(t.Context(), b.input("go"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := told(t, sent); err != nil {
		t.Fatal(err)
	}
	if want := [3]bool{true, false, true}; allowed != want {
		t.Errorf("the calls were allowed: %v, want %v", allowed, want)
	}
}
