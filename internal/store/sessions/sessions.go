// Package sessions keeps the sessions of agents in SQL: the session.Store of those who manage and read them, and the
// session.Log of the turns. Whoever writes anything of a session updates its row first, so writes of one session follow one
// another on both databases. Secrets of sessions are sealed by store/secrets in the same transactions. Package app creates it.
package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/opt"
	"quarry/internal/room"
	"quarry/internal/store"
	"quarry/internal/store/artifacts"
	"quarry/internal/store/secrets"
	"quarry/internal/store/sessions/rows"
	"quarry/internal/store/traces"
)

// Store is the session.Store and the session.Log over a database.
type Store struct {
	*artifacts.Store // of the files
	db               *store.DB
	secrets          *secrets.Store

	Spans *traces.Store // keeps what turns record; nil: nothing is kept. It is set before the first turn.
}

var (
	_ session.Store = (*Store)(nil)
	_ session.Log   = (*Store)(nil)
)

// New returns a store over db that keeps secrets in sealed.
func New(db *store.DB, sealed *secrets.Store) *Store {
	return &Store{Store: artifacts.New(db), db: db, secrets: sealed}
}

// secretFolder is what the names of the secrets of a session begin with; no later session gets its number.
func secretFolder(no int64) string { return fmt.Sprintf("session/%d/", no) }

// secretsEnd returns the bound behind the names in a folder: 0 is the byte after the slash.
func secretsEnd(folder string) string { return strings.TrimSuffix(folder, "/") + "0" }

// Create writes a session. See session.Store.
func (s *Store) Create(ctx context.Context, x session.Session, values map[string]string) (out session.Session, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		no, err := s.create(tx, &x, values)
		if err != nil {
			return err
		}
		out, err = read(tx, no)
		return err
	})
	return out, err
}

func (s *Store) create(tx *store.Tx, x *session.Session, values map[string]string) (no int64, err error) {
	if err := takes(tx, x.AgentNo); err != nil {
		return 0, err
	}
	if no, err = insert(tx, x, names(nil, values)); err != nil {
		return 0, err
	}
	for name, value := range values {
		if err := s.secrets.Put(tx, secretFolder(no)+name, []byte(value)); err != nil {
			return 0, err
		}
	}
	// The row holds its agent now: one that is still there stays until the session is committed, and then finds it.
	return no, takes(tx, x.AgentNo)
}

// takes returns the fault of a session for an agent that is deleted or disabled.
func takes(tx *store.Tx, agentNo int64) error {
	var key string
	var enabled bool
	err := tx.QueryRow(`SELECT key, enabled FROM agents WHERE no = $1 AND deleted = 0`, agentNo).Scan(&key, &enabled)
	switch {
	case err != nil:
		return store.OrNone(err, agentGone(), "read agent")
	case !enabled:
		return session.Refusing(key)
	}
	return nil
}

func insert(tx *store.Tx, x *session.Session, secretNames []string) (no int64, err error) {
	compaction, err := rows.Encode(x.Compaction)
	if err != nil {
		return 0, err
	}
	list, err := rows.Encode(secretNames)
	if err != nil {
		return 0, err
	}
	origin := ""
	if x.Origin != nil {
		if origin, err = rows.Encode(x.Origin); err != nil {
			return 0, err
		}
	}
	err = tx.QueryRow(`INSERT INTO sessions (agent_no, key, name, description, metadata, enabled, idle_minutes, secrets, step, usage, compaction,
		created, active, deleted, turn, last_ord, last_created, events, hidden, edits, failed_ord, made_by, describe, origin)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, '', $10, $11, $12, 0, 0, 0, 0, 0, 0, 0, 0, $13, $14, $15)
		ON CONFLICT (agent_no, key) DO NOTHING RETURNING no`,
		x.AgentNo, x.Key, store.Text(x.Name), store.Text(x.Description), store.Text(string(x.Metadata)), x.Enabled, x.IdleMinutes, list,
		x.Step, compaction, x.Created.UnixMicro(), x.Updated.UnixMicro(), store.Text(x.MadeBy), x.Describe, origin).Scan(&no)
	return no, store.OrNone(err, session.Taken(x.Key), "write session")
}

// columns is what scan reads; an agent that is deleted has no sessions any more.
const columns = `SELECT s.no, s.key, s.agent_no, a.key, s.name, s.description, s.metadata, s.enabled, s.idle_minutes, s.secrets, s.step, s.usage,
	s.compaction, s.created, s.active, s.made_by, s.describe, s.origin, s.turn > 0, EXISTS (SELECT 1 FROM runs r WHERE r.session_no = s.no)
	FROM sessions s JOIN agents a ON a.no = s.agent_no WHERE s.deleted = 0 AND a.deleted = 0 AND `

