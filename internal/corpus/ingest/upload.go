package ingest

import (
	"context"
	"encoding/json"
	"errors"

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
	Options     []json.RawMessage // the other parts of the form as sent, for the digest
	Draft       document.Draft    // the document that a JSON file holds; nil for files to be read
	Replace     bool              // see Options
}

// Upload adds the document in a file. A repeated identical upload returns the stored document and changes nothing; any
// other document with the id is fault.KindConflict, unless it may be replaced.
func (s *Service) Upload(ctx context.Context, corpusKey string, u Upload) (*Added, error) {
	c, err := s.open(ctx, corpusKey)
	if err != nil {
		return nil, err
	}
	d := u.Draft
	if d == nil {
		if d, err = s.Read(ctx, &u); err != nil {
			return nil, err
		}
	}
	doc, err := d.Build(c)
	if err != nil {
		return nil, u.place(err)
	}
	doc.Digest = draft.FileDigest(u.Data, u.Options...)
	for {
		out, err := s.commit(ctx, c, doc, Options{Wait: Searchable, Replace: u.Replace})
		var taken *document.Exists
		switch {
		case !errors.As(err, &taken):
			return out, err
		case taken.Digest != doc.Digest:
			return nil, conflict(taken, "")
		}
		stored, err := s.cfg.Documents.Get(ctx, c.No, doc.ID, false)
		if err == nil {
			return &Added{Document: stored, Passages: len(doc.Parts)}, nil
		}
		if !fault.Is(err, fault.KindNotFound) {
			return nil, err
		} // deleted meanwhile: try again
	}
}

// Read returns the document in a file; it parses as soon as fewer than the maximum are being parsed. Its faults name fields of
// the upload.
func (s *Service) Read(ctx context.Context, u *Upload) (document.Draft, error) {
	d, err := s.Parse(ctx, u)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Parse is Read for those who look into the document.
func (s *Service) Parse(ctx context.Context, u *Upload) (draft.Structured, error) {
	select {
	case s.readers <- struct{}{}:
		defer func() { <-s.readers }()
		return u.read()
	case <-ctx.Done():
		return draft.Structured{}, ctx.Err()
	}
}
