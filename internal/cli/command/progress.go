package command

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Progress shows how far a long job is: a bar redrawn in place on a terminal, a line every ten seconds elsewhere.
type Progress struct {
	w        io.Writer
	total, n int
	unit     string
	start    time.Time
	last     time.Time
	terminal bool
	dirty    bool // a bar stands on the current line
}

// NewProgress returns the progress of total items, written to w.
func NewProgress(w io.Writer, total int, unit string) *Progress {
	now := time.Now()
	return &Progress{w: w, total: total, unit: unit, start: now, last: now, terminal: IsTerminal(w)}
}

// Step counts one item done and redraws when enough time has passed.
func (p *Progress) Step(item string) {
	p.n++
	every := 10 * time.Second
	if p.terminal {
		every = 100 * time.Millisecond
	}
	if time.Since(p.last) < every && p.n < p.total {
		return
	}
	p.last = time.Now()
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s  %s", p.line(30), Clip(item, 30))
		p.dirty = true
		return
	}
	fmt.Fprintln(p.w, p.line(20))
}

// At sets how many items are done and redraws.
func (p *Progress) At(n int) {
	p.n, p.total = n-1, max(n, p.total)
	p.Step("")
}

// Done leaves the last state on a line of its own.
func (p *Progress) Done() {
	if p.dirty {
		fmt.Fprintf(p.w, "\r\x1b[K%s\n", p.line(30))
		p.dirty = false
	}
}

func (p *Progress) line(width int) string {
	elapsed := time.Since(p.start)
	rate := float64(p.n) / max(elapsed.Seconds(), 0.001)
	filled := width
	left := "0s"
	if p.n < p.total {
		filled = width * p.n / p.total
		left = time.Duration(float64(p.total-p.n) / max(rate, 0.001) * float64(time.Second)).Round(time.Second).String()
	}
	bar := strings.Repeat("█", filled) + strings.Repeat("░", width-filled)
	return fmt.Sprintf("%s %d/%d %s  %.1f/s  %s left", bar, p.n, p.total, p.unit, rate, left)
}
