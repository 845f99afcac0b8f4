// Package agents keeps agents and their configurations in SQL: the agent.Store of the service. Package app creates it.
package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/clock"
	"quarry/internal/store"
	"quarry/internal/store/instructions"
	"quarry/internal/store/secrets"
	"quarry/internal/store/toolconfigurations"
	"quarry/internal/store/tools"
)

// Store is the agent.Store over a database.
type Store struct {
	db      *store.DB
	secrets *secrets.Store // nil: configurations have no credentials, agents no secrets
	// needs and stored are for identities; nil: what tools name is not written
	needs  toolconfigurations.Namer
	stored *toolconfigurations.Store
}

var _ agent.Store = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB) *Store { return &Store{db: db} }

// Sealing returns s with credentials in configurations of tools, and secrets, sealed in their own rows.
func (s *Store) Sealing(in *secrets.Store) *Store {
	out := *s
	out.secrets = in
	return &out
}

// agents reads agents with their current configurations.
const (
	columns = `a.no, COALESCE(a.key, ''), r.revision, r.definition, a.created, a.updated`
	current = `SELECT ` + columns + ` FROM agents a JOIN agent_revisions r ON r.agent_no = a.no AND r.revision = a.revision `
)

func scan(r store.Row) (a agent.Agent, err error) {
	var definition string
	if err := r.Scan(&a.No, &a.Key, &a.Revision, &definition, store.Micros(&a.Created), store.Micros(&a.Updated)); err != nil {
		return a, err
	}
	if err := json.Unmarshal([]byte(definition), &a.Definition); err != nil {
		return a, fmt.Errorf("read the definition of agent %d: %w", a.No, err)
	}
	return a, nil
}

// Create writes an agent. See agent.Store.
func (s *Store) Create(ctx context.Context, a agent.Agent) (agent.Agent, error) {
	a.Revision = 1
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		err := tx.QueryRow(`INSERT INTO agents (key, revision, enabled, created, updated, deleted) VALUES ($1, $2, $3, $4, $5, 0)
			ON CONFLICT (key) DO NOTHING RETURNING no`, a.Key, a.Revision, a.Enabled, a.Created.UnixMicro(), a.Updated.UnixMicro()).Scan(&a.No)
		if err != nil {
			return store.OrNone(err, agent.Taken(a.Key), "write agent")
		}
		return s.insert(tx, &a)
	})
	if err != nil {
		return agent.Agent{}, err
	}
	return a, nil
}

// insert writes the definition of an agent as its current one.
func (s *Store) insert(tx *store.Tx, a *agent.Agent) error {
	kept, err := s.seal(tx, a)
	if err != nil {
		return err
	}
	definition, err := json.Marshal(&kept)
	if err != nil {
		return fmt.Errorf("encode the definition of an agent: %w", err)
	}
	err = tx.Exec(`INSERT INTO agent_revisions (agent_no, revision, definition, replaced) VALUES ($1, $2, $3, 0)`, a.No, a.Revision, string(definition))
	if err != nil {
		return store.Wrap(err, "write definition of agent")
	}
	if err := toolconfigurations.Use(tx, a.No, configuration.Referred(a.Tools), a.Revision == 1); err != nil {
		return err
	}
	if err := tools.Use(tx, a.No, catalog.Created(catalog.Configured(a.Tools)), a.Revision == 1); err != nil {
		return err
	}
	if err := instructions.Pin(tx, a.No, a.References(), a.Revision == 1); err != nil {
		return err
	}
	return s.name(tx, a, a.Revision == 1)
}

// Get returns an agent. See agent.Store.
func (s *Store) Get(ctx context.Context, key string) (agent.Agent, error) {
	a, err := scan(s.db.Reader(ctx).QueryRow(current+`WHERE a.key = $1`, key))
	if err != nil {
		return agent.Agent{}, store.OrNone(err, agent.Missing(key), "read agent")
	}
	return a, s.open(ctx, &a)
}

// Revision returns an agent with one of its configurations. See agent.Store.
func (s *Store) Revision(ctx context.Context, no, revision int64) (agent.Agent, error) {
	a, err := scan(s.db.Reader(ctx).QueryRow(`SELECT `+columns+` FROM agents a JOIN agent_revisions r ON r.agent_no = a.no
		WHERE a.no = $1 AND r.revision = $2 AND a.deleted = 0`, no, revision))
	if err != nil {
		return agent.Agent{}, store.OrNone(err, agent.Missing(fmt.Sprint(no)), "read agent")
	}
	return a, s.open(ctx, &a)
}

// List returns agents after a place, newest first. See agent.Store.
func (s *Store) List(ctx context.Context, l agent.List) (page []agent.Agent, more bool, err error) {
	if l.Limit <= 0 || !l.All && len(l.Keys) == 0 {
		return nil, false, nil
	}
	page, more, err = store.Matching(l.Limit, l.Match, func(last *agent.Agent, n int) ([]agent.Agent, error) {
		created, key := l.After.Bound()
		if last != nil {
			created, key = last.Created.UnixMicro(), last.Key
		}
		args, only := []any{created, key, n}, ``
		if l.Enabled != nil {
			args = append(args, *l.Enabled)
			only = ` AND a.enabled = $4`
		}
		if !l.All {
			only += ` AND a.key IN (` + store.List(len(args)+1, len(l.Keys)) + `)`
			args = store.Args(args, l.Keys)
		}
		return store.Select(s.db.Reader(ctx), "list agents", scan,
			current+`WHERE a.deleted = 0 AND (a.created, a.key) < ($1, $2)`+only+` ORDER BY a.created DESC, a.key DESC LIMIT $3`, args...)
	})
	for i := range page {
		err = errors.Join(err, s.open(ctx, &page[i]))
	}
	return page, more, err
}

