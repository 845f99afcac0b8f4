package agents

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"quarry/internal/agent"
	"quarry/internal/agent/identity"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
	"quarry/internal/store/toolconfigurations"
)

var _ identity.Store = (*Store)(nil)

// Naming returns s with what the tools of each agent name written beside it, from which the roles of its identity follow. It derives
// that of tool configurations, too, where an earlier program has written them.
func (s *Store) Naming(by toolconfigurations.Namer) *Store {
	out := *s
	out.needs, out.stored = by, toolconfigurations.New(s.db).Naming(by)
	return &out
}

// name writes what the tools of an agent name that are its own, and that this is so for its revision; a new agent gets its identity.
func (s *Store) name(tx *store.Tx, a *agent.Agent, fresh bool) error {
	derived := int64(0)
	if s.needs != nil {
		derived = a.Revision
		if !fresh || len(a.Tools) > 0 {
			if err := toolconfigurations.PutNeeds(tx, "agent_needs", "agent_no", a.No, s.needs(a.Tools)); err != nil {
				return err
			}
		}
	}
	return store.Wrap(tx.Exec(`INSERT INTO agent_identities (agent_no, client_id, manual, api_roles, derived) VALUES ($1, $2, $3, '[]', $4)
		ON CONFLICT (agent_no) DO UPDATE SET derived = excluded.derived`, a.No, identity.NewClientID(), false, derived), "write identity of agent")
}

// derive is name for an agent that an earlier program has written, or that uses configurations which one has.
func (s *Store) derive(ctx context.Context, no int64) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		var revision int64
		if err := tx.QueryRow(`UPDATE agents SET revision = revision WHERE no = $1 AND deleted = 0 RETURNING revision`, no).Scan(&revision); err != nil {
			return store.OrNone(err, agent.Missing(fmt.Sprint(no)), "read agent")
		}
		a, err := scan(tx.QueryRow(current+`WHERE a.no = $1`, no))
		if err != nil {
			return store.Wrap(err, "read agent")
		}
		if err := s.name(tx, &a, false); err != nil {
			return err
		}
		return s.stored.Name(tx, no)
	})
}

// needed selects what the tools of the agent $1 name and what exists, in the table rows, as GrantsSQL does.
func needed(rows, roles string) string {
	return `(SELECT string_agg(x.key || ':' || n.role, ',' ORDER BY x.key, n.role DESC) FROM
		(SELECT o.key, o.role FROM agent_needs o WHERE o.agent_no = $1
		UNION SELECT t.key, t.role FROM tool_configuration_uses u JOIN tool_configuration_needs t ON t.configuration_no = u.configuration_no WHERE u.agent_no = $1) n
		JOIN ` + rows + ` x ON x.key = n.key WHERE n.role IN (` + roles + `))`
}

// identityRead reads an identity with what it was granted and what follows from the tools. The latter is what holds in mode auto; it
// can't be known before everything that the tools name is written.
var identityRead = `SELECT i.client_id, i.manual, i.api_roles,
	i.derived = a.revision AND NOT EXISTS (SELECT 1 FROM tool_configuration_uses u JOIN tool_configurations t ON t.no = u.configuration_no
		WHERE u.agent_no = $1 AND t.derived <> t.version),
	` + accounts.GrantsSQL("i.client_id") + `, ` + needed("corpora", "'viewer', 'editor'") + `, ` + needed("agents", "'agent_user'") + `
	FROM agents a LEFT JOIN agent_identities i ON i.agent_no = a.no WHERE a.no = $1 AND a.deleted = 0`

// identified is a row of identityRead.
type identified struct {
	identity.Identity
	auto  authz.Rights
	known bool // auto is
}

// read reads an identity.
func read(q store.Querier, no int64) (is identified, err error) {
	var client, api sql.NullString
	var manual, known sql.NullBool
	var granted authz.Rights
	err = q.QueryRow(identityRead, no).Scan(&client, &manual, &api, &known, (*accounts.Grants)(&granted.Corpora), (*accounts.Grants)(&granted.Agents),
		(*accounts.Grants)(&is.auto.Corpora), (*accounts.Grants)(&is.auto.Agents))
	if err != nil {
		return is, store.OrNone(err, agent.Missing(fmt.Sprint(no)), "read identity of agent")
	}
	is.ClientID, is.Manual, is.known = client.String, manual.Bool, known.Bool
	if is.Roles = is.auto; is.Manual {
		is.Roles = granted
		if err := json.Unmarshal([]byte(api.String), &is.Roles.API); err != nil {
			return is, fmt.Errorf("read the roles of agent %d: %w", no, err)
		}
	}
	return is, nil
}

// settled is read, once everything that the tools name is written.
func (s *Store) settled(ctx context.Context, no int64) (identified, error) {
	is, err := read(s.db.Reader(ctx), no)
	if err != nil || is.known || s.needs == nil {
		return is, err
	}
	if err := s.derive(ctx, no); err != nil {
		return is, err
	}
	return read(s.db.Reader(ctx), no)
}

// Identity returns the identity of an agent. See identity.Store.
func (s *Store) Identity(ctx context.Context, agentNo int64) (identity.Identity, error) {
	is, err := s.settled(ctx, agentNo)
	return is.Identity, err
}

// ChangeIdentity changes the identity of an agent. See identity.Store.
func (s *Store) ChangeIdentity(ctx context.Context, agentNo int64, change func(identity.Identity, authz.Rights) (identity.Identity, error)) (out identity.Identity, err error) {
	if _, err := s.settled(ctx, agentNo); err != nil {
		return identity.Identity{}, err
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		// one change after another, also of the tools
		if err := tx.Exec(`UPDATE agent_identities SET derived = derived WHERE agent_no = $1`, agentNo); err != nil {
			return store.Wrap(err, "read identity of agent")
		}
		was, err := read(tx, agentNo)
		if err != nil {
			return err
		}
		if out, err = change(was.Identity, was.auto); err != nil {
			return err
		}
		kept := out.Roles
		if !out.Manual {
			kept = authz.Rights{}
		}
		api, err := json.Marshal(append([]string{}, kept.API...))
		if err != nil {
			return fmt.Errorf("encode the roles of an agent: %w", err)
		}
		if err := tx.Exec(`UPDATE agent_identities SET manual = $2, api_roles = $3 WHERE agent_no = $1`, agentNo, out.Manual, string(api)); err != nil {
			return store.Wrap(err, "write identity of agent")
		}
		return accounts.PutGrants(tx, out.ClientID, &kept)
	})
	return out, err
}

// dropIdentity removes the identity of an agent with what it was granted.
func dropIdentity(tx *store.Tx, no int64) error {
	var client string
	err := tx.QueryRow(`DELETE FROM agent_identities WHERE agent_no = $1 RETURNING client_id`, no).Scan(&client)
	if err != nil {
		return store.OrNone(err, nil, "delete identity of agent") // it never had one
	}
	return accounts.DropGrants(tx, client)
}
