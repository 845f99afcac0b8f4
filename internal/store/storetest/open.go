package storetest

import (
	"testing"

	"quarry/internal/secret/seal"
	"quarry/internal/secret/vault"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
)

// Open opens a database and closes it with the test.
func Open(t testing.TB, c store.Config) *store.DB {
	t.Helper()
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

// OnBoth runs test in parallel on SQLite and, where there is a server, on PostgreSQL. config returns an empty database
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
