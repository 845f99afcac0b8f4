// Package corpora keeps corpora in SQL: the corpus.Store of the service. Package app creates it. The documents in them are
// kept by package documents, which also removes what a reset or a delete leaves behind.
package corpora

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"quarry/internal/clock"
	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/opt"
	"quarry/internal/store"
	"quarry/internal/store/jobs"
)

// Store is the corpus.Store over a database.
type Store struct{ db *store.DB }

var _ corpus.Store = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB) *Store { return &Store{db} }

// columns is what scan reads, in its order.
const columns = `no, epoch, seq, id, key, name, description, enabled, save_history, queries_are_answers,
	documents_are_questions, encoder_name, encoder_fingerprint, attributes, dimensions,
	documents, parts, characters, metadata_characters, created, schema_version, index_build`

func scan(r store.Row) (corpus.Corpus, error) {
	var c corpus.Corpus
	var attributes, dimensions string
	err := r.Scan(&c.No, &c.Epoch, &c.Seq, &c.ID, &c.Key, &c.Name, &c.Description, &c.Enabled, &c.SaveHistory, &c.QueriesAreAnswers,
		&c.DocumentsAreQuestions, &c.EncoderName, &c.EncoderFingerprint, &attributes, &dimensions,
		&c.Usage.Documents, &c.Usage.Parts, &c.Usage.Characters, &c.Usage.MetadataCharacters, store.Micros(&c.Created), &c.SchemaVersion,
		&c.IndexBuild)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal([]byte(attributes), &c.Attributes); err != nil {
		return c, fmt.Errorf("read attributes of corpus %d: %w", c.No, err)
	}
	if err := json.Unmarshal([]byte(dimensions), &c.Dimensions); err != nil {
		return c, fmt.Errorf("read dimensions of corpus %d: %w", c.No, err)
	}
	return c, nil
}

func missing(key string) error {
	return fault.NotFound("corpus_not_found", key, "corpus %s does not exist", key)
}

// Create writes c, with a fresh epoch unless c has one, or returns the conflict "corpus_exists".
func (s *Store) Create(ctx context.Context, c corpus.Corpus) (corpus.Corpus, error) {
	attributes, err := json.Marshal(c.Attributes)
	if err != nil {
		return c, fmt.Errorf("encode attributes: %w", err)
	}
	dimensions, err := json.Marshal(c.Dimensions)
	if err != nil {
		return c, fmt.Errorf("encode dimensions: %w", err)
	}
	if c.Epoch == 0 {
		c.Epoch = newEpoch()
	}
	var out corpus.Corpus
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		var generation int64
		if err := tx.QueryRow(`INSERT INTO shelves (corpus_no) VALUES (0) RETURNING no`).Scan(&generation); err != nil {
			return fmt.Errorf("make generation: %w", err)
		}
		out, err = scan(tx.QueryRow(`
			INSERT INTO corpora (epoch, seq, shelf, id, key, name, description, enabled, save_history, queries_are_answers,
				documents_are_questions, encoder_name, encoder_fingerprint, attributes, dimensions,
				documents, parts, characters, metadata_characters, created)
			VALUES ($1, 0, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 0, 0, 0, 0, $15)
			ON CONFLICT (key) DO NOTHING RETURNING `+columns,
			c.Epoch, generation, c.ID, c.Key, c.Name, c.Description, c.Enabled, c.SaveHistory, c.QueriesAreAnswers,
			c.DocumentsAreQuestions, c.EncoderName, c.EncoderFingerprint, string(attributes), string(dimensions), c.Created.UnixMicro()))
		if err != nil {
			return store.OrNone(err, fault.Conflict("corpus_exists", "corpus %s already exists", c.Key), "write corpus")
		}
		return store.Wrap(tx.Exec(`UPDATE shelves SET corpus_no = $2 WHERE no = $1`, generation, out.No), "label generation")
	})
	return out, err
}

// newEpoch returns a positive random number; 0 means that there is no epoch.
func newEpoch() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return int64(binary.LittleEndian.Uint64(b[:])>>1 | 1)
}

// Get returns the corpora with these keys in the order of the keys, read in one statement.
func (s *Store) Get(ctx context.Context, keys ...string) ([]corpus.Corpus, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	args := store.Args(nil, keys)
	found, err := store.Select(s.db.Reader(ctx), "read corpora", scan,
		`SELECT `+columns+` FROM corpora WHERE key IN (`+store.List(1, len(keys))+`)`, args...)
	if err != nil {
		return nil, err
	}
	byKey := map[string]corpus.Corpus{}
	for _, c := range found {
		byKey[c.Key] = c
	}
	out := make([]corpus.Corpus, len(keys))
	for i, k := range keys {
		c, ok := byKey[k]
		if !ok {
			return nil, missing(k)
		}
		out[i] = c
	}
	return out, nil
}

// Update changes the settings of p that are present.
func (s *Store) Update(ctx context.Context, key string, p corpus.Patch) (corpus.Corpus, error) {
	var out corpus.Corpus
	err := s.db.Write(ctx, func(tx *store.Tx) (err error) {
		out, err = scan(tx.QueryRow(`UPDATE corpora SET name = COALESCE($2, name), description = COALESCE($3, description),
			enabled = COALESCE($4, enabled), save_history = COALESCE($5, save_history) WHERE key = $1 RETURNING `+columns,
			key, orNull(p.Name), orNull(p.Description), orNull(p.Enabled), orNull(p.SaveHistory)))
		if err != nil {
			return store.OrNone(err, missing(key), "update corpus")
		}
		return nil
	})
	return out, err
}

func orNull[T any](f opt.Field[T]) any {
	if v, ok := f.Get(); ok {
		return v
	}
	return nil
}

// Delete removes the corpus with everything in it. Its key is free at once. The rows of its documents are out of reach at
// once, and a sweep removes them later. Its unfinished jobs end aborted.
func (s *Store) Delete(ctx context.Context, key string) error {
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		var no int64
		err := tx.QueryRow(`DELETE FROM corpora WHERE key = $1 RETURNING no`, key).Scan(&no)
		if err != nil {
			return store.OrNone(err, missing(key), "delete corpus")
		}
		return jobs.Abort(tx, key, clock.Now())
	})
	if err == nil {
		s.db.WakeSweeper()
	}
	return err
}

// Reset removes every document as one change of the corpus's sequence, and sets a new epoch. It takes one small
// transaction: the corpus gets a fresh generation, and a sweep removes the old one later.
func (s *Store) Reset(ctx context.Context, key string) (corpus.Corpus, error) {
	var out corpus.Corpus
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		var generation int64
		err := tx.QueryRow(`INSERT INTO shelves (corpus_no) SELECT no FROM corpora WHERE key = $1 RETURNING no`, key).Scan(&generation)
		if err != nil {
			return store.OrNone(err, missing(key), "make generation")
		}
		out, err = scan(tx.QueryRow(`UPDATE corpora SET seq = seq + 1, epoch = $2, shelf = $3, documents = 0, parts = 0,
			characters = 0, metadata_characters = 0 WHERE key = $1 RETURNING `+columns, key, newEpoch(), generation))
		if err != nil {
			return store.OrNone(err, missing(key), "reset corpus")
		}
		err = tx.Exec(`INSERT INTO changes (corpus_no, seq, op, doc_no) VALUES ($1, $2, $3, 0)`, out.No, out.Seq, int64(document.OpReset))
		return store.Wrap(err, "write change")
	})
	if err == nil {
		s.db.WakeSweeper()
	}
	return out, err
}
