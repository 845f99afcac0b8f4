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
	b.now = p
	if p.Files > 0 && b.began.IsZero() {
		b.began = time.Now()
	}
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
		b.line.Set(text(&b.now, time.Since(b.began)))
	}
}

const width = 12

// text returns the line for a progress after a time of sending.
func text(p *folder.Progress, took time.Duration) string {
	rate := float64(p.Passages) / max(took.Seconds(), 0.001)
	filled, left := 0, ""
	if p.Total > 0 {
		filled = min(width, width*p.Passages/p.Total)
	}
	if rate > 0 {
		left = fmt.Sprintf(", %.0f/s, %s left", rate, (time.Duration(float64(p.Total-p.Passages) / rate * float64(time.Second))).Round(time.Second))
	}
	line := fmt.Sprintf("%s%s %d of %d files, %d of about %d passages%s", strings.Repeat("█", filled), strings.Repeat("░", width-filled),
		p.Sent, p.Files, p.Passages, p.Total, left)
	if len(p.Hand) > 0 {
		h := p.Hand[0]
		line += ": " + h.Place
		if h.Total > 0 {
			line += fmt.Sprintf(" (%d of %d)", h.Done, h.Total)
		}
	}
	return line
}
