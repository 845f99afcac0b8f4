package attribute

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quarry/internal/corpus"
	"quarry/internal/corpus/metaquery"
	"quarry/internal/expr/filter"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/job"
)

// Replacement is the command to replace the attributes of a corpus; Attributes is the complete new list.
type Replacement struct {
	Corpus     string
	Attributes []corpus.Attribute
	By         string // username
}

// input is the input of the job.
type input struct {
	CorpusNo   int64
	Corpus     string // key
	Attributes []corpus.Attribute
}

// progress is the checkpoint of the job.
type progress struct {
	Version int64 // of the new attributes
}

// Request checks a replacement and enqueues its job: fault.KindInvalid as at the creation of a corpus.
func (s *Service) Request(ctx context.Context, r Replacement) (id.Job, error) {
	if err := corpus.CheckAttributes(r.Attributes); err != nil {
		return "", err
	}
	c, err := corpus.Find(ctx, s.corpora, r.Corpus)
	if err != nil {
		return "", err
	}
	j, err := s.jobs.Enqueue(ctx, job.Request{
		Type: job.ReplaceFilterAttributes, CreatedBy: r.By, Corpora: []string{r.Corpus}, Lane: corpus.Lane(c.No),
		Input: input{c.No, r.Corpus, r.Attributes},
	})
	return j.ID, err
}

// Replace is the handler of the jobs. The old attributes stay in use until the switch, which is one write of the corpus's
// row. After a crash the corpus has either the old attributes, and the job starts again, or the new ones, and only the
// report remains to be done.
func (s *Service) Replace(ctx context.Context, w *job.Work) (comment string, err error) {
	var in input
	if err := w.Input(&in); err != nil {
		return "", err
	}
	var p progress
	if _, err := w.Progress(&p); err != nil {
		return "", err
	}
	for {
		c, err := s.reread(ctx, in)
		if err != nil {
			return "", err
		}
		if p.Version > 0 && c.SchemaVersion >= p.Version {
			return s.report(ctx, c, in.Attributes)
		}
		p.Version = c.SchemaVersion + 1
		if err := w.Save(ctx, p, fmt.Sprintf("making %s; the old ones stay in use until they are ready", countText(len(in.Attributes)))); err != nil {
			return "", err
		}
		next := c
		next.Attributes, next.SchemaVersion = in.Attributes, p.Version
		err = s.index.Retype(ctx, next, func() (corpus.Corpus, error) {
			return s.corpora.ReplaceAttributes(ctx, c.No, in.Attributes, p.Version)
		})
		if f, ok := fault.As(err); ok && f.Code == "corpus_changed" && ctx.Err() == nil {
			continue // reset meanwhile: start again
		}
		if fault.Is(err, fault.KindNotFound) { // the corpus, deleted meanwhile
			err = job.ErrAborted
		}
		if err != nil {
			return "", err
		}
	}
}

// reread returns the corpus of the job; job.ErrAborted when it was deleted.
func (s *Service) reread(ctx context.Context, in input) (corpus.Corpus, error) {
	c, err := corpus.Find(ctx, s.corpora, in.Corpus)
	if fault.Is(err, fault.KindNotFound) || err == nil && c.No != in.CorpusNo {
		err = job.ErrAborted
	}
	return c, err
}

func countText(n int) string {
	if n == 1 {
		return "1 filter attribute"
	}
	return fmt.Sprintf("%d filter attributes", n)
}

// report counts the stored values that don't fit the attributes.
func (s *Service) report(ctx context.Context, c corpus.Corpus, all []corpus.Attribute) (string, error) {
	c.Attributes = all
	schema, err := c.Schema()
	if err != nil {
		return "", fmt.Errorf("schema of %s: %w", c.Key, err)
	}
	m := misfits{schema: schema, of: map[string]int{}, doc: newPicker(schema, filter.Document), part: newPicker(schema, filter.Part)}
	for _, a := range all {
		m.parts = m.parts || a.Level == "part"
	}
	if err := s.rows.Metadata(ctx, c.No, m.parts, m.row); err != nil {
		return "", fmt.Errorf("check stored metadata of %s: %w", c.Key, err)
	}
	return fmt.Sprintf("%s in use; %s", countText(len(all)), m.text()), nil
}

// misfits counts the stored values that don't fit their attributes.
type misfits struct {
	schema    *filter.Schema
	parts     bool
	doc, part picker
	no        int64
	of        map[string]int // qualified name → values
}

func (m *misfits) row(r metaquery.Row) error {
	if r.No != m.no {
		m.no = r.No
		if err := m.count(filter.Document, m.doc, r.Metadata); err != nil {
			return fmt.Errorf("metadata of document %q: %w", r.ID, err)
		}
	}
	if !m.parts {
		return nil
	}
	if err := m.count(filter.Part, m.part, r.Part); err != nil {
		return fmt.Errorf("metadata of part %d of document %q: %w", r.Ord, r.ID, err)
	}
	return nil
}

func (m *misfits) count(l filter.Level, p picker, raw []byte) error {
	metadata, err := p.pick(raw)
	if err != nil {
		return err
	}
	_, bad := m.schema.Values(l, metadata)
	for _, b := range bad {
		m.of[l.String()+"."+b.Name]++
	}
	return nil
}

func (m *misfits) text() string {
	if len(m.of) == 0 {
		return "every stored value fits"
	}
	total := 0
	var each []string
	for name, n := range m.of {
		total += n
		each = append(each, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(each)
	const most = 10
	if len(each) > most {
		each = append(each[:most], "…")
	}
	if total == 1 {
		return fmt.Sprintf("1 stored value does not fit and counts as NULL (%s)", strings.Join(each, ", "))
	}
	return fmt.Sprintf("%d stored values do not fit and count as NULL (%s)", total, strings.Join(each, ", "))
}
