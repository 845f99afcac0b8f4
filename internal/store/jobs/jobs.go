// Package jobs keeps the queue of background work in SQL: the job.Store of the queue. Package app creates it; package
// corpora calls Abort when a corpus is deleted.
package jobs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/job"
	"quarry/internal/store"
)

// Store is the job.Store over a database.
type Store struct{ db *store.DB }

var _ job.Store = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB) *Store { return &Store{db} }

// columns is what scan reads, in its order; heads leaves out what lists don't show.
const (
	columns = `no, id, type, state, account, created_by, corpora, lane, comment, created, started, completed, attempt, input, progress`
	heads   = `no, id, type, state, account, created_by, corpora, lane, comment, created, started, completed, attempt, '', ''`
)

func scan(r store.Row) (j job.Job, err error) {
	var corpora string
	var input, progress []byte
	err = r.Scan(&j.No, &j.ID, &j.Type, &j.State, &j.Account, &j.CreatedBy, &corpora, &j.Lane, &j.Comment,
		store.Micros(&j.Created), store.Micros(&j.Started), store.Micros(&j.Completed), &j.Attempt, &input, &progress)
	if err != nil {
		return j, err
	}
	if err := json.Unmarshal([]byte(corpora), &j.CorpusKeys); err != nil {
		return j, fmt.Errorf("read corpora of job %d: %w", j.No, err)
	}
	if len(input) > 0 {
		j.Input = input
	}
	if len(progress) > 0 {
		j.Progress = progress
	}
	return j, nil
}

// Add writes a job in state Queued that may be claimed at once.
func (s *Store) Add(ctx context.Context, j job.Job) (job.Job, error) {
	err := s.db.Write(ctx, func(tx *store.Tx) (err error) {
		j, err = add(tx, j)
		return err
	})
	return j, err
}

// AddOnce writes a job unless there is an unfinished one of the same type and lane, which it returns.
func (s *Store) AddOnce(ctx context.Context, j job.Job) (job.Job, error) {
	var out job.Job
	err := s.db.Write(ctx, func(tx *store.Tx) (err error) {
		if err := tx.Lock("jobs_once"); err != nil {
			return err
		}
		out, err = scan(tx.QueryRow(`SELECT `+columns+` FROM jobs WHERE completed = 0 AND lane = $1 AND type = $2 ORDER BY no LIMIT 1`,
			j.Lane, string(j.Type)))
		if errors.Is(err, sql.ErrNoRows) {
			out, err = add(tx, j)
		}
		return store.Wrap(err, "add job once")
	})
	return out, err
}

func add(tx *store.Tx, j job.Job) (job.Job, error) {
	corpora, err := json.Marshal(j.CorpusKeys)
	if err != nil {
		return j, fmt.Errorf("encode corpora: %w", err)
	}
	j.State = job.Queued
	err = tx.QueryRow(`INSERT INTO jobs (id, type, state, account, created_by, corpora, lane, comment, created, started,
			completed, attempt, due, holder, input, progress)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, 0, $9, '', $10, '') RETURNING no`,
		string(j.ID), string(j.Type), string(j.State), j.Account, j.CreatedBy, string(corpora), j.Lane, j.Comment, j.Created.UnixMicro(), string(j.Input)).Scan(&j.No)
	if err != nil {
		return j, fmt.Errorf("write job: %w", err)
	}
	for _, key := range j.CorpusKeys {
		if err := tx.Exec(`INSERT INTO job_corpora (job_no, key) VALUES ($1, $2) ON CONFLICT DO NOTHING`, j.No, key); err != nil {
			return j, fmt.Errorf("write corpus of job: %w", err)
		}
	}
	err = tx.Exec(`INSERT INTO job_turns (account, turn) VALUES ($1, 0) ON CONFLICT DO NOTHING`, j.Account)
	return j, store.Wrap(err, "write account of job")
}

// Get returns a job of an account.
func (s *Store) Get(ctx context.Context, account string, id id.Job) (job.Job, error) {
	j, err := scan(s.db.Reader(ctx).QueryRow(`SELECT `+columns+` FROM jobs WHERE id = $1 AND account = $2`, string(id), account))
	if err != nil {
		return j, store.OrNone(err, fault.NotFound("job_not_found", string(id), "job %s does not exist", id), "read job")
	}
	return j, nil
}

// List returns up to l.Limit jobs, newest first, without Input and Progress, and whether more follow.
func (s *Store) List(ctx context.Context, l job.List) (page []job.Job, more bool, err error) {
	if l.Limit <= 0 {
		return nil, false, nil
	}
	args := []any{l.Account, l.Limit + 1}
	condition := ""
	where := func(text string, values ...any) {
		condition += fmt.Sprintf(" AND "+text, len(args)+1)
		args = append(args, values...)
	}
	if l.Before != nil {
		condition += fmt.Sprintf(" AND (created, id) < ($%d, $%d)", len(args)+1, len(args)+2)
		args = append(args, l.Before.Created, l.Before.ID)
	}
	if !l.After.IsZero() {
		where("created > $%d", floor(l.After))
	}
	if len(l.States) > 0 {
		condition += ` AND state IN (` + store.List(len(args)+1, len(l.States)) + `)`
		args = store.Args(args, l.States)
	}
	if len(l.Corpora) > 0 {
		condition += ` AND no IN (SELECT job_no FROM job_corpora WHERE key IN (` + store.List(len(args)+1, len(l.Corpora)) + `))`
		args = store.Args(args, l.Corpora)
	}
	all, err := store.Select(s.db.Reader(ctx), "list jobs", scan,
		`SELECT `+heads+` FROM jobs WHERE account = $1`+condition+
			` ORDER BY created DESC, id DESC LIMIT $2`, args...)
	page, more = store.Cut(all, l.Limit)
	return page, more, err
}

// floor returns an instant in microseconds. One that is too far from the creation of any job to fit is clamped.
func floor(t time.Time) int64 {
	const most = 1 << 33 // seconds; year 2242
	if s := t.Unix(); s > most || s < -most {
		return max(-most, min(most, s)) * 1e6
	}
	return t.UnixMicro()
}

// Sweep removes the jobs that ended before an instant, in small steps.
func (s *Store) Sweep(ctx context.Context, before time.Time) error {
	const step = 500
	for {
		var removed []int64
		err := s.db.Write(ctx, func(tx *store.Tx) (err error) {
			removed, err = store.Select(tx, "remove old jobs", store.One[int64],
				`DELETE FROM jobs WHERE no IN (SELECT no FROM jobs WHERE completed > 0 AND completed < $1
				ORDER BY completed LIMIT $2) RETURNING no`, before.UnixMicro(), step)
			return err
		})
		if err != nil || len(removed) < step {
			return err
		}
	}
}
