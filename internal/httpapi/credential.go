package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"quarry/internal/fault"
	"quarry/internal/identity/authz"
)

// Credential is what a caller shows. Only package account and package token look into it; it is never printed.
type Credential struct {
	Secret string
	Bearer bool // it came as a bearer token, so it may be one; otherwise it is an API key
}

// String keeps the secret out of whatever a credential is printed into; so do GoString and MarshalText.
func (Credential) String() string { return "credential ****" }

// GoString is String.
func (c Credential) GoString() string { return c.String() }

// MarshalText is String.
func (c Credential) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// credential gives what was sent: x-api-key decides alone, since SDKs send a dummy bearer beside it. A header that came
// twice is refused, since whatever stands before this service may have looked at the other one.
func credential(h http.Header) (Credential, error) {
	if v := h.Values("X-Api-Key"); len(v) > 0 {
		if len(v) > 1 {
			return Credential{}, fault.Unauthenticated("the header x-api-key came %d times; send it once", len(v))
		}
		return given(Credential{Secret: strings.TrimSpace(v[0])})
	}
	v := h.Values("Authorization")
	if len(v) > 1 {
		return Credential{}, fault.Unauthenticated("the header Authorization came %d times; send it once", len(v))
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(h.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return given(Credential{})
	}
	return given(Credential{Secret: strings.TrimSpace(token), Bearer: true})
}

// authTime bounds looking a credential up: a database that hangs would otherwise hold every request for as long as TCP
// believes in it. It says nothing about the credential.
const authTime = 10 * time.Second

// authenticate gives the caller of a credential.
func (s *Server) authenticate(ctx context.Context, shown Credential) (authz.Principal, error) {
	bounded, cancel := context.WithTimeout(ctx, authTime)
	defer cancel()
	p, err := s.cfg.Authenticate(bounded, shown)
	if _, expected := fault.As(err); err != nil && !expected && ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		return authz.Principal{}, fault.Unavailable("storage_unavailable", "the database does not answer; try again").After(authTime / 2).Because(err)
	}
	return p, err
}

func given(c Credential) (Credential, error) {
	if c.Secret == "" {
		return c, fault.Unauthenticated("no credential came with the request; send an API key in the header x-api-key, or an access token as Authorization: Bearer")
	}
	return c, nil
}
