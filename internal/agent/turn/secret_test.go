package turn_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"quarry/internal/agent"
	"quarry/internal/agent/secret"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/turn"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/opt"
	"quarry/internal/store"
	"quarry/internal/store/agents"
	"quarry/internal/testkit"
)

// set sets the secret "key" of the agent, "" to remove it. What that replaces is swept at once, unless a turn names it.
func (b *bench) set(t *testing.T, value string) {
	t.Helper()
	field := opt.Some(value)
	if value == "" {
		field = opt.Null[string]()
	}
	if _, err := secret.New(b.agents).Update(t.Context(), b.agent.No, map[string]opt.Field[string]{"key": field}); err != nil {
		t.Fatal(err)
	}
	err := b.db.Write(t.Context(), func(tx *store.Tx) (err error) {
		if err := tx.Exec(`UPDATE agent_secrets SET ended = 1 WHERE ended > 0`); err != nil {
			return err
		}
		for more := true; more && err == nil; {
			more, err = agents.Sweeper{}.Sweep(tx)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// used remembers what a tool was called with.
type used struct {
	mu  sync.Mutex
	all []string
}

func (u *used) run(_ context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.all = append(u.all, string(c.Arguments))
	return c.Arguments, nil
}

// take returns what was used since the last call, each once.
func (u *used) take() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := slices.Compact(slices.Sorted(slices.Values(u.all)))
	u.all = nil
	return out
}

// pinned lets a probe take the secret as each way is: when the turn begins, when a call is made, and by jq.
func pinned(u *used) func(*turn.Config, *agent.Agent) {
	return func(c *turn.Config, a *agent.Agent) {
		probes(tool.Reads, u.run)(c, a)
		plain := c.Kit.Types["probe"]
		c.Kit.Types["fixed"] = func(raw json.RawMessage) (*tool.Tool, error) {
			made, err := plain(raw)
			made.Fixed = true
			return made, err
		}
		const rest = `","argument_override":{"n":0,"launch":{"$ref":"agent.secrets.key"}},"input_transform":". as $in | .args | .jq = $in.agent.secrets.key"}`
		a.Tools = map[string]json.RawMessage{"probe": json.RawMessage(`{"type":"probe` + rest), "fixed": json.RawMessage(`{"type":"fixed` + rest)}
	}
}

func sent(value string) []string {
	return []string{fmt.Sprintf(`{"jq":%q,"launch":%[1]q,"n":0}`, value)}
}

// TestKilledWithSecrets proves that a turn which is killed before or after any of its commits goes on with the secrets of the agent that it
// began with, although they were replaced and swept before another process goes on with it; that the next turn has the new ones; and that
// no event has any of them.
func TestKilledWithSecrets(t *testing.T) {
	t.Parallel()
	m := rounds(3)
	for n := 1; n <= 6; n++ {
		for _, after := range []bool{false, true} {
			if n == 1 && !after {
				continue // nothing was written: the turn begins anew, with the references that there are then
			}
			t.Run(fmt.Sprintf("%d after %v", n, after), func(t *testing.T) {
				t.Parallel()
				var u used
				b := prepare(t)
				b.set(t, "old-secret-4711")
				killed := &cut{left: n, after: after, dead: make(chan struct{})}
				b.open(t, m, func(c *turn.Config, a *agent.Agent) {
					pinned(&u)(c, a)
					killed.Log, c.Log = c.Log, killed
				})
				s, err := b.Send(t.Context(), b.input("go"))
				if err != nil {
					t.Fatal(err)
				}
				<-killed.dead
				s.Close()
				b.stop()
				b.set(t, "new-secret-4711")
				b.open(t, m, pinned(&u))
				b.idle(t)
				if got := u.take(); !slices.Equal(got, sent("old-secret-4711")) {
					t.Errorf("the tools were called with %q", got)
				}
				if _, err := b.ask(t, b.input("again")); err != nil {
					t.Fatal(err)
				}
				if got := u.take(); !slices.Equal(got, sent("new-secret-4711")) {
					t.Errorf("the tools of the next turn were called with %q", got)
				}
				if log := strings.Join(b.log(t), "\n"); strings.Contains(log, "4711") || !strings.Contains(log, "****") {
					t.Errorf("the log is %s", log)
				}
			})
		}
	}
}

// TestParkedWithSecrets proves that a turn that has waited for its client goes on with the secrets of the agent that it began with, over a
// restart, that the client gets the value and the events don't, and that the next turn has the new one.
func TestParkedWithSecrets(t *testing.T) {
	t.Parallel()
	var u used
	m := replies(calls("ask"), calls("probe", "fixed"), text("done"), calls("probe"), text("done"))
	setting := dialogs(t, `,"argument_override":{"key":{"$ref":"agent.secrets.key"}},"input_transform":". as $in | .args | .basic = (\"u:\" + $in.agent.secrets.key | @base64)"`, func(c *turn.Config, a *agent.Agent) {
		ask := a.Tools["ask"]
		pinned(&u)(c, a)
		a.Tools["ask"] = ask
	})
	b := prepare(t)
	b.set(t, "old-secret-4711")
	b.open(t, m, setting)
	if _, err := b.ask(t, b.input("go")); err != nil {
		t.Fatal(err)
	}
	b.stop()
	b.set(t, "new-secret-4711")
	b.open(t, m, setting)
	waiting := b.pending(t)
	if len(waiting) != 1 || string(waiting[0].Arguments) != `{"basic":"dTpvbGQtc2VjcmV0LTQ3MTE=","key":"old-secret-4711","n":1}` || !slices.Equal(waiting[0].Secrets, []string{"old-secret-4711"}) {
		t.Fatalf("pending: %+v", waiting)
	}
	given := yes(waiting...)
	given[0].Output = json.RawMessage(`"old-secret-4711 was refused, and dTpvbGQtc2VjcmV0LTQ3MTE="`)
	given[0].Failed = true
	if _, err := b.give(t, given...); err != nil {
		t.Fatal(err)
	}
	if got := u.take(); !slices.Equal(got, sent("old-secret-4711")) {
		t.Errorf("the tools were called with %q", got)
	}
	if _, err := b.ask(t, b.input("again")); err != nil {
		t.Fatal(err)
	}
	if got := u.take(); !slices.Equal(got, sent("new-secret-4711")) {
		t.Errorf("the tools of the next turn were called with %q", got)
	}
	if log := strings.Join(b.log(t), "\n"); strings.Contains(log, "4711") || strings.Contains(log, "b2xkLXNlY3JldC") || strings.Contains(log, "9sZC1zZWNyZXQt") || !strings.Contains(log, "dT**** ") && !strings.Contains(log, "dT****") {
		t.Errorf("the log is %s", log)
	}
}

// TestSecretsMissing proves that an input is refused, and not stored, where a tool needs a secret when the turn begins, and that
// instructions, reminders and conditions read none.
func TestSecretsMissing(t *testing.T) {
	t.Parallel()
	var u used
	var e ear
	b := begin(t, e.of(replies(text("done"))), pinned(&u))
	step := b.agent.Steps["first_step"]
	step.Instructions = []agent.Instruction{{Name: "n", Enabled: true, Template: "I know $!agent.secrets.key$!session.secrets.key and $!{agent.secrets}."}}
	step.Next = []agent.Transition{{Condition: "get('$.agent.secrets.key') != null", Step: "told"}}
	b.agent.Steps["first_step"], b.agent.Steps["told"] = step, agent.Step{}
	_, err := b.ask(t, b.input("go"))
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindUnprocessable || f.Text != "Failed to resolve eager references: tool 'fixed': unresolved refs [agent.secrets.key]" || len(b.log(t)) > 0 {
		t.Errorf("%v, %q", err, b.log(t))
	}
	b.set(t, "one-secret-4711")
	got, err := b.ask(t, b.input("go"))
	if err != nil || strings.Contains(strings.Join(got, "|"), "told") {
		t.Errorf("%v, %q", err, got)
	}
	if heard := e.all(); !slices.Equal(heard, []string{"I know  and ."}) {
		t.Errorf("the model was told %q", heard)
	}
}

// TestSecretsNowhere proves that no secret of agent or session is in a file of the database, in the log, in what readers are shown or in
// what the model reads, in whatever spelling, after a tool has repeated all of them in each: as output, in what it tells while it runs, in
// a failure that the model reads, in one that is logged, and in a file.
func TestSecretsNowhere(t *testing.T) {
	t.Parallel()
	secrets := []string{"old-secret-4711", `a "quoted" wörd / 4711 & more`}
	var repeated []string
	for _, secret := range secrets {
		for _, spelling := range testkit.Spellings(secret) {
			repeated = append(repeated, spelling, "in "+spelling+" of it")
		}
		repeated = append(repeated, base64.StdEncoding.EncodeToString([]byte("user:"+secret)), base64.URLEncoding.EncodeToString([]byte("u:"+secret)))
	}
	var heard, log strings.Builder
	m := rounds(4)
	model := model(func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		fmt.Fprintf(&heard, "%+v", r)
		return m(ctx, r, emit)
	})
	n := 0
	var mu sync.Mutex
	repeats := func(ctx context.Context, c tool.Call, tell tool.Activity) (json.RawMessage, error) {
		mu.Lock()
		defer mu.Unlock()
		all := strings.Join(repeated, "\n")
		tell(tool.Progress{Message: all})
		switch n++; n % 4 {
		case 1:
			return nil, &tool.Failure{Class: tool.ExecutionError, Text: all}
		case 2:
			return nil, errors.New(all)
		}
		return json.Marshal(map[string]any{"list": repeated, "text": all, "names": map[string]any{repeated[0]: 1}, "arguments": string(c.Arguments)})
	}
	b := prepare(t)
	b.set(t, secrets[0])
	if _, err := b.rows.Update(t.Context(), b.no, session.Change{Secrets: map[string]opt.Field[string]{"other": opt.Some(secrets[1])}}, b.agent.Created); err != nil {
		t.Fatal(err)
	}
	b.open(t, model, func(c *turn.Config, a *agent.Agent) {
		probes(tool.Reads, repeats)(c, a)
		a.Tools["probe"] = json.RawMessage(`{"type":"probe","argument_override":{"all":{"$ref":"agent.secrets"},"other":{"$ref":"session.secrets.other"}},"input_transform":". as $in | .args | .basic = (\"u:\" + $in.agent.secrets.key | @base64)","output_transform":". + {again: tojson}"}`)
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		c.Kit.Log = c.Logger
	})
	got, err := b.ask(t, b.input("go"))
	if err != nil || n < 4 || !strings.Contains(strings.Join(got, "|"), "****") || !strings.Contains(log.String(), "****") {
		t.Fatalf("%v, %d calls, %q", err, n, got)
	}
	b.stop()
	testkit.Leaks(t, secrets, b.dir, map[string]string{"the log": log.String(), "what readers are shown": strings.Join(got, "\n"), "what the model reads": heard.String()})
}
