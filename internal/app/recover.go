package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"quarry/internal/config"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/audit"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
	sqlaudit "quarry/internal/store/audit"
)

// Recovered is the outcome of Recover.
type Recovered struct {
	File string    // the path of the key file
	Key  id.APIKey // the new key; "" when the key in the file still works
	User string    // whose key it is
}

// Recover writes a new key of an owner into the key file, for an installation whose owners have no working key left.
// It grants nothing new: whoever can write the data folder, or knows the URL of the database, can change every row
// anyway. The audit records it. No server may run on the folder.
func Recover(ctx context.Context, cfg config.Config, log *slog.Logger) (r Recovered, err error) {
	none := fmt.Errorf("there is no owner in %s yet: the first start of quarry serve makes one", cfg.Data)
	if _, err := os.Stat(filepath.Join(cfg.Data, lockFile)); cfg.Database == "" && errors.Is(err, fs.ErrNotExist) {
		return r, none // rather than make folder and database of a name mistyped
	}
	f, err := openFolder(cfg.Data)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	db, err := store.Open(ctx, store.Config{Dir: cfg.Data, URL: cfg.Database})
	if err != nil {
		return r, databaseError(cfg.Data, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	r.File = f.path(keyFile)
	people := account.New(accounts.New(db), nil)
	if works, err := ownerHolds(ctx, r.File, people); works || err != nil {
		return r, err
	}
	err = r.create(ctx, f, people, audit.New(sqlaudit.New(db), log))
	if errors.Is(err, account.ErrNoOwner) {
		return r, none
	}
	return r, err
}

// create creates the key. As in makeOwner, the secret is on disk before the key is valid.
func (r *Recovered) create(ctx context.Context, f *folder, people *account.Service, recorded *audit.Service) error {
	event, err := recorded.Intend(ctx, audit.Event{
		Action: "createApiKey", RequestID: id.NewRequest(), Actor: audit.Actor{Kind: authz.ServiceAccount, Name: "quarry key recover"},
	})
	if err != nil {
		return err
	}
	pending := r.File + ".new"
	owner, key, err := people.Recover(ctx, func(secret string) error {
		if err := writeSynced(pending, secret+"\n"); err != nil {
			return folderError(f.dir, err)
		}
		return nil
	})
	if err != nil {
		recorded.SetOutcome(ctx, event, 500, nil)
		return errors.Join(err, removeIfThere(pending))
	}
	r.Key, r.User = key.ID, owner.Username
	recorded.SetOutcome(ctx, event, 201, map[string]string{"api_key_id": string(key.ID), "username": owner.Username})
	return os.Rename(pending, r.File)
}

// ownerHolds reports whether a key file holds a key that is accepted and an owner's.
func ownerHolds(ctx context.Context, name string, people *account.Service) (bool, error) {
	raw, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	p, err := people.Authenticate(ctx, strings.TrimSpace(string(raw)))
	if fault.Is(err, fault.KindUnauthenticated) {
		return false, nil
	}
	return err == nil && p.Holds(authz.Owner), err
}
