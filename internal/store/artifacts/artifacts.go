// Package artifacts keeps what there is of the files of sessions beside their bytes: rows, each of which counts as a reference to
// its bytes. Rows are written and removed in the transactions of store/sessions, with the events that name the files.
package artifacts

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"time"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/session"
	"quarry/internal/fault"
	"quarry/internal/room"
	"quarry/internal/store"
	"quarry/internal/store/blobs"
)

// Store is the artifact.Store over a database.
type Store struct{ db *store.DB }

var _ artifact.Store = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB) *Store { return &Store{db} }

// columns is what scan reads.
const columns = `id, filename, mime, size, sum, description, metadata, ttl_days, created, updated`

func scan(r store.Row) (a artifact.Artifact, err error) {
	var metadata string
	err = r.Scan(&a.ID, &a.Filename, &a.MIME, &a.Size, &a.Sum, &a.Description, &metadata, &a.TTLDays, store.Micros(&a.Created), store.Micros(&a.Updated))
	a.Metadata = json.RawMessage(metadata)
	return a, err
}

// Artifact returns a file of a session. See artifact.Store.
func (s *Store) Artifact(ctx context.Context, no int64, id string) (artifact.Artifact, error) {
	a, err := scan(s.db.Reader(ctx).QueryRow(`SELECT `+columns+` FROM artifacts WHERE session_no = $1 AND id = $2`, no, store.Text(id)))
	if err != nil {
		none := fault.NotFound("artifact_not_found", id, "artifact %s does not exist in this session", id)
		return artifact.Artifact{}, store.OrNone(err, none, "read artifact")
	}
	return a, nil
}

// Artifacts returns files of a session. See artifact.Store.
func (s *Store) Artifacts(ctx context.Context, l artifact.List) (found []artifact.Artifact, more bool, err error) {
	by, before, order := `created`, `<`, ` DESC`
	if l.ByChange {
		by = `updated`
	}
	if l.Oldest {
		before, order = `>`, ``
	}
	at, id := l.After.Bound()
	if l.After == nil && l.Oldest {
		at = math.MinInt64
	}
	found, err = store.Select(s.db.Reader(ctx), "list artifacts", scan, `SELECT `+columns+` FROM artifacts
		WHERE session_no = $1 AND (`+by+`, id) `+before+` ($2, $3) ORDER BY `+by+order+`, id`+order+` LIMIT $4`, l.Session, at, id, l.Limit+1)
	if err != nil {
		return nil, false, err
	}
	found, more = store.Cut(found, l.Limit)
	return found, more, nil
}

// insert writes the row of a file and reports whether its id was free. The reference to its bytes is counted beside.
func insert(tx *store.Tx, no int64, a *artifact.Artifact) (free bool, err error) {
	metadata := string(a.Metadata)
	if metadata == "" {
		metadata = "{}"
	}
	err = tx.QueryRow(`INSERT INTO artifacts (session_no, id, filename, mime, size, sum, description, metadata, ttl_days, created, updated, expires)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (session_no, id) DO NOTHING RETURNING id`,
		no, a.ID, store.Text(a.Filename), store.Text(a.MIME), a.Size, a.Sum, store.Text(a.Description), store.Text(metadata), int64(a.TTLDays),
		a.Created.UnixMicro(), a.Updated.UnixMicro(), a.Expires().UnixMicro()).Scan(new(string))
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, store.Wrap(err, "write artifact")
}

// refer counts the references of files to their bytes.
func refer(tx *store.Tx, files []artifact.Artifact) error {
	sums := make([]string, len(files))
	for i := range files {
		sums[i] = files[i].Sum
	}
	return blobs.Refer(tx, sums...)
}

// Upload writes the rows of files that come with an input, and returns them with their ids. One that has an id keeps it if it is free;
// where the session has the same file under it, that is meant.
func Upload(tx *store.Tx, no int64, files []artifact.Artifact) ([]artifact.Artifact, error) {
	if len(files) == 0 {
		return nil, nil
	}
	err := refer(tx, files)
	if errors.Is(err, blobs.ErrGone) {
		return nil, fault.Unavailable("storage_unavailable", "the files came so slowly that the first ones were given up; send the input again")
	}
	if err != nil {
		return nil, err
	}
	out := make([]artifact.Artifact, len(files))
	for i, a := range files {
		if err := add(tx, no, &a); err != nil {
			return nil, err
		}
		out[i] = a
	}
	return out, nil
}

