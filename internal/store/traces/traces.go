// Package traces keeps in SQL what agents have done: spans, in blocks of those that are written at once, with their texts, sealed, and
// the traces that they make up. Blocks are written in the transactions of store/sessions. Package app creates its Store.
package traces

import (
	"quarry/internal/store"
	"quarry/internal/store/secrets"
)

// Store keeps traces in a database. It is safe for concurrent use.
type Store struct {
	db     *store.DB
	key    contentKey
	blocks *store.Batch[Block] // of one commit
}

// New returns a store over db. Without secrets it keeps no texts of spans, which are never stored in clear.
func New(db *store.DB, s *secrets.Store) *Store {
	out := &Store{db: db, key: contentKey{db: db, secrets: s}}
	out.blocks = store.NewBatch(out.write)
	return out
}
