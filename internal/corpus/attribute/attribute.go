// Package attribute is the use cases over the filter attributes of a corpus: which values they have (contract:
// filter_attribute_stats), and their replacement as a job. Attributes of a new corpus are package corpus's business,
// filters package filter's. It is called by the handlers of corpora.
package attribute

import (
	"context"
	"fmt"
	"strings"

	"quarry/internal/corpus"
	"quarry/internal/corpus/metaquery"
	"quarry/internal/expr/filter"
	"quarry/internal/fault"
	"quarry/internal/job"
)

// Corpora reads corpora and writes their attributes, as corpus.Store does.
type Corpora interface {
	corpus.Reader
	// ReplaceAttributes replaces the attributes of a corpus. version must follow the present one: fault.KindConflict
	// "corpus_changed" when it does not, or when the corpus was deleted.
	ReplaceAttributes(ctx context.Context, corpusNo int64, all []corpus.Attribute, version int64) (corpus.Corpus, error)
}

// Rows reads stored metadata.
type Rows interface {
	// Metadata hands every document of the corpus to visit, or every part, one after another by document number and
	// part order, as of one snapshot. An error of visit ends the pass and is returned.
	Metadata(ctx context.Context, corpusNo int64, parts bool, visit func(metaquery.Row) error) error
}

// Index rebuilds the columns of attributes in the searchable copy of a corpus.
type Index interface {
	// Retype builds the columns of next's attributes beside those in use, runs commit and then switches to them.
	Retype(ctx context.Context, next corpus.Corpus, commit func() (corpus.Corpus, error)) error
}

// Jobs takes requests for jobs.
type Jobs interface {
	Enqueue(ctx context.Context, r job.Request) (job.Job, error)
}

// Service is the use cases. Safe for concurrent use.
type Service struct {
	corpora Corpora
	rows    Rows
	index   Index
	jobs    Jobs
}

// New returns a service. Its Replace is to be registered as the handler of job.ReplaceFilterAttributes.
func New(c Corpora, r Rows, i Index, j Jobs) *Service { return &Service{c, r, i, j} }

// Query asks for statistics of a corpus.
type Query struct {
	Corpus    string
	Fields    []string // qualified names, such as "doc.year"; none = every declared attribute
	Filter    string   // what is counted, "" = everything
	MaxValues int      // per attribute
}

// Stat is the statistics of one attribute.
type Stat struct {
	Name        string // qualified
	Type        filter.Type
	Description string
	Values      []Count  // by descending count, then ascending by value; at most as many as asked for
	Numbers     *Numbers // of all values, also those not in Values; nil without values and for other types
}

// Count is how many documents, or parts, hold a value.
type Count struct {
	Value filter.Value
	N     int64
}

// Numbers sums up numeric values.
type Numbers struct {
	Min, Max filter.Value
	Avg, Sum float64
}

// field is a requested attribute.
type field struct {
	ordinal int
	name    string
	about   string
}

// fields finds the attributes by their qualified names; a name that is asked for twice is answered once.
func fields(c *corpus.Corpus, schema *filter.Schema, names []string) ([]field, error) {
	about := map[string]string{}
	var declared []string
	for _, a := range c.Attributes {
		name := "doc." + a.Name
		if a.Level == "part" {
			name = "part." + a.Name
		}
		about[name] = a.Description
		declared = append(declared, name)
	}
	if len(names) == 0 {
		names = declared
	}
	var out []field
	seen := map[int]bool{}
	for _, name := range names {
		prefix, rest, ok := strings.Cut(name, ".")
		level := map[string]filter.Level{"doc": filter.Document, "part": filter.Part}[prefix]
		if !ok || prefix != "doc" && prefix != "part" || rest == "" {
			return nil, fault.InvalidField("fields", "must list names such as doc.year or part.kind, not %q", name)
		}
		i, ok := schema.Find(level, rest)
		if !ok {
			return nil, fault.InvalidField("fields", "%s is no filter attribute of corpus %s", name, c.Key)
		}
		if !seen[i] {
			seen[i] = true
			out = append(out, field{i, name, about[name]})
		}
	}
	return out, nil
}

// Stats computes statistics from the stored rows. fault.KindInvalid under fields or metadata_filter.
func (s *Service) Stats(ctx context.Context, q Query) ([]Stat, error) {
	c, err := corpus.Find(ctx, s.corpora, q.Corpus)
	if err != nil {
		return nil, err
	}
	schema, err := c.Schema()
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", c.Key, err)
	}
	asked, err := fields(&c, schema, q.Fields)
	if err != nil {
		return nil, err
	}
	chosen, err := filter.Parse(q.Filter, schema, filter.Both)
	if err != nil {
		return nil, err
	}
	t := newTally(schema, asked, chosen)
	if err := s.rows.Metadata(ctx, c.No, t.parts, t.row); err != nil {
		return nil, fmt.Errorf("count attributes of %s: %w", c.Key, err)
	}
	t.close()
	out := make([]Stat, len(asked))
	for i, f := range asked {
		out[i] = Stat{Name: f.name, Type: schema.Attributes()[f.ordinal].Type, Description: f.about}
		out[i].Values, out[i].Numbers = t.sums[i].result(q.MaxValues)
	}
	return out, nil
}
