package metric

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"quarry/internal/metric/sketch"
	"quarry/internal/room"
)

// Counted is what was counted of a family under a combination. The minutes of its block count from 1970.
type Counted struct {
	Family string
	Labels Combination
	Block  Block
}

// Batch is what is written at once, under a random number: written again, it changes nothing.
type Batch struct {
	ID      int64
	Written time.Time
	Counted []Counted
}

// Selection is the part of a family that a series needs. A nil Match takes everything, otherwise the combinations that match.
type Selection struct {
	Family   string
	From, To int64 // minutes since 1970; To is exclusive
	Match    func(Combination) bool
}

// Store keeps what is counted, for all nodes over one database.
type Store interface {
	// Add writes a batch, all of it or nothing.
	Add(ctx context.Context, b Batch) error
	// Read hands blocks with everything that was counted of a selection to visit, each with the minute that it begins at. They
	// may have cells of other minutes, too. A block is valid until visit returns.
	Read(ctx context.Context, s Selection, visit func(began int64, b Block) error) error
	// Merge moves batches written before a moment, some at a time, into blocks of an hour for each combination; more reports
	// that there are others.
	Merge(ctx context.Context, before time.Time) (more bool, err error)
	// Pack moves blocks of hours that began before a moment, some at a time, into blocks of a day.
	Pack(ctx context.Context, before time.Time) (more bool, err error)
	// Expire removes, some at a time, what was counted on days that had ended before a moment.
	Expire(ctx context.Context, before time.Time) (more bool, err error)
}

const (
	// flushEvery is how long counts wait in memory. A kill loses them.
	flushEvery = 500 * time.Millisecond
	// lastFlush bounds the last write at the end of the process.
	lastFlush = 5 * time.Second
	// mergeEvery is how often batches are merged, and mergeAfter how old they are then: a write of unknown outcome is repeated
	// until it has one, and would count twice behind the merge.
	mergeEvery = time.Minute
	mergeAfter = 2 * time.Minute
	// packAfter is how long after the end of a day its hours are packed; later counts are packed by themselves.
	packAfter = time.Hour
	// Keep is how long counts are kept.
	Keep = 31 * 24 * time.Hour

	// maxWaiting bounds the cells and buckets that wait while the database can't be written; beyond it counts are dropped.
	maxWaiting = 500_000
	// maxCombinations bounds the combinations that a node counts of a family in an hour. Beyond it, values are left out: such
	// counts are in series without a filter alone.
	maxCombinations = 2_000
)

// Recorder counts. It never waits, and is safe for concurrent use.
type Recorder struct {
	store   Store
	log     *slog.Logger
	counted chan struct{} // holds an element when something was counted and no write is scheduled for it
	turn    chan struct{} // held by Flush; guards sending
	sending *Batch        // that could not be written, or whose write has an unknown outcome; nil mostly

	mu      sync.Mutex // guards what follows
	pending map[place]*Cell
	waiting int // cells and buckets in pending
	dropped int // events, since it was last logged
	hour    int64
	known   map[combined]bool // combinations counted in the hour
	counts  map[*Family]int   // how many of them there are
}

type combined struct {
	family *Family
	labels Combination
}

type place struct {
	combined
	minute int64
}

// NewRecorder returns a recorder over a store. Run must be running while it is used, and Close ends it.
func NewRecorder(s Store, log *slog.Logger) *Recorder {
	return &Recorder{
		store: s, log: log, counted: make(chan struct{}, 1), turn: make(chan struct{}, 1),
		pending: map[place]*Cell{}, known: map[combined]bool{}, counts: map[*Family]int{},
	}
}

// Event is something that counts.
type Event struct {
	At     time.Time
	Labels [][]string    // values, by the labels of the family
	Sums   []uint64      // what it adds to each sum of the family
	Took   time.Duration // where the family measures
}

// Count counts an event of a family.
func (r *Recorder) Count(f *Family, e Event) {
	labels := combine(e.Labels)
	minute := e.At.Unix() / 60
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting >= maxWaiting {
		r.dropped++
		return
	}
	if len(r.pending) == 0 {
		select {
		case r.counted <- struct{}{}:
		default:
		}
	}
	at := place{r.admit(combined{f, labels}, len(e.Labels)), minute}
	cell := r.pending[at]
	if cell == nil {
		cell = &Cell{Minute: minute, Sums: make([]uint64, f.Sums)}
		r.pending[at] = cell
		r.waiting++
	}
	for i, n := range e.Sums {
		cell.Sums[i] += n
	}
	if f.Buckets != nil {
		r.waiting += cell.add(sketch.Bucket(f.Buckets, uint64(max(0, e.Took.Microseconds()))), 1)
	}
}

