package main

import (
	"bufio"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"quarry/internal/provider/scripted"
)

// lag is how late a stream was, at its worst and on the whole.
type lag struct {
	err    error
	tokens int
	behind time.Duration // most behind the schedule that its first token began
	ours   time.Duration // most between sending by the provider and arrival at the client
	some   []time.Duration
}

// many runs streams at once. Those that start first run until all of them have run together for a while.
func (b *bench) many() error {
	tokens := int((b.ramp + b.together).Seconds()) * b.rate
	if err := b.model("steady", fmt.Sprintf("stamp:%d:%d", b.rate, tokens)); err != nil {
		return err
	}
	idle := b.Resident()
	var open atomic.Int64
	var most atomic.Int64 // streams at once
	done := make(chan lag)
	started := time.Now()
	for i := range b.streams {
		go func() {
			time.Sleep(time.Until(started.Add(time.Duration(i) * b.ramp / time.Duration(b.streams))))
			now := open.Add(1)
			for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
			}
			l := b.one(tokens)
			open.Add(-1)
			done <- l
		}()
	}
	peak, busy := b.watch(started, func(all func(lag)) {
		for range b.streams {
			all(<-done)
		}
	})
	return peak.report(b, idle, busy, most.Load(), tokens)
}

// sum is what many streams came to.
type sum struct {
	resident int64
	all      []lag
}

// watch samples memory until collect has everything, and the share of processors used while all streams run.
func (b *bench) watch(started time.Time, collect func(func(lag))) (*sum, float64) {
	out := &sum{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		collect(func(l lag) { out.all = append(out.all, l) })
	}()
	busy := 0.0
	var from time.Duration
	var since time.Time
	for {
		select {
		case <-ended:
			return out, busy
		case <-time.After(250 * time.Millisecond):
		}
		out.resident = max(out.resident, b.Resident())
		used, err := b.ProcessorTime()
		at := time.Since(started)
		switch {
		case err != nil:
		case at > b.ramp+b.together:
		case at > b.ramp && since.IsZero():
			from, since = used, time.Now()
		case at > b.ramp:
			busy = (used - from).Seconds() / time.Since(since).Seconds()
		}
	}
}

// one reads a stream to its end.
func (b *bench) one(tokens int) (l lag) {
	res, err := b.ask("steady")
	if err != nil {
		l.err = err
		return l
	}
	defer res.Body.Close()
	l.read(res, time.Second/time.Duration(b.rate))
	if l.err == nil && l.tokens != tokens {
		l.err = fmt.Errorf("%d tokens came, want %d", l.tokens, tokens)
	}
	return l
}

// read takes the stamps out of the chunks as they arrive.
func (l *lag) read(res *http.Response, pace time.Duration) {
	const digits = len(scripted.Stamp)
	var first time.Time
	for lines := bufio.NewReader(res.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			l.err = errShort
			return
		}
		if strings.HasPrefix(line, "event:end") {
			return
		}
		now := time.Now()
		_, text, ok := strings.Cut(line, `"generation_chunk":"`)
		if !ok {
			continue
		}
		text, _, _ = strings.Cut(text, `"`)
		for word := range strings.FieldsSeq(text) {
			if len(word) != digits {
				l.err = fmt.Errorf("a chunk holds %q", word)
				return
			}
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				l.err = err
				return
			}
			sent := time.Unix(0, n)
			if l.tokens == 0 {
				first = sent
			}
			ours := now.Sub(sent)
			l.ours, l.behind = max(l.ours, ours), max(l.behind, now.Sub(first.Add(time.Duration(l.tokens)*pace)))
			if l.tokens%20 == 0 {
				l.some = append(l.some, ours)
			}
			l.tokens++
		}
	}
}

func (s *sum) report(b *bench, idle int64, busy float64, most int64, tokens int) error {
	var behind, ours, some []time.Duration
	late := 0
	for _, l := range s.all {
		if l.err != nil {
			return l.err
		}
		behind, ours, some = append(behind, l.behind), append(ours, l.ours), append(some, l.some...)
		if l.behind > 200*time.Millisecond {
			late++
		}
	}
	fmt.Printf("%d streams, %d at once, %d tokens each at %d a second:\n\n", b.streams, most, tokens, b.rate)
	fmt.Printf("| | |\n|---|---|\n| resident memory before, at the most | %d MB, %d MB |\n", idle>>20, s.resident>>20)
	fmt.Printf("| processors used while all run | %.2f |\n", busy)
	fmt.Printf("| a token from the provider to the client | p50 %s, p99 %s |\n", ms(at(some, 0.5)), ms(at(some, 0.99)))
	fmt.Printf("| its worst in a stream | p50 %s, most %s |\n", ms(at(ours, 0.5)), ms(at(ours, 1)))
	fmt.Printf("| worst behind the schedule in a stream | p50 %s, p99 %s, most %s |\n", ms(at(behind, 0.5)), ms(at(behind, 0.99)), ms(at(behind, 1)))
	fmt.Printf("| streams ever more than 200 ms behind | %d |\n", late)
	return nil
}
