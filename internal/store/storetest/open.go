package storetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"quarry/internal/secret/seal"
	"quarry/internal/secret/vault"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
)

// Open opens a database and closes it with the test. In a folder without one it begins with the schema and no rows.
func Open(t testing.TB, c store.Config) *store.DB {
	t.Helper()
	if err := prepare(c); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

// file is the name of the SQLite database in the data folder.
const file = "quarry.db"

// prepare copies the schema into the folder of a SQLite database that isn't there yet.
func prepare(c store.Config) error {
	if c.URL != "" {
		return nil
	}
	at := filepath.Join(c.Dir, file)
	if found, err := filepath.Glob(at + "*"); err != nil || len(found) > 0 {
		return err
	}
	raw, err := schema()
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(c.Dir, 0o700), os.WriteFile(at, raw, 0o600))
}

// schema returns the bytes of a SQLite database that has the schema and no rows.
var schema = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "quarry-schema-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := begin(store.Config{Dir: dir}); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, file))
})

// begin writes the schema into an empty database.
func begin(c store.Config) error {
	db, err := store.Open(context.Background(), c)
	if err != nil {
		return err
	}
	return db.Close()
}

// OnBoth runs test in parallel on SQLite and, where there is a server, on PostgreSQL. config returns a database with no rows
// each time.
func OnBoth(t *testing.T, test func(t *testing.T, config func(testing.TB) store.Config)) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, func(t testing.TB) store.Config { return store.Config{Dir: t.TempDir()} })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		Postgres(t) // skips here rather than in every case
		test(t, func(t testing.TB) store.Config { return store.Config{URL: Postgres(t)} })
	})
}

// Each runs tests in parallel as OnBoth does, each on what open returns for an empty database.
func Each[S any](t *testing.T, open func(*testing.T, *store.DB) S, tests map[string]func(*testing.T, S)) {
	OnBoth(t, func(t *testing.T, config func(testing.TB) store.Config) {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, open(t, Open(t, config(t))))
			})
		}
	})
}

// Secrets returns the store of sealed values of a database, under a key made for it.
func Secrets(t testing.TB, db *store.DB) *secrets.Store {
	t.Helper()
	v, err := vault.Open(t.Context(), vault.Config{Rows: secrets.NewRows(db), Keys: []seal.Key{seal.NewKey()}})
	if err != nil {
		t.Fatal(err)
	}
	return secrets.New(db, v.Keyring())
}
