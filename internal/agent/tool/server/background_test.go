package server_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"quarry/internal/agent/tool/server"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
)

// run lets a service work in the background until the test ends or stop is called, which returns when it has ended.
func run(t *testing.T, s *server.Service) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

// await returns a server as soon as its sync is as it should be.
func (b *bench) await(t *testing.T, which id.ToolServer, want func(server.Sync) bool) server.Server {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		v, err := b.rows.Get(t.Context(), which)
		if err != nil {
			t.Fatal(err)
		}
		if want(v.Sync) {
			return v
		}
		<-tick.C
	}
}

func is(want server.Status) func(server.Sync) bool {
	return func(s server.Sync) bool { return s.Status == want }
}

// TestFirst proves that a server is synced in the background once it is there: at once, or when it is enabled for the first time;
// and that one that can't be reached is told as failed, with the reason, and not tried again.
func TestFirst(t *testing.T) {
	t.Parallel()
	b := open(t)
	run(t, b.Service)
	b.remote.lists(listed("a"))
	v := b.create(t, named("s"))
	if v.Sync.Status != server.Never {
		t.Errorf("a new server: %+v", v.Sync)
	}
	if v = b.await(t, v.ID, is(server.OK)); v.Sync.Message != "1 tool, 1 new" {
		t.Errorf("%+v", v.Sync)
	}
	off := named("off")
	off.Enabled = opt.Some(false)
	v = b.create(t, off)
	if due, err := b.rows.Due(t.Context(), clock.Now()); err != nil || len(due) != 0 {
		t.Errorf("%v, %v: a server that is disabled is asked for its tools", err, due)
	}
	b.remote.answers(func(context.Context, server.Target) ([]server.Listed, error) {
		return nil, away{"the tool server failed: connection refused", server.ErrUnavailable}
	})
	if _, err := b.Update(t.Context(), v, server.Change{Enabled: opt.Some(true)}); err != nil {
		t.Fatal(err)
	}
	if v = b.await(t, v.ID, is(server.Failed)); v.Sync.Message != "the tool server failed: connection refused" || !v.Sync.At.IsZero() {
		t.Errorf("%+v", v.Sync)
	}
	if due, err := b.rows.Due(t.Context(), clock.Now().Add(time.Hour)); err != nil || len(due) != 0 {
		t.Errorf("%v, %v: a sync that has failed is due again", err, due)
	}
}

// hang has the servers answer when told; begun hears of each that is asked.
func (b *bench) hang() (begun chan server.Target, answer chan []server.Listed) {
	begun, answer = make(chan server.Target), make(chan []server.Listed)
	b.remote.answers(func(ctx context.Context, t server.Target) ([]server.Listed, error) {
		select {
		case begun <- t:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		select {
		case tools := <-answer:
			return tools, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	return begun, answer
}

// TestInProgress proves that while a sync is under way another one is refused, on this node and on others, and that a change of the
// server meanwhile has it asked again.
func TestInProgress(t *testing.T) {
	t.Parallel()
	b := open(t)
	v := b.create(t, named("s"))
	begun, answer := b.hang()
	done := make(chan error)
	go func() { done <- b.Sync(t.Context(), v) }()
	<-begun
	for _, node := range []*server.Service{b.Service, b.service()} {
		if f, ok := fault.As(node.Sync(t.Context(), v)); !ok || f.Kind != fault.KindConflict || f.Code != "sync_in_progress" {
			t.Errorf("a second sync: %v", f)
		}
	}
	if got, err := b.Get(t.Context(), v.ID); err != nil || got.Sync.Status != server.Running {
		t.Errorf("%v, %+v", err, got.Sync)
	}
	if _, err := b.Update(t.Context(), v, server.Change{URI: opt.Some("https://moved.test/mcp")}); err != nil {
		t.Fatal(err)
	}
	answer <- []server.Listed{listed("old")}
	if again := <-begun; again.URI != "https://moved.test/mcp" {
		t.Errorf("asked again at %s", again.URI)
	}
	answer <- []server.Listed{listed("new")}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := b.catalog(t); len(got) != 1 || got["new"].ID == "" {
		t.Errorf("%v", got)
	}
}

// TestLeft proves that a sync whose caller has gone, or whose service stops, is made by whoever looks for it next.
func TestLeft(t *testing.T) {
	t.Parallel()
	b := open(t)
	v := b.create(t, named("s"))
	begun, answer := b.hang()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- b.Sync(ctx, v) }()
	<-begun
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a sync whose caller is gone: %v", err)
	}
	stop := run(t, b.Service)
	<-begun
	stop()
	if got, err := b.Get(t.Context(), v.ID); err != nil || got.Sync.Status != server.Running {
		t.Errorf("%v, %+v after the service stopped", err, got.Sync)
	}
	run(t, b.service())
	<-begun
	answer <- []server.Listed{listed("a")}
	b.await(t, v.ID, is(server.OK))
}

// TestDied proves that a sync whose process died is made again when its lease has run out, at once where no other process can
// have it, and is told as failed when that happens again and again.
func TestDied(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.remote.lists(listed("a"))
	v := b.create(t, named("s"))
	die := func(until time.Time) {
		t.Helper()
		if _, err := b.rows.Claim(t.Context(), clock.Now(), server.Lease{Server: v.ID, Holder: id.Text(8), Until: until}, false); err != nil {
			t.Fatal(err)
		}
	}
	die(clock.Now()) // its lease has run out
	stop := run(t, b.Service)
	b.await(t, v.ID, is(server.OK))
	stop()

	die(clock.Now().Add(time.Minute)) // as a claim does
	alone := server.New(server.Config{Store: b.rows, Client: b.remote, Reserved: func(string) bool { return false }, Alone: true})
	stop = run(t, alone)
	b.await(t, v.ID, is(server.OK))
	stop()

	for range 3 {
		die(clock.Now())
	}
	run(t, b.Service)
	if got := b.await(t, v.ID, is(server.Failed)); got.Sync.Message != "was begun 3 times and cut off each time; sync again" {
		t.Errorf("%+v", got.Sync)
	}
}

// TestDeletedMeanwhile proves that a sync of a server that is deleted meanwhile leaves nothing.
func TestDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	b := open(t)
	v := b.create(t, named("s"))
	begun, answer := b.hang()
	done := make(chan error)
	go func() { done <- b.Sync(t.Context(), v) }()
	<-begun
	if err := b.Delete(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	answer <- []server.Listed{listed("a")}
	if err := <-done; !fault.Is(err, fault.KindNotFound) {
		t.Errorf("%v", err)
	}
	if got := b.catalog(t); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