func scan(r store.Row) (x session.Session, err error) {
	var metadata, list, usage, compaction, origin string
	err = r.Scan(&x.No, &x.Key, &x.AgentNo, &x.AgentKey, &x.Name, &x.Description, &metadata, &x.Enabled, &x.IdleMinutes, &list, &x.Step, &usage,
		&compaction, store.Micros(&x.Created), store.Micros(&x.Updated), &x.MadeBy, &x.Describe, &origin, &x.Started, &x.Running)
	if err != nil {
		return x, err
	}
	x.Metadata = json.RawMessage(metadata)
	if err := json.Unmarshal([]byte(list), &x.Secrets); err != nil {
		return x, err
	}
	if usage != "" {
		var m measured
		if err := json.Unmarshal([]byte(usage), &m); err != nil {
			return x, err
		}
		x.Usage, x.Measured = &m.Usage, session.Measured{Ord: m.Ord, Edits: m.Edits}
	}
	if origin != "" {
		if err := json.Unmarshal([]byte(origin), &x.Origin); err != nil {
			return x, err
		}
	}
	return x, json.Unmarshal([]byte(compaction), &x.Compaction)
}

func read(q store.Querier, no int64) (session.Session, error) {
	x, err := scan(q.QueryRow(columns+`s.no = $1`, no))
	if err != nil {
		return session.Session{}, store.OrNone(err, gone(), "read session")
	}
	return x, nil
}

// Get returns a session of an agent. See session.Store.
func (s *Store) Get(ctx context.Context, agentNo int64, key string) (session.Session, error) {
	x, err := scan(s.db.Reader(ctx).QueryRow(columns+`s.agent_no = $1 AND s.key = $2`, agentNo, key))
	if err != nil {
		none := fault.NotFound("session_not_found", key, "session %s does not exist", key)
		return session.Session{}, store.OrNone(err, none, "read session")
	}
	return x, nil
}

// Load returns a session by its number. See session.Store.
func (s *Store) Load(ctx context.Context, no int64) (session.Session, error) {
	return read(s.db.Reader(ctx), no)
}

// List returns sessions of an agent. See session.Store.
func (s *Store) List(ctx context.Context, l session.List) (found []session.Session, more bool, err error) {
	by, before, order := `created`, `<`, ` DESC`
	if l.ByEvent {
		by = `active`
	}
	if l.Oldest {
		before, order = `>`, ``
	}
	query := columns + `s.agent_no = $1 AND (s.` + by + `, s.key) ` + before + ` ($2, $3) ORDER BY s.` + by + order + `, s.key` + order + ` LIMIT $4`
	return store.Matching(l.Limit, l.Match, func(last *session.Session, n int) ([]session.Session, error) {
		at, key := l.After.Bound()
		if l.After == nil && l.Oldest {
			at = math.MinInt64
		}
		if last != nil {
			at, key = last.Place(l.ByEvent).Bound()
		}
		return store.Select(s.db.Reader(ctx), "list sessions", scan, query, l.AgentNo, at, key, n)
	})
}

// Update changes a session. See session.Store.
func (s *Store) Update(ctx context.Context, no int64, c session.Change, at time.Time) (out session.Session, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := lock(tx, no, gone()); err != nil {
			return err
		}
		x, err := read(tx, no)
		if err != nil {
			return err
		}
		list := x.Secrets
		for name, value := range c.Secrets {
			if list, err = s.change(tx, no, list, name, value); err != nil {
				return err
			}
		}
		if len(list) > session.MaxSecrets {
			return session.TooManySecrets()
		}
		encoded, err := rows.Encode(list)
		if err != nil {
			return err
		}
		err = tx.Exec(`UPDATE sessions SET name = $2, description = $3, metadata = $4, enabled = $5, idle_minutes = $6, secrets = $7, active = $8, describe = $9
			WHERE no = $1`,
			no, store.Text(c.Name.Or(x.Name)), store.Text(c.Description.Or(x.Description)), store.Text(string(c.Metadata.Or(x.Metadata))),
			c.Enabled.Or(x.Enabled), c.IdleMinutes.Or(x.IdleMinutes), encoded, max(x.Updated.UnixMicro(), at.UnixMicro()),
			x.Describe && c.Description.IsAbsent())
		if err != nil {
			return store.Wrap(err, "write session")
		}
		out, err = read(tx, no)
		return err
	})
	if err != nil {
		return session.Session{}, err
	}
	return out, nil
}

