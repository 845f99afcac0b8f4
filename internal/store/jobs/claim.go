package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"quarry/internal/job"
	"quarry/internal/store"
)

// claimable is the condition for a job j at instant $1 that needs only its own row.
const claimable = `j.completed = 0 AND j.due <= $1`

// laneFree holds when no older job of the lane is unfinished and none at all is started. The second half is needed because
// on PostgreSQL a job with a lower number may be committed after one with a higher number was started.
const laneFree = `(j.lane = '' OR NOT EXISTS (SELECT 1 FROM jobs o WHERE o.lane = j.lane AND o.completed = 0
	AND o.no <> j.no AND (o.no < j.no OR o.state = 'started')))`

// Claim takes a due job of one of the types, from the account that has waited longest. See job.Store.
func (s *Store) Claim(ctx context.Context, types []job.Type, now time.Time, l job.Lease) (j job.Job, ok bool, err error) {
	if len(types) == 0 {
		return j, false, nil
	}
	args := store.Args([]any{now.UnixMicro()}, types)
	of := claimable + ` AND j.type IN (` + store.List(2, len(types)) + `) AND ` + laneFree
	// Most calls find nothing; reading first keeps them from writing the row of job_clock.
	var one int
	err = s.db.Reader(ctx).QueryRow(`SELECT 1 FROM jobs j WHERE `+of+` LIMIT 1`, args...).Scan(&one)
	if err != nil {
		return j, false, store.OrNone(err, nil, "look for a job")
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		j, err = claim(tx, of, args, l)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) { // another worker was faster
		return job.Job{}, false, nil
	}
	if err != nil {
		return job.Job{}, false, fmt.Errorf("claim job: %w", err)
	}
	return j, true, nil
}

// claim chooses and takes a job; sql.ErrNoRows when none is due. The update of job_clock comes first: its row lock makes
// claims follow one another on PostgreSQL, so two workers never take the same job and the turns are counted right.
func claim(tx *store.Tx, of string, args []any, l job.Lease) (job.Job, error) {
	var turn, no int64
	var account string
	if err := tx.QueryRow(`UPDATE job_clock SET turn = turn + 1 WHERE one = 1 RETURNING turn`).Scan(&turn); err != nil {
		return job.Job{}, err
	}
	err := tx.QueryRow(`SELECT t.account FROM job_turns t WHERE EXISTS (SELECT 1 FROM jobs j WHERE j.account = t.account AND `+of+`)
		ORDER BY t.turn, t.account LIMIT 1`, args...).Scan(&account)
	if err != nil {
		return job.Job{}, err
	}
	n := len(args)
	err = tx.QueryRow(fmt.Sprintf(`SELECT j.no FROM jobs j WHERE j.account = $%d AND %s ORDER BY j.no LIMIT 1`, n+1, of), append(args[:n:n], account)...).Scan(&no)
	if err != nil {
		return job.Job{}, err
	}
	if err := tx.Exec(`UPDATE job_turns SET turn = $2 WHERE account = $1`, account, turn); err != nil {
		return job.Job{}, err
	}
	return scan(tx.QueryRow(`UPDATE jobs SET state = 'started', started = CASE WHEN started = 0 THEN $2 ELSE started END,
		attempt = attempt + 1, due = $3, holder = $4 WHERE no = $1 AND completed = 0 AND due <= $2 RETURNING `+columns,
		no, args[0], l.Until.UnixMicro(), l.Holder))
}

// Save extends a lease and writes a checkpoint.
func (s *Store) Save(ctx context.Context, l job.Lease, c job.Checkpoint) error {
	var progress, comment any
	if c.Progress != nil {
		progress = string(c.Progress)
	}
	if c.Comment != nil {
		comment = *c.Comment
	}
	return s.held(ctx, `UPDATE jobs SET due = $3, attempt = CASE WHEN COALESCE($4, progress) = progress THEN attempt ELSE 1 END,
		progress = COALESCE($4, progress), comment = COALESCE($5, comment) WHERE no = $1 AND holder = $2 AND state = 'started' RETURNING no`,
		l.No, l.Holder, l.Until.UnixMicro(), progress, comment)
}

// End ends a lease with an outcome.
func (s *Store) End(ctx context.Context, l job.Lease, o job.Outcome) error {
	var completed int64
	due := o.Due.UnixMicro()
	if o.State.Ended() {
		completed, due = o.At.UnixMicro(), 0
	}
	back := 0
	if o.State == job.Queued {
		back = 1
	}
	return s.held(ctx, `UPDATE jobs SET state = $3, comment = CASE WHEN $4 = '' THEN comment ELSE $4 END, completed = $5, due = $6,
		attempt = attempt - $7, holder = '' WHERE no = $1 AND holder = $2 AND state = 'started' RETURNING no`,
		l.No, l.Holder, string(o.State), o.Comment, completed, due, back)
}

// held runs a statement that returns a row if the caller still holds the lease, and returns job.ErrAborted if not.
func (s *Store) held(ctx context.Context, statement string, args ...any) error {
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		var no int64
		return tx.QueryRow(statement, args...).Scan(&no)
	})
	return store.OrNone(err, job.ErrAborted, "write job")
}

// Free ends every lease.
func (s *Store) Free(ctx context.Context, now time.Time) error {
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		return tx.Exec(`UPDATE jobs SET due = $1, holder = '' WHERE completed = 0 AND state = 'started'`, now.UnixMicro())
	})
	return store.Wrap(err, "free jobs")
}

// Abort ends the unfinished jobs of a corpus in the transaction that deletes it. So no job outlives its corpus and works on
// a later corpus with the same key.
func Abort(tx *store.Tx, corpusKey string, now time.Time) error {
	err := tx.Exec(`UPDATE jobs SET state = 'aborted', completed = $2, due = 0, holder = '',
		comment = CASE WHEN comment = '' THEN $3 ELSE comment || '; ' || $3 END
		WHERE completed = 0 AND no IN (SELECT job_no FROM job_corpora WHERE key = $1)`,
		corpusKey, now.UnixMicro(), "corpus "+corpusKey+" was deleted")
	return store.Wrap(err, "abort jobs")
}
