// Package signin lets people sign in: it checks passwords and sign-in codes, issues and renews user tokens for them, and
// handles the one-time codes with which people set a password. Guessing is slowed down without cost to other users. API
// keys are in package account, tokens are made and checked by package token. httpapi/identity calls it.
package signin

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/identity/token"
)

// Login is the stored data about a user who signs in.
type Login struct {
	User        id.User
	Enabled     bool
	Epoch       int64  // of the user's tokens; those of an earlier epoch are invalid
	Hash        string // of the password, "" before one is set
	Code        string // SHA-256 hex digest of the one-time code, "" while there is none
	CodeExpires time.Time
}

// ErrNoUser means that no user has the name asked for.
var ErrNoUser = errors.New("no such user")

// Store keeps passwords and codes.
type Store interface {
	SignInCodes
	// Login reads the data of a user by name, in any spelling; ErrNoUser when there is no such user.
	Login(ctx context.Context, username string) (Login, error)
	// SetCode replaces the code of a user unless allow returns an error, in one transaction. With Void it also clears the
	// user's password and invalidates the user's tokens; account.LastPassword where nobody could manage the installation
	// without that password. fault.KindNotFound "user_not_found" when there is no such user.
	SetCode(ctx context.Context, c NewCode, allow func(account.User) error) (account.User, error)
	// SetPassword stores the hash of a password, removes the code and invalidates the user's tokens. done is false, and
	// nothing has changed, when the user has another code by now or is disabled.
	SetPassword(ctx context.Context, user id.User, code, hash string) (done bool, err error)
	// Rehash replaces the hash old of a password unless the password has been changed meanwhile.
	Rehash(ctx context.Context, user id.User, old, hash string) error
}

// NewCode is a code to store.
type NewCode struct {
	Username string
	account.CodeRow
	Void bool // also clear the password and invalidate the tokens of the user
}

// Issuer issues the token of a user who has signed in, valid for so many seconds.
type Issuer interface {
	Issue(ctx context.Context, h token.Holder) (secret string, seconds int, err error)
}

// Token is a bearer token of a user.
type Token struct {
	Secret  string
	Seconds int // until it expires
	User    id.User
	Name    string // of the user
}

// Config is what a Service needs.
type Config struct {
	Store     Store
	Issuer    Issuer
	PublicURL string // of the service as people reach it, for links; "" for codes without a link
	Log       *slog.Logger
}

// Service lets people sign in. It is safe for concurrent use.
type Service struct {
	Config
	hasher   *hasher
	throttle *throttle
}

// New returns a service.
func New(c Config) *Service {
	return &Service{Config: c, hasher: newHasher(current), throttle: newThrottle()}
}

// Attempt is an attempt to sign in.
type Attempt struct {
	Username, Password string
	Address            string // IP address of the caller
}

// wrongLogin returns the one answer to an unknown user, a disabled user, a user without a password and a wrong password.
func wrongLogin() error {
	return fault.Unauthenticated("the username or the password is wrong")
}

// SignIn returns a token for the right password. Every refusal takes the same time and has the same text, whatever its
// reason. Too many failures are fault.KindLimited.
func (s *Service) SignIn(ctx context.Context, a Attempt) (Token, error) {
	if len(a.Password) > MaxPassword {
		return Token{}, fault.InvalidField("password", "must have at most %d bytes", MaxPassword)
	}
	charged, err := s.throttle.begin(account.Fold(a.Username), a.Address)
	if err != nil {
		return Token{}, err
	}
	who, password := Login{}, canonical(a.Password)
	if who, err = s.Store.Login(ctx, a.Username); err != nil && !errors.Is(err, ErrNoUser) {
		charged.undecided()
		return Token{}, fmt.Errorf("read login: %w", err)
	}
	right, outdated, err := s.hasher.verify(ctx, who.Hash, password)
	if err != nil {
		charged.undecided()
		return Token{}, fmt.Errorf("check password: %w", err)
	}
	if !right || !who.Enabled {
		return Token{}, wrongLogin()
	}
	charged.succeeded()
	if outdated {
		s.rehash(ctx, who, password)
	}
	return s.issue(ctx, who.User, a.Username, who.Epoch, clock.Now())
}

