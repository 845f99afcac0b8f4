package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"quarry/internal/fault"
	"quarry/internal/httpapi/refusal"
)

// drain is the time that requests in flight get when the service stops. Those that still run after cutOff are
// cancelled with errStopping, so that they can write an answer, and streams their end, in what is left.
const (
	drain  = 10 * time.Second
	cutOff = 8 * time.Second
)

var errStopping = fault.Unavailable("stopping", "the service is stopping and could not wait for the end of this request; ask again")

// Serve answers requests until ctx ends, then lets requests in flight finish.
func (a *App) Serve(ctx context.Context) error {
	var inFlight atomic.Int64
	handler := a.Handler()
	s := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			inFlight.Add(1)
			defer inFlight.Add(-1)
			handler.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: 20 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
	if a.shown != nil {
		s.TLSConfig = a.shown.TLS()
	}
	requests, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	s.BaseContext = func(net.Listener) context.Context { return requests }
	failed := make(chan error, 1)
	l := refusal.Listen(s, a.listener)
	go func() { failed <- s.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	a.ready.Store(false)
	a.stopReaders()
	if a.Stopping != nil {
		a.Stopping(inFlight.Load())
	}
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	defer time.AfterFunc(cutOff, func() { cut(errStopping) }).Stop()
	if err := s.Shutdown(deadline); err != nil {
		a.log.Warn("requests in flight were cut off", "error", err)
		return s.Close()
	}
	return nil
}

// tellFull logs that writes end, or go on.
func (a *App) tellFull(full bool) {
	if full {
		a.log.Warn("the disk of the data folder is full: reads go on, writes are refused with 503 until there is space; free some")
		return
	}
	a.log.Warn("the disk of the data folder has space again: writes go on")
}

// startBackground runs every task beside the requests until Close ends them.
func (a *App) startBackground(ctx context.Context, tasks []func(context.Context)) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	for _, task := range tasks {
		running.Go(func() { task(ctx) })
	}
	a.stopBackground = func() {
		cancel()
		running.Wait()
	}
}
