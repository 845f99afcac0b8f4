package signintest_test

import (
	"testing"

	"quarry/internal/identity/signin/signintest"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
	"quarry/internal/store/storetest"
)

// The SQL store keeps its promises on SQLite.
func TestSQLite(t *testing.T) {
	t.Parallel()
	signintest.Run(t, func(t testing.TB) signintest.Stores { return open(t, store.Config{Dir: t.TempDir()}) })
}

// The same store keeps the same promises on PostgreSQL.
func TestPostgres(t *testing.T) {
	t.Parallel()
	storetest.Postgres(t) // skips here rather than in every case
	signintest.Run(t, func(t testing.TB) signintest.Stores { return open(t, store.Config{URL: storetest.Postgres(t)}) })
}

func open(t testing.TB, c store.Config) signintest.Stores {
	t.Helper()
	db := storetest.Open(t, c)
	all := accounts.New(db)
	return signintest.Stores{Accounts: all, SignIn: all}
}
