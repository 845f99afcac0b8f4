package subagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool/subagent"
	"quarry/internal/clock"
	"quarry/internal/store"
	"quarry/internal/store/storetest"
	"quarry/internal/usage"
	"quarry/internal/usage/usagetest"

	"log/slog"
)

// cut counts the writes of a process and kills it at one of them: before or after it, and nothing that it does from then on is written.
type cut struct {
	mu    sync.Mutex
	left  int
	after bool // the last one is written
	made  int
	dead  chan struct{}
}

var errDead = errors.New("the process is dead")

// write makes a write, unless the process is dead.
func write[T any](c *cut, dead error, f func() (T, error)) (out T, err error) {
	var none T
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left <= 0 {
		return none, dead
	}
	c.made++
	if c.left--; c.left > 0 {
		return f()
	}
	defer close(c.dead)
	if c.after {
		if out, err := f(); err != nil {
			return out, err
		}
	}
	return none, dead
}

// mortal is the log of such a process.
type mortal struct {
	session.Log
	*cut
}

func (m mortal) Commit(ctx context.Context, l session.Lease, c session.Commit, now time.Time) (session.Committed, error) {
	return write(m.cut, session.ErrLost, func() (session.Committed, error) { return m.Log.Commit(ctx, l, c, now) })
}

func (m mortal) Accept(ctx context.Context, in session.Input, l session.Lease, now time.Time) (session.Accepted, error) {
	return write(m.cut, errDead, func() (session.Accepted, error) { return m.Log.Accept(ctx, in, l, now) })
}

func (m mortal) Standing(ctx context.Context, no int64) (session.Standing, error) {
	m.mu.Lock()
	dead := m.left <= 0
	m.mu.Unlock()
	if dead {
		return session.Standing{}, errDead // or what a failed write has begun would be found
	}
	return m.Log.Standing(ctx, no)
}

func (m mortal) Release(context.Context, string) error { return nil }

// mortalStore is the store of such a process.
type mortalStore struct {
	session.Store
	*cut
}

func (m mortalStore) Create(ctx context.Context, s session.Session, secrets map[string]string) (session.Session, error) {
	return write(m.cut, errDead, func() (session.Session, error) { return m.Store.Create(ctx, s, secrets) })
}

var keys = regexp.MustCompile(`ase_[0-9a-f]{24}`)

// steady returns logs without the keys of sessions, and with the outputs of one reply, which come in any order, in one order.
func steady(logs []string) []string {
	out := make([]string, len(logs))
	for i, l := range logs {
		lines := strings.Split(keys.ReplaceAllString(l, "KEY"), "|")
		for i := 0; i < len(lines); {
			j := i
			for j < len(lines) && strings.HasPrefix(lines[j], "output") {
				j++
			}
			slices.Sort(lines[i:j])
			i = max(j, i+1)
		}
		out[i] = strings.Join(lines, "|")
	}
	slices.Sort(out)
	return out
}

// deep is a message that leads through three levels of agents, of which the first calls two at once.
func deep() string { return calls("down", tell(nested(2, "deep")), tell("flat")) }

// TestKilled proves that a turn over three levels of agents that is killed before or after any of its writes ends, in another
// process, with the logs of one that was never killed, at all levels: no session is made twice, and no message is answered twice.
func TestKilled(t *testing.T) {
	t.Parallel()
	whole := begin(t)
	all := whole.chain(t, 3)
	count := &cut{left: 1 << 30, dead: make(chan struct{})}
	whole.log, whole.store = mortal{whole.rows, count}, mortalStore{whole.rows, count}
	n := whole.start(t, true)
	n.ask(t, whole.session(t, &all[0]).No, deep())
	want := steady(whole.logs(t, all))
	if count.made < 20 || len(want) != 5 {
		t.Fatalf("%d writes, logs %q", count.made, want)
	}
	for at := 2; at <= count.made; at++ { // the first is the message of the client
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d after %v", at, after), func(t *testing.T) {
				t.Parallel()
				h := begin(t)
				all := h.chain(t, 3)
				killed := &cut{left: at, after: after, dead: make(chan struct{})}
				h.log, h.store = mortal{h.rows, killed}, mortalStore{h.rows, killed}
				s := h.session(t, &all[0])
				sent := h.start(t, true).send(t, s.No, deep())
				<-killed.dead
				sent.Close()
				h.log, h.store = h.rows, h.rows
				h.start(t, true)
				h.idle(t, all)
				if diff := cmp.Diff(want, steady(h.logs(t, all))); diff != "" {
					t.Errorf("logs (-unkilled +killed): %s", diff)
				}
			})
		}
	}
}

