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

// Credential is what a caller authenticates with. It is read by packages account and token alone, and never printed.
type Credential struct {
	Secret string
	Bearer bool // sent as a bearer token: an access token or an API key; otherwise an API key
}

// String returns a text without the secret, and so do GoString and MarshalText.
func (Credential) String() string { return "credential ****" }

// GoString is String.
func (c Credential) GoString() string { return c.String() }

// MarshalText is String.
func (c Credential) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// credential returns the credential of a request. The header x-api-key wins, since SDKs send a dummy bearer token beside
// it. A header that was sent twice is refused, since a proxy may have checked the other one.
func credential(h http.Header) (Credential, error) {
	if v := h.Values("X-Api-Key"); len(v) > 0 {
		if len(v) > 1 {
			return Credential{}, fault.Unauthenticated("the header x-api-key came %d times; send it once", len(v))
		}
		return nonEmpty(Credential{Secret: strings.TrimSpace(v[0])})
	}
	v := h.Values("Authorization")
	if len(v) > 1 {
		return Credential{}, fault.Unauthenticated("the header Authorization came %d times; send it once", len(v))
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(h.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nonEmpty(Credential{})
	}
	return nonEmpty(Credential{Secret: strings.TrimSpace(token), Bearer: true})
}

// authTime is the time limit of looking a credential up: a database that hangs would otherwise hold every request until
// TCP gives up. Running into it is no verdict on the credential.
const authTime = 10 * time.Second

// authenticate returns the caller that a credential belongs to.
func (s *Server) authenticate(ctx context.Context, shown Credential) (authz.Principal, error) {
	bounded, cancel := context.WithTimeout(ctx, authTime)
	defer cancel()
	p, err := s.cfg.Authenticate(bounded, shown)
	if _, expected := fault.As(err); err != nil && !expected && ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		return authz.Principal{}, fault.Unavailable("storage_unavailable", "the database does not answer; try again").After(authTime / 2).Because(err)
	}
	return p, err
}

func nonEmpty(c Credential) (Credential, error) {
	if c.Secret == "" {
		return c, fault.Unauthenticated("no credential came with the request; send an API key in the header x-api-key, or an access token as Authorization: Bearer")
	}
	return c, nil
}
