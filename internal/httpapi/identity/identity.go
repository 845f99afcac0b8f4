// Package identity is the HTTP handlers of who may call the service: users, API keys, application clients, signing in.
// One file has the handlers of one thing; wire.go is the only place where the wire types that they share meet package
// account. The rules themselves are there. Package app makes the Area.
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

// New gives the area.
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
