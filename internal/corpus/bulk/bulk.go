// Package bulk deletes many documents, or changes their metadata, as a job. A job runs in small transactions and resumes
// after an interruption without counting or changing a document twice. It selects and changes documents through package
// document; the queue is in package job. The handlers of httpapi/jobs call it.
package bulk

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"quarry/internal/clock"
	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/metadata"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/job"
)

// MaxIDs is how many documents one operation may name (contract: Limits/document_ids).
const MaxIDs = 10_000

// Selection selects the documents of an operation: those with the ids or, without ids, those that pass the filter.
type Selection struct {
	Corpus    string // key
	IDs       []string
	Filter    string // over document metadata
	CreatedBy string // username

	job id.Job // "" for a fresh id
}

// Begun is an operation whose job is enqueued.
type Begun struct {
	Job      id.Job
	Began    time.Time
	Filtered bool // the filter selects: only documents created or updated up to Began qualify
}

// Counts is what an operation did. Skipped documents are newer than its beginning, or already as asked for; failed ones
// don't exist or can't take the change.
type Counts struct {
	Done    int64 `json:"done"`
	Skipped int64 `json:"skipped"`
	Failed  int64 `json:"failed"`
}

// Documents finds documents, as document.Service does.
type Documents interface {
	// Select takes one step through the documents of a corpus.
	Select(ctx context.Context, c corpus.Corpus, q document.Selection) (found []document.Document, after string, err error)
}

// Store changes documents, as document.Store does.
type Store interface {
	// Get reads a document.
	Get(ctx context.Context, corpusNo int64, docID string, parts bool) (*document.Document, error)
	// Heads reads documents without parts by row number, in order of No; those that no longer exist are left out.
	Heads(ctx context.Context, corpusNo int64, nos []int64) ([]document.Document, error)
	// DeleteMany removes documents up to a cutoff in one transaction.
	DeleteMany(ctx context.Context, corpusNo, epoch int64, ids []string, cutoff time.Time) (seq int64, deleted int, err error)
	// Amend changes the metadata of documents in one transaction.
	Amend(ctx context.Context, corpusNo, epoch int64, edits []document.Edit) (seq int64, err error)
}

// Config is what a Service needs.
type Config struct {
	Corpora   corpus.Reader
	Documents Documents
	Store     Store
	Index     document.Indexer
	Jobs      *job.Queue
}

// Service is the bulk operations. It is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a service and makes it the handler of its jobs.
func New(c Config) *Service {
	s := &Service{c}
	c.Jobs.Handle(job.BulkDeleteDocuments, s.delete)
	c.Jobs.Handle(job.BulkUpdateDocumentMetadata, s.update)
	return s
}

// input is the input of a job. No and Epoch identify the generation of the corpus that the request was about.
type input struct {
	Key      string          `json:"key"`
	No       int64           `json:"no"`
	Epoch    int64           `json:"epoch"`
	IDs      []string        `json:"ids,omitempty"`
	Nos      []int64         `json:"nos,omitempty"` // of the documents with IDs, as they were at Began; see DeleteChosen
	Filter   string          `json:"filter,omitempty"`
	Began    time.Time       `json:"began"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Merge    bool            `json:"merge,omitempty"`
}

func (in *input) filtered() bool { return len(in.IDs) == 0 }

// cutoff returns the latest time of change of the documents to select. It is zero with ids: a client that names a
// document means its present state. Documents that a filter has chosen beforehand are meant as they were then.
func (in *input) cutoff() time.Time {
	if in.filtered() || len(in.Nos) > 0 {
		return in.Began
	}
	return time.Time{}
}

// Delete enqueues the deletion of documents.
func (s *Service) Delete(ctx context.Context, sel Selection) (Begun, error) {
	in, _, err := s.prepare(ctx, sel)
	if err != nil {
		return Begun{}, err
	}
	return s.begin(ctx, job.BulkDeleteDocuments, sel, in)
}

// Update enqueues a change of metadata. The members of given are merged into the documents' metadata or, with replace,
// become all of it. fault.KindInvalid for values that do not fit the corpus's attributes.
func (s *Service) Update(ctx context.Context, sel Selection, given json.RawMessage, replace bool) (Begun, error) {
	in, c, err := s.prepare(ctx, sel)
	if err != nil {
		return Begun{}, err
	}
	in.Metadata, in.Merge = given, !replace
	if _, err := metadata.NewAmendment(c, given, in.Merge); err != nil {
		return Begun{}, err
	}
	return s.begin(ctx, job.BulkUpdateDocumentMetadata, sel, in)
}

// prepare checks a selection and sets the time at which the operation began.
func (s *Service) prepare(ctx context.Context, sel Selection) (input, corpus.Corpus, error) {
	c, err := corpus.Find(ctx, s.cfg.Corpora, sel.Corpus)
	if err != nil {
		return input{}, c, err
	}
	in := input{Key: c.Key, No: c.No, Epoch: c.Epoch, Began: clock.Now()}
	switch {
	case len(sel.IDs) > MaxIDs:
		return in, c, fault.InvalidField("document_ids", "names %d documents; at most %d are allowed at once", len(sel.IDs), MaxIDs)
	case len(sel.IDs) > 0:
		in.IDs = distinct(sel.IDs)
	case sel.Filter == "":
		return in, c, fault.Invalid().Field("document_ids", "give document_ids or metadata_filter, to say which documents are meant").
			Field("metadata_filter", "give document_ids or metadata_filter, to say which documents are meant")
	default:
		in.Filter = sel.Filter
		if err := document.CheckSelection(c, sel.Filter); err != nil {
			return in, c, err
		}
	}
	return in, c, nil
}

// distinct returns ids without repetitions.
func distinct(ids []string) (out []string) {
	seen := make(map[string]bool, len(ids))
	for _, v := range ids {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

func (s *Service) begin(ctx context.Context, t job.Type, sel Selection, in input) (Begun, error) {
	j, err := s.cfg.Jobs.Enqueue(ctx, job.Request{
		ID: sel.job, Type: t, CreatedBy: sel.CreatedBy, Corpora: []string{in.Key}, Lane: corpus.Lane(in.No), Input: in,
	})
	if err != nil {
		return Begun{}, err
	}
	return Begun{Job: j.ID, Began: in.Began, Filtered: in.filtered()}, nil
}

// Wait returns the counts of an operation that has ended. If ctx expires before, it returns
// fault.KindTimeout and the operation continues.
func (s *Service) Wait(ctx context.Context, b Begun) (Counts, error) {
	j, err := s.cfg.Jobs.Wait(ctx, "", b.Job)
	if ctx.Err() != nil {
		return Counts{}, fault.Timeout("job %s did not end in time; it goes on, GET /v2/jobs/%s shows how far it is", b.Job, b.Job).Because(ctx.Err())
	}
	if err != nil {
		return Counts{}, err
	}
	switch j.State {
	case job.Aborted:
		return Counts{}, fault.NotFound("corpus_not_found", j.CorpusKeys[0], "job %s was aborted, as corpus %s was deleted", j.ID, j.CorpusKeys[0])
	case job.Failed:
		return Counts{}, fault.Conflict("job_failed", "job %s failed: %s", j.ID, j.Comment)
	}
	var p progress
	if err := json.Unmarshal(j.Progress, &p); err != nil {
		return Counts{}, fmt.Errorf("read counts of job %s: %w", j.ID, err)
	}
	return p.Counts, nil
}
