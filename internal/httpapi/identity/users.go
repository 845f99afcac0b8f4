package identity

import (
	"encoding/json"
	"net/http"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/opt"
)

// created is CreateUserResponse, as the user and the code that it consists of.
type created struct {
	api.User
	api.ResetPasswordResponse
}

func (a *Area) createUser(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var body api.CreateUserRequest
	if err := httpapi.Decode(c.Body, &body); err != nil {
		return err
	}
	made, code, err := a.Accounts.CreateUser(r.Context(), c.Principal, account.CreateUser{
		Email: body.Email, Username: opt.Deref(body.Username, ""), Description: opt.Deref(body.Description, ""),
		Metadata: body.Metadata, Groups: opt.Deref(body.Groups, nil), Rights: rights(body.ApiRoles, body.CorpusRoles, body.AgentRoles),
	})
	if err != nil {
		return fault.Under(err, "body")
	}
	c.Named = map[string]string{"username": made.Username, "user_id": string(made.ID)}
	out := created{User: wireUser(made)}
	if code != nil {
		out.OneTimeCode, out.OneTimeCodeLink = &code.Secret, opt.NonZero(code.Link)
	}
	return httpapi.WriteJSON(w, http.StatusCreated, out)
}

func (a *Area) getUser(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	u, err := a.Accounts.UserByName(r.Context(), c.Path["username"])
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, withPolicy(u))
}

func (a *Area) updateUser(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var body api.UpdateUserRequest
	if err := httpapi.Decode(c.Body, &body); err != nil {
		return err
	}
	p := account.UserPatch{
		Patch:  patch(body.Enabled, body.Description, body.ApiRoles, body.CorpusRoles, body.AgentRoles),
		Groups: opt.From(body.Groups),
	}
	if body.Metadata != nil {
		p.Metadata = opt.Some(body.Metadata)
	}
	u, err := a.Accounts.UpdateUser(r.Context(), c.Principal, c.Path["username"], p)
	if err != nil {
		return fault.Under(err, "body")
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireUser(u))
}

func (a *Area) deleteUser(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.Accounts.DeleteUser(r.Context(), c.Principal, c.Path["username"]))
}

func (a *Area) listUsers(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope, after, err := a.start(c, "corpus_key")
	if err != nil {
		return err
	}
	found, more, err := a.Accounts.ListUsers(r.Context(), account.UserList{Limit: c.Limit(), After: after, Corpus: scope.Filters["corpus_key"]})
	if err != nil {
		return err
	}
	users, metadata := listed(a, scope, found, more, wireUser)
	return httpapi.WriteJSON(w, http.StatusOK, api.ListUsersResponse{Users: &users, Metadata: metadata})
}

// wireUser maps a user to what clients see.
func wireUser(u account.User) api.User {
	groups := append([]string{}, u.Groups...)
	out := api.User{
		Id: string(u.ID), Email: u.Email, Metadata: json.RawMessage(`{}`), Username: &u.Username, Description: &u.Description, Enabled: &u.Enabled,
		Groups: &groups, CreatedAt: &u.Created, UpdatedAt: &u.Updated,
	}
	if len(u.Metadata) > 0 {
		out.Metadata = u.Metadata
	}
	out.ApiRoles, out.CorpusRoles, out.AgentRoles = wireRights(u.Rights)
	return out
}

// withPolicy is a user as the read of one shows it.
func withPolicy(u account.User) api.User {
	out := wireUser(u)
	p := authz.Principal{Kind: authz.User, ID: string(u.ID), Name: u.Username}
	out.ApiPolicy = httpapi.Policy(p.With(u.Rights))
	return out
}
