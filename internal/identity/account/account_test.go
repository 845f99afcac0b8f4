package account_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
	"quarry/internal/store/storetest"
)

func service(t *testing.T) *account.Service {
	t.Helper()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	return account.New(accounts.New(db), nil)
}

// TestBootstrap proves that the first start makes an owner whose key works, and that no later one makes another.
func TestBootstrap(t *testing.T) {
	t.Parallel()
	s := service(t)
	var secret string
	keep := func(v string) error { secret = v; return nil }
	made, err := s.Bootstrap(t.Context(), keep)
	if err != nil || !made || !strings.HasPrefix(secret, "zut_") {
		t.Fatalf("made %t, %v, secret %q", made, err, secret)
	}
	p, err := s.Authenticate(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	if p.Kind != authz.User || len(p.APIRoles) != 1 || p.APIRoles[0] != "owner" {
		t.Errorf("got %+v", p)
	}
	first := secret
	if made, err = s.Bootstrap(t.Context(), keep); err != nil || made {
		t.Fatalf("the second bootstrap made %t, %v", made, err)
	}
	if secret != first {
		t.Error("the second bootstrap had a secret kept, which a full disk has no room for")
	}
	if _, err := s.Authenticate(t.Context(), first); err != nil {
		t.Errorf("the first key is no longer valid: %v", err)
	}
}

// TestKeepFails proves that no owner is made whose key could not be kept.
func TestKeepFails(t *testing.T) {
	t.Parallel()
	s := service(t)
	full := errors.New("disk full")
	var lost string
	if _, err := s.Bootstrap(t.Context(), func(v string) error { lost = v; return full }); !errors.Is(err, full) {
		t.Fatalf("got %v", err)
	}
	if _, err := s.Authenticate(context.Background(), lost); !fault.Is(err, fault.KindUnauthenticated) {
		t.Errorf("the lost key is valid: %v", err)
	}
	if made, err := s.Bootstrap(t.Context(), func(string) error { return nil }); err != nil || !made {
		t.Errorf("the next start made %t, %v", made, err)
	}
}

// TestWrongKeys proves that anything but the secret is refused.
func TestWrongKeys(t *testing.T) {
	t.Parallel()
	s := service(t)
	var secret string
	if _, err := s.Bootstrap(t.Context(), func(v string) error { secret = v; return nil }); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"", "zut_", secret[:len(secret)-1], secret + "x", strings.ToUpper(secret), account.Digest(secret)} {
		if _, err := s.Authenticate(t.Context(), wrong); !fault.Is(err, fault.KindUnauthenticated) {
			t.Errorf("%q: got %v, want unauthenticated", wrong, err)
		}
	}
}
