package token

import (
	"crypto/sha256"
	"testing"
)

// What is remembered stays bounded, and tokens that are used go on being remembered while others come and go. It is
// inside the package because the bound can't be seen from outside.
func TestVerifiedIsBounded(t *testing.T) {
	t.Parallel()
	v := newVerified(10)
	sum := func(n int) [sha256.Size]byte { return sha256.Sum256([]byte{byte(n), byte(n >> 8)}) }
	v.put(sum(0), remembered{kid: "used"})
	for n := 1; n < 1000; n++ {
		v.put(sum(n), remembered{kid: "other"})
		if r, ok := v.get(sum(0)); !ok || r.kid != "used" {
			t.Fatalf("after %d others: %v, %v", n, r.kid, ok)
		}
		if len(v.new)+len(v.old) > 20 {
			t.Fatalf("after %d others %d are remembered", n, len(v.new)+len(v.old))
		}
	}
	if _, ok := v.get(sum(1)); ok {
		t.Error("the first of 999 others is remembered")
	}
}
