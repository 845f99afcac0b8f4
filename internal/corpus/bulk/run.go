package bulk

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/job"
)

// step is how many documents one transaction changes. Other writes wait for its duration, and a query right after it
// waits until the index shows the changes.
const step = 64

// progress is the checkpoint of a job. It is saved before each step: Pending are the documents of the step, Counts the
// results of all steps before. An interrupted step is therefore known and completed instead of counted twice.
type progress struct {
	Counts
	Total   int64   `json:"total"`             // documents to look at, for the user
	Seen    int64   `json:"seen"`              // documents looked at, Pending included
	After   string  `json:"after,omitempty"`   // where the next step begins: last id looked at
	Last    bool    `json:"last,omitempty"`    // no step follows
	Pending []int64 `json:"pending,omitempty"` // row numbers, as the id of a deleted document may be used again
}

// work is the operation that a job applies to the selected documents.
type work interface {
	// choose reports whether a document is to be changed; if not, it counts the document.
	choose(d *document.Document, n *Counts) bool
	// apply changes documents in one transaction, counts them, and returns the corpus's sequence number.
	apply(ctx context.Context, r *run, docs []document.Document, n *Counts) (seq int64, err error)
	// resume counts the documents among nos that an interrupted apply had changed, and returns the others.
	resume(nos []int64, there []document.Document, n *Counts) (left []document.Document)
}

// run is one job in progress.
type run struct {
	*Service
	job  *job.Work
	in   input
	c    corpus.Corpus
	p    progress
	work work

	saved time.Time // time of the last checkpoint without a step
}

// saveEvery is how often progress is saved while a job passes over documents that it does not change.
const saveEvery = time.Second

// restPerWork is how long a job pauses between steps, as a multiple of the duration of a step: queries must not wait for
// a job. With a third of the time at work the 95th percentile of queries stays well below twice the idle
// one (docs/benchmarks.md).
const restPerWork = 2

// longestRest bounds the pause after a step that took long, perhaps because of a slow disk.
const longestRest = 200 * time.Millisecond

// run walks through the documents selected, step by step, and returns the comment of the finished job.
func (s *Service) run(ctx context.Context, w *job.Work, did string, make func(*run) (work, error)) (string, error) {
	comment, err := s.walk(ctx, w, did, make)
	if fault.Is(err, fault.KindConflict) { // the store words it for a request
		return "", fault.Conflict("corpus_changed", "the corpus was reset while the job was on its way").Because(err)
	}
	return comment, err
}

func (s *Service) walk(ctx context.Context, w *job.Work, did string, make func(*run) (work, error)) (string, error) {
	r := &run{Service: s, job: w}
	if err := w.Input(&r.in); err != nil {
		return "", err
	}
	var err error
	if r.c, err = s.reread(ctx, &r.in); err != nil {
		return "", err
	}
	if r.work, err = make(r); err != nil {
		return "", err
	}
	resumed, err := w.Progress(&r.p)
	if err != nil {
		return "", err
	}
	if !resumed {
		r.p.Total = r.c.Usage.Documents
		if !r.in.filtered() {
			r.p.Total = int64(len(r.in.IDs))
		}
	}
	if err := r.finish(ctx); err != nil {
		return "", err
	}
	for !r.p.Last {
		began := time.Now()
		if err := r.step(ctx); err != nil {
			return "", err
		}
		if !r.p.Last {
			rest(ctx, restPerWork*time.Since(began))
		}
	}
	n := r.p.Counts
	return fmt.Sprintf("%s %s, %s skipped, %s failed", groupDigits(n.Done), did, groupDigits(n.Skipped), groupDigits(n.Failed)), nil
}

// rest pauses to leave the processor to queries.
func rest(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(min(pause, longestRest)):
	case <-ctx.Done():
	}
}

// reread returns the corpus of a job: job.ErrAborted when it was deleted, fault.KindConflict when it was reset.
func (s *Service) reread(ctx context.Context, in *input) (corpus.Corpus, error) {
	c, err := corpus.Find(ctx, s.cfg.Corpora, in.Key)
	switch {
	case fault.Is(err, fault.KindNotFound), err == nil && c.No != in.No:
		return c, job.ErrAborted
	case err == nil && c.Epoch != in.Epoch:
		return c, fault.Conflict("corpus_changed", "corpus %s was reset", c.Key)
	}
	return c, err
}

