// Package replica keeps a search index per corpus in step with the corpus's change sequence, and searches it. The
// rows of the store are the truth; a replica is a cache that can be thrown away at any time. What it writes to is a Target:
// our own index, or an engine elsewhere. It is called by ingest
// (a write is answered when its replica shows it) and by retrieve (a query first brings the replica up to the
// sequence number that it read).
package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/embed"
	"quarry/internal/index"
	"quarry/internal/index/compact"
	"quarry/internal/index/condition"
	"quarry/internal/search"
	"quarry/internal/text/lang"
)

// Config is what a Set needs.
type Config struct {
	Dir       string // folder of the index files, one sub-folder per corpus; "" keeps everything in memory
	Documents document.Store
	Corpora   corpus.Store
	Encoders  *embed.Registry
	Log       *slog.Logger
	// Rest is how long nothing must be written to a corpus before its index is merged into as few segments as possible;
	// 0 = 10 minutes
	Rest    time.Duration
	MaxOpen int // replicas kept open; above it the least recently used are closed; 0 = 1,000
	// Open opens the target of a corpus; nil = Local. One that is elsewhere needs no Dir.
	Open func(index.Config) (Target, error)
}

// Set holds the replicas of one node. Safe for concurrent use.
type Set struct {
	cfg        Config
	elsewhere  bool               // targets are not ours
	conditions *condition.Cache   // of all indexes
	merges     *compact.Scheduler // of all indexes
	mu         sync.Mutex
	open       map[int64]*replica // by corpus row number; guarded by mu
	// closing has a channel for each evicted replica that is still writing its files; guarded by mu. They must not be
	// opened before the channel is closed.
	closing map[int64]chan struct{}

	builds     turn            // full while an index is made anew: one at a time
	background context.Context // of what no caller waits for; ended by Close
	stop       context.CancelFunc
	running    sync.WaitGroup // what no caller waits for
}

// replica is the target of one generation (epoch) of a corpus.
type replica struct {
	epoch int64
	used  time.Time // last acquired; guarded by Set.mu
	refs  int       // searches and catch-ups in flight; guarded by Set.mu

	opening turn                   // full while the target is opened
	turn    turn                   // full during a catch-up: one at a time
	opened  atomic.Pointer[Target] // nil before the first use; another one, in a turn, when the index was made anew
	build   atomic.Int64           // of the index; see corpus.Corpus.IndexBuild
	filling atomic.Bool            // every row is being read
	pause   func() error           // of filling, where another index is searched meanwhile; nil otherwise
	retry   time.Time              // before this the index is not made anew again; guarded by Set.mu
	stale   bool                   // forgotten while in use: close when the last user leaves; guarded by Set.mu
	gone    bool                   // and drop it then: nobody needs it any more; guarded by Set.mu
	// whole is the first change from which on the target shows a state that the corpus has had. One before is made of
	// documents read at different times. Set in a turn, before the target shows such a state.
	whole atomic.Int64
}

// conditionBytes is what the results of filters' conditions may take together: those of 500 conditions on a million parts.
const conditionBytes = 64 << 20

// New returns an empty set; replicas open at first use.
func New(cfg Config) *Set {
	if cfg.MaxOpen == 0 {
		cfg.MaxOpen = 1000
	}
	if cfg.Rest == 0 {
		cfg.Rest = 10 * time.Minute
	}
	elsewhere := cfg.Open != nil
	if !elsewhere {
		cfg.Open = Local
	}
	s := &Set{
		cfg: cfg, elsewhere: elsewhere, merges: compact.NewScheduler(cfg.Rest), conditions: condition.New(conditionBytes),
		open: map[int64]*replica{}, closing: map[int64]chan struct{}{}, builds: newTurn(),
	}
	s.background, s.stop = context.WithCancel(context.Background())
	return s
}

func newReplica(epoch int64) *replica {
	return &replica{epoch: epoch, opening: newTurn(), turn: newTurn()}
}

// CatchUp returns when searches show every change of c up to c.Seq.
func (s *Set) CatchUp(ctx context.Context, c corpus.Corpus) error {
	return s.with(ctx, c, func(View) error { return nil })
}

