package app

import (
	"errors"
	"fmt"
	"syscall"

	"quarry/internal/secret/vault"
	"quarry/internal/store"
)

// SettingError is returned when a setting names what there is not, or what can't be used.
type SettingError struct{ err error }

func (e *SettingError) Error() string { return e.err.Error() }
func (e *SettingError) Unwrap() error { return e.err }

// PortError is returned when the address can't be listened on.
type PortError struct {
	Address string
	err     error
}

func (e *PortError) Error() string {
	if errors.Is(e.err, syscall.EADDRINUSE) {
		return fmt.Sprintf("the address %s is taken by another program; stop it, or choose another with --listen or QUARRY_LISTEN", e.Address)
	}
	return fmt.Sprintf("the address %s can't be listened on: %v", e.Address, e.err)
}

func (e *PortError) Unwrap() error { return e.err }

// databaseError returns err, met while opening the database or the secret keys that it needs, as a *FolderError if the
// user can do something about it, and unchanged otherwise.
func databaseError(dir string, err error) error {
	for _, reason := range []error{store.ErrDamaged, store.ErrReadOnly, store.ErrFull, store.ErrNewer} {
		if errors.Is(err, reason) {
			return &FolderError{dir, err.Error(), err}
		}
	}
	var key *vault.KeyError
	if errors.As(err, &key) {
		return &FolderError{dir, key.Error(), err}
	}
	return err
}
