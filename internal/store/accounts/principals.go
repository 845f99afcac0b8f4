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

// GrantsSQL selects the grants of a holder on corpora and on agents, each as one text, key:role,key:role; keys contain neither
// character. Reading a row per grant costs several times as much.
func GrantsSQL(holder string) string {
	all := make([]string, len(kinds))
	for i, k := range kinds {
		all[i] = `(SELECT string_agg(x.key || ':' || g.role, ',' ORDER BY g.ord) FROM ` + k.table + ` g JOIN ` + k.rows + ` x ON x.no = g.` + k.no + `
			WHERE x.key IS NOT NULL AND g.holder = ` + holder + `)`
	}
	return strings.Join(all, ", ")
}

// Grants is a destination for the text that GrantsSQL selects.
type Grants []authz.Grant

// Scan parses the text.
func (g *Grants) Scan(src any) error {
	var text sql.NullString
	if err := text.Scan(src); err != nil || !text.Valid {
		return err
	}
	*g = make(Grants, 0, 1+strings.Count(text.String, ","))
	for one := range strings.SplitSeq(text.String, ",") {
		key, role, _ := strings.Cut(one, ":")
		*g = append(*g, authz.Grant{Key: key, Role: role})
	}
	return nil
}

// The reads of principals, one statement each.
var (
	keyRead = `SELECT k.id, k.name, k.digest, k.prefix, k.tail, k.style, k.creator, k.enabled, k.api_roles, k.created,
			u.id, u.username, u.email, u.enabled, u.epoch, u.api_roles, ` + GrantsSQL("COALESCE(k.owner, k.id)") + `
		FROM api_keys k LEFT JOIN users u ON u.id = k.owner WHERE k.digest = $1`
	clientRead = `SELECT a.id, a.client_id, a.name, a.enabled, a.digest, a.tail, a.api_roles, a.created, a.updated, ` + GrantsSQL("a.id") + `
		FROM app_clients a WHERE a.client_id = $1`
	userRead = `SELECT u.id, u.username, u.email, u.enabled, u.epoch, u.api_roles, ` + GrantsSQL("u.id") + ` FROM users u WHERE u.id = $1`
)

// KeyByDigest returns a key and its owner in one statement. See account.Principals.
func (s *Store) KeyByDigest(ctx context.Context, digest string) (k account.Key, u account.User, err error) {
	var owner, username, email sql.NullString
	var enabled sql.NullBool
	var epoch sql.NullInt64
	var corpora, agents Grants
	err = s.holder(ctx, keyRead, digest, &k.ID, &k.Name, &k.Digest, &k.Prefix, &k.Tail, &k.Style, &k.Creator, &k.Enabled,
		(*texts)(&k.Rights.API), store.Micros(&k.Created), &owner, &username, &email, &enabled, &epoch, (*texts)(&u.Rights.API), &corpora, &agents)
	if err != nil {
		return account.Key{}, account.User{}, err
	}
	if !owner.Valid {
		k.Rights.Corpora, k.Rights.Agents = corpora, agents
		return k, account.User{}, nil
	}
	k.Owner, u.Rights.Corpora, u.Rights.Agents = id.User(owner.String), corpora, agents
	u.ID, u.Username, u.Email, u.Enabled, u.Epoch = k.Owner, username.String, email.String, enabled.Bool, epoch.Int64
	return k, u, nil
}

// ClientByID returns the client with a client id in one statement. See account.Principals.
func (s *Store) ClientByID(ctx context.Context, clientID string) (c account.Client, err error) {
	err = s.holder(ctx, clientRead, clientID, &c.ID, &c.ClientID, &c.Name, &c.Enabled, &c.Digest, &c.Tail, (*texts)(&c.Rights.API),
		store.Micros(&c.Created), store.Micros(&c.Updated), (*Grants)(&c.Rights.Corpora), (*Grants)(&c.Rights.Agents))
	if err != nil {
		return account.Client{}, err
	}
	return c, nil
}

// UserByID returns the user with an id in one statement. See account.Principals.
func (s *Store) UserByID(ctx context.Context, user id.User) (u account.User, err error) {
	err = s.holder(ctx, userRead, string(user), &u.ID, &u.Username, &u.Email, &u.Enabled, &u.Epoch, (*texts)(&u.Rights.API),
		(*Grants)(&u.Rights.Corpora), (*Grants)(&u.Rights.Agents))
	if err != nil {
		return account.User{}, err
	}
	return u, nil
}

// holder reads the row of one holder into dest; account.ErrNoHolder when there is none.
func (s *Store) holder(ctx context.Context, query, of string, dest ...any) error {
	err := s.db.Reader(ctx).QueryRow(query, of).Scan(dest...)
	return store.OrNone(err, account.ErrNoHolder, "read credential")
}
