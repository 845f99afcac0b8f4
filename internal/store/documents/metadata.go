package documents

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"quarry/internal/corpus/document"
	"quarry/internal/corpus/metaquery"
	"quarry/internal/store"
)

var _ metaquery.Rows = (*Store)(nil)

// Metadata hands the metadata of every document, or of every part, to visit. See metaquery.Rows. One statement reads
// all of it, which is a snapshot by itself.
func (s *Store) Metadata(ctx context.Context, corpusNo int64, parts bool, visit func(metaquery.Row) error) error {
	query := `SELECT d.no, d.id, d.metadata` + ofCurrent + ` ORDER BY d.no`
	if parts {
		query = `SELECT d.no, d.id, d.metadata, p.ord, p.metadata FROM documents d JOIN corpora c ON c.shelf = d.shelf
			JOIN parts p ON p.doc_no = d.no WHERE c.no = $1 ORDER BY d.no, p.ord`
	}
	rows, err := s.db.Reader(ctx).Query(query, corpusNo)
	if err != nil {
		return fmt.Errorf("read metadata: %w", store.Translate(err))
	}
	defer func() { _ = rows.Close() }() // rows.Err below reports what matters
	var r metaquery.Row
	dest := []any{&r.No, (*sql.RawBytes)(&r.ID), (*sql.RawBytes)(&r.Metadata), &r.Ord, (*sql.RawBytes)(&r.Part)}
	if !parts {
		dest = dest[:3]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return fmt.Errorf("read metadata: %w", store.Translate(err))
		}
		if err := visit(r); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read metadata: %w", store.Translate(err))
	}
	return nil
}

// Found returns documents without parts by number, also those that were replaced a short while ago. See metaquery.Rows.
func (s *Store) Found(ctx context.Context, corpusNo int64, nos []int64) (out []document.Document, err error) {
	for some := range slices.Chunk(nos, loadStep) {
		heads, err := s.heads(ctx, corpusNo, some)
		if err != nil {
			return nil, err
		}
		for _, d := range heads {
			if d != nil {
				out = append(out, *d)
			}
		}
	}
	return out, nil
}
