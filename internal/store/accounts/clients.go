package accounts

import (
	"context"
	"fmt"

	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
)

// clientColumns is what scanClient reads, in its order.
const clientColumns = `id, client_id, name, description, enabled, digest, tail, api_roles, created, updated`

func scanClient(r store.Row) (c account.Client, err error) {
	return c, r.Scan(&c.ID, &c.ClientID, &c.Name, &c.Description, &c.Enabled, &c.Digest, &c.Tail, (*texts)(&c.Rights.API),
		store.Micros(&c.Created), store.Micros(&c.Updated))
}

// CreateClient writes a client and its grants. See account.Clients.
func (s *Store) CreateClient(ctx context.Context, c account.Client) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Exec(`INSERT INTO app_clients (`+clientColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			string(c.ID), c.ClientID, c.Name, c.Description, c.Enabled, c.Digest, c.Tail, list(c.Rights.API),
			c.Created.UnixMicro(), c.Updated.UnixMicro()); err != nil {
			return fmt.Errorf("write client: %w", err)
		}
		return PutGrants(tx, string(c.ID), &c.Rights)
	})
}

// GetClient returns a client. See account.Clients.
func (s *Store) GetClient(ctx context.Context, client id.AppClient) (c account.Client, err error) {
	err = s.db.Read(ctx, func(q store.Querier) error {
		c, err = scanClient(q.QueryRow(`SELECT `+clientColumns+` FROM app_clients WHERE id = $1`, string(client)))
		if err != nil {
			return store.OrNone(err, account.NoClient(client), "read client")
		}
		return readGrants(q, map[string]*authz.Rights{string(c.ID): &c.Rights})
	})
	if err != nil {
		return account.Client{}, err
	}
	return c, nil
}

// ListClients returns a page of clients. See account.Clients.
func (s *Store) ListClients(ctx context.Context, l account.ClientList) (page []account.Client, more bool, err error) {
	var match func(*account.Client) bool
	if l.Match != nil {
		match = func(c *account.Client) bool { return l.Match.MatchString(c.Name) }
	}
	err = s.db.Read(ctx, func(q store.Querier) error {
		page, more, err = store.Matching(l.Limit, match, func(last *account.Client, n int) ([]account.Client, error) {
			created, id := l.After.Bound()
			if last != nil {
				created, id = last.Created.UnixMicro(), string(last.ID)
			}
			return store.Select(q, "list clients", scanClient, `SELECT `+clientColumns+` FROM app_clients
				WHERE (created, id) < ($1, $2) ORDER BY created DESC, id DESC LIMIT $3`, created, id, n)
		})
		if err != nil {
			return err
		}
		rights := map[string]*authz.Rights{}
		for i := range page {
			rights[string(page[i].ID)] = &page[i].Rights
		}
		return readGrants(q, rights)
	})
	return page, more, err
}

// UpdateClient changes a client. See account.Clients.
func (s *Store) UpdateClient(ctx context.Context, client id.AppClient, change func(account.Client) (account.Client, error)) (out account.Client, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		was, err := lockClient(tx, client)
		if err != nil {
			return err
		}
		if out, err = change(was); err != nil {
			return err
		}
		if err := tx.Exec(`UPDATE app_clients SET description = $2, enabled = $3, api_roles = $4, updated = $5 WHERE id = $1`,
			string(client), out.Description, out.Enabled, list(out.Rights.API), out.Updated.UnixMicro()); err != nil {
			return fmt.Errorf("update client: %w", err)
		}
		if sameGrants(was.Rights, out.Rights) {
			return nil
		}
		return PutGrants(tx, string(client), &out.Rights)
	})
	if err != nil {
		return account.Client{}, err
	}
	return out, nil
}

// lockClient reads a client that no other transaction changes before this one ends.
func lockClient(tx *store.Tx, client id.AppClient) (c account.Client, err error) {
	c, err = scanClient(tx.QueryRow(`UPDATE app_clients SET updated = updated WHERE id = $1 RETURNING `+clientColumns, string(client)))
	if err != nil {
		return c, store.OrNone(err, account.NoClient(client), "read client")
	}
	err = readGrants(tx, map[string]*authz.Rights{string(c.ID): &c.Rights})
	return c, err
}

// DeleteClient removes a client with its grants. See account.Clients.
func (s *Store) DeleteClient(ctx context.Context, client id.AppClient, allow func(account.Client) error) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		c, err := lockClient(tx, client)
		if err != nil {
			return err
		}
		if err := allow(c); err != nil {
			return err
		}
		if err := DropGrants(tx, string(client)); err != nil {
			return err
		}
		return store.Wrap(tx.Exec(`DELETE FROM app_clients WHERE id = $1`, string(client)), "delete client")
	})
}