// finish completes the step in which the job was interrupted, if it was in one.
func (r *run) finish(ctx context.Context) error {
	if len(r.p.Pending) == 0 {
		return nil
	}
	there, err := r.cfg.Store.Heads(ctx, r.c.No, r.p.Pending)
	if err != nil {
		return err
	}
	n := r.p.Counts
	if err := r.apply(ctx, r.work.resume(r.p.Pending, there, &n), &n); err != nil {
		return err
	}
	return r.save(ctx, n)
}

// step chooses the next documents, saves them as pending, and changes them.
func (r *run) step(ctx context.Context) error {
	var docs []document.Document
	var err error
	switch {
	case r.in.filtered():
		docs, err = r.nextMatching(ctx)
	case len(r.in.Nos) > 0:
		docs, err = r.nextChosen(ctx)
	default:
		docs, err = r.nextNamed(ctx)
	}
	if err != nil {
		return err
	}
	if len(docs) > 0 {
		for _, d := range docs {
			r.p.Pending = append(r.p.Pending, d.No)
		}
		if err := r.job.Save(ctx, r.p, r.comment()); err != nil {
			return err
		}
	}
	n := r.p.Counts
	if err := r.apply(ctx, docs, &n); err != nil {
		return err
	}
	if r.p.Last || len(docs) == 0 && time.Since(r.saved) > saveEvery {
		return r.save(ctx, n)
	}
	r.p.Counts, r.p.Pending = n, nil // the next step saves it
	return nil
}

func (r *run) apply(ctx context.Context, docs []document.Document, n *Counts) error {
	if len(docs) == 0 {
		return nil
	}
	seq, err := r.work.apply(ctx, r, docs, n)
	if err != nil {
		return err
	}
	now := r.c
	now.Seq = seq
	_ = r.cfg.Index.CatchUp(ctx, now) // here rather than in the next query, which would do it first
	return nil
}

// save writes the counts of a step that is done.
func (r *run) save(ctx context.Context, n Counts) error {
	r.p.Counts, r.p.Pending, r.saved = n, nil, time.Now()
	return r.job.Save(ctx, r.p, r.comment())
}

func (r *run) comment() string {
	return groupDigits(r.p.Seen) + " of " + groupDigits(r.p.Total) + " documents"
}

// nextMatching returns the documents to change among the next ones that pass the filter.
func (r *run) nextMatching(ctx context.Context) (todo []document.Document, err error) {
	found, after, err := r.cfg.Documents.Select(ctx, r.c, document.Selection{Filter: r.in.Filter, After: r.p.After, Limit: step})
	if err != nil {
		return nil, err
	}
	r.p.After, r.p.Last = after, after == ""
	r.p.Seen = min(r.p.Seen+step, r.p.Total) // the corpus may have grown
	if r.p.Last {
		r.p.Seen = r.p.Total
	}
	for i := range found {
		d := &found[i]
		switch {
		case d.Updated.After(r.in.Began):
			r.p.Skipped++
		case r.work.choose(d, &r.p.Counts):
			todo = append(todo, *d)
		}
	}
	return todo, nil
}

// nextNamed returns the documents to change among the next ones of the list of ids.
func (r *run) nextNamed(ctx context.Context) (todo []document.Document, err error) {
	from := int(r.p.Seen)
	ids := r.in.IDs[from:min(from+step, len(r.in.IDs))]
	r.p.Seen += int64(len(ids))
	r.p.Last = int(r.p.Seen) == len(r.in.IDs)
	for _, docID := range ids {
		d, err := r.cfg.Store.Get(ctx, r.c.No, docID, false)
		switch {
		case fault.Is(err, fault.KindNotFound):
			r.p.Failed++
		case err != nil:
			return nil, err
		case r.work.choose(d, &r.p.Counts):
			todo = append(todo, *d)
		}
	}
	return todo, nil
}

// nextChosen returns the documents to change among the next ones that were chosen beforehand.
func (r *run) nextChosen(ctx context.Context) (todo []document.Document, err error) {
	from := int(r.p.Seen)
	nos := r.in.Nos[from:min(from+step, len(r.in.Nos))]
	r.p.Seen += int64(len(nos))
	r.p.Last = int(r.p.Seen) == len(r.in.Nos)
	there, err := r.cfg.Store.Heads(ctx, r.c.No, nos)
	if err != nil {
		return nil, err
	}
	r.p.Failed += int64(len(nos) - len(there))
	for i := range there {
		if r.work.choose(&there[i], &r.p.Counts) {
			todo = append(todo, there[i])
		}
	}
	return todo, nil
}

// groupDigits writes a number as 12,300.
func groupDigits(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
