// Package lease keeps the leases of a process on sessions: it takes over the runs that others have left, renews those that it holds,
// and hears of interrupts that were asked for in other processes.
package lease

import (
	"context"
	"log/slog"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/clock"
	"quarry/internal/id"
)

// How leases work; see docs/design/agent-turn.md.
const (
	leaseFor    = 30 * time.Second
	renewEvery  = 10 * time.Second
	claimEvery  = 5 * time.Second
	listenEvery = time.Second
	claimLimit  = 64
	releaseFor  = 30 * time.Second
)

// Config is what a Keeper keeps leases for.
type Config struct {
	Log    session.Log
	Logger *slog.Logger
	// Alone is whether no other process works over the same database: what an earlier one has left is taken over at the start.
	Alone     bool
	Working   func() int                // how many leases are held
	Start     func(session.Run)         // works on a run that was taken over
	Interrupt func(session, turn int64) // ends a turn that was asked to end
	HandOver  func()                    // stops all work where it stands, and returns when that is done
}

// Keeper keeps the leases of a process. It is safe for concurrent use.
type Keeper struct {
	Config
	node  string
	taken chan struct{}
}

// New returns a Keeper of no leases.
func New(c Config) *Keeper {
	return &Keeper{Config: c, node: id.Text(20), taken: make(chan struct{})}
}

// Fresh returns a new lease of a session.
func (k *Keeper) Fresh(no int64) session.Lease {
	return session.Lease{Session: no, Holder: id.Text(20), Node: k.node, Until: clock.Now().Add(leaseFor)}
}

// Ready returns a channel that is closed once the runs that an earlier process has left are taken over: an input before that would be
// taken for one of them.
func (k *Keeper) Ready() <-chan struct{} { return k.taken }

// Run takes over what other processes have left, renews leases and hears of interrupts, until ctx ends. Then it stops all work and
// gives the leases back.
func (k *Keeper) Run(ctx context.Context) {
	for k.claim(ctx, k.Alone) != nil && k.Alone && ctx.Err() == nil {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	close(k.taken)
	renew, claim, listen := time.NewTicker(renewEvery), time.NewTicker(claimEvery), time.NewTicker(listenEvery)
	defer renew.Stop()
	defer claim.Stop()
	defer listen.Stop()
	if k.Alone {
		claim.Stop()
	}
	for {
		select {
		case <-renew.C:
			if k.Working() > 0 {
				k.report(ctx, "renew the leases of sessions", k.Log.Renew(ctx, k.node, clock.Now().Add(leaseFor)))
			}
		case <-claim.C:
			_ = k.claim(ctx, false) // the next look finds what this one has not
		case <-listen.C:
			k.listen(ctx)
		case <-ctx.Done():
			k.HandOver()
			k.release()
			return
		}
	}
}

func (k *Keeper) report(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		k.Logger.Warn("sessions: can't "+what+" for now", "error", err)
	}
}

// release returns the leases, so that another process goes on at its next look.
func (k *Keeper) release() {
	ctx, cancel := context.WithTimeout(context.Background(), releaseFor)
	defer cancel()
	k.report(ctx, "give back the leases of sessions", k.Log.Release(ctx, k.node))
}

// claim takes over runs whose lease has ended.
func (k *Keeper) claim(ctx context.Context, all bool) error {
	for {
		found, err := k.Log.Claim(ctx, clock.Now(), all, claimLimit, k.Fresh)
		for _, r := range found {
			k.Start(r)
		}
		if err != nil || all || len(found) < claimLimit {
			k.report(ctx, "take over sessions", err)
			return err
		}
	}
}

// listen ends the turns whose interrupt was asked for in another process, or before this one had begun with them.
func (k *Keeper) listen(ctx context.Context) {
	if k.Working() == 0 {
		return
	}
	found, err := k.Log.Interrupted(ctx, k.node)
	k.report(ctx, "look for interrupts of sessions", err)
	for _, no := range found {
		s, err := k.Log.Standing(ctx, no)
		if err == nil && s.Run != nil && s.Run.Interrupted {
			k.Interrupt(no, s.Run.Turn)
		}
	}
}
