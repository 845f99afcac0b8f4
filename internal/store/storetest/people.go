package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"quarry/internal/account"
	"quarry/internal/id"
	"quarry/internal/store"
)

// AddKey writes a user with these API roles and a personal key of its own, and gives the key's secret. The interface
// that makes users and keys is not built yet; tests of refusals need them now.
func AddKey(t testing.TB, c store.Config, username string, roles ...string) string {
	t.Helper()
	db, err := store.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	raw, err := json.Marshal(roles)
	if err != nil {
		t.Fatal(err)
	}
	if roles == nil {
		raw = []byte("[]")
	}
	secret, user, now := "zut_"+id.Text(38), id.NewUser(), time.Now().UnixMicro()
	err = db.Write(t.Context(), func(tx *store.Tx) error {
		if err := tx.Exec(`INSERT INTO users (id, username, email, enabled, api_roles, created) VALUES ($1, $2, $3, $4, $5, $6)`,
			user, username, username+"@localhost", true, string(raw), now); err != nil {
			return err
		}
		return tx.Exec(`INSERT INTO api_keys (id, name, digest, owner, enabled, created) VALUES ($1, $2, $3, $4, $5, $6)`,
			id.NewAPIKey(), "key of "+username, account.Digest(secret), user, true, now)
	})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}
