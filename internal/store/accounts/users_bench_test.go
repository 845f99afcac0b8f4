package accounts_test

import (
	"fmt"
	"testing"
	"time"

	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
	"quarry/internal/store/corpora"
	"quarry/internal/store/storetest"
)

// people fills a database with n users, each with a personal key and three grants, and returns the digest of one key.
func people(b *testing.B, n int) (*accounts.Store, string) {
	b.Helper()
	db, err := store.Open(b.Context(), store.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	s, c := accounts.New(db), corpora.New(db)
	for i := range 20 {
		if _, err := c.Create(b.Context(), storetest.Corpus(fmt.Sprint("c", i))); err != nil {
			b.Fatal(err)
		}
	}
	digest := ""
	for i := range n {
		u := storetest.User(fmt.Sprint("user", i))
		u.Created = u.Created.Add(time.Duration(i) * time.Second)
		u.Rights = authz.Rights{API: []string{"agent_user"}}
		for j := range 3 {
			u.Rights.Corpora = append(u.Rights.Corpora, authz.Grant{Key: fmt.Sprint("c", (i+j)%20), Role: "viewer"})
		}
		if err := s.CreateUser(b.Context(), u, account.CodeRow{}); err != nil {
			b.Fatal(err)
		}
		k, _ := storetest.PersonalKey(u)
		if err := s.CreateKey(b.Context(), k); err != nil {
			b.Fatal(err)
		}
		digest = k.Digest
	}
	return s, digest
}

// BenchmarkPrincipal is the one read that authenticates a request.
func BenchmarkPrincipal(b *testing.B) {
	s, digest := people(b, 1000)
	for b.Loop() {
		if _, u, err := s.KeyByDigest(b.Context(), digest); err != nil || len(u.Rights.Corpora) != 3 {
			b.Fatal(err)
		}
	}
}

// BenchmarkListUsers is a page of 100 of 1,000 users, from the middle, plain and by corpus.
func BenchmarkListUsers(b *testing.B) {
	s, _ := people(b, 1000)
	page, _, err := s.ListUsers(b.Context(), account.UserList{Limit: 500})
	if err != nil {
		b.Fatal(err)
	}
	last := page[len(page)-1]
	after := last.Position()
	for _, corpus := range []string{"", "c7"} {
		b.Run("corpus="+corpus, func(b *testing.B) {
			for b.Loop() {
				if page, _, err := s.ListUsers(b.Context(), account.UserList{Limit: 100, After: after, Corpus: corpus}); err != nil || len(page) == 0 {
					b.Fatal(len(page), err)
				}
			}
		})
	}
}