// change writes or removes a secret and returns the names that there are then.
func (s *Store) change(tx *store.Tx, no int64, list []string, name string, value opt.Field[string]) ([]string, error) {
	list = slices.DeleteFunc(slices.Clone(list), func(x string) bool { return x == name })
	v, given := value.Get()
	if !given {
		return list, s.secrets.DeleteOne(tx, secretFolder(no)+name)
	}
	return names(list, map[string]string{name: v}), s.secrets.Put(tx, secretFolder(no)+name, []byte(v))
}

// names returns the names of secrets, sorted and never nil.
func names(list []string, values map[string]string) []string {
	out := append([]string{}, list...)
	for name := range values {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Delete removes a session. See session.Store.
func (s *Store) Delete(ctx context.Context, no int64) error {
	err := s.db.Write(room.Freeing(ctx), func(tx *store.Tx) error {
		if _, err := lock(tx, no, gone()); err != nil {
			return err
		}
		return s.remove(tx, no)
	})
	if err == nil {
		s.db.WakeSweeper()
	}
	return err
}

// remove takes a session out of reach: its key is free, its run lost, its secrets are gone. The sweep does the rest.
func (s *Store) remove(tx *store.Tx, no int64) error {
	if err := tx.Exec(`UPDATE sessions SET deleted = $2, key = NULL WHERE no = $1`, no, clock.Now().UnixMicro()); err != nil {
		return store.Wrap(err, "delete session")
	}
	if err := tx.Exec(`DELETE FROM runs WHERE session_no = $1`, no); err != nil {
		return store.Wrap(err, "end run")
	}
	if err := s.unpark(tx, no); err != nil {
		return err
	}
	return s.secrets.Delete(tx, secretFolder(no))
}

// Secrets returns the values of the secrets of a session. See session.Store.
func (s *Store) Secrets(ctx context.Context, no int64) (map[string]string, error) {
	found, err := s.secrets.List(ctx, secretFolder(no))
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(found))
	for _, x := range found {
		out[x.Name[len(secretFolder(no)):]] = string(x.Plain)
	}
	return out, nil
}

// Describe sets the description of a session that waits for one. See session.Store.
func (s *Store) Describe(ctx context.Context, no int64, text string) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		err := tx.Exec(`UPDATE sessions SET description = $2, describe = FALSE WHERE no = $1 AND describe AND deleted = 0`, no, store.Text(text))
		return store.Wrap(err, "describe session")
	})
}

// Reminders returns the reminders of a session. See session.Store.
func (s *Store) Reminders(ctx context.Context, no int64) (map[string]string, error) {
	out, text := map[string]string{}, ""
	err := s.db.Reader(ctx).QueryRow(`SELECT reminders FROM sessions WHERE no = $1 AND deleted = 0`, no).Scan(&text)
	if err != nil || text == "" {
		return out, store.OrNone(err, gone(), "read reminders of session")
	}
	return out, json.Unmarshal([]byte(text), &out)
}

// idle is the condition that the time to idle of a session s has passed and nobody works on it.
const idle = `s.idle_minutes > 0 AND s.deleted = 0 AND s.active <= $1 - s.idle_minutes * 60000000
	AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.session_no = s.no)`

// Idle removes sessions that nobody has used. See session.Store.
func (s *Store) Idle(ctx context.Context, now time.Time, limit int) (removed int, err error) {
	found, err := store.Select(s.db.Reader(ctx), "find idle sessions", store.One[int64],
		`SELECT s.no FROM sessions s WHERE `+idle+` ORDER BY s.active LIMIT $2`, now.UnixMicro(), limit)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	defer s.db.WakeSweeper()
	for _, no := range found {
		var did int
		err := s.db.Write(room.Freeing(ctx), func(tx *store.Tx) error {
			did = 0
			if _, err := lock(tx, no, errUsed); err != nil {
				return err
			}
			var still bool
			if err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM sessions s WHERE `+idle+` AND s.no = $2)`, now.UnixMicro(), no).Scan(&still); err != nil || !still {
				return store.Wrap(err, "read session")
			}
			did = 1
			return s.remove(tx, no)
		})
		if err != nil && err != errUsed {
			return removed, err
		}
		removed += did
	}
	return removed, nil
}

var errUsed = fault.NotFound("session_not_found", "", "the session is gone")

func stored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func gone() error {
	return fault.NotFound("session_not_found", "", "the session does not exist any more")
}

func agentGone() error {
	return fault.NotFound("agent_not_found", "", "the agent does not exist any more")
}