// issue returns a token of a user who signed in then.
func (s *Service) issue(ctx context.Context, user id.User, name string, epoch int64, then time.Time) (Token, error) {
	secret, seconds, err := s.Issuer.Issue(ctx, token.Holder{Kind: authz.User, ID: string(user), Epoch: epoch, SignedIn: then})
	var over *token.InvalidError
	if errors.As(err, &over) {
		return Token{}, fault.Unauthenticated("%s", over.Error())
	}
	if err != nil {
		return Token{}, fmt.Errorf("issue token: %w", err)
	}
	return Token{secret, seconds, user, name}, nil
}

// rehash replaces a hash by one of today's cost. A failure is logged and does not prevent signing in.
func (s *Service) rehash(ctx context.Context, who Login, password string) {
	hash, err := s.hasher.hash(ctx, password)
	if err == nil {
		err = s.Store.Rehash(ctx, who.User, who.Hash, hash)
	}
	if err != nil {
		s.Log.Warn("password not hashed anew", "user", who.User, "error", err)
	}
}

// codeLife is how long a one-time code is valid.
const codeLife = 72 * time.Hour

// A code is a prefix, by which logs and audit recognise it as a secret, and 142 random bits.
const (
	passwordPrefix = "zoc_"
	signInPrefix   = "zsi_"
	codeLength     = 24
)

func newCode(prefix string) string { return prefix + id.Text(codeLength) }

// First returns the first code of a user who is about to be created. It implements account.Codes.
func (s *Service) First(username string) (account.Code, account.CodeRow) {
	code := account.Code{Secret: newCode(passwordPrefix)}
	code.Link = s.link(username, code.Secret)
	return code, account.CodeRow{Digest: account.Digest(code.Secret), Expires: time.Now().Add(codeLife)}
}

// link returns the address of the page that takes a code, "" where the public address is not configured.
func (s *Service) link(username, code string) string {
	if s.PublicURL == "" {
		return ""
	}
	return strings.TrimRight(s.PublicURL, "/") + "/set_password?" + url.Values{"username": {username}, "code": {code}}.Encode()
}

// Reset returns a new code for a user and at once invalidates the user's earlier code, password and tokens, which may
// be in the wrong hands. The caller must hold the user's rights, as the code lets them act as that user.
func (s *Service) Reset(ctx context.Context, by authz.Principal, username string) (account.Code, error) {
	code, row := s.First(username)
	u, err := s.Store.SetCode(ctx, NewCode{username, row, true}, func(u account.User) error { return authz.Covers(by, u.Rights) })
	if err != nil {
		return account.Code{}, fmt.Errorf("write code: %w", err)
	}
	code.Link = s.link(u.Username, code.Secret) // as the user spells it
	return code, nil
}

// Redemption is a code and the password that its user sets with it.
type Redemption struct {
	Username, Code, Password string
	Address                  string // IP address of the caller
}

// SetPassword sets a password with a code, which is valid once. Tokens issued before become invalid.
func (s *Service) SetPassword(ctx context.Context, r Redemption) error {
	if err := CheckPassword(r.Username, r.Password); err != nil {
		return err
	}
	charged, err := s.throttle.begin("", r.Address) // a code can't be guessed, so failures by username must not keep the user from using it
	if err != nil {
		return err
	}
	who, err := s.Store.Login(ctx, r.Username)
	if err != nil && !errors.Is(err, ErrNoUser) {
		charged.undecided()
		return fmt.Errorf("read login: %w", err)
	}
	given := account.Digest(r.Code)
	same := subtle.ConstantTimeCompare([]byte(given), []byte(who.Code)) == 1
	if !same || !who.Enabled || !time.Now().Before(who.CodeExpires) {
		return badCode()
	}
	charged.undecided() // with the right code this is no failure, whatever happens below
	hash, err := s.hasher.hash(ctx, canonical(r.Password))
	if err != nil {
		return fmt.Errorf("hash password: %w", err)
	}
	done, err := s.Store.SetPassword(ctx, who.User, given, hash)
	if err != nil {
		return fmt.Errorf("write password: %w", err)
	}
	if !done { // used by someone else at the same moment
		return badCode()
	}
	return nil
}

func badCode() error {
	return fault.Unauthenticated("the code is wrong, used or expired, or the user does not exist; ask an administrator for a new one")
}
