package turn

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/artifact"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/session/recent"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/agent/turn/guide"
	"quarry/internal/agent/turn/lease"
	"quarry/internal/agent/turn/spans"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

// Agents reads agents with the configuration that a turn has begun with; agent.Store is one.
type Agents interface {
	Revision(ctx context.Context, no, revision int64) (agent.Agent, error)
	// Secrets returns the secrets of an agent in a state that a run names; see session.Run.Secrets.
	Secrets(ctx context.Context, no, state int64) (map[string]string, error)
}

// Identities returns whom an agent acts as; identity.Service is one.
type Identities interface {
	Acting(ctx context.Context, agentNo int64) (permit.Identity, error)
}

// Config is what an Engine needs.
type Config struct {
	Log          session.Log
	Sessions     session.Store
	Agents       Agents
	Identities   Identities // nil: agents have none
	Models       llm.Models
	Instructions agent.Instructions // that steps of agents refer to
	Glossaries   guide.Glossaries   // that reminders name; nil: none does
	Files        *artifact.Service  // nil: calls have no files
	Kit          tool.Kit
	Tools        catalog.Finder       // that configurations of tools refer to
	Stored       configuration.Finder // that agents refer to
	Hub          *feed.Hub
	Trace        *spans.Recorder // nil: turns leave no trace
	Logger       *slog.Logger
	// Alone is whether no other process works over the same database: what an earlier one has left is taken over at the start.
	Alone          bool
	MaxTransitions int // of one turn
	MaxCalls       int // of the model in one turn
}

// Engine works on sessions: every turn in a goroutine of its own, whose life has nothing to do with the request that began
// it. Safe for concurrent use.
type Engine struct {
	Config
	ctx    context.Context // of all turns
	stop   context.CancelCauseFunc
	leases *lease.Keeper
	kept   *recent.Histories
	sets   *configuration.Sets

	mu      sync.Mutex
	works   map[int64]*work // by session; guarded by mu
	stopped bool            // guarded by mu
	running sync.WaitGroup

	describing sync.Map // the sessions whose description is being written, by number
}

// New returns an engine. Run has to run while it is used.
func New(c Config) *Engine {
	ctx, stop := context.WithCancelCause(context.Background())
	e := &Engine{Config: c, ctx: ctx, stop: stop, works: map[int64]*work{}, sets: configuration.NewSets(c.Stored, c.Tools, c.Kit), kept: recent.New()}
	e.leases = lease.New(lease.Config{
		Log: c.Log, Logger: c.Logger, Alone: c.Alone, Working: e.Working, HandOver: e.handOver,
		Start: func(r session.Run) { e.start(&work{run: r, last: r.Base(), taken: true, lost: true}) },
		Interrupt: func(session, turn int64) {
			if w := e.work(session); w != nil {
				w.interrupt(turn)
			}
		},
	})
	return e
}

// ErrStopping is the cause of a turn that ends because another process is to go on with it, and what new inputs get.
var ErrStopping = fault.Unavailable("stopping", "the service is stopping; send the input again in a moment").After(time.Second)

// Run takes over what other processes have left, keeps the leases of this one and hears of interrupts, until ctx ends. Then it
// stops all turns where they stand and gives their leases back.
func (e *Engine) Run(ctx context.Context) { e.leases.Run(ctx) }

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
