package main

import (
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"quarry/bench/service"
)

// lag holds the delays of a stream.
type lag struct {
	err    error
	tokens int
	first  time.Time       // when the first token was sent
	behind time.Duration   // greatest delay relative to the schedule that begins with the first token
	ours   time.Duration   // greatest time between sending by the provider and arrival at the client
	some   []time.Duration // of every twentieth token, the time between sending and arrival
}

// many measures concurrent streams. They are started one after another, and are long enough that all of them run together
// for a while.
func (b *bench) many() error {
	pace := (time.Second / time.Duration(b.rate)).Round(slot)
	tokens := int((b.ramp + b.together) / pace)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	provider := newPacer(pace, tokens)
	go provider.serve(listener)
	model, err := b.modelAt("http://"+listener.Addr().String(), "steady", "steady")
	if err != nil {
		return err
	}
	s := &sum{before: b.Resident()}
	var open atomic.Int64
	done := make(chan lag)
	started := time.Now()
	for i := range b.streams {
		go func() {
			time.Sleep(time.Until(started.Add(time.Duration(i) * b.ramp / time.Duration(b.streams))))
			now := open.Add(1)
			for was := s.most.Load(); now > was && !s.most.CompareAndSwap(was, now); was = s.most.Load() {
			}
			l := b.one(model, tokens, pace, &s.came)
			open.Add(-1)
			done <- l
		}()
	}
	if err := s.watch(b, started, done); err != nil {
		return err
	}
	return s.report(b, tokens, provider.lateness())
}

// one reads a stream to its end.
func (b *bench) one(model string, tokens int, pace time.Duration, came *atomic.Int64) (l lag) {
	path, err := b.place(model)
	if err != nil {
		l.err = err
		return l
	}
	in, err := open(b.Address(), b.Key(), path, b.operation, model)
	if err != nil {
		l.err = err
		return l
	}
	defer in.Close()
	l.err = in.tokens(func(sent time.Time, now time.Time) {
		l.token(sent, now, pace)
		came.Add(1)
	})
	if l.err == nil && l.tokens != tokens {
		l.err = fmt.Errorf("%d tokens came, want %d", l.tokens, tokens)
	}
	return l
}

func (l *lag) token(sent, now time.Time, pace time.Duration) {
	if l.tokens == 0 {
		l.first = sent
	}
	ours := now.Sub(sent)
	l.ours, l.behind = max(l.ours, ours), max(l.behind, now.Sub(l.first.Add(time.Duration(l.tokens)*pace)))
	if l.tokens%20 == 0 {
		l.some = append(l.some, ours)
	}
	l.tokens++
}

// sum is the result of all streams.
type sum struct {
	most             atomic.Int64 // greatest number of concurrent streams
	came             atomic.Int64 // tokens received
	before, resident int64        // resident memory of the program, in bytes
	all              []lag
	from, to         use // at the beginning and the end of the time in which all streams run
}

// use is the processor time used and the tokens received up to a point in time.
type use struct {
	at      time.Time
	product time.Duration // processor time of the program
	harness time.Duration // processor time of the benchmark
	tokens  int64
}

func (s *sum) use(b *bench) (u use, err error) {
	u.at, u.tokens = time.Now(), s.came.Load()
	if u.product, err = b.ProcessorTime(); err != nil {
		return u, err
	}
	u.harness, err = service.OwnTime()
	return u, err
}

// watch samples memory until all streams have ended, and processor time while all of them run.
func (s *sum) watch(b *bench, started time.Time, done <-chan lag) (err error) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for len(s.all) < b.streams {
		select {
		case l := <-done:
			s.all = append(s.all, l)
			continue
		case <-tick.C:
		}
		s.resident = max(s.resident, b.Resident())
		switch at := time.Since(started); {
		case at > b.ramp+b.together:
		case at > b.ramp && s.from.at.IsZero():
			s.from, err = s.use(b)
		case at > b.ramp:
			s.to, err = s.use(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *sum) report(b *bench, tokens int, late []time.Duration) error {
	var behind, ours, some []time.Duration
	slow := 0
	for _, l := range s.all {
		if l.err != nil {
			return l.err
		}
		behind, ours, some = append(behind, l.behind), append(ours, l.ours), append(some, l.some...)
		if l.behind > 200*time.Millisecond {
			slow++
		}
	}
	n, wall := float64(max(s.to.tokens-s.from.tokens, 1)), s.to.at.Sub(s.from.at).Seconds()
	product, harness := (s.to.product - s.from.product).Seconds(), (s.to.harness - s.from.harness).Seconds()
	fmt.Printf("%d streams of a %s, %d at once, %d tokens each at %d a second (bar for the memory: %s):\n\n", b.streams, b.noun, s.most.Load(), tokens, b.rate, b.memory)
	fmt.Printf("| | |\n|---|---|\n| resident memory before, at the most | %d MB, %d MB |\n", s.before>>20, s.resident>>20)
	fmt.Printf("| tokens a second while all run | %.0f |\n", n/wall)
	fmt.Printf("| processors used by the program, by what measures | %.2f, %.2f |\n", product/wall, harness/wall)
	fmt.Printf("| the same for one token | %.0f µs, %.0f µs |\n", 1e6*product/n, 1e6*harness/n)
	fmt.Printf("| a token sent by the provider later than planned | p50 %s, p99 %s, most %s |\n", ms(at(late, 0.5)), ms(at(late, 0.99)), ms(at(late, 1)))
	fmt.Printf("| a token from the provider to the client | p50 %s, p99 %s |\n", ms(at(some, 0.5)), ms(at(some, 0.99)))
	fmt.Printf("| its worst in a stream | p50 %s, most %s |\n", ms(at(ours, 0.5)), ms(at(ours, 1)))
	fmt.Printf("| worst behind the schedule in a stream | p50 %s, p99 %s, most %s |\n", ms(at(behind, 0.5)), ms(at(behind, 0.99)), ms(at(behind, 1)))
	fmt.Printf("| streams ever more than 200 ms behind | %d |\n", slow)
	return nil
}