// lease ends the lease of a session's run, so that the next process to look takes it over, or keeps all from that.
func (h *house) lease(t *testing.T, no int64, ends bool) {
	t.Helper()
	at := clock.Now().Add(time.Hour)
	if ends {
		at = time.UnixMicro(1)
	}
	err := h.db.Write(t.Context(), func(tx *store.Tx) error {
		return tx.Exec(`UPDATE runs SET until = $2 WHERE session_no = $1`, no, at.UnixMicro())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNodes proves that after a kill two other nodes can go on, one with the call and another with the turn that it waits for: the
// answer arrives, all agents above are charged for what the model does there, and an interrupt of the call reaches the turn.
func TestNodes(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, func(t *testing.T, config func(testing.TB) store.Config) {
		for _, interrupted := range []bool{false, true} {
			t.Run(fmt.Sprint("interrupted ", interrupted), func(t *testing.T) {
				t.Parallel()
				h := open(t, storetest.Open(t, config(t)))
				h.meter = usage.NewMeter(usage.NewCounters(new(usagetest.Memory), slog.New(slog.DiscardHandler)))
				all := h.chain(t, 2)
				killed := &cut{left: 1 << 30, dead: make(chan struct{})}
				h.log, h.store = mortal{h.rows, killed}, mortalStore{h.rows, killed}
				s := h.session(t, &all[0])
				sent := h.start(t, false).send(t, s.No, nested(2, "hold"))
				<-h.held
				killed.mu.Lock()
				killed.left = 0
				killed.mu.Unlock()
				sent.Close()
				h.log, h.store = h.rows, h.rows
				middle, last := h.all(t, &all[1])[0], h.all(t, &all[2])[0]
				before := h.charged(t, all)
				for _, no := range []int64{s.No, middle.No, last.No} {
					h.lease(t, no, no == last.No)
				}
				below := h.start(t, false) // takes what has no lease when it starts
				<-h.held
				h.lease(t, s.No, true)
				h.lease(t, middle.No, true)
				above := h.start(t, false)
				until(t, "all is taken over", func() bool { return above.Working()+below.Working() == 3 })
				for i, now := range h.charged(t, all) {
					if now <= before[i] {
						t.Errorf("agent %d was not charged for the call that was made again: %d, then %d", i, before[i], now)
					}
				}
				want := "says done"
				if interrupted {
					want = `output {"error":"interrupted"}`
					if _, err := above.Interrupt(t.Context(), s.No); err != nil {
						t.Fatal(err)
					}
				} else {
					close(h.free)
				}
				h.idle(t, all)
				if log := h.events(t, s.No); log[len(log)-1] != want {
					t.Errorf("it has ended with %q", log)
				}
				if log := h.events(t, last.No); !interrupted && strings.Join(log, "|") != "asked hold|says echo hold" || interrupted && len(log) != 1 {
					t.Errorf("the last level has %q", log)
				}
			})
		}
	})
}

// charged returns how many tokens agents were charged for.
func (h *house) charged(t *testing.T, all []agent.Agent) (out []int64) {
	t.Helper()
	for i := range all {
		used, err := h.meter.Used(t.Context(), all[i].Account(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range used {
			if u.Limit == "input_tokens_per_month" {
				out = append(out, u.Used)
			}
		}
	}
	return out
}

// TestCharged proves whom the calls of a model are charged to: the agent and all whose calls have led to it, an agent that calls
// itself once; and that a quota of any of them that is used up is an error that the calling model reads.
func TestCharged(t *testing.T) {
	t.Parallel()
	h := begin(t)
	h.meter = usage.NewMeter(usage.NewCounters(new(usagetest.Memory), slog.New(slog.DiscardHandler)))
	c := h.agent(t, "c", nil, func(d *agent.Definition) { d.Budget = &usage.Budget{Quota: usage.Quota{InputPerMonth: 6}} })
	b := h.agent(t, "b", map[string]json.RawMessage{"down": config("c", subagent.Ephemeral, ""), "self": config("b", subagent.Ephemeral, "")}, nil)
	a := h.agent(t, "a", map[string]json.RawMessage{"down": config("b", subagent.Ephemeral, "")}, nil)
	all := []agent.Agent{a, b, c}
	n := h.start(t, true)
	s := h.session(t, &a)
	n.ask(t, s.No, nested(2, "hello"))                             // two calls of the model for a, two for b, one for c
	n.ask(t, s.No, calls("down", tell(calls("self", tell("hi"))))) // two for a, three for b
	if got := h.charged(t, all); !slices.Equal(got, []int64{3 * (5 + 5), 3 * (3 + 3), 3}) {
		t.Errorf("charged %v", got)
	}
	n.ask(t, h.session(t, &c).No, "hello") // a client, at no cost for the others
	if got := h.charged(t, all); !slices.Equal(got, []int64{30, 18, 6}) {
		t.Errorf("charged %v", got)
	}
	n.ask(t, s.No, nested(2, "hello"))
	found := h.all(t, &b)
	if text, _ := failure(h.events(t, found[len(found)-1].No)); !strings.Contains(text, "input_tokens_per_month") || !strings.Contains(text, `agent "c"`) {
		t.Errorf("a quota that is used up: %q", text)
	}
}

// TestAbandoned proves that a process that takes over a turn which was interrupted after a kill ends what its calls have begun, at all
// levels, although it makes none of them again.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	h := begin(t)
	all := h.chain(t, 2)
	killed := &cut{left: 1 << 30, dead: make(chan struct{})}
	h.log, h.store = mortal{h.rows, killed}, mortalStore{h.rows, killed}
	s := h.session(t, &all[0])
	sent := h.start(t, true).send(t, s.No, nested(2, "hold"))
	<-h.held
	killed.mu.Lock()
	killed.left = 0
	killed.mu.Unlock()
	sent.Close()
	if run, err := h.rows.Interrupt(t.Context(), s.No); run == nil || err != nil {
		t.Fatal(run, err)
	}
	h.log, h.store = h.rows, h.rows
	h.start(t, true)
	h.idle(t, all)
	for i := range all[:2] {
		if log := h.events(t, h.all(t, &all[i])[0].No); log[len(log)-1] != `output {"error":"interrupted"}` {
			t.Errorf("%s has %q", all[i].Key, log)
		}
	}
	if log := h.events(t, h.all(t, &all[2])[0].No); len(log) != 1 {
		t.Errorf("the last level has %q", log)
	}
}
