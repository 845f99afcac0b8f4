// Package identity holds the handlers of users, API keys, application clients, callers and signing in, one file for each. wire.go
// maps the wire types that they share to those of package account, which has the rules. Package app plugs the area in.
package identity

import (
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
	return map[string]httpapi.Handler{
		"createUser": a.createUser, "listUsers": a.listUsers, "getUser": a.getUser, "updateUser": a.updateUser, "deleteUser": a.deleteUser,
		"createApiKey": a.createKey, "listApiKeys": a.listKeys, "getApiKey": a.getKey, "updateApiKey": a.updateKey, "deleteApiKey": a.deleteKey,
		"createAppClient": a.createClient, "listAppClient": a.listClients, "getAppClient": a.getClient,
		"updateAppClient": a.updateClient, "deleteAppClient": a.deleteClient,
		"getCaller": a.getCaller, "createSignInCode": a.createSignInCode, "renewSignIn": a.renewSignIn, "signOut": a.signOut,
		"signIn": a.signIn, "setPassword": a.setPassword, "resetUserPassword": a.resetPassword,
		"getSetPasswordPage": a.passwordPage, "submitSetPasswordPage": a.submitPassword,
		"getOAuthToken": a.clientToken, "getOAuth2Token": a.clientToken, "getJwks": a.keySet,
		"rotateSigningKeys": a.rotateSigningKeys, "rotateSecretKeys": a.rotateSecretKeys,
	}
}
