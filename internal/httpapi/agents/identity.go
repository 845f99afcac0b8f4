package agents

import (
	"encoding/json"
	"fmt"
	"net/http"

	"quarry/internal/agent/identity"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/identity/authz"
	"quarry/internal/opt"
)

// The modes of an identity.
const (
	auto   = "auto"
	manual = "manual"
)

// identityBody is AgentIdentity.
type identityBody struct {
	Mode     string         `json:"mode"`
	ClientID string         `json:"client_id"`
	API      []string       `json:"api_roles"`
	Corpora  []onCorpusBody `json:"corpus_roles"`
	Agents   []onAgentBody  `json:"agent_roles"`
}

// onCorpusBody is CorpusRole.
type onCorpusBody struct {
	Key  string `json:"corpus_key"`
	Role string `json:"role"`
}

// onAgentBody is AgentRole.
type onAgentBody struct {
	Key  string `json:"agent_key"`
	Role string `json:"role"`
}

func wireIdentity(is *identity.Identity) identityBody {
	out := identityBody{
		Mode: auto, ClientID: is.ClientID, API: append([]string{}, is.Roles.API...),
		Corpora: make([]onCorpusBody, len(is.Roles.Corpora)), Agents: make([]onAgentBody, len(is.Roles.Agents)),
	}
	if is.Manual {
		out.Mode = manual
	}
	for i, g := range is.Roles.Corpora {
		out.Corpora[i] = onCorpusBody(g)
	}
	for i, g := range is.Roles.Agents {
		out.Agents[i] = onAgentBody(g)
	}
	return out
}

// identityChange is UpdateAgentIdentityRequest.
type identityChange struct {
	Mode    opt.Field[string]         `json:"mode"`
	API     opt.Field[[]string]       `json:"api_roles"`
	Corpora opt.Field[[]onCorpusBody] `json:"corpus_roles"`
	Agents  opt.Field[[]onAgentBody]  `json:"agent_roles"`
}

func (b *identityChange) change() identity.Change {
	c := identity.Change{API: b.API}
	if mode, given := b.Mode.Get(); given {
		c.Manual = opt.Some(mode == manual)
	}
	if all, given := b.Corpora.Get(); given {
		out := make([]authz.Grant, len(all))
		for i, g := range all {
			out[i] = authz.Grant(g)
		}
		c.Corpora = opt.Some(out)
	}
	if all, given := b.Agents.Get(); given {
		out := make([]authz.Grant, len(all))
		for i, g := range all {
			out[i] = authz.Grant(g)
		}
		c.Agents = opt.Some(out)
	}
	return c
}

func (a *Area) identity(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	is, err := a.identities.Get(r.Context(), found(c).No)
	if err != nil {
		return gone(err, c)
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireIdentity(&is))
}

func (a *Area) changeIdentity(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var body identityChange
	if err := json.Unmarshal(c.Body, &body); err != nil {
		return fmt.Errorf("decode body: %w", err)
	}
	is, err := a.identities.Update(r.Context(), c.Principal, found(c).No, body.change())
	if err != nil {
		return fault.Under(gone(err, c), "body")
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireIdentity(&is))
}
