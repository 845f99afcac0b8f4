package identity

import (
	"net/http"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/opt"
)

// clientType is the only type of application client that the contract has.
const clientType = "client_credentials"

func (a *Area) createClient(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var body api.CreateClientCredentialsRequest
	if err := httpapi.Decode(c.Body, &body); err != nil {
		return err
	}
	if body.Type != clientType {
		return fault.InvalidField("body.type", "must be %s, not %q", clientType, body.Type)
	}
	if err := ownSecret(c); err != nil {
		return err
	}
	made, secret, err := a.Accounts.CreateClient(r.Context(), c.Principal, account.CreateClient{
		Name: body.Name, Description: opt.Deref(body.Description, ""), Rights: rights(body.ApiRoles, body.CorpusRoles, body.AgentRoles),
	})
	if err != nil {
		return fault.Under(err, "body")
	}
	c.Named = map[string]string{"app_client_id": string(made.ID)}
	out := wireClient(made)
	out.ClientSecret = secret
	return httpapi.WriteJSON(w, http.StatusCreated, out)
}

// ownSecret refuses a body with a secret: the client may believe that it sets one, or sends a mask back.
func ownSecret(c *httpapi.Call) error {
	if raw := member(c.Body, "client_secret"); len(raw) > 0 && string(raw) != "null" {
		return fault.InvalidField("body.client_secret", "is made by the service and can't be changed, and what reads show of it is a mask; leave the member out")
	}
	return nil
}

func (a *Area) getClient(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	found, err := a.Accounts.GetClient(r.Context(), clientID(c))
	if err != nil {
		return err
	}
	out := wireClient(found)
	out.ApiPolicy = httpapi.Policy(authz.Principal{Kind: authz.AppClient, Name: found.Name}.With(found.Rights))
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

func (a *Area) updateClient(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var body api.UpdateAppClientRequest
	if err := httpapi.Decode(c.Body, &body); err != nil {
		return err
	}
	if err := ownSecret(c); err != nil {
		return err
	}
	p := patch(body.Enabled, body.Description, body.ApiRoles, body.CorpusRoles, body.AgentRoles)
	changed, err := a.Accounts.UpdateClient(r.Context(), c.Principal, clientID(c), p)
	if err != nil {
		return fault.Under(err, "body")
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireClient(changed))
}

func (a *Area) deleteClient(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.Accounts.DeleteClient(r.Context(), c.Principal, clientID(c)))
}

func (a *Area) listClients(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope, after, err := a.start(c, "filter")
	if err != nil {
		return err
	}
	l := account.ClientList{Limit: c.Limit(), After: after}
	if l.Match, err = httpapi.Pattern(scope.Filters["filter"]); err != nil {
		return err
	}
	found, more, err := a.Accounts.ListClients(r.Context(), l)
	if err != nil {
		return err
	}
	clients, metadata := listed(a, scope, found, more, wireClient)
	return httpapi.WriteJSON(w, http.StatusOK, api.ListAppClientsResponse{AppClients: &clients, Metadata: metadata})
}

func clientID(c *httpapi.Call) id.AppClient { return id.AppClient(c.Path["app_client_id"]) }

// wireClient maps a client to what clients see, its secret masked.
func wireClient(c account.Client) api.AppClient {
	out := api.AppClient{Id: string(c.ID), Name: c.Name, Description: &c.Description, Enabled: &c.Enabled, ClientId: c.ClientID, ClientSecret: c.Masked()}
	out.ApiRoles, out.CorpusRoles, out.AgentRoles = wireRights(c.Rights)
	return out
}
