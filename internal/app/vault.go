package app

import (
	"context"
	"errors"
	"io/fs"

	"quarry/internal/config"
	"quarry/internal/secret/seal"
	"quarry/internal/secret/vault"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
)

// openVault finds the secret keys: those of the setting, else those of the key file in the data folder.
func openVault(ctx context.Context, cfg config.Config, f *folder, db *store.DB) (*vault.Vault, error) {
	keys, err := cfg.SecretKeys()
	if err != nil {
		return nil, err
	}
	v, err := vault.Open(ctx, vault.Config{Rows: secrets.NewRows(db), File: seal.NewFile(f.path(secretFile)), Keys: keys})
	var unusable *vault.KeyError
	var failed *fs.PathError
	if errors.As(err, &failed) && !errors.As(err, &unusable) { // the first key can't be written
		return nil, folderError(f.dir, err)
	}
	return v, err
}
