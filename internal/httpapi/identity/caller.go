package identity

import (
	"net/http"

	"quarry/internal/api"
	"quarry/internal/httpapi"
	"quarry/internal/opt"
)

func (a *Area) getCaller(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	p := c.Principal
	groups, err := a.Accounts.Groups(r.Context(), p)
	if err != nil {
		return err
	}
	roles, corpora, agents := wireRights(p.Rights())
	return httpapi.WriteJSON(w, http.StatusOK, api.Caller{
		Type: api.CallerType(p.Kind), Id: p.ID, Name: p.Name, Email: opt.NonZero(p.Email), ApiRoles: *roles, CorpusRoles: *corpora, AgentRoles: *agents,
		Groups: append([]string{}, groups...), ApiPolicy: *httpapi.Policy(p), ExpiresAt: opt.NonZero(p.Expires),
	})
}
