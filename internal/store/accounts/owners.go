package accounts

import (
	"fmt"
	"slices"

	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
)

func isOwner(u account.User) bool { return u.Enabled && slices.Contains(u.Rights.API, authz.Owner) }

// keepOwner refuses to go on when u is the last enabled owner, or the only one with a way in. The lock comes before the count, so
// that of two owners who go at once the second one sees that the first is gone.
func keepOwner(tx *store.Tx, u account.User) error {
	if err := tx.Lock(owners); err != nil {
		return err
	}
	var others int
	if err := tx.QueryRow(`SELECT COUNT(*) FROM users WHERE enabled AND api_roles LIKE '%"owner"%' AND id <> $1`, string(u.ID)).Scan(&others); err != nil {
		return fmt.Errorf("count owners: %w", err)
	}
	if others == 0 {
		return account.LastOwner(u)
	}
	return keepWay(tx, "holder", string(u.ID), account.OnlyOwnerWithWay(u))
}

// ways has a row for each way in to the role owner: the id of a key that works, or of the user for a password. holder is the
// user whose way it is, empty for a key with roles of its own. Clients don't count, as nothing keeps the last of them; nor do
// one-time codes, which expire.
const ways = `WITH ways AS (
	SELECT k.id, COALESCE(k.owner, '') AS holder FROM api_keys k LEFT JOIN users u ON u.id = k.owner
	WHERE k.enabled AND (k.owner IS NULL AND k.api_roles LIKE '%"owner"%' OR u.enabled AND u.api_roles LIKE '%"owner"%')
	UNION ALL SELECT u.id, u.id FROM users u JOIN passwords p ON p.user_id = u.id
	WHERE u.enabled AND u.api_roles LIKE '%"owner"%' AND p.hash <> '')`

// keepWay returns refusal when all ways in have the value in the column, and there is one. The lock comes before the look, as in
// keepOwner.
func keepWay(tx *store.Tx, column, value string, refusal error) error {
	if err := tx.Lock(owners); err != nil {
		return err
	}
	var only bool
	if err := tx.QueryRow(ways+` SELECT EXISTS (SELECT 1 FROM ways WHERE `+column+` = $1) AND NOT EXISTS (SELECT 1 FROM ways WHERE `+column+` <> $1)`,
		value).Scan(&only); err != nil {
		return fmt.Errorf("look for ways in: %w", err)
	}
	if only {
		return refusal
	}
	return nil
}
