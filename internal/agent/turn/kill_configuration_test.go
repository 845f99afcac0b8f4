package turn_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/agent/turn"
	"quarry/internal/clock"
	"quarry/internal/store/toolconfigurations"
)

// stored makes the agent's tool one that it refers to.
func (b *bench) stored(t *testing.T) (rows *toolconfigurations.Store, c configuration.Configuration) {
	t.Helper()
	rows, now := toolconfigurations.New(b.db), clock.Now()
	c, err := rows.Create(t.Context(), configuration.Configuration{Key: "p", Version: 1, Created: now, Updated: now, Definition: configuration.Definition{
		Name: "n", Enabled: true, Metadata: json.RawMessage(`{}`), Entry: json.RawMessage(`{"type":"probe","output_transform":"{first: .}"}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return rows, c
}

// TestKilledConfiguration proves that a turn which is killed before or after any of its commits ends with the configuration that it
// began with, although that was changed and then deleted before another process goes on with it.
func TestKilledConfiguration(t *testing.T) {
	t.Parallel()
	m, probe := rounds(3), probes(tool.Reads, echo)
	refers := func(rows *toolconfigurations.Store) func(*turn.Config, *agent.Agent) {
		return func(c *turn.Config, a *agent.Agent) {
			probe(c, a)
			c.Stored = rows
			a.Tools = map[string]json.RawMessage{"probe": json.RawMessage(`{"type":"reference","tool_configuration_key":"p"}`)}
		}
	}
	whole := prepare(t)
	rows, _ := whole.stored(t)
	whole.open(t, m, refers(rows))
	if _, err := whole.ask(t, whole.input("go")); err != nil {
		t.Fatal(err)
	}
	want := steady(whole.log(t))
	for n := 1; n <= 6; n++ {
		for _, after := range []bool{false, true} {
			if n == 1 && !after {
				continue // nothing was written: the turn begins anew, with what there is then
			}
			t.Run(fmt.Sprintf("%d after %v", n, after), func(t *testing.T) {
				t.Parallel()
				b := prepare(t)
				rows, c := b.stored(t)
				killed := &cut{left: n, after: after, dead: make(chan struct{})}
				b.open(t, m, func(c *turn.Config, a *agent.Agent) {
					refers(rows)(c, a)
					killed.Log = c.Log
					c.Log = killed
				})
				s, err := b.Send(t.Context(), b.input("go"))
				if err != nil {
					t.Fatal(err)
				}
				<-killed.dead
				s.Close()
				c.Entry = json.RawMessage(`{"type":"probe","output_transform":"{second: .}"}`)
				if c, err = rows.Replace(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				if n%2 == 0 {
					if err := rows.Delete(t.Context(), c); err != nil {
						t.Fatal(err)
					}
				}
				b.open(t, m, refers(rows))
				b.idle(t)
				if diff := cmp.Diff(want, steady(b.log(t))); diff != "" {
					t.Errorf("log (-unkilled +killed): %s", diff)
				}
			})
		}
	}
}
