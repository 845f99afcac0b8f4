package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"quarry/internal/fault"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
)

// userColumns is what scanUser reads, in its order.
const userColumns = `id, username, email, description, enabled, metadata, member_of, api_roles, created, updated`

func scanUser(r store.Row) (u account.User, err error) {
	var metadata string
	err = r.Scan(&u.ID, &u.Username, &u.Email, &u.Description, &u.Enabled, &metadata, (*texts)(&u.Groups), (*texts)(&u.Rights.API),
		store.Micros(&u.Created), store.Micros(&u.Updated))
	if metadata != "{}" {
		u.Metadata = []byte(metadata)
	}
	return u, err
}

func noUser(username string) error {
	return fault.NotFound("user_not_found", username, "user %s does not exist", username)
}

func object(raw []byte) string {
	if len(raw) == 0 {
		return "{}"
	}
	return string(raw)
}

// CreateUser writes a user. See account.Users.
func (s *Store) CreateUser(ctx context.Context, u account.User, first account.CodeRow) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if err := insertUser(tx, u); err != nil || first.Digest == "" {
			return err
		}
		return putCode(tx, u.ID, first)
	})
}

func insertUser(tx *store.Tx, u account.User) error {
	var id string
	err := tx.QueryRow(`INSERT INTO users (folded, folded_email, `+userColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING RETURNING id`,
		account.Fold(u.Username), account.Fold(u.Email), string(u.ID), u.Username, u.Email, u.Description, u.Enabled,
		object(u.Metadata), list(u.Groups), list(u.Rights.API), u.Created.UnixMicro(), u.Updated.UnixMicro()).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nameTaken(tx, u)
	}
	if err != nil {
		return fmt.Errorf("write user: %w", err)
	}
	return PutGrants(tx, string(u.ID), &u.Rights)
}

// nameTaken returns the conflict that names what a new user shares with another one: username or e-mail address.
func nameTaken(tx *store.Tx, u account.User) error {
	var names int
	if err := tx.QueryRow(`SELECT COUNT(*) FROM users WHERE folded = $1`, account.Fold(u.Username)).Scan(&names); err != nil {
		return fmt.Errorf("read users: %w", err)
	}
	if names == 0 {
		return fault.Conflict("user_exists", "a user with the e-mail address %s, or one that differs in its spelling only, already exists", u.Email)
	}
	return fault.Conflict("user_exists", "user %s, or one whose name differs in its spelling only, already exists", u.Username)
}

// UserByName returns a user. See account.Users.
func (s *Store) UserByName(ctx context.Context, username string) (u account.User, err error) {
	err = s.db.Read(ctx, func(q store.Querier) error {
		u, err = scanUser(q.QueryRow(`SELECT `+userColumns+` FROM users WHERE folded = $1`, account.Fold(username)))
		if err != nil {
			return store.OrNone(err, noUser(username), "read user")
		}
		return readGrants(q, map[string]*authz.Rights{string(u.ID): &u.Rights})
	})
	return u, err
}

// readers are the API roles that open every corpus for reading, as they stand in a column of roles.
var readers = []string{"corpus_viewer", "corpus_developer", "corpus_administrator", "viewer", "administrator", "owner"}

// reading is the condition that a user may read corpus $4.
var reading = func() string {
	var any strings.Builder
	for _, role := range readers {
		any.WriteString(` OR api_roles LIKE '%"` + role + `"%'`)
	}
	return ` AND EXISTS (SELECT 1 FROM corpora c WHERE c.key = $4 AND (EXISTS (SELECT 1 FROM grants g WHERE g.corpus_no = c.no AND g.holder = users.id)` +
		any.String() + `))`
}()

// ListUsers returns a page of users. See account.Users.
func (s *Store) ListUsers(ctx context.Context, l account.UserList) (page []account.User, more bool, err error) {
	created, id := l.After.Bound()
	args := []any{created, id, l.Limit + 1}
	where := ""
	if l.Corpus != "" {
		where = reading
		args = append(args, l.Corpus)
	}
	err = s.db.Read(ctx, func(q store.Querier) error {
		page, err = store.Select(q, "list users", scanUser,
			`SELECT `+userColumns+` FROM users WHERE (created, id) < ($1, $2)`+where+`
			ORDER BY created DESC, id DESC LIMIT $3`, args...)
		if err != nil {
			return err
		}
		page, more = store.Cut(page, l.Limit)
		rights := map[string]*authz.Rights{}
		for i := range page {
			rights[string(page[i].ID)] = &page[i].Rights
		}
		return readGrants(q, rights)
	})
	return page, more, err
}

// UpdateUser changes a user. See account.Users.
func (s *Store) UpdateUser(ctx context.Context, username string, change func(account.User) (account.User, error)) (out account.User, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		was, err := lockUser(tx, username)
		if err != nil {
			return err
		}
		if out, err = change(was); err != nil {
			return err
		}
		if isOwner(was) && !isOwner(out) {
			if err := keepOwner(tx, was); err != nil {
				return err
			}
		}
		// A user who is disabled and enabled again does not get old tokens back.
		if err := tx.Exec(`UPDATE users SET description = $2, enabled = $3, metadata = $4, member_of = $5, api_roles = $6, updated = $7,
			epoch = epoch + CASE WHEN enabled AND NOT $3 THEN 1 ELSE 0 END
			WHERE id = $1`, string(was.ID), out.Description, out.Enabled, object(out.Metadata), list(out.Groups), list(out.Rights.API),
			out.Updated.UnixMicro()); err != nil {
			return fmt.Errorf("update user: %w", err)
		}
		if sameGrants(was.Rights, out.Rights) {
			return nil
		}
		return PutGrants(tx, string(was.ID), &out.Rights)
	})
	return out, err
}

// lockUser reads a user whom no other transaction changes before this one ends.
func lockUser(tx *store.Tx, username string) (u account.User, err error) {
	u, err = scanUser(tx.QueryRow(`UPDATE users SET updated = updated WHERE folded = $1 RETURNING `+userColumns, account.Fold(username)))
	if err != nil {
		return u, store.OrNone(err, noUser(username), "read user")
	}
	err = readGrants(tx, map[string]*authz.Rights{string(u.ID): &u.Rights})
	return u, err
}

// DeleteUser removes a user. See account.Users.
func (s *Store) DeleteUser(ctx context.Context, username string, allow func(account.User) error) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		u, err := lockUser(tx, username)
		if err != nil {
			return err
		}
		if err := allow(u); err != nil {
			return err
		}
		if isOwner(u) {
			if err := keepOwner(tx, u); err != nil {
				return err
			}
		}
		if err := DropGrants(tx, string(u.ID)); err != nil {
			return err
		}
		if err := tx.Exec(`DELETE FROM users WHERE id = $1`, string(u.ID)); err != nil { // its keys go with it
			return fmt.Errorf("delete user: %w", err)
		}
		return nil
	})
}
