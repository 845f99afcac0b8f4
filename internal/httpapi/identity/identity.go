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
	"quarry/internal/secret/vault"
)

// Area answers the operations of identity with these services.
type Area struct {
	Accounts *account.Service
	SignIn   *signin.Service
	Tokens   *token.Service
	Cursors  *page.Cursors // sign the page keys
	Secrets  *vault.Vault
}

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
