// Package identity holds the handlers of users, API keys, application clients and signing in, one file for each. wire.go
// maps the wire types that they share to those of package account, which has the rules. Package app plugs the area in.
package identity

import (
	"maps"

	"quarry/internal/httpapi"
	"quarry/internal/identity/account"
	"quarry/internal/identity/signin"
	"quarry/internal/identity/token"
	"quarry/internal/page"
)

// Config is what an Area needs.
type Config struct {
	Accounts *account.Service
	SignIn   *signin.Service
	Tokens   *token.Service
	Cursors  *page.Cursors // sign the page keys
	Secrets  SecretKeys
}

// Area answers the operations of identity.
type Area struct {
	accounts *account.Service
	signin   *signin.Service
	tokens   *token.Service
	cursors  *page.Cursors
	secrets  SecretKeys
}

// New returns the area.
func New(c Config) *Area { return &Area{c.Accounts, c.SignIn, c.Tokens, c.Cursors, c.Secrets} }

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	all := map[string]httpapi.Handler{}
	maps.Copy(all, a.users())
	maps.Copy(all, a.keys())
	maps.Copy(all, a.secretKeys())
	maps.Copy(all, a.signIns())
	maps.Copy(all, a.clients())
	maps.Copy(all, a.tokenHandlers())
	return all
}