// add writes the row of a file whose reference is counted, under the id that it has or a fresh one.
func add(tx *store.Tx, no int64, a *artifact.Artifact) error {
	if a.ID != "" {
		if free, err := insert(tx, no, a); free || err != nil {
			return err
		}
		same, err := has(tx, no, a)
		if err != nil {
			return err
		}
		if same {
			return blobs.Unrefer(tx, a.Sum) // that of the row that is there is enough
		}
	}
	for {
		a.ID = artifact.NewID(a.Filename)
		if free, err := insert(tx, no, a); free || err != nil {
			return err
		}
	}
}

// has reports whether a session has the same bytes under the id of a file.
func has(tx *store.Tx, no int64, a *artifact.Artifact) (same bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM artifacts WHERE session_no = $1 AND id = $2 AND sum = $3)`, no, a.ID, a.Sum).Scan(&same)
	return same, store.Wrap(err, "read artifact")
}

// Keep writes the rows of files that a turn has made. See session.Commit.
func Keep(tx *store.Tx, no int64, files []artifact.Artifact) error {
	err := refer(tx, files)
	if errors.Is(err, blobs.ErrGone) {
		return session.ErrLost
	}
	for i := range files {
		if err != nil {
			return err
		}
		var free bool
		if free, err = insert(tx, no, &files[i]); err == nil && !free {
			return session.ErrLost
		}
	}
	return err
}

// Copy copies the files of the session from into the session to, under the same ids; their bytes are shared.
func Copy(tx *store.Tx, from, to int64) error {
	sums, err := store.Select(tx, "copy artifacts", store.One[string], `INSERT INTO artifacts
		(session_no, id, filename, mime, size, sum, description, metadata, ttl_days, created, updated, expires)
		SELECT $2, id, filename, mime, size, sum, description, metadata, ttl_days, created, updated, expires FROM artifacts WHERE session_no = $1
		RETURNING sum`, from, to)
	if err != nil {
		return err
	}
	return blobs.Refer(tx, sums...)
}

// Remove removes files of a session, those that are there.
func Remove(tx *store.Tx, no int64, files []session.File) error {
	for i := range files {
		sums, err := store.Select(tx, "remove artifact", store.One[string],
			`DELETE FROM artifacts WHERE session_no = $1 AND id = $2 RETURNING sum`, no, files[i].ID)
		if err != nil {
			return err
		}
		if err := blobs.Unrefer(tx, sums...); err != nil {
			return err
		}
	}
	return nil
}

// Sweep removes at most limit files of a session that is deleted.
func Sweep(tx *store.Tx, no int64, limit int) (removed int, err error) {
	sums, err := store.Select(tx, "sweep artifacts", store.One[string], `DELETE FROM artifacts WHERE session_no = $1
		AND id IN (SELECT id FROM artifacts WHERE session_no = $1 LIMIT $2) RETURNING sum`, no, limit)
	if err != nil {
		return 0, err
	}
	return len(sums), blobs.Unrefer(tx, sums...)
}

// Expire removes files whose time has passed. See artifact.Store.
func (s *Store) Expire(ctx context.Context, now time.Time, limit int) (removed int, err error) {
	var some bool
	err = s.db.Reader(ctx).QueryRow(`SELECT EXISTS (SELECT 1 FROM artifacts WHERE expires <= $1)`, now.UnixMicro()).Scan(&some)
	if err != nil || !some {
		return 0, store.Wrap(err, "find artifacts")
	}
	err = s.db.Write(room.Freeing(ctx), func(tx *store.Tx) error {
		sums, err := store.Select(tx, "remove artifacts", store.One[string], `DELETE FROM artifacts WHERE (session_no, id) IN
			(SELECT session_no, id FROM artifacts WHERE expires <= $1 ORDER BY expires LIMIT $2) AND expires <= $1 RETURNING sum`, now.UnixMicro(), limit)
		removed = len(sums)
		if err != nil {
			return err
		}
		return blobs.Unrefer(tx, sums...)
	})
	return removed, err
}
