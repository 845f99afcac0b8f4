package documents

import (
	"fmt"
	"strings"

	"quarry/internal/corpus/document"
	"quarry/internal/store"
)

// tally is what a transaction did to the documents of a corpus: one change each, and the difference to its usage.
type tally struct {
	op                                     document.Op
	nos                                    []int64
	old                                    int64 // of OpReplace, which is one change
	documents, parts, characters, metadata int64
}

// write adds the tally to the counters of the corpus and writes its changes; seq is the number of the last one. It comes
// last in a transaction, because on PostgreSQL the row of the corpus is locked from here to the commit. The lock is also
// what makes the numbers dense and visible in their order: nobody takes the next one before this one is committed.
func (t tally) write(tx *store.Tx, corpusNo, epoch int64) (seq int64, err error) {
	err = tx.QueryRow(`UPDATE corpora SET seq = seq + $3, documents = documents + $4, parts = parts + $5,
		characters = characters + $6, metadata_characters = metadata_characters + $7
		WHERE no = $1 AND epoch = $2 RETURNING seq`,
		corpusNo, epoch, int64(len(t.nos)), t.documents, t.parts, t.characters, t.metadata).Scan(&seq)
	if err != nil {
		return 0, store.OrNone(err, corpusChanged(), "count change")
	}
	first := seq - int64(len(t.nos)) + 1
	for from := 0; from < len(t.nos); from += rowsPerStatement {
		some := t.nos[from:min(from+rowsPerStatement, len(t.nos))]
		args := make([]any, 0, 5*len(some))
		for i, no := range some {
			args = append(args, corpusNo, first+int64(from+i), int64(t.op), no, t.old)
		}
		if err := tx.Exec(insertChanges[len(some)], args...); err != nil {
			return 0, fmt.Errorf("write changes: %w", err)
		}
	}
	return seq, nil
}

// insertChanges[n] inserts n changes.
var insertChanges = inserts(`INSERT INTO changes (corpus_no, seq, op, doc_no, old_no) VALUES `, 5)

// inserts returns, for each n up to rowsPerStatement, the statement that inserts n rows of this many columns.
func inserts(head string, columns int) (texts [rowsPerStatement + 1]string) {
	for n := 1; n <= rowsPerStatement; n++ {
		rows := make([]string, n)
		for i := range rows {
			rows[i] = "(" + store.List(1+columns*i, columns) + ")"
		}
		texts[n] = head + strings.Join(rows, ",")
	}
	return texts
}
