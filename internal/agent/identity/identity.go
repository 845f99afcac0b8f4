// Package identity keeps the account that each agent acts as. In mode auto its roles are what the configurations of the agent's tools
// name, as they are at any moment; in mode manual they are what somebody has given it. Package permit decides by it.
package identity

import (
	"context"

	"quarry/internal/agent/permit"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/authz"
	"quarry/internal/opt"
)

// Identity is the account of an agent. It has no secret, so nobody signs in as it.
type Identity struct {
	ClientID string
	Manual   bool         // its roles stay until somebody changes them; else they follow from the tools
	Roles    authz.Rights // that it holds; those on corpora and agents that are deleted are left out
}

// principal returns the account as roles are decided by.
func (i *Identity) principal() authz.Principal {
	return authz.Principal{Kind: authz.Agent, ID: i.ClientID, Credential: i.ClientID}.With(i.Roles)
}

// NewClientID returns a fresh client id. No application client has one of its form.
func NewClientID() string { return "agc_" + id.Text(26) }

// Store keeps identities. An agent that does not exist is fault.KindNotFound "agent_not_found".
type Store interface {
	// Identity returns the identity of an agent, by the agent's row number, in one statement.
	Identity(ctx context.Context, agentNo int64) (Identity, error)
	// ChangeIdentity stores what change returns for the present identity, in one transaction. change may run more than once; auto is the
	// roles that follow from the tools. A role on what does not exist is a fault of corpus_roles[n].corpus_key or
	// agent_roles[n].agent_key.
	ChangeIdentity(ctx context.Context, agentNo int64, change func(was Identity, auto authz.Rights) (Identity, error)) (Identity, error)
}

// Service keeps identities. Safe for concurrent use.
type Service struct {
	store Store
	rules func(authz.Principal) permit.Rights
}

// New returns a service. rules says what roles allow the tools of agents to touch; they are the same for people and agents.
func New(s Store, rules func(authz.Principal) permit.Rights) *Service { return &Service{s, rules} }

// Get returns the identity of an agent.
func (s *Service) Get(ctx context.Context, agentNo int64) (Identity, error) {
	return s.store.Identity(ctx, agentNo)
}

// Acting returns what decides about a call of the agent's tools that is made now.
func (s *Service) Acting(ctx context.Context, agentNo int64) (permit.Identity, error) {
	is, err := s.store.Identity(ctx, agentNo)
	if err != nil {
		return permit.Identity{}, err
	}
	return permit.Identity{ClientID: is.ClientID, Alone: is.Manual, Rights: s.rules(is.principal())}, nil
}

// Change is what a client writes. What is absent stays; a list replaces the whole list. Lists count in mode manual alone.
type Change struct {
	Manual  opt.Field[bool]
	API     opt.Field[[]string]
	Corpora opt.Field[[]authz.Grant]
	Agents  opt.Field[[]authz.Grant]
}

// sent returns the roles in the lists of the change.
func (c *Change) sent() authz.Rights {
	return authz.Rights{API: c.API.Or(nil), Corpora: c.Corpora.Or(nil), Agents: c.Agents.Or(nil)}
}

// Update changes the identity of an agent and returns it. A caller gives only roles that they hold: those of the lists that they send,
// and, by the return to mode auto, those that the identity did not have.
func (s *Service) Update(ctx context.Context, by authz.Principal, agentNo int64, c Change) (Identity, error) {
	return s.store.ChangeIdentity(ctx, agentNo, func(was Identity, auto authz.Rights) (Identity, error) {
		now := was
		if now.Manual = c.Manual.Or(was.Manual); !now.Manual {
			now.Roles = auto
			return now, authz.Covers(by, beyond(was, auto))
		}
		sent, bad := c.sent(), fault.Invalid()
		if sent.Check(bad); bad.Err() != nil {
			return was, bad
		}
		now.Roles = authz.Rights{API: c.API.Or(was.Roles.API), Corpora: c.Corpora.Or(was.Roles.Corpora), Agents: c.Agents.Or(was.Roles.Agents)}
		return now, authz.Covers(by, sent)
	})
}

// beyond returns those of the roles that an identity does not hold, directly or by others.
func beyond(is Identity, roles authz.Rights) (out authz.Rights) {
	p := is.principal()
	for _, g := range roles.Corpora {
		if one := []authz.Grant{g}; authz.Covers(p, authz.Rights{Corpora: one}) != nil {
			out.Corpora = append(out.Corpora, g)
		}
	}
	for _, g := range roles.Agents {
		if one := []authz.Grant{g}; authz.Covers(p, authz.Rights{Agents: one}) != nil {
			out.Agents = append(out.Agents, g)
		}
	}
	return out
}