// kept is how long a configuration stays once it was replaced: a turn that begins at that moment may have read which one is
// current and not yet written that it uses it.
const kept = time.Minute

// Replace writes the next configuration of an agent. See agent.Store.
func (s *Store) Replace(ctx context.Context, a agent.Agent) (agent.Agent, error) {
	next := a
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		err := tx.QueryRow(`UPDATE agents SET revision = revision + 1, enabled = $3, updated = $4
			WHERE no = $1 AND revision = $2 AND deleted = 0 RETURNING revision`, a.No, a.Revision, a.Enabled, a.Updated.UnixMicro()).Scan(&next.Revision)
		if err != nil {
			return store.OrNone(err, agent.ErrChanged, "write agent")
		}
		if err := tx.Exec(`UPDATE agent_revisions SET replaced = $3 WHERE agent_no = $1 AND revision = $2`, a.No, a.Revision, a.Updated.UnixMicro()); err != nil {
			return store.Wrap(err, "replace definition of agent")
		}
		return s.insert(tx, &next)
	})
	if err != nil {
		return agent.Agent{}, err
	}
	s.db.WakeSweeperIn(kept)
	return next, nil
}

// Delete removes an agent. See agent.Store.
func (s *Store) Delete(ctx context.Context, no int64, at time.Time) error {
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		var was int64
		err := tx.QueryRow(`UPDATE agents SET key = NULL, deleted = $2 WHERE no = $1 AND deleted = 0 RETURNING no`, no, at.UnixMicro()).Scan(&was)
		if err != nil {
			return store.OrNone(err, agent.Missing(fmt.Sprint(no)), "delete agent")
		}
		if s.secrets != nil {
			if err := s.secrets.Delete(tx, secretFolder(no)); err != nil {
				return err
			}
		}
		return dropIdentity(tx, no)
	})
	if err == nil {
		s.db.WakeSweeper()
	}
	return err
}

// Sweeper removes agents that were deleted, once their sessions are gone, with their configurations and what was granted on
// them, and configurations that were replaced and that no turn uses any more.
type Sweeper struct{}

// maxSwept is how many rows one step removes at most.
const maxSwept = 200

// Sweep implements store.Sweeper.
func (Sweeper) Sweep(tx *store.Tx) (more bool, err error) {
	if more, err := sweepSecrets(tx); more || err != nil {
		return more, err
	}
	for _, step := range []struct {
		query string
		args  []any
	}{
		// what is sealed for a configuration goes before it, here and at the end
		{`DELETE FROM secrets WHERE name IN (SELECT 'agent/' || r.agent_no || '/' || r.revision FROM agent_revisions r
			WHERE r.replaced > 0 AND r.replaced < $1
			AND NOT EXISTS (SELECT 1 FROM runs u WHERE u.agent_no = r.agent_no AND u.revision = r.revision)
			AND NOT EXISTS (SELECT 1 FROM parked p WHERE p.agent_no = r.agent_no AND p.revision = r.revision)) RETURNING 1`,
			[]any{clock.Now().Add(-kept).UnixMicro()}},
		{`DELETE FROM agent_revisions WHERE (agent_no, revision) IN (SELECT r.agent_no, r.revision FROM agent_revisions r
			WHERE r.replaced > 0 AND r.replaced < $1
			AND NOT EXISTS (SELECT 1 FROM runs u WHERE u.agent_no = r.agent_no AND u.revision = r.revision)
			AND NOT EXISTS (SELECT 1 FROM parked p WHERE p.agent_no = r.agent_no AND p.revision = r.revision) LIMIT $2) RETURNING agent_no`,
			[]any{clock.Now().Add(-kept).UnixMicro(), maxSwept}},
		{`DELETE FROM agent_grants WHERE (holder, ord) IN (SELECT g.holder, g.ord FROM agent_grants g JOIN agents a ON a.no = g.agent_no
			WHERE a.deleted > 0 LIMIT $1) RETURNING agent_no`, []any{maxSwept}},
		{`DELETE FROM secrets WHERE name IN (SELECT 'agent/' || r.agent_no || '/' || r.revision FROM agent_revisions r JOIN agents a ON a.no = r.agent_no
			WHERE a.deleted > 0 AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.agent_no = a.no)) RETURNING 1`, nil},
		{`DELETE FROM agents WHERE no IN (SELECT a.no FROM agents a WHERE a.deleted > 0
			AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.agent_no = a.no) LIMIT $1) RETURNING no`, []any{maxSwept}},
	} {
		found, err := store.Select(tx, "sweep agents", store.One[int64], step.query, step.args...)
		if err != nil || len(found) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}
