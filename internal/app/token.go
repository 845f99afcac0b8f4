package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/identity/token"
)

// installation names what is over one database among all others. It is in every token, so it gives away nothing of the
// secret that it comes from.
func installation(secret []byte) string {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte("installation"))
	return "urn:quarry:" + hex.EncodeToString(m.Sum(nil)[:16])
}

// gate turns what a caller shows into a principal.
type gate struct {
	people *account.Service
	tokens *token.Service
}

// principal reads who the caller is, as it is now, in one statement. A bearer without a dot is no token but an API key,
// which tutorials send that way.
func (g gate) principal(ctx context.Context, c httpapi.Credential) (authz.Principal, error) {
	if !c.Bearer || !strings.Contains(c.Secret, ".") {
		return g.people.Authenticate(ctx, c.Secret)
	}
	claims, err := g.tokens.Check(ctx, c.Secret)
	var invalid *token.InvalidError
	switch {
	case errors.As(err, &invalid):
		return authz.Principal{}, fault.Unauthenticated("%s", invalid.Error())
	case err != nil:
		return authz.Principal{}, err
	case claims.Kind == authz.AppClient:
		return g.people.ClientPrincipal(ctx, claims.ID)
	case claims.Kind == authz.User:
		return g.people.UserPrincipal(ctx, id.User(claims.ID), claims.Epoch)
	}
	return authz.Principal{}, fault.Unauthenticated("the access token is for %s, which this service does not know", claims.Kind)
}
