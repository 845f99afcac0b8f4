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

// makeOwner sees to it that an owner exists and that its key, if it is made now, stands in the key file. The secret is
// on disk under another name before the key is valid, and gets its own name after: a crash in between is mended by the
// next start.
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

// adopt gives a key file left by a crash its name when its key is valid.
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
