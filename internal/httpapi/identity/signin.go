package identity

import (
	"context"
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
	t, err := a.enter(r.Context(), in, c.Address)
	if err != nil {
		return fault.Under(err, "body")
	}
	c.Principal = authz.Principal{Kind: authz.User, ID: string(t.User), Name: t.Name, Credential: string(t.User)} // for log and audit
	return writeToken(w, t)
}

// enter signs a person in by password or by code.
func (a *Area) enter(ctx context.Context, in api.SignInRequest, address string) (signin.Token, error) {
	bad := fault.Invalid()
	switch {
	case in.Code == nil && in.Username == nil && in.Password == nil:
		bad.Field("", "must hold username and password, or code")
	case in.Code == nil && in.Username == nil:
		bad.Field("username", "is required beside password")
	case in.Code == nil && in.Password == nil:
		bad.Field("password", "is required beside username")
	case in.Code == nil:
		return a.SignIn.SignIn(ctx, signin.Attempt{Username: *in.Username, Password: *in.Password, Address: address})
	case in.Username != nil || in.Password != nil:
		bad.Field("code", "stands alone: leave out username and password, or send them without a code")
	default:
		return a.SignIn.SignInWithCode(ctx, signin.CodeAttempt{Code: *in.Code, Address: address})
	}
	return signin.Token{}, bad
}

func writeToken(w http.ResponseWriter, t signin.Token) error {
	return httpapi.WriteJSON(w, http.StatusOK, api.OAuthTokenResponse{AccessToken: t.Secret, TokenType: "Bearer", ExpiresIn: t.Seconds})
}

func (a *Area) createSignInCode(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	code, err := a.SignIn.CreateCode(r.Context(), c.Principal)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusCreated, api.SignInCode{Code: code.Secret, ExpiresAt: code.Expires})
}

func (a *Area) renewSignIn(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	t, err := a.SignIn.Renew(r.Context(), c.Principal)
	if err != nil {
		return err
	}
	return writeToken(w, t)
}

func (a *Area) signOut(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.SignIn.SignOut(r.Context(), c.Principal))
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
