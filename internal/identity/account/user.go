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
	Epoch       int64     // of the tokens that signing in gives; those of an earlier one are void
	Created     time.Time // to the microsecond, as Updated
	Updated     time.Time
}

// Users keeps users. Names are looked up by their folded form (see Fold).
type Users interface {
	// CreateUser writes a user and its first code, if there is one, in one transaction: the conflict "user_exists" when
	// name or e-mail address are taken, a fault of corpus_roles[n].corpus_key when a corpus that it is granted does
	// not exist.
	CreateUser(ctx context.Context, u User, first CodeRow) error
	// UserByName gives the user with all that is kept of it: fault.KindNotFound "user_not_found" when there is none.
	UserByName(ctx context.Context, username string) (User, error)
	// ListUsers gives up to l.Limit users, newest first, and whether more follow.
	ListUsers(ctx context.Context, l UserList) (page []User, more bool, err error)
	// UpdateUser runs change on the user as it is and keeps what that gives, in one transaction; change may run again.
	// Rights are written when they differ. The last enabled owner stays one: fault.KindInvalid.
	UpdateUser(ctx context.Context, username string, change func(User) (User, error)) (User, error)
	// DeleteUser removes the user with its personal keys and grants if allow lets it, in one transaction. The last
	// enabled owner stays.
	DeleteUser(ctx context.Context, username string, allow func(User) error) error
}

// UserList says which users to list, newest first.
type UserList struct {
	Limit  int
	After  *page.Position // the last one shown, nil for the first page
	Corpus string         // only those who may read this corpus, when not empty
}

// Position is where the user stands in a list.
func (u User) Position() *page.Position { return page.At(u.Created, u.ID) }

// Position is where the key stands in a list.
func (k Key) Position() *page.Position { return page.At(k.Created, k.ID) }

// Position is where the client stands in a list.
func (c Client) Position() *page.Position { return page.At(c.Created, c.ID) }

// CreateUser says what user to make. Username defaults to the e-mail address.
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

// Codes makes the one-time codes with which users choose their first password.
type Codes interface {
	// First makes a code for a user that is about to be made, and what to keep of it.
	First(username string) (Code, CodeRow)
}

// Code is a one-time code and where a person can use it.
type Code struct{ Secret, Link string }

// CodeRow is what is kept of a one-time code; the zero value stands for none.
type CodeRow struct {
	Digest  string // SHA-256, hex
	Expires time.Time
}

// LastOwner is what the store answers to a change that would leave an installation that nobody can manage.
func LastOwner(u User) error {
	f := fault.Invalid()
	f.Text = "user " + u.Username + " is the last enabled owner and can't be deleted, disabled or have the role owner taken away; make another owner first"
	f.Code = "last_owner"
	return f
}
