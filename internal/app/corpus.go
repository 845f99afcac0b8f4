package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"quarry/internal/blob"
	"quarry/internal/config"
	"quarry/internal/corpus"
	"quarry/internal/corpus/attribute"
	"quarry/internal/corpus/bulk"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/ingest"
	"quarry/internal/corpus/ingest/summary"
	"quarry/internal/corpus/metaquery"
	"quarry/internal/corpus/rebuild"
	"quarry/internal/corpus/replica"
	"quarry/internal/embed"
	"quarry/internal/httpapi"
	httpcorpora "quarry/internal/httpapi/corpora"
	httpdocuments "quarry/internal/httpapi/documents"
	httpjobs "quarry/internal/httpapi/jobs"
	httpqueries "quarry/internal/httpapi/queries"
	"quarry/internal/job"
	"quarry/internal/llm"
	"quarry/internal/page"
	"quarry/internal/reader"
	"quarry/internal/store"
	"quarry/internal/store/corpora"
	"quarry/internal/store/documents"
	"quarry/internal/store/jobs"
)

// corpusServices keep corpora and documents, their indexes, and the jobs that change many of them.
type corpusServices struct {
	encoders   *embed.Registry
	replicas   *replica.Set
	behind     []corpus.Corpus // whose indexes are to be brought up at the start
	jobs       *job.Queue
	rows       *corpora.Store
	texts      *documents.Store
	containers *corpus.Service
	ingest     *ingest.Service
	documents  *document.Service
	bulk       *bulk.Service
	attributes *attribute.Service
	indexes    *rebuild.Service
}

// openCorpus builds the services and drops the indexes of corpora that are gone. The replicas of the result must be
// closed.
func openCorpus(ctx context.Context, cfg config.Config, db *store.DB, kept blob.Store, files *reader.Pool, encoders *embed.Registry, models llm.Models, scans ingest.OCR, log *slog.Logger) (*corpusServices, error) {
	rows, texts := corpora.New(db), documents.New(db)
	replicas := replica.New(replica.Config{
		Dir: filepath.Join(cfg.Data, indexFolder), Documents: texts, Corpora: rows, Encoders: encoders, Log: log,
		Rest: time.Duration(cfg.IndexRestMinutes) * time.Minute,
	})
	behind, err := replicas.Reconcile(ctx)
	if err != nil {
		return nil, errors.Join(err, replicas.Close())
	}
	queue := job.New(job.Config{Store: jobs.New(db), Log: log, Alone: cfg.Database == ""}) // the folder's lock keeps others out
	adding := ingest.Config{
		Corpora: rows, Documents: texts, Encoders: encoders, Index: replicas, Pictures: cfg.KeepImages,
		Summaries: summary.New(models), OCR: scans,
	}
	if cfg.KeepFiles {
		adding.Files = kept
	}
	if files != nil {
		adding.Reader = files
	}
	c := &corpusServices{
		encoders: encoders, replicas: replicas, behind: behind, jobs: queue, rows: rows, texts: texts,
		containers: corpus.New(rows, encoders, dropped{replicas, queue}),
		ingest:     ingest.New(adding),
		documents:  document.NewService(texts, rows, replicas, kept, int(cfg.MaxDeletes)),
		attributes: attribute.New(rows, texts, replicas, queue),
		indexes:    rebuild.New(rows, replicas, queue),
	}
	c.bulk = bulk.New(bulk.Config{Corpora: rows, Documents: c.documents, Store: texts, Index: replicas, Jobs: queue})
	queue.Handle(job.ReplaceFilterAttributes, c.attributes.Replace)
	queue.Handle(job.RebuildVectorIndex, c.indexes.Rebuild)
	return c, nil
}

// newReader returns what parses files, by the settings.
func newReader(cfg config.Config, worker []string, log *slog.Logger) *reader.Pool {
	return reader.New(reader.Config{
		Command: worker, Memory: cfg.ParseMemory, Time: parseTime(cfg), Log: log,
	})
}

// parseTime returns how long a file may be parsed, and a page of it recognised.
func parseTime(cfg config.Config) time.Duration { return time.Duration(cfg.ParseSeconds) * time.Second }

// areas returns the handlers of these services.
func (c *corpusServices) areas(cfg config.Config, shares httpcorpora.Shares, cursors *page.Cursors) []httpapi.Area {
	return []httpapi.Area{
		httpcorpora.New(c.containers, c.attributes, c.indexes, shares, cursors),
		httpdocuments.New(c.ingest, c.documents, cursors, httpdocuments.Limits{Upload: cfg.MaxUpload, JSON: cfg.MaxJSON}),
		httpjobs.New(c.jobs, c.bulk, cursors),
		httpqueries.NewMetadata(metaquery.New(c.rows, c.texts)),
	}
}

// dropped hears of corpora that were deleted or reset, and frees what was kept for them.
type dropped struct {
	replicas *replica.Set
	jobs     *job.Queue
}

// Dropped implements corpus.Listener.
func (d dropped) Dropped(c corpus.Corpus) {
	d.replicas.Dropped(c)
	d.jobs.Refresh()
}
