package turn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/agent/turn"
)

// stubborn is a log whose process is killed at outputs of the client: before or after they are written.
type stubborn struct {
	*cut
	outputs int // until the kill
}

func (s *stubborn) Answer(ctx context.Context, a session.Answers, l session.Lease, now time.Time) (session.Answered, error) {
	if s.outputs--; s.outputs > 0 {
		return s.Log.Answer(ctx, a, l, now)
	}
	s.cut.left = 0 // nothing is written from here on
	if s.after {
		if _, err := s.Log.Answer(ctx, a, l, now); err != nil {
			return session.Answered{}, err
		}
	}
	return session.Answered{}, errKilled
}

// TestKilledBetweenOutputs proves that outputs of the client at which the process is killed, some of them or the last ones, are there
// whole or not at all: what is pending afterwards can be answered, and the log is that of a turn that was never killed.
func TestKilledBetweenOutputs(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 2; n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d after %v", n, after), func(t *testing.T) {
				t.Parallel()
				m := replies(calls("ask", "probe", "ask"), text("done"))
				setting := dialogs(t, "", nil)
				killed := &stubborn{cut: &cut{left: 1000, after: after, dead: make(chan struct{})}, outputs: n}
				b := begin(t, m, func(c *turn.Config, a *agent.Agent) {
					setting(c, a)
					killed.Log, c.Log = c.Log, killed
				})
				if _, err := b.ask(t, b.input("go")); err != nil {
					t.Fatal(err)
				}
				all := b.pending(t)
				for i, c := range all[:n] {
					if _, err := b.give(t, yes(c)...); (err != nil) != (i == n-1) {
						t.Fatalf("outputs %d: %v", i, err)
					}
				}
				b.stop()
				b.open(t, m, setting)
				b.idle(t)
				want := len(all) - n
				if !after {
					want++
				}
				left := b.pending(t)
				if len(left) != want {
					t.Fatalf("%d calls are pending, want %d", len(left), want)
				}
				for _, c := range left {
					if _, err := b.give(t, yes(c)...); err != nil {
						t.Fatal(err)
					}
				}
				b.idle(t)
				if log := strings.Join(b.log(t), "|"); log != asked+"|"+answered+"|"+answered+"|agent_output: done" {
					t.Error(log)
				}
			})
		}
	}
}
