package accounts

import (
	"context"
	"database/sql"
	"fmt"

	"quarry/internal/account"
	"quarry/internal/authz"
	"quarry/internal/id"
	"quarry/internal/store"
)

// grants gathers the rows of one holder: one for each grant, or a single one without.
type grants struct {
	key, role sql.NullString
	all       []authz.Grant
}

// take keeps the grant of the row just read, unless there is none or its corpus is gone.
func (g *grants) take() {
	if g.key.Valid {
		g.all = append(g.all, authz.Grant{Key: g.key.String, Role: g.role.String})
	}
}

// KeyByDigest gives a key and its owner in one statement. See account.Principals.
func (s *Store) KeyByDigest(ctx context.Context, digest string) (k account.Key, u account.User, err error) {
	var g grants
	var owner, username, email, userRoles sql.NullString
	var userEnabled sql.NullBool
	var roles string
	var made int64
	err = s.each(ctx, `
		SELECT k.id, k.name, k.digest, k.prefix, k.tail, k.style, k.creator, k.enabled, k.api_roles, k.created,
			u.id, u.username, u.email, u.enabled, u.api_roles, c.key, g.role
		FROM api_keys k LEFT JOIN users u ON u.id = k.owner
			LEFT JOIN grants g ON g.holder = COALESCE(k.owner, k.id) LEFT JOIN corpora c ON c.no = g.corpus_no
		WHERE k.digest = $1 ORDER BY g.ord`, digest, &g,
		&k.ID, &k.Name, &k.Digest, &k.Prefix, &k.Tail, &k.Style, &k.Creator, &k.Enabled, &roles, &made,
		&owner, &username, &email, &userEnabled, &userRoles, &g.key, &g.role)
	if err != nil {
		return account.Key{}, account.User{}, err
	}
	k.Created = at(made)
	if k.Rights.API, err = texts(roles, string(k.ID)); err != nil {
		return k, u, err
	}
	if !owner.Valid {
		k.Rights.Corpora = g.all
		return k, u, nil
	}
	k.Owner = id.User(owner.String)
	u = account.User{ID: k.Owner, Username: username.String, Email: email.String, Enabled: userEnabled.Bool}
	u.Rights.Corpora = g.all
	u.Rights.API, err = texts(userRoles.String, owner.String)
	return k, u, err
}

// ClientByID gives the client with a client id in one statement. See account.Principals.
func (s *Store) ClientByID(ctx context.Context, clientID string) (c account.Client, err error) {
	var g grants
	var roles string
	var made, changed int64
	err = s.each(ctx, `
		SELECT a.id, a.client_id, a.name, a.digest, a.tail, a.api_roles, a.created, a.updated, c.key, g.role
		FROM app_clients a LEFT JOIN grants g ON g.holder = a.id LEFT JOIN corpora c ON c.no = g.corpus_no
		WHERE a.client_id = $1 ORDER BY g.ord`, clientID, &g,
		&c.ID, &c.ClientID, &c.Name, &c.Digest, &c.Tail, &roles, &made, &changed, &g.key, &g.role)
	if err != nil {
		return account.Client{}, err
	}
	c.Created, c.Updated, c.Rights.Corpora = at(made), at(changed), g.all
	c.Rights.API, err = texts(roles, clientID)
	return c, err
}

// UserByID gives the user with an id in one statement. See account.Principals.
func (s *Store) UserByID(ctx context.Context, user id.User) (u account.User, err error) {
	var g grants
	var roles string
	err = s.each(ctx, `
		SELECT u.id, u.username, u.email, u.enabled, u.epoch, u.api_roles, c.key, g.role
		FROM users u LEFT JOIN grants g ON g.holder = u.id LEFT JOIN corpora c ON c.no = g.corpus_no
		WHERE u.id = $1 ORDER BY g.ord`, string(user), &g,
		&u.ID, &u.Username, &u.Email, &u.Enabled, &u.Epoch, &roles, &g.key, &g.role)
	if err != nil {
		return account.User{}, err
	}
	u.Rights.Corpora = g.all
	u.Rights.API, err = texts(roles, string(user))
	return u, err
}

// each reads the rows of one holder into dest, row by row, and gathers the grants; account.ErrNoHolder without a row.
func (s *Store) each(ctx context.Context, query, of string, g *grants, dest ...any) error {
	rows, err := s.db.Reader().QueryContext(ctx, query, of)
	n, err := store.Collect(rows, err, func(r *sql.Rows) (struct{}, error) {
		err := r.Scan(dest...)
		g.take()
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("read credential: %w", err)
	}
	if len(n) == 0 {
		return account.ErrNoHolder
	}
	return nil
}
