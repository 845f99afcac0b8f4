package signin

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"quarry/internal/fault"
	"quarry/internal/identity/account"
)

// The allowed length of a password.
const (
	MinPassword = 12    // characters
	MaxPassword = 1_000 // bytes
)

// canonical returns the same form of a password however a keyboard composes its letters (RFC 8265, OpaqueString).
func canonical(password string) string { return norm.NFC.String(password) }

// CheckPassword refuses a password that is too short, too long or the username. Its errors do not contain the password.
func CheckPassword(username, password string) error {
	password = canonical(password)
	switch {
	case len(password) > MaxPassword:
		return fault.InvalidField("password", "must have at most %d bytes", MaxPassword)
	case utf8.RuneCountInString(password) < MinPassword:
		return fault.InvalidField("password", "must have at least %d characters", MinPassword)
	case account.Fold(password) == account.Fold(username):
		return fault.InvalidField("password", "must not be the username")
	}
	return nil
}
