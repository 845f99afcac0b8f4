package accounts

import (
	"fmt"

	"quarry/internal/account"
	"quarry/internal/store"
)

// insertKey writes a key with its grants.
func insertKey(tx *store.Tx, k account.Key) error {
	if err := tx.Exec(`INSERT INTO api_keys (id, name, digest, prefix, tail, style, owner, creator, enabled, api_roles, created)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, string(k.ID), k.Name, k.Digest, k.Prefix, k.Tail, k.Style,
		orNull(string(k.Owner)), k.Creator, k.Enabled, list(k.Rights.API), k.Created.UnixMicro()); err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	return putGrants(tx, string(k.ID), k.Rights.Corpora)
}
