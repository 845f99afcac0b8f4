package tokentest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/identity/token"
)

// Conform holds a token.Store to its comments. open gives that of a fresh, empty installation.
func Conform(t *testing.T, open func(testing.TB) token.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, token.Store)
	}{
		{"signing keys", testSigningKeys}, {"first signing key at once", testFirstSigningKey}, {"signing keys at once", testSigningKeysAtOnce},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open(t))
		})
	}
}

// signingKey returns a key to add, made at the second n of an hour.
func signingKey(n int) token.Fresh {
	kid := fmt.Sprintf("key-%02d", n)
	return token.Fresh{
		Key:     token.Key{ID: kid, Public: []byte(`{"kid":"` + kid + `"}`), Created: time.Unix(int64(1_700_000_000+n), 0).UTC()},
		Private: []byte("private part of " + kid), Most: 3,
	}
}

// testSigningKeys proves that one key signs, that earlier ones are retired without their private part, and that long
// retired ones are removed.
func testSigningKeys(t *testing.T, s token.Store) {
	if _, err := s.Signing(t.Context()); !errors.Is(err, token.ErrNoKey) {
		t.Errorf("Signing without a key: %v", err)
	}
	if all, err := s.Keys(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("Keys without a key: %v, %v", all, err)
	}
	var want []token.Key
	for n := 1; n <= 3; n++ {
		k := signingKey(n)
		if made, err := s.Add(t.Context(), k); err != nil || !made {
			t.Fatalf("Add %d: %v, %v", n, made, err)
		}
		for i := range want {
			if want[i].Retired.IsZero() {
				want[i].Retired = k.Created
			}
		}
		want = append([]token.Key{k.Key}, want...)
		checkSigning(t, s, k, want)
	}
	if _, err := s.Private(t.Context(), "key-02"); !errors.Is(err, token.ErrNoKey) {
		t.Errorf("private part of a retired key: %v", err)
	}
	full := signingKey(4)
	if made, err := s.Add(t.Context(), full); err != nil || made {
		t.Errorf("a fourth key where three may be: %v, %v", made, err)
	}
	checkSigning(t, s, signingKey(3), want)
	full.Forget = want[1].Retired // the oldest was retired before, the other at that moment
	if made, err := s.Add(t.Context(), full); err != nil || !made {
		t.Errorf("a fourth key after one is forgotten: %v, %v", made, err)
	}
	want[0].Retired = full.Created
	checkSigning(t, s, full, []token.Key{full.Key, want[0], want[1]})
	again := signingKey(5)
	again.First = true
	if made, err := s.Add(t.Context(), again); err != nil || made {
		t.Errorf("a first key beside another: %v, %v", made, err)
	}
}

func checkSigning(t *testing.T, s token.Store, k token.Fresh, want []token.Key) {
	t.Helper()
	if kid, err := s.Signing(t.Context()); err != nil || kid != k.ID {
		t.Errorf("Signing: %s, %v; want %s", kid, err, k.ID)
	}
	if got, err := s.Private(t.Context(), k.ID); err != nil || string(got) != string(k.Private) {
		t.Errorf("Private: %s, %v", got, err)
	}
	got, err := s.Keys(t.Context())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Keys: %v (-want +got): %s", err, diff)
	}
}

// addAtOnce adds eight keys at once and returns how many were taken.
func addAtOnce(t *testing.T, s token.Store, as func(*token.Fresh)) int64 {
	t.Helper()
	var taken atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			k := signingKey(i)
			as(&k)
			made, err := s.Add(t.Context(), k)
			if err != nil {
				t.Errorf("Add: %v", err)
			}
			if made {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	return taken.Load()
}

// testFirstSigningKey proves that one of several nodes that add a first key at once succeeds.
func testFirstSigningKey(t *testing.T, s token.Store) {
	n := addAtOnce(t, s, func(k *token.Fresh) { k.First = true })
	all, err := s.Keys(t.Context())
	if n != 1 || len(all) != 1 || err != nil {
		t.Errorf("%d of 8 made a key, %d are kept, %v; want 1 and 1", n, len(all), err)
	}
}

// testSigningKeysAtOnce proves that keys added at once leave one signing key with its private part, and no more keys than
// allowed.
func testSigningKeysAtOnce(t *testing.T, s token.Store) {
	addAtOnce(t, s, func(*token.Fresh) {})
	kid, err := s.Signing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Private(t.Context(), kid); err != nil {
		t.Errorf("private part of the key that signs: %v", err)
	}
	all, err := s.Keys(t.Context())
	if err != nil || len(all) != 3 {
		t.Errorf("%d keys, %v; want 3", len(all), err)
	}
	for i, k := range all {
		if k.Retired.IsZero() != (k.ID == kid) || (k.ID == kid) != (i == 0) {
			t.Errorf("key %d %s is retired %v; %s signs", i, k.ID, k.Retired, kid)
		}
	}
}
