package identity

import (
	"net/http"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
)

func (a *Area) createKey(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var body api.CreateApiKeyRequest
	if err := httpapi.Decode(c.Body, &body); err != nil {
		return err
	}
	made, secret, err := a.Accounts.CreateKey(r.Context(), c.Principal, createKeyCommand(&body))
	if err != nil {
		return fault.Under(err, "body")
	}
	c.Named = map[string]string{"api_key_id": string(made.ID)}
	out := wireKey(made)
	out.SecretKey = secret
	return httpapi.WriteJSON(w, http.StatusCreated, out)
}

// createKeyCommand maps the body of createApiKey.
func createKeyCommand(b *api.CreateApiKeyRequest) account.CreateKey {
	cmd := account.CreateKey{Name: b.Name, Rights: rights(b.ApiRoles, b.CorpusRoles, b.AgentRoles)}
	if b.ApiKeyRole != nil {
		cmd.Style = string(*b.ApiKeyRole)
	}
	if b.CorpusKeys != nil {
		cmd.Corpora = append([]string{}, *b.CorpusKeys...) // not nil: the list was given
	}
	return cmd
}

func (a *Area) getKey(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	found, err := a.Accounts.GetKey(r.Context(), c.Principal, id.APIKey(c.Path["api_key_id"]))
	if err != nil {
		return err
	}
	out := wireKey(found)
	out.ApiPolicy = httpapi.Policy(authz.Principal{Name: found.Name}.With(found.Rights))
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// updateKey enables or disables a key, which is all that can change. Other members of a key are ignored, except for the
// secret, where the client may believe that it sets one.
func (a *Area) updateKey(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var body api.UpdateApiKeyRequest
	if err := httpapi.Decode(c.Body, &body); err != nil {
		return err
	}
	if sent := member(c.Body, "secret_key"); sent != nil && string(sent) != "null" {
		return fault.InvalidField("body.secret_key", "can't be changed, and what reads show of it is a mask; leave the member out")
	}
	key := id.APIKey(c.Path["api_key_id"])
	var changed account.Key
	var err error
	if body.Enabled == nil {
		changed, err = a.Accounts.GetKey(r.Context(), c.Principal, key)
	} else {
		changed, err = a.Accounts.EnableKey(r.Context(), c.Principal, key, *body.Enabled)
	}
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireKey(changed))
}

func (a *Area) deleteKey(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.Accounts.DeleteKey(r.Context(), c.Principal, id.APIKey(c.Path["api_key_id"])))
}

func (a *Area) listKeys(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope, after, err := a.start(c, "api_key_role", "corpus_key")
	if err != nil {
		return err
	}
	found, more, err := a.Accounts.ListKeys(r.Context(), c.Principal, account.KeyList{
		Limit: c.Limit(), After: after, Style: scope.Filters["api_key_role"], Corpus: scope.Filters["corpus_key"],
	})
	if err != nil {
		return err
	}
	keys, metadata := listed(a, scope, found, more, wireKey)
	return httpapi.WriteJSON(w, http.StatusOK, api.ListApiKeysResponse{ApiKeys: &keys, Metadata: metadata})
}

// wireKey maps a key to what clients see, its secret masked.
func wireKey(k account.Key) api.ApiKey {
	out := api.ApiKey{Id: string(k.ID), Name: k.Name, SecretKey: k.Masked(), Enabled: &k.Enabled}
	if k.Style != "" {
		style := api.ApiKeyRole(k.Style)
		out.ApiKeyRole = &style
	}
	out.ApiRoles, out.CorpusRoles, out.AgentRoles = wireRights(k.Rights)
	return out
}
