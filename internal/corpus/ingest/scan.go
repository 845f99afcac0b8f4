package ingest

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"quarry/internal/extract"
)

// Recogniser recognises the text in pictures; package ocr has one. Its errors that are one of extract's are about the picture; others mean
// that it could not work.
type Recogniser interface {
	Recognise(ctx context.Context, r *extract.Raster) (text string, err error)
}

// OCR is how pages that are pictures are read.
type OCR struct {
	Recogniser Recogniser // nil if there is none
	Absent     string     // why there is none, and what would change that
	Pages      int        // of one file that are read at most
}

// unread is the key of a document's metadata with the pages of its file whose text was not read.
const unread = "Pages-Without-Text"

// recognise returns the tree of a file with the text of its scans. Where some can't be read, the document says which; where nothing
// else is in the file, that is the error.
func (s *Service) recognise(ctx context.Context, in extract.Input, tree *extract.Document) (*extract.Document, error) {
	if s.cfg.OCR.Recogniser == nil {
		if len(tree.Sections) == 0 {
			return nil, fmt.Errorf("recognise text: %w: %s", extract.ErrNoText, s.cfg.OCR.Absent)
		}
		return without(tree), nil
	}
	read, err := s.readScans(ctx, in, tree.Scans[:min(len(tree.Scans), s.cfg.OCR.Pages)])
	switch {
	case err != nil && (!ofPage(err) || len(read) == 0 && len(tree.Sections) == 0):
		return nil, err
	case len(read) == 0:
		return without(tree), nil
	}
	in.Recognised = read
	if tree, err = s.parse(ctx, in); err != nil {
		return nil, err
	}
	return without(tree), nil
}

// without names the pages that were not read in the metadata. Those of attachments are not the document's own: their sections say it.
func without(tree *extract.Document) *extract.Document {
	var pages []int
	for _, s := range tree.Scans {
		if s.File == "" {
			pages = append(pages, s.Page)
		}
	}
	if len(pages) > 0 {
		tree.Metadata[unread] = pages
	}
	return tree
}

// ofPage reports whether an error is about one page, and others may be read.
func ofPage(err error) bool {
	return errors.Is(err, extract.ErrStopped) || errors.Is(err, extract.ErrUnparsable) || errors.Is(err, extract.ErrNoText)
}

// readScans recognises the text of scans, several at once. The error is that of the first page that could not be read.
func (s *Service) readScans(ctx context.Context, in extract.Input, scans []extract.Scan) ([]extract.Recognised, error) {
	texts, failed := make([]string, len(scans)), make([]error, len(scans))
	all, within := errgroup.WithContext(ctx)
	all.SetLimit(cap(s.scans)) // more would wait for a place
	for i, scan := range scans {
		all.Go(func() (err error) {
			texts[i], failed[i] = s.readScan(within, in, scan)
			if err = failed[i]; err != nil && ofPage(err) {
				return nil
			}
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	var out []extract.Recognised
	var first error
	for i, err := range failed {
		if err == nil {
			out = append(out, extract.Recognised{Scan: scans[i], Text: texts[i]})
		} else if first == nil {
			first = err
		}
	}
	return out, first
}

// readScan recognises the text of one scan, as soon as fewer than the maximum are at work.
func (s *Service) readScan(ctx context.Context, in extract.Input, scan extract.Scan) (string, error) {
	select {
	case s.scans <- struct{}{}:
		defer func() { <-s.scans }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if err := ctx.Err(); err != nil { // both were so
		return "", err
	}
	r, err := s.cfg.Reader.Scanned(ctx, in, scan)
	if err != nil {
		return "", err
	}
	text, err := s.cfg.OCR.Recogniser.Recognise(ctx, r)
	if err != nil {
		return "", fmt.Errorf("recognise text of page %d: %w", scan.Page, err)
	}
	return text, nil
}
