package identity

import (
	"encoding/json"

	"quarry/internal/api"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/opt"
)

// rights maps the three lists of roles that bodies hold; a list left out is an empty one.
func rights(roles *[]api.ApiRole, corpora *[]api.CorpusRole, agents *[]api.AgentRole) authz.Rights {
	return authz.Rights{API: apiRoles(roles), Corpora: corpusGrants(corpora), Agents: agentGrants(agents)}
}

// patch maps what updates of users and clients have in common; a list left out stays as it is.
func patch(enabled *bool, description *string, roles *[]api.ApiRole, corpora *[]api.CorpusRole, agents *[]api.AgentRole) account.Patch {
	p := account.Patch{Enabled: opt.From(enabled), Description: opt.From(description)}
	if roles != nil {
		p.APIRoles = opt.Some(apiRoles(roles))
	}
	if corpora != nil {
		p.Corpora = opt.Some(corpusGrants(corpora))
	}
	if agents != nil {
		p.Agents = opt.Some(agentGrants(agents))
	}
	return p
}

func apiRoles(all *[]api.ApiRole) []string {
	var out []string
	for _, r := range opt.Deref(all, nil) {
		out = append(out, string(r))
	}
	return out
}

func corpusGrants(all *[]api.CorpusRole) []authz.Grant {
	var out []authz.Grant
	for _, r := range opt.Deref(all, nil) {
		out = append(out, authz.Grant{Key: r.CorpusKey, Role: string(r.Role)})
	}
	return out
}

func agentGrants(all *[]api.AgentRole) []authz.Grant {
	var out []authz.Grant
	for _, r := range opt.Deref(all, nil) {
		out = append(out, authz.Grant{Key: r.AgentKey, Role: string(r.Role)})
	}
	return out
}

// wireRights maps rights to the three lists, which are never absent.
func wireRights(r authz.Rights) (*[]api.ApiRole, *[]api.CorpusRole, *[]api.AgentRole) {
	roles, corpora, agents := make([]api.ApiRole, len(r.API)), make([]api.CorpusRole, len(r.Corpora)), make([]api.AgentRole, len(r.Agents))
	for i, v := range r.API {
		roles[i] = api.ApiRole(v)
	}
	for i, g := range r.Corpora {
		corpora[i] = api.CorpusRole{CorpusKey: g.Key, Role: api.CorpusRoleRole(g.Role)}
	}
	for i, g := range r.Agents {
		agents[i] = api.AgentRole{AgentKey: g.Key, Role: api.AgentRoleRole(g.Role)}
	}
	return &roles, &corpora, &agents
}

// member returns a member of a checked body that the generated types lack, nil when it was left out.
func member(body json.RawMessage, name string) json.RawMessage {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(body, &all) // the chain has read it as an object already
	return all[name]
}
