package ingest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	"quarry/internal/corpus/document"
	"quarry/internal/corpus/draft"
	"quarry/internal/extract"
	"quarry/internal/fault"
)

// Upload is the command to index a file.
type Upload struct {
	ID          string
	Name        string // whose extension identifies the format
	ContentType string // declared media type, "" when none
	Data        []byte
	Metadata    json.RawMessage // of the client; takes precedence over metadata in the file
	Chunking    draft.Chunking
	Reading     extract.Options
	Tables      *Tables           // how tables are found and described; nil: as the format declares them
	Options     []json.RawMessage // the other parts of the form as sent, for the digest
	Draft       document.Draft    // the document that a JSON file holds; nil for files to be read
	Replace     bool              // see Options

	// Outside, if not nil, runs what waits for a service outside of this process, which uses no processor.
	Outside func(ctx context.Context, wait func(context.Context) error) error

	found    string // media type of the format that it was read as
	searched int    // pages that were searched for tables
}

// Upload adds the document in a file. A repeated identical upload returns the stored document and changes nothing; any
// other document with the id is fault.KindConflict, unless it may be replaced.
func (s *Service) Upload(ctx context.Context, corpusKey string, u Upload) (*Added, error) {
	c, err := s.open(ctx, corpusKey)
	if err != nil {
		return nil, err
	}
	d := u.Draft
	if u.found = "application/json"; d == nil {
		if d, err = s.readUpload(ctx, c, &u); err != nil {
			return nil, err
		}
	}
	doc, err := d.Build(c)
	if err != nil {
		return nil, u.place(err)
	}
	doc.Digest = draft.FileDigest(u.Data, u.Options...)
	release, err := s.keep(ctx, &u, doc)
	if err != nil {
		return nil, err
	}
	defer release()
	for {
		out, err := s.commit(ctx, c, doc, Options{Wait: Searchable, Replace: u.Replace})
		var taken *document.Exists
		switch {
		case err == nil:
			out.Searched = u.searched
			return out, nil
		case !errors.As(err, &taken):
			return nil, err
		case taken.Digest != doc.Digest:
			return nil, conflict(taken, "")
		}
		stored, err := s.cfg.Documents.Get(ctx, c.No, doc.ID, false)
		if err == nil {
			return &Added{Document: stored, Passages: len(doc.Parts), Searched: u.searched}, nil
		}
		if !fault.Is(err, fault.KindNotFound) {
			return nil, err
		} // deleted meanwhile: try again
	}
}

// keep stores the bytes of a file, where files are kept, and has doc refer to them. Whoever has stored doc releases them.
func (s *Service) keep(ctx context.Context, u *Upload, doc *document.Document) (release func(), err error) {
	if s.cfg.Files == nil {
		return func() {}, nil
	}
	b, err := s.cfg.Files.Put(ctx, bytes.NewReader(u.Data), int64(len(u.Data)))
	if err != nil {
		return nil, fmt.Errorf("keep file: %w", err)
	}
	doc.File = &document.File{Name: path.Base(cmp.Or(u.Name, u.ID)), MIME: u.found, Blob: b}
	return func() { _ = s.cfg.Files.Release(context.WithoutCancel(ctx), b) }, nil // a hold too many is found at the next start
}

// Read returns the document in a file; it parses as soon as fewer than the maximum are being parsed. Its faults name fields of
// the upload.
func (s *Service) Read(ctx context.Context, u *Upload) (document.Draft, error) {
	d, err := s.whole(ctx, u)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// whole parses a file with everything that a document keeps of it.
func (s *Service) whole(ctx context.Context, u *Upload) (draft.Structured, error) {
	u.Reading.Pictures, u.Reading.Tables = s.cfg.Pictures, u.Tables != nil
	return s.Parse(ctx, u)
}

// Parse is Read for those who look into the document.
func (s *Service) Parse(ctx context.Context, u *Upload) (draft.Structured, error) {
	return s.read(ctx, u)
}
