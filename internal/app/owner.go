package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"quarry/internal/fault"
	"quarry/internal/identity/account"
)

// makeOwner creates the first owner, unless there is one, and writes its key into the key file; made reports whether
// it did. The secret is on disk under a pending name before the key is valid and is renamed afterwards, so that the
// next start can finish what a crash interrupts.
func makeOwner(ctx context.Context, f *folder, accounts *account.Service) (made bool, err error) {
	pending := f.path(keyFile + ".new")
	if err := adopt(ctx, pending, f.path(keyFile), accounts); err != nil {
		return false, err
	}
	made, err = accounts.Bootstrap(ctx, func(secret string) error {
		if err := writeSynced(pending, secret+"\n"); err != nil {
			return folderError(f.dir, err)
		}
		return nil
	})
	if err != nil || !made {
		return false, errors.Join(err, removeIfThere(pending))
	}
	return true, os.Rename(pending, f.path(keyFile))
}

// adopt renames a pending key file that a crash has left to name if its key is valid, and removes it otherwise.
func adopt(ctx context.Context, pending, name string, accounts *account.Service) error {
	raw, err := os.ReadFile(pending)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	switch _, err := accounts.Authenticate(ctx, strings.TrimSpace(string(raw))); {
	case err == nil:
		return os.Rename(pending, name)
	case fault.Is(err, fault.KindUnauthenticated):
		return os.Remove(pending)
	default:
		return err
	}
}

func removeIfThere(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
