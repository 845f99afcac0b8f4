package index

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"quarry/internal/cli/command"
	"quarry/internal/folder"
)

// bar shows the progress of a pass: redrawn in place on a terminal, elsewhere as a line every ten seconds.
type bar struct {
	mu    sync.Mutex
	now   folder.Progress
	began time.Time // of sending; zero while files are looked for
	last  time.Time // when a file was settled last
	line  command.StatusLine
	done  chan struct{}
	ended sync.WaitGroup
}

// start begins to show progress. The line is redrawn by the clock as well, so that a large file does not look like a standstill.
func (b *bar) start(w io.Writer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now, b.began, b.line, b.done = folder.Progress{}, time.Time{}, command.StatusLine{W: w}, make(chan struct{})
	b.line.Wait()
	done := b.done
	b.ended.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				b.draw()
			case <-done:
				return
			}
		}
	})
}

func (b *bar) set(p folder.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.Files > 0 && b.began.IsZero() {
		b.began = time.Now()
		b.last = b.began
	}
	if p.Sent != b.now.Sent {
		b.last = time.Now()
	}
	b.now = p
}

// stop takes the line off the terminal.
func (b *bar) stop() {
	b.mu.Lock()
	close(b.done)
	b.mu.Unlock()
	b.ended.Wait()
	b.line.Clear()
}

func (b *bar) draw() {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.now.Waiting != "":
		b.line.Set("waiting: " + b.now.Waiting)
	case b.now.Files == 0 && b.now.Looked > 0:
		b.line.Set(fmt.Sprintf("looking: %s", command.Count(int64(b.now.Looked), "file")))
	case b.now.Files > 0:
		b.line.Set(text(&b.now, b.last.Sub(b.began), time.Since(b.last)))
	}
}

const width = 10

// nearly is the share of the files in hand that may be taken as encoded before the service says so.
const nearly = 0.9

// assumed is how many passages a second are encoded, before the first file tells: a little less than two cores do.
const assumed = 50

// text returns the line for a progress: settled is the time in which what is settled was done, since what has passed after
// it. Within the files in hand progress is what their size and the rate so far suggest, so that a large one moves, too.
func text(p *folder.Progress, settled, since time.Duration) string {
	done, left, hand := float64(p.Passages), "", 0
	for _, h := range p.Hand {
		hand += h.Passages
	}
	rate := done / max(settled.Seconds(), 0.001)
	within := func(rate float64) float64 { return min(rate*since.Seconds(), nearly*float64(hand)) }
	if rate == 0 {
		done += within(assumed)
	} else {
		done += within(rate)
		left = fmt.Sprintf(", %.0f/s, %s left", rate, time.Duration((float64(p.Total)-done)/rate*float64(time.Second)).Round(time.Second))
	}
	filled := 0
	if p.Total > 0 {
		filled = min(width, int(width*done/float64(p.Total)))
	}
	line := fmt.Sprintf("%s%s %d/%d files, %.0f/~%d passages%s", strings.Repeat("█", filled), strings.Repeat("░", width-filled),
		p.Sent, p.Files, done, p.Total, left)
	if len(p.Hand) > 0 {
		h := p.Hand[0]
		line += ": " + tail(h.Place)
		if took := time.Since(h.Since); took > 3*time.Second {
			line += fmt.Sprintf(" (%s)", took.Round(time.Second))
		}
	}
	return line
}

// tail returns the end of a long path, which is what tells files apart.
func tail(place string) string {
	const most = 24
	if r := []rune(place); len(r) > most {
		return "…" + string(r[len(r)-most+1:])
	}
	return place
}
