// Package identity is the HTTP handlers of who may call the service: users, API keys, application clients, signing in.
// One file has the handlers of one thing; wire.go is the only place where the wire types that they share meet package
// account. The rules themselves are there. Package app makes the Area.
package identity

import (
	"maps"
	"strconv"

	"quarry/internal/account"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/page"
	"quarry/internal/signin"
	"quarry/internal/token"
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

// defaultLimit is the contract's for the lists of users, keys and clients.
const defaultLimit = 10

// limitOf gives the size of the page asked for; the chain has checked it.
func limitOf(c *httpapi.Call) int {
	if v := c.Query.Get("limit"); v != "" {
		n, _ := strconv.Atoi(v)
		return n
	}
	return defaultLimit
}

// start reads the page key of a list whose filters stand in scope; nil is the first page.
func (a *Area) start(c *httpapi.Call, scope *page.Scope) (*account.Position, error) {
	parts, err := a.cursors.Decode(scope, c.Query.Get("page_key"))
	if err != nil || parts == nil {
		return nil, err
	}
	bad := fault.InvalidField("query.page_key", "is not a token of this list; start again without page_key")
	if len(parts) != 2 {
		return nil, bad
	}
	created, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return nil, bad
	}
	return &account.Position{Created: created, ID: parts[1]}, nil
}

// next gives the page key of what follows last.
func (a *Area) next(scope page.Scope, last account.Position) *string {
	key := a.cursors.Encode(scope, strconv.FormatInt(last.Created, 10), last.ID)
	return &key
}
