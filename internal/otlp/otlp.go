// Package otlp sends the spans of agents to a collector of OpenTelemetry, as OTLP over HTTP with JSON, in batches. Nobody waits for it:
// what the collector doesn't take in time is dropped, counted and logged.
package otlp

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"quarry/internal/outbound"
	"quarry/internal/trace"
)

// Bounds of what waits, of requests and of the end.
const (
	maxWaiting      = 8192     // spans
	maxWaitingBytes = 32 << 20 // of spans, encoded
	maxBatch        = 512      // spans
	maxBatchBytes   = 4 << 20  // a collector reads 20 MiB as a rule
	pause           = time.Second
	between         = time.Minute // two lines of the log
	lastWords       = 3 * time.Second
)

// Config is what an exporter is made of.
type Config struct {
	HTTP     *http.Client      // guarded
	Endpoint string            // the whole address, as Address returns it
	Headers  map[string]string // of each request; never logged
	Content  bool              // texts go along
	Version  string            // of the program
	Instance string            // which process it is
	Log      *slog.Logger
}

// Exporter is a trace.Sink. It is safe for concurrent use.
type Exporter struct {
	cfg    Config
	frame  frame
	some   chan struct{} // something waits
	full   chan struct{} // a batch does
	ending chan struct{}
	ended  chan struct{}
	stop   sync.Once
	cut    context.CancelFunc // ends the request that runs

	mu     sync.Mutex
	queue  [][]byte // encoded spans, oldest first; guarded by mu, like what follows
	bytes  int
	closed bool
	lost   int    // spans that were dropped since that was logged
	why    string // the last reason
	told   time.Time
}

// New returns an exporter that works until Close.
func New(cfg Config) *Exporter {
	ctx, cut := context.WithCancel(context.Background())
	e := &Exporter{
		cfg: cfg, frame: newFrame(cfg), cut: cut,
		some: make(chan struct{}, 1), full: make(chan struct{}, 1), ending: make(chan struct{}), ended: make(chan struct{}),
	}
	// A redirect could lead spans and credentials to where nobody has meant them to go.
	go e.run(outbound.Redirects{Most: 0}.With(ctx))
	return e
}

// Recorded implements trace.Sink.
func (e *Exporter) Recorded(spans []trace.Span) {
	for i := range spans {
		if e.crowded() {
			e.drop(len(spans)-i, "")
			return
		}
		raw, err := encode(&spans[i], e.cfg.Content)
		if err != nil {
			e.drop(1, err.Error())
			continue
		}
		e.push(raw)
	}
}

// crowded reports whether nothing more may wait.
func (e *Exporter) crowded() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed || len(e.queue) >= maxWaiting || e.bytes >= maxWaitingBytes
}

func (e *Exporter) push(raw []byte) {
	e.mu.Lock()
	e.queue = append(e.queue, raw)
	e.bytes += len(raw)
	many := len(e.queue) >= maxBatch || e.bytes >= maxBatchBytes
	e.mu.Unlock()
	signal(e.some)
	if many {
		signal(e.full)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// take returns the next batch, nil for none.
func (e *Exporter) take() (batch [][]byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n, size := 0, 0
	for n < min(len(e.queue), maxBatch) && (n == 0 || size+len(e.queue[n]) <= maxBatchBytes) {
		size += len(e.queue[n])
		n++
	}
	batch, e.queue = e.queue[:n:n], e.queue[n:]
	e.bytes -= size
	return batch
}

// drop counts spans that nobody will get. Without a reason they had no place in the queue.
func (e *Exporter) drop(n int, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost += n
	if why != "" {
		e.why = why
	}
}

// report logs what was dropped, at most once in a while, and returns how long the next line has to wait: 0 if there is none.
func (e *Exporter) report(now bool) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lost == 0 && e.why == "" {
		return 0
	}
	if wait := between - time.Since(e.told); wait > 0 && !now {
		return wait
	}
	e.cfg.Log.Warn("spans were not taken by the collector at otlp_endpoint", "dropped", e.lost, "error", cmp.Or(e.why, "more came than could be sent"))
	e.lost, e.why, e.told = 0, "", time.Now()
	return 0
}

// run sends what waits until Close.
func (e *Exporter) run(ctx context.Context) {
	defer close(e.ended)
	defer e.cut()
	for open := true; open; {
		var later <-chan time.Time
		if wait := e.report(false); wait > 0 {
			later = time.After(wait)
		}
		select {
		case <-e.some:
			open = e.gather()
			select { // what has come meanwhile goes along
			case <-e.some:
			default:
			}
		case <-later:
		case <-e.ending:
			open = false
		}
		for batch := e.take(); len(batch) > 0; batch = e.take() {
			if why := e.send(ctx, batch); why != "" {
				e.drop(len(batch), why)
			}
			e.report(false)
		}
	}
	e.report(true)
}

// gather waits until a batch is full or time has passed, and reports whether there will be another.
func (e *Exporter) gather() bool {
	select {
	case <-time.After(pause):
	case <-e.full:
	case <-e.ending:
		return false
	}
	return true
}

// Close sends what still waits, within a bound. What comes after it is dropped.
func (e *Exporter) Close() {
	e.stop.Do(func() {
		e.mu.Lock()
		e.closed = true
		e.mu.Unlock()
		close(e.ending)
		defer time.AfterFunc(lastWords, e.cut).Stop()
		<-e.ended
	})
}
