package token

import (
	"crypto/sha256"
	"sync"
)

// generation is how many tokens each of the two generations holds at most.
const generation = 4096

// verified remembers tokens with a valid signature, by their digest: checking a signature takes a tenth of a millisecond,
// and clients send the same token with every request. Only our own tokens are remembered, so nobody can crowd them out.
// Everything that changes with time (expiry, whether the key is published, the holder's rights) is still checked.
type verified struct {
	most int

	mu       sync.Mutex
	new, old map[[sha256.Size]byte]remembered // guarded by mu
}

type remembered struct {
	wire
	kid string
}

func newVerified(most int) *verified {
	return &verified{most: most, new: map[[sha256.Size]byte]remembered{}}
}

// get finds a token and moves one of the older generation to the newer.
func (v *verified) get(sum [sha256.Size]byte) (remembered, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r, ok := v.new[sum]; ok {
		return r, true
	}
	r, ok := v.old[sum]
	if ok {
		v.add(sum, r)
	}
	return r, ok
}

// put remembers a token.
func (v *verified) put(sum [sha256.Size]byte, r remembered) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.add(sum, r)
}

// add is put with mu held. A full generation becomes the older one, and the older one is forgotten.
func (v *verified) add(sum [sha256.Size]byte, r remembered) {
	if len(v.new) >= v.most {
		v.old, v.new = v.new, make(map[[sha256.Size]byte]remembered, v.most)
	}
	v.new[sum] = r
}
