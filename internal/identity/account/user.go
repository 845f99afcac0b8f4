package account

import (
	"context"
	"encoding/json"
	"time"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/authz"
	"quarry/internal/opt"
	"quarry/internal/page"
)

// User is a person.
type User struct {
	ID          id.User
	Username    string
	Email       string
	Description string
	Enabled     bool
	Metadata    json.RawMessage // a compact JSON object; empty means {}
	Groups      []string
	Rights      authz.Rights
	Epoch       int64     // of tokens and sign-in codes; those of an earlier epoch are invalid
	Created     time.Time // to the microsecond, as Updated
	Updated     time.Time
}

// Users changes users. Names are looked up by their folded form (see Fold).
type Users interface {
	// CreateUser writes a user and its first code, if there is one, in one transaction. It returns the conflict
	// "user_exists" when the name or e-mail address is taken, and a fault of corpus_roles[n].corpus_key for a grant on a
	// corpus that does not exist.
	CreateUser(ctx context.Context, u User, first CodeRow) error
	// UpdateUser stores what change returns for the user, in one transaction; change may run more than once. The last
	// enabled owner, and the only one with a way in, cannot be disabled or lose that role (see LastOwner, OnlyOwnerWithWay).
	UpdateUser(ctx context.Context, username string, change func(User) (User, error)) (User, error)
	// DeleteUser removes the user with its personal keys and grants unless allow returns an error, in one transaction.
	// The last enabled owner, and the only one with a way in, cannot be removed.
	DeleteUser(ctx context.Context, username string, allow func(User) error) error
}

// UserList selects the users to list, newest first.
type UserList struct {
	Limit  int
	After  *page.Position // the last one shown, nil for the first page
	Corpus string         // only those who may read this corpus, when not empty
}

// Position returns the place of the user in a list.
func (u User) Position() *page.Position { return page.At(u.Created, u.ID) }

// Position returns the place of the key in a list.
func (k Key) Position() *page.Position { return page.At(k.Created, k.ID) }

// Position returns the place of the client in a list.
func (c Client) Position() *page.Position { return page.At(c.Created, c.ID) }

// CreateUser is the command to create a user. Username defaults to the e-mail address.
type CreateUser struct {
	Email       string
	Username    string
	Description string
	Metadata    json.RawMessage
	Groups      []string
	Rights      authz.Rights
}

// UserPatch changes a user. Metadata that is null becomes {}.
type UserPatch struct {
	Patch
	Metadata opt.Field[json.RawMessage]
	Groups   opt.Field[[]string]
}

// Codes generates the one-time codes with which users choose their first password.
type Codes interface {
	// First returns a code for a user who is about to be created, and the row to store for it.
	First(username string) (Code, CodeRow)
}

// Code is a one-time code and where a person can use it.
type Code struct{ Secret, Link string }

// CodeRow is the stored form of a one-time code; the zero value means no code.
type CodeRow struct {
	Digest  string // SHA-256, hex
	Expires time.Time
}

// LastKey returns the fault for the end of a key without which nobody could manage the installation.
func LastKey(key id.APIKey) error {
	return fault.Conflict("last_key", "API key %s is the last one that works for an owner; make another one, or set a password, before it is disabled or deleted", key)
}

// LastOwner returns the fault for a change that would leave the installation without anyone to manage it.
func LastOwner(u User) error {
	return lastOwner("user " + u.Username + " is the last enabled owner and can't be deleted, disabled or have the role owner taken away; make another owner first")
}

// OnlyOwnerWithWay returns the fault for the same change while no other owner has a way in.
func OnlyOwnerWithWay(u User) error {
	return lastOwner("user " + u.Username + " is the only owner with an API key that works or a password, and can't be deleted, disabled or have the role owner taken away; " +
		"let another owner set a password or make a key first")
}

func lastOwner(text string) error {
	f := fault.Invalid()
	f.Text, f.Code = text, "last_owner"
	return f
}

// LastPassword returns the fault for the end of a password without which nobody could manage the installation.
func LastPassword(u User) error {
	return fault.Conflict("last_password", "the password of user %s is the only way in for an owner, and no API key works for one; make a key before it is reset", u.Username)
}
