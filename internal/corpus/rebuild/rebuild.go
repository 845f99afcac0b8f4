// Package rebuild is the use cases over the search index of a corpus as an object of its own: how it is doing, and making it
// anew as a job. What the index holds and how it is exchanged is package replica's business. It is called by the handlers of
// corpora.
package rebuild

import (
	"context"
	"fmt"
	"strconv"

	"quarry/internal/corpus"
	"quarry/internal/corpus/replica"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/job"
)

// Corpora reads corpora and raises the numbers of their indexes.
type Corpora interface {
	corpus.Reader
	// RaiseIndexBuild sets the number of the index to build unless it is that or higher, and returns the corpus;
	// fault.KindNotFound when it was deleted.
	RaiseIndexBuild(ctx context.Context, corpusNo, build int64) (corpus.Corpus, error)
}

// Index is the indexes of this node.
type Index interface {
	// Look describes the index of c as it stands.
	Look(ctx context.Context, c corpus.Corpus) (replica.Look, error)
	// Rebuild returns when the index of c is of c.IndexBuild; until then the old one serves.
	Rebuild(ctx context.Context, c corpus.Corpus) error
}

// Jobs takes requests for jobs.
type Jobs interface {
	Enqueue(ctx context.Context, r job.Request) (job.Job, error)
}

// Service is the use cases. Safe for concurrent use.
type Service struct {
	corpora Corpora
	index   Index
	jobs    Jobs
}

// New returns a service. Its Rebuild is to be registered as the handler of job.RebuildVectorIndex.
func New(c Corpora, i Index, j Jobs) *Service { return &Service{c, i, j} }

// Look describes the index of a corpus on this node.
func (s *Service) Look(ctx context.Context, key string) (replica.Look, error) {
	c, err := corpus.Find(ctx, s.corpora, key)
	if err != nil {
		return replica.Look{}, err
	}
	return s.index.Look(ctx, c)
}

// input is the input of the job.
type input struct {
	CorpusNo int64
	Corpus   string // key
}

// progress is the checkpoint of the job.
type progress struct {
	Build int64 // number of the index that the job makes
}

// Request returns the job that makes the index of a corpus anew: the one that waits or runs, else a new one. The job has
// a lane of its own: it changes nothing that other jobs of the corpus read or write.
func (s *Service) Request(ctx context.Context, key, by string) (id.Job, error) {
	c, err := corpus.Find(ctx, s.corpora, key)
	if err != nil {
		return "", err
	}
	j, err := s.jobs.Enqueue(ctx, job.Request{
		Type: job.RebuildVectorIndex, CreatedBy: by, Corpora: []string{key}, Lane: "index:" + strconv.FormatInt(c.No, 10), Once: true,
		Input: input{c.No, key},
	})
	return j.ID, err
}

// Rebuild is the handler of the jobs. It chooses a number, which its checkpoint keeps, raises that of the corpus to it and has
// this node make its index of that number. After a crash it goes on with the same number, so that an index that was
// finished before is not made again.
func (s *Service) Rebuild(ctx context.Context, w *job.Work) (comment string, err error) {
	var in input
	if err := w.Input(&in); err != nil {
		return "", err
	}
	var p progress
	if _, err := w.Progress(&p); err != nil {
		return "", err
	}
	for {
		c, err := corpus.Find(ctx, s.corpora, in.Corpus)
		if err == nil && c.No != in.CorpusNo {
			return "", job.ErrAborted
		}
		if err == nil && p.Build == 0 {
			p.Build = c.IndexBuild + 1
			err = w.Save(ctx, p, "making the index anew; the old one serves until it is ready")
		}
		if err == nil {
			c, err = s.corpora.RaiseIndexBuild(ctx, in.CorpusNo, p.Build)
		}
		if err == nil {
			err = s.index.Rebuild(ctx, c)
		}
		switch f, ok := fault.As(err); {
		case err == nil:
			return fmt.Sprintf("the new index is in use, number %d", p.Build), nil
		case ok && f.Code == "corpus_changed" && ctx.Err() == nil: // reset meanwhile: the index of now is a new one
		case ok && f.Kind == fault.KindNotFound: // the corpus, deleted meanwhile
			return "", job.ErrAborted
		default:
			return "", err
		}
	}
}