// Search brings the replica of c up to c.Seq and searches it. What is found is of the state of at least c.Seq. The
// error is search.ErrSchema when the filter was planned for attributes that have been replaced: read c and plan again.
func (s *Set) Search(ctx context.Context, c corpus.Corpus, q search.Query) (found search.Found, err error) {
	q.Schema = c.SchemaVersion
	err = s.with(ctx, c, func(x View) error {
		found, err = x.Search(ctx, q)
		return err
	})
	return found, err
}

// Languages lists the languages of the parts of c, the most frequent first, as of at least c.Seq.
func (s *Set) Languages(ctx context.Context, c corpus.Corpus) (out []lang.Count, err error) {
	err = s.with(ctx, c, func(x View) error {
		out, err = x.Languages(ctx)
		return err
	})
	return out, err
}

// Vectors reads the vectors of parts of c; nil for a part that was deleted or has none.
func (s *Set) Vectors(ctx context.Context, c corpus.Corpus, parts []search.Hit) (out [][]float32, err error) {
	err = s.with(ctx, c, func(x View) error {
		out, err = x.Vectors(ctx, parts)
		return err
	})
	return out, err
}

// Dropped forgets the replica of a deleted or reset corpus and removes what its target keeps.
func (s *Set) Dropped(c corpus.Corpus) {
	if err := s.drop(c); err != nil {
		s.cfg.Log.Warn("the index of a dropped corpus remains", "corpus", c.Key, "error", err)
	}
}

func (s *Set) drop(c corpus.Corpus) error {
	open := s.discard(c.No, true, func(r *replica) bool { return r.epoch == c.Epoch })
	if !open && s.elsewhere {
		t, err := s.openBuild(c, 0)
		if err != nil {
			return err
		}
		return t.Drop(context.Background())
	}
	if s.cfg.Dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir(c)) // at once, though snapshots of it may be in use
}

// Close closes every replica; an index of ours then seals what is worth it.
func (s *Set) Close() error {
	s.mu.Lock()
	s.stop()
	s.mu.Unlock()
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.closing) > 0 {
		var one chan struct{}
		for _, one = range s.closing {
			break
		}
		s.mu.Unlock()
		<-one
		s.mu.Lock()
	}
	var first error
	for no, r := range s.open {
		delete(s.open, no)
		t := r.target()
		if t == nil {
			continue
		}
		if err := t.Close(); err != nil && first == nil {
			first = fmt.Errorf("close index: %w", err)
		}
	}
	return first
}

// with runs use on a view of the target of c that shows at least c.Seq.
func (s *Set) with(ctx context.Context, c corpus.Corpus, use func(View) error) error {
	r, c, err := s.hold(ctx, c)
	if err != nil {
		return err
	}
	defer s.release(r)
	for damaged := 0; ; {
		current, err := s.current(ctx, r, c)
		if err == nil && !current {
			c, err = s.advance(ctx, r, c)
		}
		if err == nil {
			s.renewLater(r, c)
			err = r.use(ctx, use)
		}
		switch {
		case errors.Is(err, errNotWhole):
			continue
		case !errors.Is(err, search.ErrCorrupt) || damaged > mends:
			return err
		}
		// The rows are the truth, so a file that was damaged under the index is not an error to the caller: what it held
		// is left out now and read from the rows by the next advance. Where that does not help, all of it is.
		damaged++
		repair := s.lose
		if damaged > mends {
			repair = s.repair
		}
		if err = repair(ctx, r, c, err); err != nil {
			return err
		}
	}
}

// mends is how many times a search or change leaves out damaged files before the whole index is rebuilt.
const mends = 3

// errNotWhole is the error of reading a state that the corpus never had.
var errNotWhole = errors.New("index is between two states")

// target returns the target of r, nil before the first use.
func (r *replica) target() Target {
	if t := r.opened.Load(); t != nil {
		return *t
	}
	return nil
}

// use runs use on the present state.
func (r *replica) use(ctx context.Context, use func(View) error) error {
	x, err := r.view(ctx)
	if err != nil {
		return err
	}
	defer x.Release()
	if x.Seq() < r.whole.Load() || x.Partial() {
		return errNotWhole
	}
	return use(x)
}

// hide keeps searches from states of the target before a change. The caller has the turn.
func (r *replica) hide(before int64) { r.whole.Store(max(r.whole.Load(), before)) }

