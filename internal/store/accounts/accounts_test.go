package accounts_test

import (
	"context"
	"testing"

	"quarry/internal/store"
	"quarry/internal/store/accounts"
	"quarry/internal/store/corpora"
	"quarry/internal/store/storetest"
)

// TestAccounts proves that the store keeps the promises of account.Store, on SQLite and on PostgreSQL.
func TestAccounts(t *testing.T) {
	t.Parallel()
	onBoth(t, map[string]func(*testing.T, stores){
		"accounts": testAccounts, "owner once": testOwnerOnce, "user rights": testUserRights, "taken user": testTakenUser,
		"taken user at once": testTakenUserAtOnce, "list users": testListUsers, "update user": testUpdateUser,
		"delete user": testDeleteUser, "last owner": testLastOwner,
		"keys": testKeys, "key refused": testKeyRefused, "personal key": testPersonalKey, "stale grants": testStaleGrants,
		"list keys": testListKeys,
		"client":    testClient, "update client": testUpdateClient, "update client at once": testUpdateClientAtOnce,
		"delete client": testDeleteClient, "list clients": testListClients,
	})
}

type stores struct {
	Accounts *accounts.Store
	Corpora  *corpora.Store
}

// onBoth runs each test on an empty SQLite database, and on an empty PostgreSQL one where there is a server.
func onBoth(t *testing.T, tests map[string]func(*testing.T, stores)) {
	run := func(t *testing.T, config func(testing.TB) store.Config) {
		t.Parallel()
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				db, err := store.Open(t.Context(), config(t))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				test(t, stores{accounts.New(db), corpora.New(db)})
			})
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		run(t, func(t testing.TB) store.Config { return store.Config{Dir: t.TempDir()} })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		storetest.Postgres(t) // skips here rather than in every case
		run(t, func(t testing.TB) store.Config { return store.Config{URL: storetest.Postgres(t)} })
	})
}

func create(t *testing.T, s stores, key string) {
	t.Helper()
	if _, err := s.Corpora.Create(t.Context(), storetest.Corpus(key)); err != nil {
		t.Fatalf("create corpus %q: %v", key, err)
	}
}

// atOnce runs fn n times concurrently and gives what each returned.
func atOnce[T any](ctx context.Context, n int, fn func(ctx context.Context, i int) T) []T {
	out := make([]T, n)
	start := make(chan struct{})
	done := make(chan struct{})
	for i := range n {
		go func() {
			<-start
			out[i] = fn(ctx, i)
			done <- struct{}{}
		}()
	}
	close(start)
	for range n {
		<-done
	}
	return out
}

func count(all []bool) (n int) {
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}
