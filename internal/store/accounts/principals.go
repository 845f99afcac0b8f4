package accounts

import (
	"context"
	"database/sql"
	"strings"

	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
)

// grantsSQL selects the grants of a holder as one text, key:role,key:role; corpus keys contain neither character. Reading a
// row per grant costs several times as much.
func grantsSQL(holder string) string {
	return `(SELECT string_agg(c.key || ':' || g.role, ',' ORDER BY g.ord) FROM grants g JOIN corpora c ON c.no = g.corpus_no
		WHERE g.holder = ` + holder + `)`
}

// grantsIn parses the text that granted selects.
func grantsIn(text sql.NullString) []authz.Grant {
	if !text.Valid {
		return nil
	}
	out := make([]authz.Grant, 0, 1+strings.Count(text.String, ","))
	for one := range strings.SplitSeq(text.String, ",") {
		key, role, _ := strings.Cut(one, ":")
		out = append(out, authz.Grant{Key: key, Role: role})
	}
	return out
}

// The reads of principals, one statement each.
var (
	keyRead = `SELECT k.id, k.name, k.digest, k.prefix, k.tail, k.style, k.creator, k.enabled, k.api_roles, k.created,
			u.id, u.username, u.email, u.enabled, u.api_roles, ` + grantsSQL("COALESCE(k.owner, k.id)") + `
		FROM api_keys k LEFT JOIN users u ON u.id = k.owner WHERE k.digest = $1`
	clientRead = `SELECT a.id, a.client_id, a.name, a.enabled, a.digest, a.tail, a.api_roles, a.created, a.updated, ` + grantsSQL("a.id") + `
		FROM app_clients a WHERE a.client_id = $1`
	userRead = `SELECT u.id, u.username, u.email, u.enabled, u.epoch, u.api_roles, ` + grantsSQL("u.id") + ` FROM users u WHERE u.id = $1`
)

// KeyByDigest returns a key and its owner in one statement. See account.Principals.
func (s *Store) KeyByDigest(ctx context.Context, digest string) (k account.Key, u account.User, err error) {
	var owner, username, email, userRoles, corpora sql.NullString
	var userEnabled sql.NullBool
	var roles string
	var made int64
	err = s.holder(ctx, keyRead, digest, &k.ID, &k.Name, &k.Digest, &k.Prefix, &k.Tail, &k.Style, &k.Creator, &k.Enabled, &roles, &made,
		&owner, &username, &email, &userEnabled, &userRoles, &corpora)
	if err != nil {
		return account.Key{}, account.User{}, err
	}
	k.Created = at(made)
	if k.Rights.API, err = texts(roles, string(k.ID)); err != nil {
		return k, u, err
	}
	if !owner.Valid {
		k.Rights.Corpora = grantsIn(corpora)
		return k, u, nil
	}
	k.Owner = id.User(owner.String)
	u = account.User{ID: k.Owner, Username: username.String, Email: email.String, Enabled: userEnabled.Bool}
	u.Rights.Corpora = grantsIn(corpora)
	u.Rights.API, err = texts(userRoles.String, owner.String)
	return k, u, err
}

// ClientByID returns the client with a client id in one statement. See account.Principals.
func (s *Store) ClientByID(ctx context.Context, clientID string) (c account.Client, err error) {
	var corpora sql.NullString
	var roles string
	var made, changed int64
	err = s.holder(ctx, clientRead, clientID, &c.ID, &c.ClientID, &c.Name, &c.Enabled, &c.Digest, &c.Tail, &roles, &made, &changed, &corpora)
	if err != nil {
		return account.Client{}, err
	}
	c.Created, c.Updated, c.Rights.Corpora = at(made), at(changed), grantsIn(corpora)
	c.Rights.API, err = texts(roles, clientID)
	return c, err
}

// UserByID returns the user with an id in one statement. See account.Principals.
func (s *Store) UserByID(ctx context.Context, user id.User) (u account.User, err error) {
	var corpora sql.NullString
	var roles string
	err = s.holder(ctx, userRead, string(user), &u.ID, &u.Username, &u.Email, &u.Enabled, &u.Epoch, &roles, &corpora)
	if err != nil {
		return account.User{}, err
	}
	u.Rights.Corpora = grantsIn(corpora)
	u.Rights.API, err = texts(roles, string(user))
	return u, err
}

// holder reads the row of one holder into dest; account.ErrNoHolder when there is none.
func (s *Store) holder(ctx context.Context, query, of string, dest ...any) error {
	err := s.db.Reader(ctx).QueryRow(query, of).Scan(dest...)
	return store.OrNone(err, account.ErrNoHolder, "read credential")
}
