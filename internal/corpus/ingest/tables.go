package ingest

import (
	"bytes"
	"context"
	"fmt"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/draft"
	"quarry/internal/corpus/ingest/summary"
	"quarry/internal/fault"
)

// Extractor finds tables in files whose format does not declare them.
type Extractor struct{ Name, Description string }

// TableExtractor is the only one. Its name is the one that clients of the contract send.
var TableExtractor = Extractor{
	"gmft", "Finds the tables of PDF files that have a text layer, ruled or not, by the places of their words and lines: spans, rows of headers, cells of " +
		"several lines, tables that go on over pages, captions. It is deterministic and asks no model. Tables of other formats are always read.",
}

// Tables are how the tables of a file are found and described.
type Tables struct {
	Extractor *string          // name; nil is the default one
	Generate  *summary.Request // how a language model describes each; nil asks none
}

// Fields of an upload that faults about tables name.
const (
	extractorField  = "table_extraction_config.extractor.name"
	generationField = "table_extraction_config.generation"
)

// Check returns a fault for an extractor that does not exist.
func (t *Tables) Check() error {
	if t == nil || t.Extractor == nil || *t.Extractor == TableExtractor.Name {
		return nil
	}
	return fault.InvalidField(extractorField, "must be %q, not %q; GET /v2/table_extractors lists the extractors", TableExtractor.Name, *t.Extractor)
}

// readUpload returns the document of a file with its tables described. What is wrong with the request is found before the file is parsed.
func (s *Service) readUpload(ctx context.Context, c corpus.Corpus, u *Upload) (document.Draft, error) {
	if err := u.Tables.Check(); err != nil {
		return nil, err
	}
	if u.Tables == nil || u.Tables.Generate == nil {
		return s.Read(ctx, u)
	}
	plan, err := s.cfg.Summaries.Plan(ctx, *u.Tables.Generate)
	if err != nil {
		return nil, fault.Under(err, generationField)
	}
	d, err := s.whole(ctx, u)
	if err != nil {
		return nil, err
	}
	tables, err := s.undescribed(ctx, c, u, tablesOf(d.Sections, nil))
	if err != nil || len(tables) == 0 {
		return d, err
	}
	describe := func(ctx context.Context) error { return plan.Describe(ctx, tables) }
	if u.Outside != nil && plan.Waits() {
		err = u.Outside(ctx, describe)
	} else {
		err = describe(ctx)
	}
	return d, fault.Under(err, generationField)
}

// tablesOf adds the tables of sections in reading order, and gives each its id.
func tablesOf(sections []draft.Section, all []*document.Table) []*document.Table {
	for i := range sections {
		for j := range sections[i].Tables {
			t := &sections[i].Tables[j]
			all = append(all, t)
			t.ID = fmt.Sprintf("table_%d", len(all))
		}
		all = tablesOf(sections[i].Sections, all)
	}
	return all
}

// undescribed returns the tables that a model is to describe. Those of a document that was made of the same upload have their
// descriptions there. Another document with the id is fault.KindConflict before the model is asked, unless it may be replaced.
func (s *Service) undescribed(ctx context.Context, c corpus.Corpus, u *Upload, all []*document.Table) ([]*document.Table, error) {
	if len(all) == 0 {
		return nil, nil
	}
	stored, err := s.cfg.Documents.Get(ctx, c.No, u.ID, false)
	switch {
	case fault.Is(err, fault.KindNotFound):
		return all, nil
	case err != nil:
		return nil, fmt.Errorf("look for document: %w", err)
	case stored.Digest != draft.FileDigest(u.Data, u.Options...):
		if u.Replace {
			return all, nil
		}
		return nil, conflict(&document.Exists{ID: u.ID, Digest: stored.Digest}, "")
	}
	var rest []*document.Table
	for i, t := range all {
		if i < len(stored.Tables) && stored.Tables[i].ID == t.ID && stored.Tables[i].Title == t.Title && bytes.Equal(stored.Tables[i].Data, t.Data) {
			t.Description = stored.Tables[i].Description
		}
		if t.Description == "" {
			rest = append(rest, t)
		}
	}
	return rest, nil
}
