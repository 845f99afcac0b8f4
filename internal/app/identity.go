package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"quarry/internal/config"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	httpaudit "quarry/internal/httpapi/audit"
	httpidentity "quarry/internal/httpapi/identity"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/audit"
	"quarry/internal/identity/authz"
	"quarry/internal/identity/signin"
	"quarry/internal/identity/token"
	"quarry/internal/page"
	"quarry/internal/secret/seal"
	"quarry/internal/secret/vault"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
	sqlaudit "quarry/internal/store/audit"
	"quarry/internal/store/secrets"
	"quarry/internal/store/signing"
)

// identityServices know who callers are and what they may do, and keep what is secret.
type identityServices struct {
	vault    *vault.Vault
	secrets  *secrets.Store
	tokens   *token.Service
	signIn   *signin.Service
	accounts *account.Service
	audit    *audit.Service
}

// openIdentity opens the secret keys and prepares the signing keys. The installation is the audience of its access
// tokens; publicURL is where people reach the service.
func openIdentity(ctx context.Context, cfg config.Config, f *folder, db *store.DB, installation, publicURL string, log *slog.Logger) (*identityServices, error) {
	keys, err := openVault(ctx, cfg, f, db)
	if err != nil {
		return nil, err
	}
	sealed := secrets.New(db, keys.Keyring())
	tokens := token.New(token.Config{Store: signing.New(db, sealed), Installation: installation, Issuer: cfg.PublicURL, SignIn: time.Duration(cfg.SignInHours) * time.Hour})
	if err := tokens.Prepare(ctx); err != nil {
		return nil, err
	}
	rows := accounts.New(db)
	in := signin.New(signin.Config{Store: rows, Issuer: tokens, PublicURL: publicURL, Log: log})
	return &identityServices{
		vault: keys, secrets: sealed, tokens: tokens, signIn: in,
		accounts: account.New(rows, in),
		audit:    audit.New(sqlaudit.New(db), log),
	}, nil
}

// areas returns the handlers of these services.
func (i *identityServices) areas(cursors *page.Cursors) []httpapi.Area {
	return []httpapi.Area{
		&httpidentity.Area{Accounts: i.accounts, SignIn: i.signIn, Tokens: i.tokens, Cursors: cursors, Secrets: i.vault},
		httpaudit.New(i.audit, cursors),
	}
}

// principal returns the caller with its present rights, read in one statement. A bearer credential without a dot is an
// API key, which tutorials send that way, and not a token.
func (i *identityServices) principal(ctx context.Context, c httpapi.Credential) (p authz.Principal, err error) {
	if !c.Bearer || !strings.Contains(c.Secret, ".") {
		return i.accounts.Authenticate(ctx, c.Secret)
	}
	claims, err := i.tokens.Check(ctx, c.Secret)
	var invalid *token.InvalidError
	switch {
	case errors.As(err, &invalid):
		return authz.Principal{}, fault.Unauthenticated("%s", invalid.Error())
	case err != nil:
		return authz.Principal{}, err
	case claims.Kind == authz.AppClient:
		p, err = i.accounts.ClientPrincipal(ctx, claims.ID)
	case claims.Kind == authz.User:
		p, err = i.accounts.UserPrincipal(ctx, id.User(claims.ID), claims.Epoch)
	default:
		err = fault.Unauthenticated("the access token is for %s, which this service does not know", claims.Kind)
	}
	if err != nil {
		return authz.Principal{}, err
	}
	p.SignedIn, p.Expires = claims.SignedIn, claims.Expires
	return p, nil
}

// installation returns the name of the installation over one database, unique among all. Every token holds it, so it
// is a keyed hash from which the secret can't be found.
func installation(secret []byte) string {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte("installation"))
	return "urn:quarry:" + hex.EncodeToString(m.Sum(nil)[:16])
}

// openVault opens the secret keys: those of the setting, else those of the key file in the data folder.
func openVault(ctx context.Context, cfg config.Config, f *folder, db *store.DB) (*vault.Vault, error) {
	keys, err := cfg.SecretKeys()
	if err != nil {
		return nil, err
	}
	v, err := vault.Open(ctx, vault.Config{Rows: secrets.NewRows(db), File: seal.NewFile(f.path(secretFile)), Keys: keys})
	var unusable *vault.KeyError
	var failed *fs.PathError
	if errors.As(err, &failed) && !errors.As(err, &unusable) { // the first key can't be written
		return nil, folderError(f.dir, err)
	}
	return v, err
}