// admit returns what an event of a combination with values of some labels counts under. The caller holds r.mu.
func (r *Recorder) admit(c combined, labels int) combined {
	if hour := time.Now().Unix() / 3600; hour != r.hour {
		r.hour = hour
		clear(r.known)
		clear(r.counts)
	}
	switch {
	case r.known[c]:
	case r.counts[c.family] < maxCombinations:
		r.known[c] = true
		r.counts[c.family]++
	default:
		if r.counts[c.family] == maxCombinations {
			r.counts[c.family]++ // logged once
			r.log.Warn("metrics count more combinations of labels in this hour than they tell apart: further ones count without labels",
				"family", c.family.Name, "combinations", maxCombinations)
		}
		c.labels = combine(make([][]string, labels))
	}
	return c
}

// seal returns what waits as a batch, nil if nothing does.
func (r *Recorder) seal(now time.Time) *Batch {
	r.mu.Lock()
	all := r.pending
	r.pending, r.waiting = map[place]*Cell{}, 0
	r.mu.Unlock()
	if len(all) == 0 {
		return nil
	}
	cells := map[combined][]Cell{}
	for at, c := range all {
		cells[at.combined] = append(cells[at.combined], *c)
	}
	b := &Batch{ID: rand.Int64(), Written: now}
	for c, of := range cells {
		b.Counted = append(b.Counted, Counted{c.family.Name, c.labels, Encode(0, c.family.Sums, Merge(of))})
	}
	slices.SortFunc(b.Counted, func(a, b Counted) int {
		return cmp.Or(cmp.Compare(a.Family, b.Family), cmp.Compare(a.Labels, b.Labels))
	})
	return b
}

// Flush writes what was counted before it was called.
func (r *Recorder) Flush(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.turn }()
	for range 2 { // an earlier batch, and what waits now
		if r.sending == nil {
			r.sending = r.seal(time.Now())
		}
		if r.sending == nil {
			return nil
		}
		if err := r.store.Add(ctx, *r.sending); err != nil {
			return err
		}
		r.sending = nil
	}
	return nil
}

// Run writes what is counted within flushEvery, and keeps the rows few, until ctx ends. Several nodes may run it at once.
func (r *Recorder) Run(ctx context.Context) {
	tidy := time.NewTicker(mergeEvery)
	defer tidy.Stop()
	r.tidy(ctx, time.Now())
	var due <-chan time.Time
	healthy := true
	for ctx.Err() == nil {
		select {
		case <-r.counted:
			if due == nil {
				due = time.After(flushEvery)
			}
		case <-due:
			due = nil
			err := r.Flush(ctx)
			if ctx.Err() != nil {
				return
			}
			if err != nil && healthy { // an outage is logged once
				r.log.Warn("metrics are not written for now; what is counted waits in memory", "error", err)
			}
			if healthy = err == nil; healthy {
				r.tellDropped()
			} else {
				due = time.After(flushEvery)
			}
		case now := <-tidy.C:
			r.tidy(ctx, now)
		case <-ctx.Done():
		}
	}
}

// Close writes what still waits. Nothing may be counted any more.
func (r *Recorder) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), lastFlush)
	defer cancel()
	if err := r.Flush(ctx); err != nil {
		r.log.Error("the last counts of metrics are lost", "error", err)
	}
	r.tellDropped()
}

// tellDropped logs how much was dropped.
func (r *Recorder) tellDropped() {
	r.mu.Lock()
	n := r.dropped
	r.dropped = 0
	r.mu.Unlock()
	if n > 0 {
		r.log.Warn("metrics lack what was counted while they could not be written", "events", n)
	}
}

// tidy merges and packs rows, and removes old ones.
func (r *Recorder) tidy(ctx context.Context, now time.Time) {
	day := 24 * time.Hour
	for _, do := range []struct {
		step   func(context.Context, time.Time) (bool, error)
		before time.Time
	}{
		{r.store.Merge, now.Add(-mergeAfter)},
		{r.store.Pack, now.Add(-packAfter).Truncate(day)},
		{r.store.Expire, now.Add(-Keep)},
	} {
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = do.step(room.Freeing(ctx), do.before); err != nil {
				if ctx.Err() == nil {
					r.log.Warn("rows of metrics stay as they are for now", "error", err)
				}
				return
			}
		}
	}
}
