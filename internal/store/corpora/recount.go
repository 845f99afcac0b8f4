package corpora

import (
	"context"
	"encoding/json"
	"fmt"

	"quarry/internal/corpus"
	"quarry/internal/fault"
	"quarry/internal/store"
)

// ReplaceAttributes replaces the attributes of a corpus. See corpus.Store.
func (s *Store) ReplaceAttributes(ctx context.Context, corpusNo int64, all []corpus.Attribute, version int64) (corpus.Corpus, error) {
	attributes, err := json.Marshal(all)
	if err != nil {
		return corpus.Corpus{}, fmt.Errorf("encode attributes: %w", err)
	}
	var out corpus.Corpus
	err = s.db.Write(ctx, func(tx *store.Tx) (err error) {
		out, err = scan(tx.QueryRow(`UPDATE corpora SET attributes = $2, schema_version = $3
			WHERE no = $1 AND schema_version = $4 RETURNING `+columns, corpusNo, string(attributes), version, version-1))
		if err != nil {
			changed := fault.Conflict("corpus_changed", "the corpus was deleted, or its filter attributes were replaced, meanwhile")
			return store.OrNone(err, changed, "write attributes")
		}
		return nil
	})
	return out, err
}

// ofDocuments sums up the documents of generation $1.
const ofDocuments = `SELECT COUNT(*), COALESCE(SUM(parts), 0), COALESCE(SUM(characters), 0), COALESCE(SUM(metadata_characters), 0)
	FROM documents WHERE shelf = $1`

// wrong finds the documents of generation $1 whose counters differ from their parts. LENGTH counts code points.
const wrong = `SELECT d.no FROM documents d LEFT JOIN parts p ON p.doc_no = d.no WHERE d.shelf = $1 GROUP BY d.no
	HAVING d.parts <> COUNT(p.ord)
		OR d.metadata_characters <> LENGTH(d.metadata) + COALESCE(SUM(LENGTH(p.metadata)), 0)
		OR d.characters <> LENGTH(d.metadata) + COALESCE(SUM(LENGTH(p.metadata) + LENGTH(p.text)), 0)`

// repairDocument counts the parts of document $1 again.
const repairDocument = `UPDATE documents SET
		parts = (SELECT COUNT(*) FROM parts WHERE doc_no = $1),
		metadata_characters = LENGTH(metadata) + (SELECT COALESCE(SUM(LENGTH(metadata)), 0) FROM parts WHERE doc_no = $1),
		characters = LENGTH(metadata) + (SELECT COALESCE(SUM(LENGTH(metadata) + LENGTH(text)), 0) FROM parts WHERE doc_no = $1)
	WHERE no = $1`

// Recount counts the documents of a corpus and their parts again. See corpus.Store. It checks the counters in a snapshot,
// which holds up no write, and writes only if some are wrong.
func (s *Store) Recount(ctx context.Context, key string) (corpus.Corpus, error) {
	var c corpus.Corpus
	var bad []int64
	right := false
	err := s.db.Read(ctx, func(q store.Querier) (err error) {
		c, err = scan(q.QueryRow(`SELECT `+columns+` FROM corpora WHERE key = $1`, key))
		if err != nil {
			return store.OrNone(err, missing(key), "read corpus")
		}
		var generation int64
		if err := q.QueryRow(`SELECT shelf FROM corpora WHERE no = $1`, c.No).Scan(&generation); err != nil {
			return fmt.Errorf("read corpus: %w", err)
		}
		if bad, err = store.Select(q, "count parts", store.One[int64], wrong, generation); err != nil {
			return err
		}
		var u corpus.Usage
		err = q.QueryRow(ofDocuments, generation).Scan(&u.Documents, &u.Parts, &u.Characters, &u.MetadataCharacters)
		if err != nil {
			return fmt.Errorf("count documents: %w", err)
		}
		right = len(bad) == 0 && u == c.Usage
		return nil
	})
	if err != nil || right {
		return c, err
	}
	return s.repair(ctx, c.No, key, bad)
}

// repair writes the right counters. It locks the row of the corpus first, which every other write locks last: so what
// another write did is either committed and counted here, or added to the result afterwards.
func (s *Store) repair(ctx context.Context, corpusNo int64, key string, bad []int64) (out corpus.Corpus, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		var generation int64
		err := tx.QueryRow(`UPDATE corpora SET seq = seq WHERE no = $1 RETURNING shelf`, corpusNo).Scan(&generation)
		if err != nil {
			return store.OrNone(err, missing(key), "lock corpus")
		}
		for _, no := range bad {
			if err := tx.Exec(repairDocument, no); err != nil {
				return fmt.Errorf("count parts: %w", err)
			}
		}
		var u corpus.Usage
		if err := tx.QueryRow(ofDocuments, generation).Scan(&u.Documents, &u.Parts, &u.Characters, &u.MetadataCharacters); err != nil {
			return fmt.Errorf("count documents: %w", err)
		}
		out, err = scan(tx.QueryRow(`UPDATE corpora SET documents = $2, parts = $3, characters = $4, metadata_characters = $5
			WHERE no = $1 RETURNING `+columns, corpusNo, u.Documents, u.Parts, u.Characters, u.MetadataCharacters))
		return store.Wrap(err, "write usage")
	})
	return out, err
}
