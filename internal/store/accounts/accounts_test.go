package accounts_test

import (
	"testing"

	"quarry/internal/store"
	"quarry/internal/store/accounts"
	"quarry/internal/store/agents"
	"quarry/internal/store/corpora"
	"quarry/internal/store/storetest"
)

// TestAccounts proves that the store keeps the promises of account.Store, on SQLite and on PostgreSQL.
func TestAccounts(t *testing.T) {
	t.Parallel()
	onBoth(t, map[string]func(*testing.T, stores){
		"accounts": testAccounts, "owner once": testOwnerOnce, "user rights": testUserRights, "taken user": testTakenUser,
		"taken user at once": testTakenUserAtOnce, "list users": testListUsers, "update user": testUpdateUser,
		"delete user": testDeleteUser, "last owner": testLastOwner, "last way in": testLastWay, "last way in at once": testLastWayAtOnce,
		"keys": testKeys, "last key": testLastKey, "key refused": testKeyRefused, "personal key": testPersonalKey, "stale grants": testStaleGrants,
		"list keys": testListKeys,
		"client":    testClient, "update client": testUpdateClient, "update client at once": testUpdateClientAtOnce,
		"delete client": testDeleteClient, "list clients": testListClients,
		"agent roles": testAgentRoles,
	})
}

type stores struct {
	Accounts *accounts.Store
	Corpora  *corpora.Store
	Agents   *agents.Store
}

// onBoth runs each test on an empty database of either kind.
func onBoth(t *testing.T, tests map[string]func(*testing.T, stores)) {
	storetest.Each(t, func(_ *testing.T, db *store.DB) stores {
		return stores{accounts.New(db), corpora.New(db), agents.New(db)}
	}, tests)
}

func create(t *testing.T, s stores, key string) {
	t.Helper()
	if _, err := s.Corpora.Create(t.Context(), storetest.Corpus(key)); err != nil {
		t.Fatalf("create corpus %q: %v", key, err)
	}
}

func count(all []bool) (n int) {
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}
