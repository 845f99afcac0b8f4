package sessions

import (
	"errors"

	"quarry/internal/clock"
	"quarry/internal/store"
	"quarry/internal/store/artifacts"
	"quarry/internal/store/traces"
)

// Sweeper removes the rows of deleted sessions, and of the sessions of deleted agents, in small steps.
type Sweeper struct{}

var _ store.Sweeper = Sweeper{}

// How much a step removes at most.
const (
	sweepSessions = 100
	sweepRows     = 200
)

// Sweep takes one step. See store.Sweeper.
func (Sweeper) Sweep(tx *store.Tx) (more bool, err error) {
	if more, err = sweepAgent(tx); more || err != nil {
		return more, err
	}
	var no int64
	if err := tx.QueryRow(`SELECT no FROM sessions WHERE deleted > 0 ORDER BY no LIMIT 1`).Scan(&no); err != nil {
		return false, store.OrNone(err, nil, "find deleted session")
	}
	for _, query := range []string{
		`DELETE FROM events WHERE session_no = $1 AND ord IN (SELECT ord FROM events WHERE session_no = $1 ORDER BY ord LIMIT $2) RETURNING traced`,
		`DELETE FROM external_ids WHERE session_no = $1 AND external_id IN (SELECT external_id FROM external_ids WHERE session_no = $1 LIMIT $2) RETURNING ''`,
	} {
		traced, err := store.Select(tx, "sweep session", store.One[string], query, no, sweepRows)
		if err != nil || len(traced) > 0 {
			return true, errors.Join(err, traces.Leave(tx, no, traced...))
		}
	}
	for _, sweep := range []func(tx *store.Tx, session int64, limit int) (int, error){artifacts.Sweep, traces.Sweep} {
		if removed, err := sweep(tx, no, sweepRows); err != nil || removed > 0 {
			return true, err
		}
	}
	for _, folder := range []string{secretFolder(no), turnFolder(no)} {
		if err := tx.Exec(`DELETE FROM secrets WHERE name >= $1 AND name < $2`, folder, secretsEnd(folder)); err != nil {
			return false, store.Wrap(err, "sweep secrets of session")
		}
	}
	return true, store.Wrap(tx.Exec(`DELETE FROM sessions WHERE no = $1 AND deleted > 0`, no), "sweep session")
}

// sweepAgent deletes sessions whose agent is deleted, so that the next steps remove them.
func sweepAgent(tx *store.Tx) (more bool, err error) {
	found, err := store.Select(tx, "delete sessions of deleted agents", store.One[int64], `UPDATE sessions SET deleted = $1, key = NULL
		WHERE no IN (SELECT s.no FROM agents a JOIN sessions s ON s.agent_no = a.no WHERE a.deleted > 0 AND s.deleted = 0 ORDER BY s.no LIMIT $2)
		AND deleted = 0 RETURNING no`, clock.Now().UnixMicro(), sweepSessions)
	if err != nil || len(found) == 0 {
		return false, err
	}
	for _, table := range []string{"runs", "parked"} {
		if err := tx.Exec(`DELETE FROM `+table+` WHERE session_no IN (`+store.List(1, len(found))+`)`, store.Args(nil, found)...); err != nil {
			return true, store.Wrap(err, "end runs of deleted agents")
		}
	}
	return true, nil
}
