package usage

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// Gate shares something scarce, counted in places: each caller may hold so many at once, all together so many, and who
// finds none free waits a short time in line. A caller's own requests are served first come, first served; callers take
// turns, so that one with a long line delays another by one request and not by its line. Safe for concurrent use.
type Gate struct {
	bounds Bounds

	mu    sync.Mutex
	held  int64            // guarded by mu
	lines map[string]*line // of callers that hold or wait, so memory follows use; guarded by mu
	turns *list.List       // of *line whose first request needs no more than free places; guarded by mu
}

// Bounds are the limits of a Gate.
type Bounds struct {
	PerCaller int64         // places that one caller holds at once; at least 1
	Total     int64         // places that all hold at once; 0 for no bound
	Waiting   int           // requests of one caller in line
	Wait      time.Duration // how long a request stays in line
	Noun      string        // what is shared, in the plural, for the text of a refusal
}

// line is what one caller holds and who of it waits.
type line struct {
	caller  string
	held    int64
	waiting *list.List    // of *ticket
	turn    *list.Element // its place in turns, nil where it has none
}

// ticket is one request in line.
type ticket struct {
	places  int64
	granted chan struct{}
}

// NewGate returns a Gate.
func NewGate(b Bounds) *Gate {
	return &Gate{bounds: b, lines: map[string]*line{}, turns: list.New()}
}

// Enter takes places for a request of caller, waiting in line for them where it must. leave gives them back; it must be
// called once. A request that needs more than the bounds allow takes what they allow. The error is *Refused, or that of
// ctx when it ends first.
func (g *Gate) Enter(ctx context.Context, caller string, places int64) (leave func(), err error) {
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
	if l.waiting.Len() >= g.bounds.Waiting {
		g.settle(l) // it may have been made for this request alone
		g.mu.Unlock()
		return nil, refused(time.Second, "too many %s of this credential are under way and in line; send fewer at once, or try again in a moment", g.bounds.Noun)
	}
	t := &ticket{places, make(chan struct{})}
	at := l.waiting.PushBack(t)
	g.queue(l)
	g.grant()
	g.mu.Unlock()
	if err := g.await(ctx, t); err != nil {
		if g.withdraw(l, at) {
			return nil, err
		}
		if ctx.Err() != nil { // granted at the last moment, for nobody
			leave()
			return nil, ctx.Err()
		}
	}
	return leave, nil
}

// await waits for the ticket's turn.
func (g *Gate) await(ctx context.Context, t *ticket) error {
	timer := time.NewTimer(g.bounds.Wait)
	defer timer.Stop()
	select {
	case <-t.granted:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return refused(time.Second, "no place came free for one of the %s within %s; send fewer at once, or try again in a moment", g.bounds.Noun, g.bounds.Wait)
	}
}

// withdraw takes a ticket out of its line, unless it was granted meanwhile.
func (g *Gate) withdraw(l *line, at *list.Element) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-at.Value.(*ticket).granted:
		return false
	default:
	}
	l.waiting.Remove(at)
	g.settle(l)
	return true
}

func (g *Gate) leave(l *line, places int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.held -= places
	g.held -= places
	g.settle(l)
}

// settle follows a change of a line: its turn may have come or gone, and others may go in. g.mu is held.
func (g *Gate) settle(l *line) {
	g.queue(l)
	if l.held == 0 && l.waiting.Len() == 0 {
		delete(g.lines, l.caller)
	}
	g.grant()
}

// queue puts a line among those that take turns, or takes it out, as its first request asks for. g.mu is held.
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

// grant lets in whose turn it is as long as there are places. Nobody passes the one whose turn it is: a request for
// many places would never find them otherwise. g.mu is held.
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

// Load is what a Gate holds at a moment.
type Load struct {
	Held    int64 // places in use
	Waiting int   // requests in line
	Callers int   // who hold places or wait for one
}

// Load tells what the gate holds.
func (g *Gate) Load() Load {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := Load{Held: g.held, Callers: len(g.lines)}
	for _, l := range g.lines {
		out.Waiting += l.waiting.Len()
	}
	return out
}
