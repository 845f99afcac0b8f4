package corpora

import (
	"context"

	"quarry/internal/corpus"
	"quarry/internal/fault"
	"quarry/internal/store"
)

// RaiseIndexBuild sets the number of the index of a corpus to build unless it is that or higher, and returns the corpus;
// fault.KindNotFound when it was deleted.
func (s *Store) RaiseIndexBuild(ctx context.Context, corpusNo, build int64) (out corpus.Corpus, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) (err error) {
		out, err = scan(tx.QueryRow(`UPDATE corpora SET index_build = CASE WHEN index_build < $2 THEN $2 ELSE index_build END
			WHERE no = $1 RETURNING `+columns, corpusNo, build))
		if err != nil {
			return store.OrNone(err, fault.NotFound("corpus_not_found", "", "the corpus was deleted meanwhile"), "raise index build")
		}
		return nil
	})
	return out, err
}
