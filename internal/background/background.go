// Package background runs work that everything else in the process goes before: as many pieces at a time as there are cores, on
// threads of low priority, so that the system takes the core from them as soon as somebody waits for an answer.
//
// Go's own scheduler knows no priorities. While goroutines that never block keep all of GOMAXPROCS busy, it notices a request that has
// arrived only after up to ten milliseconds, and then has it wait in line with them. While there is work, twice as many goroutines as
// there are cores may therefore run at once, of which at most half are this package's; MakeRoom allows that. At other times Go's collector
// would use the room, and requests would wait for it.
package background

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"
)

// cores is what GOMAXPROCS is while there is no work.
var cores = runtime.GOMAXPROCS(0)

// Cores returns how much can run at a time in this process: the processors that it may use, fewer where the environment variable
// GOMAXPROCS or the quota of a container says so.
func Cores() int { return cores }

// roomy reports whether pools make room for others.
var roomy bool

// MakeRoom lets pools have threads that the system lets others go before, and make room for those. It is called before the first pool
// is made. It does nothing where the system has no such threads; where GOMAXPROCS is set, as somebody has counted on it; and under a
// quota, which stops all threads of a process alike once it is used up.
func MakeRoom() {
	roomy = priorities && os.Getenv("GOMAXPROCS") == "" && cores == runtime.NumCPU()
}

// work counts what there is room beside.
var work struct {
	sync.Mutex
	pieces int
}

// Begin lets others have room beside work that gives way to them by itself, as merges of an index do, until end is called. Threads of a
// pool call it for theirs.
func Begin() (end func()) {
	if !roomy {
		return func() {}
	}
	count(1)
	return func() { count(-1) }
}

func count(n int) {
	work.Lock()
	defer work.Unlock()
	before := work.pieces
	work.pieces += n
	switch {
	case before == 0:
		runtime.GOMAXPROCS(2 * cores)
	case work.pieces == 0:
		runtime.GOMAXPROCS(cores)
	}
}

// idle is how long a thread waits for more work before it ends. The next text comes sooner while files are uploaded one after the other.
const idle = 100 * time.Millisecond

// Pool runs work on threads of its own. It has none while there is nothing to do. Safe for concurrent use.
type Pool struct {
	work   chan func(yield bool) // taken by a thread that waits
	places chan struct{}         // one for each thread
	low    bool                  // threads are of low priority
}

// NewPool returns a pool of as many threads as there are cores.
func NewPool() *Pool {
	return &Pool{work: make(chan func(bool)), places: make(chan struct{}, cores), low: roomy}
}

// Do returns when f has run, or with the error of ctx when that ends before f has begun. Where yield is set nothing but f makes
// room for others: it has to call runtime.Gosched every few hundred microseconds.
func (p *Pool) Do(ctx context.Context, f func(yield bool)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	done := make(chan struct{})
	task := func(yield bool) {
		defer close(done)
		f(yield)
	}
	select {
	case p.work <- task:
	default:
		select {
		case p.work <- task:
		case p.places <- struct{}{}:
			go p.thread(task)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	<-done
	return nil
}

// thread runs task, and what else comes.
func (p *Pool) thread(task func(yield bool)) {
	defer func() { <-p.places }()
	yield := true
	if p.low {
		defer Begin()()
		runtime.LockOSThread() // for good: a priority can't be raised again, and so the thread ends with this goroutine
		yield = !lowerThread()
	}
	wait := time.NewTimer(idle)
	defer wait.Stop()
	for {
		task(yield)
		wait.Reset(idle)
		select {
		case task = <-p.work:
		case <-wait.C:
			return
		}
	}
}
