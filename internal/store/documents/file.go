package documents

import (
	"context"
	"errors"
	"slices"

	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/store"
	"quarry/internal/store/blobs"
)

// File returns the file that a document was read from; the fault "file_not_found" when none was kept.
func (s *Store) File(ctx context.Context, corpusNo int64, docID string) (out document.File, err error) {
	err = s.db.Read(ctx, func(q store.Querier) error {
		d, err := head(q, corpusNo, docID)
		if err != nil {
			return err
		}
		err = q.QueryRow(`SELECT name, mime, size, sum FROM document_files WHERE doc_no = $1`, d.No).Scan(&out.Name, &out.MIME, &out.Size, &out.Sum)
		return store.OrNone(err, document.NoFile(docID), "read file")
	})
	return out, err
}

// insertFile writes the row of the file of a document, which is held until then.
func (r *record) insertFile(tx *store.Tx, no int64) error {
	f := r.d.File
	if f == nil {
		return nil
	}
	err := blobs.Refer(tx, f.Sum)
	if errors.Is(err, blobs.ErrGone) {
		return fault.Unavailable("storage_unavailable", "the file was given up before its document was stored; send it again")
	}
	if err != nil {
		return err
	}
	err = tx.Exec(`INSERT INTO document_files (doc_no, name, mime, size, sum) VALUES ($1, $2, $3, $4, $5)`, no, f.Name, f.MIME, f.Size, f.Sum)
	return store.Wrap(err, "note file")
}

// dropFiles removes the rows of the files of documents, by number, and their references.
func dropFiles(tx *store.Tx, nos ...int64) error {
	for some := range slices.Chunk(nos, deleteStep) {
		args := padded(store.Args(nil, some), 0)
		if err := dropFilesOf(tx, store.List(1, len(args)), args...); err != nil {
			return err
		}
	}
	return nil
}

// dropFilesOf is dropFiles for the documents that a list of numbers or a query names.
func dropFilesOf(tx *store.Tx, nos string, args ...any) error {
	sums, err := store.Select(tx, "remove files", store.One[string], `DELETE FROM document_files WHERE doc_no IN (`+nos+`) RETURNING sum`, args...)
	if err != nil {
		return err
	}
	return blobs.Unrefer(tx, sums...)
}
