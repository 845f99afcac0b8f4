// Package signin lets people sign in: passwords, the one-time codes with which they set them, and the user tokens that
// a password buys. It keeps attempts to guess from costing others anything. It issues no keys and checks no tokens:
// packages account and token do. httpapi/identity calls it.
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

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/identity/token"
)

// Login is what is known of a user who signs in.
type Login struct {
	User        id.User
	Enabled     bool
	Epoch       int64  // of the user's tokens: those of an earlier one are void
	Hash        string // of the password, "" while there is none
	Code        string // SHA-256 hex digest of the one-time code, "" while there is none
	CodeExpires time.Time
}

// ErrNoUser says that no user has the name asked for.
var ErrNoUser = errors.New("no such user")

// Store keeps passwords and codes.
type Store interface {
	// Login reads what belongs to a username, however it is spelled; ErrNoUser when there is none.
	Login(ctx context.Context, username string) (Login, error)
	// SetCode stores a code in place of an earlier one, in one transaction: allow may refuse the user as it is. With void,
	// the user's password and tokens are void from now on. fault.KindNotFound "user_not_found" when there is none.
	SetCode(ctx context.Context, c NewCode, allow func(account.User) error) (account.User, error)
	// SetPassword stores the hash of a password and uses up the code, and voids the tokens of the user. done is false, and
	// nothing changed, when the user has another code by now or is not enabled.
	SetPassword(ctx context.Context, user id.User, code, hash string) (done bool, err error)
	// Rehash stores another hash of the same password unless the password was changed meanwhile.
	Rehash(ctx context.Context, user id.User, old, hash string) error
}

// NewCode is a code to store.
type NewCode struct {
	Username string
	account.CodeRow
	Void bool // the password and the tokens that the user has
}

// Issuer makes the token of a user who has signed in, and says how many seconds it is valid.
type Issuer interface {
	Issue(ctx context.Context, h token.Holder) (secret string, seconds int, err error)
}

// Token acts as the user until it expires.
type Token struct {
	Secret  string
	Seconds int // until it expires
	User    id.User
}

// Config is what a Service needs.
type Config struct {
	Store     Store
	Issuer    Issuer
	PublicURL string // of the service as people reach it, for links; "" gives codes without a link
	Log       *slog.Logger
}

// Service lets people sign in. It is safe for concurrent use.
type Service struct {
	Config
	hasher   *hasher
	throttle *throttle
}

// New gives a service.
func New(c Config) *Service {
	return &Service{Config: c, hasher: newHasher(current), throttle: newThrottle()}
}

// Attempt is who tries to sign in, and from where.
type Attempt struct {
	Username, Password string
	Address            string // IP address of the caller
}

// refused is the one answer to an unknown user, a disabled user, a user without a password and a wrong password.
func refused() error {
	return fault.Unauthenticated("the username or the password is wrong")
}

// SignIn gives a token for the right password. Every refusal costs the same time and reads the same, whatever its
// reason; an attempt too many is a fault.KindLimited.
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
		return Token{}, refused()
	}
	charged.succeeded()
	if outdated {
		s.rehash(ctx, who, password)
	}
	secret, seconds, err := s.Issuer.Issue(ctx, token.Holder{Kind: authz.User, ID: string(who.User), Epoch: who.Epoch})
	if err != nil {
		return Token{}, fmt.Errorf("issue token: %w", err)
	}
	return Token{secret, seconds, who.User}, nil
}

// rehash brings a hash to today's cost. Signing in does not fail by it.
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

// A code is its prefix, by which logs and audit know it for a secret, and 142 bits that nobody guesses.
const (
	codePrefix = "zoc_"
	codeLength = 24
)

// First gives the first code of a user who is about to be made. It makes a Service the account.Codes of new users.
func (s *Service) First(username string) (account.Code, account.CodeRow) {
	code := account.Code{Secret: codePrefix + id.Text(codeLength)}
	code.Link = s.link(username, code.Secret)
	return code, account.CodeRow{Digest: account.Digest(code.Secret), Expires: time.Now().Add(codeLife)}
}

// link leads to the page that takes a code; "" where the installation does not know its address.
func (s *Service) link(username, code string) string {
	if s.PublicURL == "" {
		return ""
	}
	return strings.TrimRight(s.PublicURL, "/") + "/set_password?" + url.Values{"username": {username}, "code": {code}}.Encode()
}

// Reset gives a user a code, and voids an earlier code, the password and the tokens at once: who asks for it may have
// reason to. Nobody resets the password of a user who may do more than they: with the code they would be that user.
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

// SetPassword sets a password with a code, which is then used up. Tokens issued before are void.
func (s *Service) SetPassword(ctx context.Context, r Redemption) error {
	if err := CheckPassword(r.Username, r.Password); err != nil {
		return err
	}
	charged, err := s.throttle.begin("", r.Address) // a code is not guessed, so no one may keep a user from using it
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
	charged.undecided() // a right code is no failure, whatever comes
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
