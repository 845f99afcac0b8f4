package rebuild_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"

	"quarry/internal/corpus"
	"quarry/internal/corpus/rebuild"
	"quarry/internal/corpus/replica"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/job"
	"quarry/internal/job/jobtest"
)

// node is one corpus in memory, and the index of it that a node has. during runs while that is made anew.
type node struct {
	mu     sync.Mutex
	corpus corpus.Corpus // guarded by mu
	gone   bool          // guarded by mu
	build  int64         // of the index; guarded by mu
	made   int           // how often it was made anew; guarded by mu
	during func() error
}

func newNode() *node { return &node{corpus: corpus.Corpus{No: 3, Key: "c"}} }

func (n *node) Get(_ context.Context, keys ...string) ([]corpus.Corpus, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if keys[0] != n.corpus.Key || n.gone {
		return nil, fault.NotFound("corpus_not_found", keys[0], "corpus %s does not exist", keys[0])
	}
	return []corpus.Corpus{n.corpus}, nil
}

func (n *node) RaiseIndexBuild(_ context.Context, no, build int64) (corpus.Corpus, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if no != n.corpus.No || n.gone {
		return corpus.Corpus{}, fault.NotFound("corpus_not_found", "", "it is gone")
	}
	n.corpus.IndexBuild = max(n.corpus.IndexBuild, build)
	return n.corpus, nil
}

func (n *node) Look(context.Context, corpus.Corpus) (replica.Look, error) {
	return replica.Look{State: replica.Resting, Sequence: 7}, nil
}

func (n *node) Rebuild(_ context.Context, c corpus.Corpus) error {
	n.mu.Lock()
	done := n.build >= c.IndexBuild
	n.mu.Unlock()
	if done {
		return nil
	}
	if n.during != nil {
		if err := n.during(); err != nil {
			return err
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.build, n.made = c.IndexBuild, n.made+1
	return nil
}

// process is one life of the program over the same corpus and jobs.
func process(t *testing.T, n *node, jobs job.Store) (*rebuild.Service, *job.Queue, func()) {
	t.Helper()
	q := job.New(job.Config{Store: jobs, Log: slog.New(slog.DiscardHandler), Alone: true})
	s := rebuild.New(n, n, q)
	q.Handle(job.RebuildVectorIndex, s.Rebuild)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { q.Run(ctx); close(done) }()
	return s, q, func() { cancel(); <-done }
}

func request(t *testing.T, s *rebuild.Service) id.Job {
	t.Helper()
	no, err := s.Request(t.Context(), "c", "ann")
	if err != nil {
		t.Fatal(err)
	}
	return no
}

func ended(t *testing.T, q *job.Queue, no id.Job, state job.State) job.Job {
	t.Helper()
	j, err := q.Wait(t.Context(), "", no)
	if err != nil || j.State != state {
		t.Fatalf("job: %+v, %v; want %s", j, err, state)
	}
	return j
}

// TestRebuild proves that a job raises the number of the corpus by one and has the node follow it, that it is the job of
// every call until it has ended, and that the next one is another.
func TestRebuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode()
		on := make(chan struct{})
		n.during = func() error { <-on; return nil }
		s, q, stop := process(t, n, &jobtest.Memory{})
		defer stop()
		first := request(t, s)
		synctest.Wait() // it runs
		if again := request(t, s); again != first {
			t.Errorf("while %s runs %s is begun", first, again)
		}
		close(on)
		j := ended(t, q, first, job.Completed)
		if j.Type != job.RebuildVectorIndex || j.CreatedBy != "ann" || len(j.CorpusKeys) != 1 || j.CorpusKeys[0] != "c" || j.Comment != "the new index is in use, number 1" {
			t.Errorf("job %+v", j)
		}
		second := request(t, s)
		ended(t, q, second, job.Completed)
		if second == first || n.corpus.IndexBuild != 2 || n.made != 2 {
			t.Errorf("jobs %s, %s; number %d, made %d times", first, second, n.corpus.IndexBuild, n.made)
		}
	})
}

// TestRebuildGoesOn proves that a job that was cut off, that failed once, or whose corpus was reset meanwhile goes on with the
// same number.
func TestRebuildGoesOn(t *testing.T) {
	for name, fails := range map[string]error{
		"cut": context.Canceled, "failed": errors.New("the disk is full"), "reset": fault.Conflict("corpus_changed", "it was reset"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, jobs := newNode(), &jobtest.Memory{}
				begun, times := make(chan struct{}), 0
				n.during = func() error {
					if times++; times > 1 {
						return nil
					}
					close(begun)
					return fails
				}
				s, q, stop := process(t, n, jobs)
				no := request(t, s)
				<-begun
				if name == "cut" {
					stop()
					_, q, stop = process(t, n, jobs)
				}
				defer stop()
				ended(t, q, no, job.Completed)
				if n.corpus.IndexBuild != 1 || n.made != 1 || times != 2 {
					t.Errorf("number %d, made %d times in %d", n.corpus.IndexBuild, n.made, times)
				}
			})
		})
	}
}

// TestRebuildGone proves that a job whose corpus was deleted, or whose key another one has by now, ends aborted.
func TestRebuildGone(t *testing.T) {
	for name, change := range map[string]func(n *node){
		"deleted": func(n *node) { n.gone = true }, "another": func(n *node) { n.corpus.No++ },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, jobs := newNode(), &jobtest.Memory{}
				q := job.New(job.Config{Store: jobs, Log: slog.New(slog.DiscardHandler), Alone: true})
				no := request(t, rebuild.New(n, n, q)) // nobody runs it yet
				change(n)
				_, q, stop := process(t, n, jobs)
				defer stop()
				ended(t, q, no, job.Aborted)
				if n.made != 0 || n.corpus.IndexBuild != 0 {
					t.Errorf("number %d, made %d times", n.corpus.IndexBuild, n.made)
				}
			})
		})
	}
}

// TestUnknown proves that neither a look nor a rebuild finds a corpus that is not there.
func TestUnknown(t *testing.T) {
	t.Parallel()
	n := newNode()
	s := rebuild.New(n, n, job.New(job.Config{Store: &jobtest.Memory{}}))
	if look, err := s.Look(t.Context(), "c"); err != nil || look.Sequence != 7 {
		t.Errorf("%+v, %v", look, err)
	}
	if _, err := s.Look(t.Context(), "d"); !fault.Is(err, fault.KindNotFound) {
		t.Error(err)
	}
	if _, err := s.Request(t.Context(), "d", "ann"); !fault.Is(err, fault.KindNotFound) {
		t.Error(err)
	}
}
