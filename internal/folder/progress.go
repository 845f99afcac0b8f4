package folder

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Progress is how far a pass is.
type Progress struct {
	Looked          int   // files looked at
	Files, Sent     int   // files to send, and those of them that are settled
	Bytes           int64 // of all files to send
	Passages, Total int   // passages settled, and about how many there will be; Total is 0 while nothing is known
	Hand            []Hand
	Waiting         string // why nothing is sent at this moment, "" when it is
}

// Hand is a file that is being sent.
type Hand struct {
	Place    string
	Passages int // about how many it has
	Since    time.Time
	bytes    int64
}

// bytesPerPassage is the estimate before the first file is done: nine hundred characters, and headings between them.
const bytesPerPassage = 700

// meter counts what progress shows.
type meter struct {
	mu     sync.Mutex
	report func(Progress)
	now    Progress
	hand   map[string]*Hand
	bytes  int64 // of settled files
}

func (m *meter) start(report func(Progress)) {
	m.report, m.now, m.bytes, m.hand = report, Progress{}, 0, map[string]*Hand{}
}

// change changes the numbers and reports them.
func (m *meter) change(fn func(p *Progress)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fn(&m.now)
	if m.report != nil {
		m.report(m.snapshot())
	}
}

func (m *meter) looked() { m.change(func(p *Progress) { p.Looked++ }) }

func (m *meter) planned(tasks []*task) {
	m.change(func(p *Progress) {
		p.Files = len(tasks)
		for _, t := range tasks {
			p.Bytes += t.Size
		}
	})
}

func (m *meter) takes(t *task) {
	m.change(func(*Progress) { m.hand[t.ID] = &Hand{Place: t.Place, bytes: t.Size, Since: time.Now()} })
}

func (m *meter) settled(t *task, passages int) {
	m.change(func(p *Progress) {
		delete(m.hand, t.ID)
		p.Sent++
		p.Passages += passages
		m.bytes += t.Size
	})
}

func (m *meter) waits(why string) {
	m.change(func(p *Progress) { p.Waiting = why })
}

// snapshot returns the numbers with the files in hand, the one that has taken longest first. How many passages files have
// that are not settled is estimated from their bytes.
func (m *meter) snapshot() Progress {
	p := m.now
	rate := 1.0 / bytesPerPassage
	if m.bytes > 0 && p.Passages > 0 {
		rate = float64(p.Passages) / float64(m.bytes)
	}
	for _, h := range m.hand {
		h.Passages = max(1, int(float64(h.bytes)*rate))
		p.Hand = append(p.Hand, *h)
	}
	slices.SortFunc(p.Hand, func(a, b Hand) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Place, b.Place)) })
	p.Total = max(p.Passages, p.Passages+int(float64(p.Bytes-m.bytes)*rate))
	return p
}
