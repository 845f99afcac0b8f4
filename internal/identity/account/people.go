package account

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/authz"
)

// The contract's bounds of a user's texts in characters, of its groups, and of its metadata in bytes of compact JSON.
const (
	maxUsername    = 128
	maxDescription = 255
	maxGroups      = 1000
	maxGroup       = 255
	maxMetadata    = 65_535
)

// CreateUser creates a user and, where the installation hands out one-time codes, the user's first code in the same
// transaction: a failed call must not leave behind a user whose code nobody has. A caller can grant only rights that
// they hold.
func (s *Service) CreateUser(ctx context.Context, by authz.Principal, c CreateUser) (User, *Code, error) {
	u, err := newUser(c)
	if err != nil {
		return User{}, nil, err
	}
	if err := authz.Covers(by, u.Rights); err != nil {
		return User{}, nil, err
	}
	if s.codes == nil {
		return u, nil, s.store.CreateUser(ctx, u, CodeRow{})
	}
	code, row := s.codes.First(u.Username)
	if err := s.store.CreateUser(ctx, u, row); err != nil {
		return User{}, nil, err
	}
	return u, &code, nil
}

func newUser(c CreateUser) (User, error) {
	bad := fault.Invalid()
	now := clock.Now()
	u := User{
		ID: id.NewUser(), Username: tidy(c.Username), Email: tidy(c.Email), Description: c.Description, Enabled: true,
		Rights: c.Rights, Created: now, Updated: now,
	}
	if wrong := emailFault(u.Email); wrong != "" {
		bad.Field("email", "%s", wrong)
	}
	if u.Username == "" {
		u.Username = u.Email
	}
	if wrong := nameFault(u.Username); wrong != "" {
		bad.Field("username", "%s", wrong)
	}
	if utf8.RuneCountInString(u.Username) > maxUsername {
		bad.Field("username", "must be at most %d characters; give one when the e-mail address is longer", maxUsername)
	}
	checkLength("description", c.Description, maxDescription, bad)
	u.Metadata = checkMetadata(c.Metadata, bad)
	u.Groups = checkGroups(c.Groups, bad)
	c.Rights.Check(bad)
	if len(bad.Fields) > 0 {
		return User{}, bad
	}
	return u, nil
}

// checkMetadata returns metadata in the form in which it is stored, compact with its members as sent; nil for {}.
func checkMetadata(raw json.RawMessage, bad *fault.Fault) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var kept bytes.Buffer
	if raw[0] != '{' || json.Compact(&kept, raw) != nil {
		bad.Field("metadata", "must be an object")
		return nil
	}
	if n := plainSize(raw); n > maxMetadata {
		bad.Field("metadata", "is %d bytes as compact JSON and may be at most %d", n, maxMetadata)
	}
	if kept.String() == "{}" {
		return nil
	}
	return kept.Bytes()
}

// plainSize returns the size of JSON in bytes without needless spaces and escapes, so that the limit is the same for
// clients that send é and those that send \u00e9.
func plainSize(raw []byte) int {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return len(raw)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return len(raw)
	}
	return out.Len() - 1 // the encoder ends with a line feed
}

func checkGroups(all []string, bad *fault.Fault) []string {
	if len(all) > maxGroups {
		bad.Field("groups", "must hold at most %d names", maxGroups)
		return nil
	}
	var out []string
	seen := map[string]bool{}
	for i, g := range all {
		path := fmt.Sprintf("groups[%d]", i)
		g = tidy(g)
		wrong := nameFault(g)
		switch {
		case wrong != "":
			bad.Field(path, "%s", wrong)
		case utf8.RuneCountInString(g) > maxGroup:
			bad.Field(path, "must be at most %d characters", maxGroup)
		case seen[g]:
			bad.Field(path, "is given twice")
		}
		seen[g] = true
		out = append(out, g)
	}
	return out
}

// UpdateUser changes a user within what the caller may grant (see Patch).
func (s *Service) UpdateUser(ctx context.Context, by authz.Principal, username string, p UserPatch) (User, error) {
	bad := fault.Invalid()
	p.check(maxDescription, bad)
	metadata := checkMetadata(p.Metadata.Or(nil), bad)
	groups := checkGroups(p.Groups.Or(nil), bad)
	if len(bad.Fields) > 0 {
		return User{}, bad
	}
	return s.store.UpdateUser(ctx, username, func(was User) (User, error) {
		now := was
		if !p.Metadata.IsAbsent() {
			now.Metadata = metadata
		}
		if _, given := p.Groups.Get(); given {
			now.Groups = groups
		}
		err := p.apply(by, &now.Enabled, &now.Description, &now.Rights)
		if !reflect.DeepEqual(was, now) {
			now.Updated = clock.Now()
		}
		return now, err
	})
}

// DeleteUser removes a user with its personal keys. Other keys that the user created stay.
func (s *Service) DeleteUser(ctx context.Context, by authz.Principal, username string) error {
	return s.store.DeleteUser(ctx, username, func(u User) error { return authz.Covers(by, u.Rights) })
}
