// Package audit keeps audit events in SQL. Triggers of the database refuse every deletion and every update but the
// first of a status, so that not even another program over the same database rewrites history by mistake; who may
// alter the schema can. It is used through audit.Store.
package audit

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"quarry/internal/id"
	"quarry/internal/identity/audit"
	"quarry/internal/store"
)

// Store implements audit.Store.
type Store struct{ db *store.DB }

// New returns the store over an open database.
func New(db *store.DB) *Store { return &Store{db} }

const columns = `id, kind, actor_id, actor_name, credential, action, target, changes, address, request_id, status, made`

// Add writes an event. See audit.Store.
func (s *Store) Add(ctx context.Context, e audit.Event) error {
	target, err := json.Marshal(e.Target)
	if err != nil {
		return fmt.Errorf("encode target: %w", err)
	}
	// A text of PostgreSQL holds no NUL, and a name that a client sent must not keep its refusal from being recorded.
	clean := strings.NewReplacer("\x00", "\uFFFD").Replace
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		return tx.Exec(`INSERT INTO audit_events (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, '')`,
			string(e.ID), string(e.Actor.Kind), clean(e.Actor.ID), clean(e.Actor.Name), clean(e.Actor.Credential), e.Action,
			string(target), string(e.Changes), e.Address, e.RequestID, e.Status)
	})
	return store.Wrap(err, "write audit event")
}

// errSettled is returned when an event has an outcome already or doesn't exist.
var errSettled = errors.New("the audit event has an outcome already, or does not exist")

// SetOutcome sets the outcome of an event. See audit.Store.
func (s *Store) SetOutcome(ctx context.Context, event id.Audit, status int, made map[string]string) error {
	text := ""
	if len(made) > 0 {
		raw, err := json.Marshal(made)
		if err != nil {
			return fmt.Errorf("encode what was made: %w", err)
		}
		text = string(raw)
	}
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		var found string
		err := tx.QueryRow(`UPDATE audit_events SET status = $1, made = $2 WHERE id = $3 AND status = 0 RETURNING id`, status, text, string(event)).Scan(&found)
		if errors.Is(err, sql.ErrNoRows) {
			return errSettled
		}
		return err
	})
	return store.Wrap(err, "set outcome of audit event")
}

// List returns up to l.Limit events and whether more follow. See audit.Store.
func (s *Store) List(ctx context.Context, l audit.List) (page []audit.Event, more bool, err error) {
	if l.Limit <= 0 {
		return nil, false, nil
	}
	query, args := listed(l)
	all, err := store.Select(s.db.Reader(ctx), "read audit events", scan, query, args...)
	page, more = store.Cut(all, l.Limit)
	return page, more, err
}

// listed returns the query of a list. An actor may be in any of three columns. Each is queried by itself, so that its index
// yields the newest events in order and no event is read that the page does not show.
func listed(l audit.List) (query string, args []any) {
	where := []string{"1 = 1"}
	add := func(text string, arg string) {
		args = append(args, arg)
		where = append(where, text+" $"+strconv.Itoa(len(args)))
	}
	if l.Behind != "" {
		add("id <", string(l.Behind))
	}
	if !l.After.IsZero() {
		add("id >=", string(id.AuditFrom(roundUp(l.After))))
	}
	if !l.Before.IsZero() {
		add("id <", string(id.AuditFrom(roundUp(l.Before))))
	}
	if l.Action != "" {
		add("action =", l.Action)
	}
	all := strings.Join(where, " AND ")
	limit := " ORDER BY id DESC LIMIT " + strconv.Itoa(l.Limit+1)
	if l.Actor == "" {
		return `SELECT ` + columns + ` FROM audit_events WHERE ` + all + limit, args
	}
	args = append(args, l.Actor)
	var parts []string
	for _, column := range []string{"actor_id", "actor_name", "credential"} {
		parts = append(parts, fmt.Sprintf(`SELECT * FROM (SELECT %s FROM audit_events WHERE %s AND %s = $%d %s) AS by_%s`,
			columns, all, column, len(args), limit, column))
	}
	return strings.Join(parts, " UNION ") + limit, args
}

// roundUp returns the first whole microsecond that is not before t.
func roundUp(t time.Time) time.Time {
	if cut := t.Truncate(time.Microsecond); !cut.Equal(t) {
		return cut.Add(time.Microsecond)
	}
	return t
}

func scan(r store.Row) (e audit.Event, err error) {
	var target, changes, made string
	err = r.Scan((*string)(&e.ID), (*string)(&e.Actor.Kind), &e.Actor.ID, &e.Actor.Name, &e.Actor.Credential, &e.Action,
		&target, &changes, &e.Address, &e.RequestID, &e.Status, &made)
	if err != nil {
		return e, err
	}
	if changes != "" {
		e.Changes = json.RawMessage(changes)
	}
	for _, named := range []string{target, made} {
		if named == "" {
			continue
		}
		if err := json.Unmarshal([]byte(named), &e.Target); err != nil { // into the map that is there
			return e, fmt.Errorf("read target of audit event %s: %w", e.ID, err)
		}
	}
	e.At, err = e.ID.At()
	return e, err
}
