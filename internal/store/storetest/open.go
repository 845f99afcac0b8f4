package storetest

import (
	"testing"

	"quarry/internal/store"
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

// OnBoth runs test in parallel on SQLite and, where there is a server, on PostgreSQL. config gives an empty database
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
