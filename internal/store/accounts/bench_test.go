package accounts_test

import (
	"fmt"
	"testing"
	"time"

	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/page"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
	"quarry/internal/store/corpora"
	"quarry/internal/store/storetest"
)

// BenchmarkListKeys reads pages of 100 among 5,000 keys: 1,000 personal ones, the others with roles on up to three of 50
// corpora.
func BenchmarkListKeys(b *testing.B) {
	db, err := store.Open(b.Context(), store.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s, owner := accounts.New(db), account.User{}
	for i := range 50 {
		if _, err := corpora.New(db).Create(b.Context(), storetest.Corpus(fmt.Sprint("c", i))); err != nil {
			b.Fatal(err)
		}
	}
	start := time.Now().UTC()
	for i := range 5000 {
		k := key(fmt.Sprint("key ", i), authz.Rights{})
		for j := range i % 4 {
			k.Rights.Corpora = append(k.Rights.Corpora, authz.Grant{Key: fmt.Sprint("c", (i*7+j)%50), Role: "viewer"})
		}
		if i%5 == 0 {
			owner = storetest.User(fmt.Sprint("user", i))
			owner.Rights.Corpora = []authz.Grant{{Key: "c1", Role: "viewer"}}
			if err := s.CreateUser(b.Context(), owner, account.CodeRow{}); err != nil {
				b.Fatal(err)
			}
			k, _ = storetest.PersonalKey(owner)
		}
		k.Created = start.Add(time.Duration(i) * time.Millisecond)
		if err := s.CreateKey(b.Context(), k); err != nil {
			b.Fatal(err)
		}
	}
	middle := page.At(start.Add(2500*time.Millisecond), "")
	for _, c := range []struct {
		name string
		list account.KeyList
	}{
		{"first page", account.KeyList{}},
		{"middle", account.KeyList{After: middle}},
		{"personal", account.KeyList{Style: account.StylePersonal}},
		{"no such style", account.KeyList{Style: account.StyleServing}},
		{"own", account.KeyList{Style: account.StylePersonal, Owner: owner.ID}},
		{"on a corpus", account.KeyList{Corpus: "c7"}},
		{"on a corpus of all users", account.KeyList{Corpus: "c1", After: middle}},
		{"on no corpus", account.KeyList{Corpus: "none"}},
	} {
		c.list.Limit = 100
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := s.ListKeys(b.Context(), c.list); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