// view returns the present state of the target that is in use.
func (r *replica) view(ctx context.Context) (View, error) {
	for {
		t := r.opened.Load()
		x, err := (*t).View(ctx)
		if r.opened.Load() == t {
			return x, err
		}
		if err == nil {
			x.Release() // another one has taken its place, and it may have been closed before
		}
	}
}

// turn is had by one at a time.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the turn, at most as long as ctx lasts. The caller gives it back.
func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// try takes the turn if nobody has it.
func (t turn) try() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

func (t turn) give() { <-t }

// hold acquires the replica of c, or of its present generation if it has been reset.
func (s *Set) hold(ctx context.Context, c corpus.Corpus) (*replica, corpus.Corpus, error) {
	r, err := s.acquire(c)
	if err == errOtherEpoch {
		if c, err = s.refresh(ctx, c); err == nil {
			r, err = s.acquire(c)
		}
	}
	return r, c, err
}

// refresh reads c again when its epoch differs from the replica's, as one of the two is from before a reset.
func (s *Set) refresh(ctx context.Context, c corpus.Corpus) (corpus.Corpus, error) {
	now, err := corpus.Find(ctx, s.cfg.Corpora, c.Key)
	if err != nil {
		return c, err
	}
	s.discard(c.No, false, func(r *replica) bool { return now.No != c.No || r.epoch != now.Epoch })
	return now, nil
}

// discard removes the open replica of a corpus if it is obsolete, and closes it as soon as nobody uses it; gone drops what its
// target keeps, too. It reports whether there was one.
func (s *Set) discard(corpusNo int64, gone bool, obsolete func(*replica) bool) bool {
	s.mu.Lock()
	r := s.open[corpusNo]
	found, idle := r != nil && obsolete(r), false
	if found {
		delete(s.open, corpusNo)
		r.stale, r.gone = true, gone
		idle = r.refs == 0
	}
	s.mu.Unlock()
	switch {
	case idle:
		s.shut(r)
	case found:
		if x, ok := r.target().(interface{ Halt() }); ok {
			x.Halt() // nobody needs what a merge would make, and its files go now
		}
	}
	return found
}

var errOtherEpoch = errors.New("the replica belongs to another life of the corpus")

func (s *Set) acquire(c corpus.Corpus) (*replica, error) {
	s.mu.Lock()
	for wait := s.closing[c.No]; wait != nil; wait = s.closing[c.No] {
		s.mu.Unlock()
		<-wait
		s.mu.Lock()
	}
	r := s.open[c.No]
	if r != nil && r.epoch != c.Epoch {
		s.mu.Unlock()
		return nil, errOtherEpoch
	}
	var evicted func()
	if r == nil {
		evicted = s.evict()
		r = newReplica(c.Epoch)
		s.open[c.No] = r
	}
	r.refs++
	r.used = time.Now()
	s.mu.Unlock()
	if evicted != nil {
		evicted()
	}
	return r, nil
}

func (s *Set) release(r *replica) {
	s.mu.Lock()
	r.refs--
	idle := r.stale && r.refs == 0
	s.mu.Unlock()
	if idle {
		s.shut(r)
	}
}

// shut closes a replica that is no longer used or listed.
func (s *Set) shut(r *replica) {
	t := r.opened.Swap(nil)
	if t == nil {
		return
	}
	end := (*t).Close
	if r.gone {
		end = func() error { return (*t).Drop(context.Background()) }
	}
	if err := end(); err != nil {
		s.cfg.Log.Warn("closing an index failed", "error", err)
	}
}

// evict removes the least recently used idle replica when too many are open, and returns a function that closes it. The
// caller holds s.mu and must release it before calling that function, which may write files.
func (s *Set) evict() func() {
	if len(s.open) < s.cfg.MaxOpen {
		return nil
	}
	var oldest int64
	var found *replica
	for no, r := range s.open {
		if r.refs == 0 && (found == nil || r.used.Before(found.used)) {
			oldest, found = no, r
		}
	}
	if found == nil {
		return nil
	}
	delete(s.open, oldest)
	done := make(chan struct{})
	s.closing[oldest] = done
	return func() {
		s.shut(found)
		s.mu.Lock()
		delete(s.closing, oldest)
		s.mu.Unlock()
		close(done)
	}
}

func (s *Set) dir(c corpus.Corpus) string {
	return filepath.Join(s.cfg.Dir, strconv.FormatInt(c.No, 10)+"-"+strconv.FormatUint(uint64(c.Epoch), 36))
}
