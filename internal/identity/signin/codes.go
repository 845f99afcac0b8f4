package signin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
)

// CodeLife is how long a sign-in code is valid.
const CodeLife = 5 * time.Minute

// MaxCodes is how many valid sign-in codes a user may have.
const MaxCodes = 20

// ErrNoCode means that there is no such sign-in code, or none that is valid.
var ErrNoCode = errors.New("no such sign-in code")

// SignInCodes keeps the codes with which people sign in.
type SignInCodes interface {
	// AddSignInCode writes a code unless the user has most codes already that are valid at now: then added is false. It
	// removes the user's expired codes. ErrNoUser when there is no such user or it is disabled.
	AddSignInCode(ctx context.Context, c CodeRow, now time.Time, most int) (added bool, err error)
	// UseSignInCode removes a code that is valid at now, of an enabled user in the epoch of the code, and returns what it
	// is for; ErrNoCode when there is none. Of many who use one code at once, one gets it.
	UseSignInCode(ctx context.Context, digest string, now time.Time) (CodeRow, error)
	// EndSignIns begins an epoch of the user, which invalidates tokens and sign-in codes, and removes the codes.
	EndSignIns(ctx context.Context, user id.User) error
}

// CodeRow is a stored sign-in code.
type CodeRow struct {
	account.CodeRow
	User     id.User
	Username string    // as read
	Epoch    int64     // of the user when the code was made
	SignedIn time.Time // when the sign-in began that the code goes on with, in whole seconds; zero for one that begins one
}

// SignInCode is a code that its user may sign in with until it expires.
type SignInCode struct {
	Secret  string
	Expires time.Time
}

// CreateCode returns a code with which a user signs in elsewhere. It goes on with the sign-in of the caller, if there is
// one, so that nobody stays signed in for longer by means of codes.
func (s *Service) CreateCode(ctx context.Context, by authz.Principal) (SignInCode, error) {
	now := clock.Now()
	code := SignInCode{newCode(signInPrefix), now.Add(CodeLife)}
	row := CodeRow{
		CodeRow: account.CodeRow{Digest: account.Digest(code.Secret), Expires: code.Expires},
		User:    id.User(by.ID), Epoch: by.Epoch, SignedIn: by.SignedIn,
	}
	added, err := s.Store.AddSignInCode(ctx, row, now, MaxCodes)
	switch {
	case errors.Is(err, ErrNoUser):
		return SignInCode{}, fault.Unauthenticated("the user of this call does not exist any more or is disabled")
	case err != nil:
		return SignInCode{}, fmt.Errorf("write sign-in code: %w", err)
	case !added:
		return SignInCode{}, fault.Limited("rate_limit_exceeded", "%d sign-in codes of yours are unused; use one, or wait until they expire", MaxCodes).After(CodeLife)
	}
	return code, nil
}

// CodeAttempt is an attempt to sign in with a code.
type CodeAttempt struct {
	Code    string
	Address string // IP address of the caller
}

// SignInWithCode returns a token of the user of a sign-in code, which is valid once. Every refusal has the same text.
func (s *Service) SignInWithCode(ctx context.Context, a CodeAttempt) (Token, error) {
	if strings.HasPrefix(a.Code, passwordPrefix) {
		return Token{}, fault.InvalidField("code", "is one that sets a password; send it to POST /v2/set_password, with the username and a new password")
	}
	charged, err := s.throttle.begin("", a.Address) // as in SetPassword, there is no username to guess for
	if err != nil {
		return Token{}, err
	}
	now := clock.Now()
	c, err := s.Store.UseSignInCode(ctx, account.Digest(a.Code), now)
	if errors.Is(err, ErrNoCode) {
		return Token{}, fault.Unauthenticated("the code is wrong, used, void or older than five minutes; make a new one where you are signed in, or sign in with your password")
	}
	charged.undecided() // no failure, whatever happens below
	if err != nil {
		return Token{}, fmt.Errorf("use sign-in code: %w", err)
	}
	if c.SignedIn.IsZero() {
		c.SignedIn = now
	}
	return s.issue(ctx, c.User, c.Username, c.Epoch, c.SignedIn)
}

// Renew returns another token of the sign-in of the caller, until that ends. The token is of the caller's epoch, so it is
// as void as theirs if they sign out meanwhile.
func (s *Service) Renew(ctx context.Context, by authz.Principal) (Token, error) {
	if by.SignedIn.IsZero() {
		return Token{}, fault.Forbidden("renewSignIn takes the access token of a person who signed in; an API key does not expire and needs no renewal")
	}
	return s.issue(ctx, id.User(by.ID), by.Name, by.Epoch, by.SignedIn)
}

// SignOut ends all sign-ins of the caller.
func (s *Service) SignOut(ctx context.Context, by authz.Principal) error {
	if err := s.Store.EndSignIns(ctx, id.User(by.ID)); err != nil {
		return fmt.Errorf("end sign-ins: %w", err)
	}
	return nil
}
