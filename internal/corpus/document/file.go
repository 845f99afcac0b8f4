package document

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"quarry/internal/blob"
	"quarry/internal/fault"
)

// File is the file that a document was read from, as it was uploaded.
type File struct {
	Name string // the last element of the name that it was sent with
	MIME string // of the format that it was read as
	blob.Blob
}

// NoFile is the error for a document whose file is not kept.
func NoFile(docID string) error {
	docID = strings.ToValidUTF8(docID, "\uFFFD")
	return fault.NotFound("file_not_found", docID, "the file of document %s is not kept: it came in another way, or before the setting keep_files was true", docID)
}

// Contents opens what was kept by its name; package blob has it.
type Contents interface {
	Open(ctx context.Context, b blob.Blob) (*blob.Content, error)
}

// File returns the file that a document was read from and its bytes, checked against their checksum, which the caller closes.
func (s *Service) File(ctx context.Context, corpusKey, id string) (File, *blob.Content, error) {
	c, err := s.corpusOf(ctx, corpusKey, id)
	if err != nil {
		return File{}, nil, err
	}
	f, err := s.store.File(ctx, c.No, id)
	if err != nil {
		return File{}, nil, err
	}
	content, err := s.files.Open(ctx, f.Blob)
	if errors.Is(err, blob.ErrMissing) { // the document was removed a moment ago, or the folder of files is not that of the database
		if _, again := s.store.File(ctx, c.No, id); again != nil {
			return File{}, nil, again
		}
	}
	if err != nil {
		return File{}, nil, fmt.Errorf("open the file of document %q: %w", id, err)
	}
	return f, content, nil
}
