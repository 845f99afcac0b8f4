package usage

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// Gate shares a scarce resource, counted in places. There is a limit for each caller and one for all together; a request
// that finds no free place waits in line for a short time. The requests of one caller are served in order; callers take
// turns, so that a caller with a long line delays another by one request and not by the whole line. A Gate is safe for
// concurrent use.
type Gate struct {
	bounds Bounds

	mu    sync.Mutex
	held  int64            // guarded by mu
	lines map[string]*line // of callers that hold or wait, so memory follows use; guarded by mu
	turns *list.List       // of *line whose first request fits within PerCaller and waits for Total; guarded by mu
}

// Bounds are the limits of a Gate.
type Bounds struct {
	PerCaller int64         // places that one caller may hold at once; at least 1
	Total     int64         // places that all callers may hold at once; 0 for no limit
	Waiting   int           // requests that one caller may have in line
	Wait      time.Duration // how long a request waits in line before it is refused
	Noun      string        // what is shared, in the plural, for the text of a refusal
}

// line is one caller: the places that it holds and its requests that wait.
type line struct {
	caller  string
	held    int64
	waiting *list.List    // of *ticket
	turn    *list.Element // its element in Gate.turns, or nil
}

// ticket is one request in line.
type ticket struct {
	places  int64
	again   bool // the request was in before
	granted chan struct{}
}

// NewGate returns a Gate.
func NewGate(b Bounds) *Gate {
	return &Gate{bounds: b, lines: map[string]*line{}, turns: list.New()}
}

// Enter takes places for a request of caller, and waits in line for them if necessary. leave frees them and must be called
// exactly once. A request for more places than a limit gets as many as the limit. The error is *Refused, or that of ctx if
// ctx ends first.
func (g *Gate) Enter(ctx context.Context, caller string, places int64) (leave func(), err error) {
	return g.enter(ctx, caller, ticket{places: places})
}

// Again is Enter for a request that was in before, left its places while it needed none, and has work to finish: it stands
// before the new requests of its caller, is never refused, and waits as long as ctx lasts. Such requests must hold nothing
// that those inside may wait for.
func (g *Gate) Again(ctx context.Context, caller string, places int64) (leave func(), err error) {
	return g.enter(ctx, caller, ticket{places: places, again: true})
}

func (g *Gate) enter(ctx context.Context, caller string, t ticket) (leave func(), err error) {
	places := t.places
	places = min(places, g.bounds.PerCaller)
	if g.bounds.Total > 0 {
		places = min(places, g.bounds.Total)
	}
	g.mu.Lock()
	l := g.lines[caller]
	if l == nil {
		l = &line{caller: caller, waiting: list.New()}
		g.lines[caller] = l
	}
	leave = func() { g.leave(l, places) }
	if l.waiting.Len() == 0 && g.turns.Len() == 0 && g.ownFree(l, places) && g.free(places) {
		g.take(l, places)
		g.mu.Unlock()
		return leave, nil
	}
	if !t.again && l.waiting.Len() >= g.bounds.Waiting {
		g.update(l) // removes the line if it was created for this request
		g.mu.Unlock()
		return nil, refused(time.Second, "too many %s of this credential are under way and in line; send fewer at once, or try again in a moment", g.bounds.Noun)
	}
	t.places, t.granted = places, make(chan struct{})
	at := l.push(&t)
	g.queue(l)
	g.grant()
	g.mu.Unlock()
	if err := g.await(ctx, &t); err != nil {
		if g.withdraw(l, at) {
			return nil, err
		}
		if ctx.Err() != nil { // granted after ctx had ended: nobody uses the places
			leave()
			return nil, ctx.Err()
		}
	}
	return leave, nil
}

// push puts a ticket in line, before the new requests if it is of one that was in before.
func (l *line) push(t *ticket) *list.Element {
	if !t.again {
		return l.waiting.PushBack(t)
	}
	at := l.waiting.Front()
	for at != nil && at.Value.(*ticket).again {
		at = at.Next()
	}
	if at == nil {
		return l.waiting.PushBack(t)
	}
	return l.waiting.InsertBefore(t, at)
}

// await waits until the ticket is granted: a new request for at most Wait.
func (g *Gate) await(ctx context.Context, t *ticket) error {
	var late <-chan time.Time
	if !t.again {
		timer := time.NewTimer(g.bounds.Wait)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-t.granted:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late:
		return refused(time.Second, "no place came free for one of the %s within %s; send fewer at once, or try again in a moment", g.bounds.Noun, g.bounds.Wait)
	}
}

// withdraw removes a ticket from its line; it returns false when the ticket was granted meanwhile.
func (g *Gate) withdraw(l *line, at *list.Element) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-at.Value.(*ticket).granted:
		return false
	default:
	}
	l.waiting.Remove(at)
	g.update(l)
	return true
}

func (g *Gate) leave(l *line, places int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.held -= places
	g.held -= places
	g.update(l)
}

// update follows a change of a line: it may be ready now or no longer, and places may be free for others. The caller holds
// g.mu.
func (g *Gate) update(l *line) {
	g.queue(l)
	if l.held == 0 && l.waiting.Len() == 0 {
		delete(g.lines, l.caller)
	}
	g.grant()
}

// queue adds a line to turns when its first request fits within PerCaller, and removes it when it does not. The caller holds
// g.mu.
func (g *Gate) queue(l *line) {
	first := l.waiting.Front()
	ready := first != nil && g.ownFree(l, first.Value.(*ticket).places)
	switch {
	case ready && l.turn == nil:
		l.turn = g.turns.PushBack(l)
	case !ready && l.turn != nil:
		g.turns.Remove(l.turn)
		l.turn = nil
	}
}

// grant admits requests in turn while there are free places. It never skips the one whose turn it is: otherwise a request
// for many places might never find enough of them free. The caller holds g.mu.
func (g *Gate) grant() {
	for e := g.turns.Front(); e != nil; e = g.turns.Front() {
		l := e.Value.(*line)
		first := l.waiting.Front()
		t := first.Value.(*ticket)
		if !g.free(t.places) {
			return
		}
		l.waiting.Remove(first)
		g.take(l, t.places)
		close(t.granted)
		g.turns.Remove(e)
		l.turn = nil
		g.queue(l)
	}
}

func (g *Gate) take(l *line, places int64) {
	l.held += places
	g.held += places
}

func (g *Gate) ownFree(l *line, places int64) bool { return l.held+places <= g.bounds.PerCaller }

func (g *Gate) free(places int64) bool {
	return g.bounds.Total == 0 || g.held+places <= g.bounds.Total
}

// Load is the state of a Gate at one moment.
type Load struct {
	Held    int64 // places in use
	Waiting int   // requests in line
	Callers int   // callers that hold places or wait for some
}

// Load returns the present load.
func (g *Gate) Load() Load {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := Load{Held: g.held, Callers: len(g.lines)}
	for _, l := range g.lines {
		out.Waiting += l.waiting.Len()
	}
	return out
}
