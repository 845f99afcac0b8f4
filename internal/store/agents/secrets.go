package agents

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/secret"
	"quarry/internal/clock"
	"quarry/internal/store"
)

var _ secret.Store = (*Store)(nil)

// secretFolder is what the names of the secrets of an agent begin with. Behind it stand the state in which one was set, and its name.
func secretFolder(no int64) string { return fmt.Sprintf("agent_secret/%d/", no) }

func sealedAs(no, since int64, name string) string {
	return fmt.Sprintf("%s%d/%s", secretFolder(no), since, name)
}

// SecretNames returns the names of the secrets of an agent. See secret.Store.
func (s *Store) SecretNames(ctx context.Context, no int64) ([]string, error) {
	return secretNames(s.db.Reader(ctx), no)
}

func secretNames(q store.Querier, no int64) ([]string, error) {
	return store.Select(q, "read names of secrets", store.One[string], `SELECT name FROM agent_secrets WHERE agent_no = $1 AND until = 0 ORDER BY name`, no)
}

// Secrets returns the secrets of an agent in a state, which a run names.
func (s *Store) Secrets(ctx context.Context, no, state int64) (map[string]string, error) {
	if state == 0 {
		return nil, nil
	}
	type held struct {
		name  string
		since int64
	}
	scan := func(r store.Row) (h held, err error) { return h, r.Scan(&h.name, &h.since) }
	all, err := store.Select(s.db.Reader(ctx), "read secrets of agent", scan,
		`SELECT name, since FROM agent_secrets WHERE agent_no = $1 AND since <= $2 AND (until = 0 OR until > $2)`, no, state)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	found, err := s.secrets.List(ctx, secretFolder(no))
	if err != nil {
		return nil, fmt.Errorf("read the secrets of agent %d: %w", no, err)
	}
	plain := make(map[string][]byte, len(found))
	for _, one := range found {
		plain[one.Name] = one.Plain
	}
	out := make(map[string]string, len(all))
	for _, h := range all {
		value := plain[sealedAs(no, h.since, h.name)]
		if value == nil {
			return nil, fmt.Errorf("read the secrets of agent %d: one has no value", no)
		}
		out[h.name] = string(value)
	}
	return out, nil
}

// PresentSecrets returns the secrets of an agent, as they are now; none of one that is gone.
func (s *Store) PresentSecrets(ctx context.Context, no int64) (map[string]string, error) {
	state, err := store.Select(s.db.Reader(ctx), "read the state of secrets", store.One[int64], `SELECT secrets FROM agents WHERE no = $1`, no)
	if err != nil || len(state) == 0 {
		return nil, err
	}
	return s.Secrets(ctx, no, state[0])
}

// ChangeSecrets changes the secrets of an agent. See secret.Store.
func (s *Store) ChangeSecrets(ctx context.Context, no int64, change func(names []string) (secret.Change, error)) (names []string, err error) {
	if s.secrets == nil {
		return nil, errors.New("this store of agents can't seal secrets")
	}
	now := clock.Now()
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		var state int64
		err := tx.QueryRow(`UPDATE agents SET secrets = secrets + 1 WHERE no = $1 AND deleted = 0 RETURNING secrets`, no).Scan(&state)
		if err != nil {
			return store.OrNone(err, agent.Missing(fmt.Sprint(no)), "write agent")
		}
		if names, err = secretNames(tx, no); err != nil {
			return err
		}
		c, err := change(names)
		if err != nil {
			return err
		}
		ended := slices.AppendSeq(slices.Clone(c.Remove), maps.Keys(c.Set))
		if err := end(tx, no, state, ended, now); err != nil {
			return err
		}
		for name, value := range c.Set {
			err := tx.Exec(`INSERT INTO agent_secrets (agent_no, name, since, until, ended) VALUES ($1, $2, $3, 0, 0)`, no, name, state)
			if err != nil {
				return store.Wrap(err, "write secret of agent")
			}
			if err := s.secrets.Put(tx, sealedAs(no, state, name), []byte(value)); err != nil {
				return err
			}
		}
		names, err = secretNames(tx, no)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.db.WakeSweeperIn(kept)
	return names, nil
}

// end ends the values that there are of some names.
func end(tx *store.Tx, no, state int64, names []string, now time.Time) error {
	if len(names) == 0 {
		return nil
	}
	err := tx.Exec(`UPDATE agent_secrets SET until = $2, ended = $3 WHERE agent_no = $1 AND until = 0 AND name IN (`+store.List(4, len(names))+`)`,
		store.Args([]any{no, state, now.UnixMicro()}, names)...)
	return store.Wrap(err, "end secrets of agent")
}

// sweepSecrets removes values that were replaced and that no turn uses any more.
func sweepSecrets(tx *store.Tx) (more bool, err error) {
	found, err := store.Select(tx, "sweep secrets of agents", store.One[string], `DELETE FROM agent_secrets
		WHERE (agent_no, name, since) IN (SELECT s.agent_no, s.name, s.since FROM agent_secrets s WHERE s.ended > 0 AND s.ended < $1
			AND NOT EXISTS (SELECT 1 FROM runs u WHERE u.agent_no = s.agent_no AND u.secrets >= s.since AND u.secrets < s.until)
			AND NOT EXISTS (SELECT 1 FROM parked p WHERE p.agent_no = s.agent_no AND p.secrets >= s.since AND p.secrets < s.until) LIMIT $2)
		RETURNING 'agent_secret/' || agent_no || '/' || since || '/' || name`, clock.Now().Add(-kept).UnixMicro(), maxSwept)
	if err != nil || len(found) == 0 {
		return false, err
	}
	err = tx.Exec(`DELETE FROM secrets WHERE name IN (`+store.List(1, len(found))+`)`, store.Args(nil, found)...)
	return true, store.Wrap(err, "sweep sealed secrets of agents")
}
