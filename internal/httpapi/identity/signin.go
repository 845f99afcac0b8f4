package identity

import (
	"encoding/json"
	"fmt"
	"net/http"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/identity/authz"
	"quarry/internal/identity/signin"
	"quarry/internal/opt"
)

func (a *Area) signIn(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var in api.SignInRequest
	if err := json.Unmarshal(c.Body, &in); err != nil {
		return fmt.Errorf("decode body: %w", err)
	}
	t, err := a.SignIn.SignIn(r.Context(), signin.Attempt{Username: in.Username, Password: in.Password, Address: c.Address})
	if err != nil {
		return fault.Under(err, "body")
	}
	c.Principal = authz.Principal{Kind: authz.User, ID: string(t.User), Name: in.Username, Credential: string(t.User)} // for log and audit
	return httpapi.WriteJSON(w, http.StatusOK, api.OAuthTokenResponse{AccessToken: t.Secret, TokenType: "Bearer", ExpiresIn: t.Seconds})
}

func (a *Area) setPassword(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var in api.SetPasswordRequest
	if err := json.Unmarshal(c.Body, &in); err != nil {
		return fmt.Errorf("decode body: %w", err)
	}
	err := a.SignIn.SetPassword(r.Context(), signin.Redemption{
		Username: in.Username, Code: in.OneTimeCode, Password: in.Password, Address: c.Address,
	})
	return httpapi.NoContent(w, fault.Under(err, "body"))
}

func (a *Area) resetPassword(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	code, err := a.SignIn.Reset(r.Context(), c.Principal, c.Path["username"])
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, api.ResetPasswordResponse{OneTimeCode: &code.Secret, OneTimeCodeLink: opt.NonZero(code.Link)})
}
