package store_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/identity/account"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
)

// TestIdentityMigration proves that the owner of an older installation and its key are what they were, and that the
// key is the owner's.
func TestIdentityMigration(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c store.Config) {
		driver, at := "sqlite", filepath.Join(c.Dir, "quarry.db")
		if c.URL != "" {
			driver, at = "pgx", c.URL
		}
		raw, err := sql.Open(driver, at)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.MigrateTo(t.Context(), raw, c.URL != "", 4); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			`INSERT INTO users (id, username, email, enabled, api_roles, created) VALUES ('usr_1', 'owner', 'owner@localhost', TRUE, '["owner"]', 17)`,
			`INSERT INTO api_keys (id, name, digest, owner, enabled, created) VALUES ('aky_1', 'owner key', 'd', 'usr_1', TRUE, 18)`,
		} {
			if _, err := raw.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		if err := raw.Close(); err != nil {
			t.Fatal(err)
		}
		s := accounts.New(open(t, c))
		k, u, err := s.KeyByDigest(t.Context(), "d")
		if err != nil {
			t.Fatal(err)
		}
		if k.Owner != "usr_1" || k.Creator != "usr_1" || k.Style != account.StylePersonal || !k.Enabled || k.Created.UnixMicro() != 18 {
			t.Errorf("key %+v", k)
		}
		if diff := cmp.Diff([]string{"owner"}, u.Rights.API); diff != "" || !u.Enabled {
			t.Errorf("owner %+v: %s", u, diff)
		}
		if u, err = s.UserByName(t.Context(), "OWNER"); err != nil || u.Email != "owner@localhost" || u.Updated.UnixMicro() != 17 {
			t.Errorf("by name: %v, %+v", err, u)
		}
	})
}
