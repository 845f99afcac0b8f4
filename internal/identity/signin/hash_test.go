package signin

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"quarry/internal/fault"
)

// cheap keeps tests quick; what it costs is not what they are about.
var cheap = cost{memory: 8, passes: 1, lanes: 1}

// TestHash proves that a hash takes its own password alone, that it is salted and shows its cost, and that a hash of
// another cost is valid and called outdated.
func TestHash(t *testing.T) {
	t.Parallel()
	h := newHasher(cheap)
	text, err := h.hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := h.hash(t.Context(), "correct horse"); again == text {
		t.Error("two hashes of a password are the same")
	}
	if !strings.HasPrefix(text, "$argon2id$v=19$m=8,t=1,p=1$") {
		t.Errorf("got %q", text)
	}
	dearer := newHasher(cost{memory: 16, passes: 2, lanes: 1})
	for _, c := range []struct {
		h               *hasher
		text, password  string
		right, outdated bool
	}{
		{h, text, "correct horse", true, false},
		{h, text, "correct horsf", false, false},
		{h, text, "", false, false},
		{dearer, text, "correct horse", true, true},
		{h, "", "correct horse", false, false},
		{h, "", "", false, false},
	} {
		right, outdated, err := c.h.verify(t.Context(), c.text, c.password)
		if err != nil || right != c.right || outdated != c.outdated {
			t.Errorf("%q: right %t, outdated %t, %v", c.password, right, outdated, err)
		}
	}
}

// TestKnownHash proves that hashes follow argon2id of RFC 9106 as another implementation computes it: the reference
// program's answer to `echo -n password | argon2 somesalt -id -t 2 -k 65536 -p 1 -e`.
func TestKnownHash(t *testing.T) {
	t.Parallel()
	const known = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	if right, _, err := newHasher(cheap).verify(t.Context(), known, "password"); err != nil || !right {
		t.Errorf("right %t, %v", right, err)
	}
}

// TestDamagedHash proves that a stored text that is no hash, or one whose cost is out of bounds, is an error that does
// not show it, and costs nothing.
func TestDamagedHash(t *testing.T) {
	t.Parallel()
	const salt, sum = "c29tZXNhbHQ", "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for _, text := range []string{
		"plain", "$argon2id$", "$argon2i$v=19$m=8,t=1,p=1$" + salt + "$" + sum, "$argon2id$v=16$m=8,t=1,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=8,t=1,p=0$" + salt + "$" + sum, "$argon2id$v=19$m=8,t=0,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=4294967295,t=1,p=1$" + salt + "$" + sum, "$argon2id$v=19$m=8,t=4000000000,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=8,t=1,p=255$" + salt + "$" + sum, "$argon2id$v=19$m=8,t=1,p=1$" + salt + "$",
		"$argon2id$v=19$m=8,t=1,p=1$$" + sum, "$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + sum + "=",
		"$argon2id$v=19$m=+8,t=1,p=1$" + salt + "$" + sum, "$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + sum + "$",
	} {
		_, _, err := newHasher(cheap).verify(t.Context(), text, "password")
		if err == nil || strings.Contains(err.Error(), sum) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := parse(text); err == nil && (s.String() != text || s.memory > maxMemory || s.passes > maxPasses) {
			t.Errorf("%q is read as %q", text, s)
		}
	})
}

// TestPlaces proves that no more run at once than there are places, that a few wait for one and give up in time, that
// more are refused at once, and that a caller who leaves stops waiting.
func TestPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHasher(cheap)
		if n := cap(h.places); n < 1 || n > 2 {
			t.Fatalf("%d places", n)
		}
		for range cap(h.places) {
			if err := h.enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		gone, leave := context.WithCancel(t.Context())
		answers := make(chan error, maxWaiting)
		for i := range maxWaiting {
			ctx := t.Context()
			if i == 0 {
				ctx = gone
			}
			go func() { answers <- h.enter(ctx) }()
		}
		synctest.Wait()
		if err := h.enter(t.Context()); !fault.Is(err, fault.KindLimited) {
			t.Errorf("one more than may wait: %v", err)
		}
		leave()
		if err := <-answers; err != context.Canceled {
			t.Errorf("who left: %v", err)
		}
		h.leave()
		if err := <-answers; err != nil {
			t.Errorf("the place that came free: %v", err)
		}
		for range maxWaiting - 2 {
			if err := <-answers; !fault.Is(err, fault.KindLimited) {
				t.Errorf("after the wait: %v", err)
			}
		}
		if n := h.waiting.Load(); n != 0 {
			t.Errorf("%d wait still", n)
		}
	})
}

// TestRules proves which passwords are taken, by characters and bytes.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		username, password string
		ok                 bool
	}{
		{"ann", "eleven char", false}, {"ann", "twelve chars", true}, {"ann", "пароль-и-ещё", true}, {"ann", "пароль-и-ещ", false},
		{"ann", strings.Repeat("a", MaxPassword), true}, {"ann", strings.Repeat("a", MaxPassword+1), false},
		{"ann", strings.Repeat("é", MaxPassword/2), true}, {"ann", strings.Repeat("é", MaxPassword/2) + "a", false},
		{"ann.bell@mail.test", "Ann.Bell@Mail.Test", false}, {"ann.bell@mail.test", "ann.bell@mail.test1", true},
		{"ann.bell@mail.test", "ａnn.bell@mail.test", false},
	} {
		err := CheckPassword(c.username, c.password)
		if (err == nil) != c.ok || err != nil && !fault.Is(err, fault.KindInvalid) {
			t.Errorf("%q: got %v, want ok %t", c.password, err, c.ok)
		}
		if err != nil && strings.Contains(err.Error(), c.password) {
			t.Errorf("the refusal shows %q", c.password)
		}
	}
}
