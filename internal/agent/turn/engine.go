package turn

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/artifact"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/session/recent"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
)

// Agents reads agents with the configuration that a turn has begun with; agent.Store is one.
type Agents interface {
	Revision(ctx context.Context, no, revision int64) (agent.Agent, error)
}

// Config is what an Engine needs.
type Config struct {
	Log          session.Log
	Sessions     session.Store
	Agents       Agents
	Models       llm.Models
	Instructions agent.Instructions // that steps of agents refer to
	Files        *artifact.Service  // nil: calls have no files
	Kit          tool.Kit
	Tools        catalog.Finder       // that configurations of tools refer to
	Stored       configuration.Finder // that agents refer to
	Hub          *feed.Hub
	Logger       *slog.Logger
	// Alone is whether no other process works over the same database: what an earlier one has left is taken over at the start.
	Alone          bool
	MaxTransitions int // of one turn
	MaxCalls       int // of the model in one turn
}

// How leases work; see docs/design/agent-turn.md.
const (
	leaseFor    = 30 * time.Second
	renewEvery  = 10 * time.Second
	claimEvery  = 5 * time.Second
	listenEvery = time.Second
	claimLimit  = 64
)

// Engine works on sessions: every turn in a goroutine of its own, whose life has nothing to do with the request that began
// it. Safe for concurrent use.
type Engine struct {
	Config
	node string
	ctx  context.Context // of all turns
	stop context.CancelCauseFunc
	// taken is closed once the runs that an earlier process has left are taken over: an input before that would be taken for one
	// of them.
	taken chan struct{}
	kept  *recent.Histories
	sets  *configuration.Sets

	mu      sync.Mutex
	works   map[int64]*work // by session; guarded by mu
	stopped bool            // guarded by mu
	running sync.WaitGroup

	describing sync.Map // the sessions whose description is being written, by number
}

// New returns an engine. Run has to run while it is used.
func New(c Config) *Engine {
	ctx, stop := context.WithCancelCause(context.Background())
	return &Engine{Config: c, node: id.Text(20), ctx: ctx, stop: stop, works: map[int64]*work{}, sets: configuration.NewSets(c.Stored, c.Tools, c.Kit), taken: make(chan struct{}), kept: recent.New()}
}

// ErrStopping is the cause of a turn that ends because another process is to go on with it, and what new inputs get.
var ErrStopping = fault.Unavailable("stopping", "the service is stopping; send the input again in a moment").After(time.Second)

// lease returns a fresh lease of a session.
func (e *Engine) lease(no int64) session.Lease {
	return session.Lease{Session: no, Holder: id.Text(20), Node: e.node, Until: clock.Now().Add(leaseFor)}
}

// Run takes over what other processes have left, keeps the leases of this one and hears of interrupts, until ctx ends. Then it
// stops all turns where they stand and gives their leases back.
func (e *Engine) Run(ctx context.Context) {
	for e.claim(ctx, e.Alone) != nil && e.Alone && ctx.Err() == nil {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	close(e.taken)
	renew, claim, listen := time.NewTicker(renewEvery), time.NewTicker(claimEvery), time.NewTicker(listenEvery)
	defer renew.Stop()
	defer claim.Stop()
	defer listen.Stop()
	if e.Alone {
		claim.Stop()
	}
	for {
		select {
		case <-renew.C:
			if e.Working() > 0 {
				e.report(ctx, "renew the leases of sessions", e.Log.Renew(ctx, e.node, clock.Now().Add(leaseFor)))
			}
		case <-claim.C:
			_ = e.claim(ctx, false) // the next look finds what this one has not
		case <-listen.C:
			e.listen(ctx)
		case <-ctx.Done():
			e.handOver()
			return
		}
	}
}

func (e *Engine) report(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		e.Logger.Warn("sessions: can't "+what+" for now", "error", err)
	}
}

// Working returns how many sessions this process works on.
func (e *Engine) Working() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.works)
}

// handOver stops the turns, which another process then goes on with.
func (e *Engine) handOver() {
	e.mu.Lock()
	e.stopped = true
	e.mu.Unlock()
	e.stop(ErrStopping)
	e.running.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), commitFor)
	defer cancel()
	e.report(ctx, "give back the leases of sessions", e.Log.Release(ctx, e.node))
}

// claim takes over runs whose lease has ended.
func (e *Engine) claim(ctx context.Context, all bool) error {
	for {
		found, err := e.Log.Claim(ctx, clock.Now(), all, claimLimit, e.lease)
		for _, r := range found {
			e.start(&work{run: r, last: r.Base(), taken: true})
		}
		if err != nil || all || len(found) < claimLimit {
			e.report(ctx, "take over sessions", err)
			return err
		}
	}
}

// listen ends the turns whose interrupt was asked for in another process, or before this one had begun with them.
func (e *Engine) listen(ctx context.Context) {
	if e.Working() == 0 {
		return
	}
	found, err := e.Log.Interrupted(ctx, e.node)
	e.report(ctx, "look for interrupts of sessions", err)
	for _, no := range found {
		s, err := e.Log.Standing(ctx, no)
		if w := e.work(no); err == nil && w != nil && s.Run != nil && s.Run.Interrupted {
			w.interrupt(s.Run.Turn)
		}
	}
}

func (e *Engine) work(session int64) *work {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.works[session]
}

// start works on a run whose lease this process holds. A run of the same session that is about to end goes first.
func (e *Engine) start(w *work) {
	w.engine, w.owner, w.done = e, w.run.AgentNo, make(chan struct{})
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		w.free()
		return
	}
	before := e.works[w.run.Session]
	e.works[w.run.Session] = w
	e.running.Go(func() {
		defer e.finish(w)
		if before != nil {
			<-before.done
		}
		w.loop()
	})
}

func (e *Engine) finish(w *work) {
	e.mu.Lock()
	if e.works[w.run.Session] == w {
		delete(e.works, w.run.Session)
	}
	e.mu.Unlock()
	close(w.done)
	w.free()
}
