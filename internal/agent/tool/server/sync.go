package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
	"unicode/utf8"

	"quarry/internal/agent/tool/mask"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
)

const (
	// patience is how long a server may take to list its tools.
	patience = 30 * time.Second
	// leaseTime is how long a sync stays with a node; it is longer than a sync takes.
	leaseTime = patience + 30*time.Second
	// poll is the interval at which syncs are looked for that another node has left.
	poll = 2 * time.Second
	// maxAttempts is how often a sync begins that is cut off each time.
	maxAttempts = 3
	// atOnce is how many syncs a node makes in the background at once.
	atOnce = 8
	// closing is how long the end of a sync may take to write when its caller is gone.
	closing = 5 * time.Second
	// maxMessage bounds what is kept of an error, in characters.
	maxMessage = 500
	// tries is how often a sync begins anew because the server was changed meanwhile.
	tries = 3
)

// Sync asks a server for its tools and returns when the catalogue has them. What goes wrong leaves the tools as they are: a fault
// server_unavailable or sync_failed. sync_in_progress means that another sync is under way. If ctx ends before, the sync is made
// in the background.
func (s *Service) Sync(ctx context.Context, v Server) error {
	l := newLease(v.ID)
	c, err := s.cfg.Store.Claim(ctx, clock.Now(), l, false)
	if errors.Is(err, ErrSyncing) {
		return fault.Conflict("sync_in_progress", "a sync of the tool server %s is in progress; its sync_status shows when it has ended", v.ID)
	}
	if err != nil {
		return err
	}
	err = s.run(ctx, c, l)
	if errors.Is(err, ErrLost) {
		_, gone := s.cfg.Store.Get(ctx, v.ID)
		return cmp.Or(gone, error(fault.Conflict("sync_in_progress", "another sync of the tool server %s took the place of this one", v.ID)))
	}
	return err
}

func newLease(which id.ToolServer) Lease {
	return Lease{Server: which, Holder: id.Text(16), Until: clock.Now().Add(leaseTime)}
}

// run carries out a claimed sync and writes how it went.
func (s *Service) run(ctx context.Context, c Claim, l Lease) error {
	err := s.attempt(ctx, c.Server, l)
	last, done := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer done()
	f, told := fault.As(err)
	switch {
	case err == nil || errors.Is(err, ErrLost):
		return err
	case ctx.Err() != nil:
		if err := s.cfg.Store.Release(last, l); err != nil {
			s.cfg.Log.Warn("a sync of a tool server goes on when its lease has run out", "tool_server", string(l.Server), "error", err)
		}
		s.wake()
		return err
	case !told:
		s.cfg.Log.Error("a tool server was not synced", "tool_server", string(l.Server), "error", err)
		f = failed("internal error; the log of the service says more under the id of this server")
	}
	if err := s.cfg.Store.Fail(last, l, shorten(f.Text, maxMessage)); err != nil {
		s.cfg.Log.Warn("how the sync of a tool server went was not written", "tool_server", string(l.Server), "error", err)
	}
	return err
}

// failed returns the fault of a server whose answer is no list of tools that can be taken.
func failed(format string, args ...any) *fault.Fault {
	f := fault.Invalid()
	f.Code, f.Text = "sync_failed", fmt.Sprintf(format, args...)
	return f
}

// attempt carries out a sync. A panic of what speaks with the server is an error.
func (s *Service) attempt(ctx context.Context, v Server, l Lease) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a sync: %v\n%s", p, debug.Stack())
		}
	}()
	for range tries {
		p, err := s.ask(ctx, &v)
		if err != nil {
			return err
		}
		err = s.cfg.Store.Finish(ctx, l, v.Revision, clock.Now(), p.changes)
		if errors.Is(err, ErrNames) {
			return failed("a tool can't be named: every name made of its own and the server's is taken")
		}
		if !errors.Is(err, ErrChanged) {
			return err
		}
		if v, err = s.cfg.Store.Get(ctx, v.ID); err != nil {
			return err
		}
	}
	return failed("the registration was changed again and again meanwhile; sync again")
}

// ask returns the tools that a server lists, checked.
func (s *Service) ask(ctx context.Context, v *Server) (*plan, error) {
	t, sealed, err := s.target(ctx, v)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	listed, err := s.cfg.Client.List(limited, t)
	hide := mask.New(sealed.values()...)
	switch {
	case err == nil:
		return newPlan(v, listed, hide, s.cfg.Reserved)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fault.Unavailable("server_unavailable", "the tool server did not list its tools within %s", patience)
	case errors.Is(err, ErrUnavailable):
		return nil, fault.Unavailable("server_unavailable", "%s", hide.Text(err.Error()))
	}
	return nil, failed("%s", hide.Text(err.Error()))
}

// wake sends the background to look for a sync.
func (s *Service) wake() {
	select {
	case s.woken <- struct{}{}:
	default: // it will look anyway
	}
}

// Run carries out the syncs that are due, until ctx ends.
func (s *Service) Run(ctx context.Context) {
	if s.cfg.Alone {
		if err := s.cfg.Store.Free(ctx, s.made.Add(leaseTime)); err != nil && ctx.Err() == nil {
			s.cfg.Log.Warn("syncs of tool servers under way at the last stop wait for their leases to run out", "error", err)
		}
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	places := make(chan struct{}, atOnce)
	var group sync.WaitGroup
	defer group.Wait()
	for away := false; ctx.Err() == nil; {
		begun, err := s.begin(ctx, func(c Claim, l Lease) {
			places <- struct{}{}
			group.Go(func() {
				defer func() { <-places }()
				s.background(ctx, c, l)
			})
		})
		if err != nil && ctx.Err() == nil && !away {
			s.cfg.Log.Warn("syncs of tool servers can't be begun", "error", err)
		}
		if away = err != nil; begun && !away {
			continue
		}
		select {
		case <-s.woken:
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// begin claims syncs that are due and hands them to run. begun is whether there were any.
func (s *Service) begin(ctx context.Context, run func(Claim, Lease)) (begun bool, err error) {
	due, err := s.cfg.Store.Due(ctx, clock.Now())
	for _, which := range due {
		l := newLease(which)
		c, err := s.cfg.Store.Claim(ctx, clock.Now(), l, true)
		if _, gone := fault.As(err); gone || errors.Is(err, ErrSyncing) {
			continue // another node was faster, or it was deleted
		}
		if err != nil {
			return begun, err
		}
		begun = true
		run(c, l)
	}
	return begun, err
}

// background carries out a claimed sync.
func (s *Service) background(ctx context.Context, c Claim, l Lease) {
	if c.Attempts > maxAttempts {
		text := fmt.Sprintf("was begun %d times and cut off each time; sync again", maxAttempts)
		if err := s.cfg.Store.Fail(ctx, l, text); err != nil && ctx.Err() == nil {
			s.cfg.Log.Warn("how the sync of a tool server went was not written", "tool_server", string(l.Server), "error", err)
		}
		return
	}
	if err := s.run(ctx, c, l); err != nil && ctx.Err() == nil {
		s.cfg.Log.Info("a tool server was not synced", "tool_server", string(l.Server), "error", err)
	}
}

// shorten returns the beginning of a text that has more than n characters.
func shorten(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

var _ Servers = (*Service)(nil)
