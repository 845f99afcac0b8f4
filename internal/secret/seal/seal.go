// Package seal encrypts secrets at rest that must be read again, such as signing keys and credentials of providers: a
// Keyring seals and opens small values under the keys of the installation, and a File stores those keys. It is not for
// secrets that are only compared, such as API keys and passwords, of which only a digest is stored. Package app creates the
// ring; store/secrets stores what was sealed.
//
// A sealed value is
//
//	version 1 | key id, 8 bytes | nonce, 12 bytes | ciphertext | tag, 16 bytes
//
// encrypted with AES-256-GCM under a key that HKDF-SHA256 (RFC 5869) derives from the installation's for the purpose of the
// value. A value is bound to its name: copied to another name it does not open.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

const (
	version = 1
	idSize  = 8
	header  = 1 + idSize
	// overhead is what GCM adds with a random nonce: 12 bytes before, 16 after.
	overhead = 28
)

// MaxPlain is the largest size of a sealed value, in bytes before sealing.
const MaxPlain = 1 << 20

// The reasons for which Open fails. Neither reveals anything about the value.
var (
	// ErrDamaged is returned for a sealed value that was changed, truncated, or stored under another name than it was
	// sealed for.
	ErrDamaged = errors.New("the sealed value is damaged or belongs to another name")
	// ErrUnknownKey is returned when no key of the ring has the id that a sealed value names; the wrapping error has the id.
	ErrUnknownKey = errors.New("no secret key of this service opens the value")
)

// Keyring seals and opens values. It is safe for concurrent use.
type Keyring struct {
	load func() ([]Key, error)

	mu      sync.RWMutex
	keys    []Key                      // newest first, never empty; guarded by mu
	current string                     // id of the key that seals; guarded by mu
	derived map[derivation]cipher.AEAD // guarded by mu
}

// derivation identifies a key derived for one purpose.
type derivation struct{ id, purpose string }

// NewKeyring returns a ring of keys, newest first; the newest seals. load reads the keys again when a value names one that
// the ring does not have, since another node may have rotated them; nil means that they never change.
func NewKeyring(keys []Key, load func() ([]Key, error)) (*Keyring, error) {
	if err := checkKeys(keys); err != nil {
		return nil, err
	}
	return &Keyring{load: load, keys: slices.Clone(keys), current: keys[0].ID(), derived: map[derivation]cipher.AEAD{}}, nil
}

// Current returns the id of the key that seals.
func (r *Keyring) Current() string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.current
}

// IDs returns the ids of the keys in the ring, newest first.
func (r *Keyring) IDs() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]string, len(r.keys))
	for i, k := range r.keys {
		out[i] = k.ID()
	}
	return out
}

// Use sets the key that seals; ErrUnknownKey when the ring has none with this id, even after a Reload.
func (r *Keyring) Use(id string) error {
	if _, err := r.find(id); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = id
	return nil
}

// Reload reads the keys again. Keys that are gone can no longer be used; the one that seals stays if it is still there.
func (r *Keyring) Reload() error {
	if r.load == nil {
		return nil
	}
	keys, err := r.load()
	if err != nil {
		return err
	}
	if err := checkKeys(keys); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys = slices.Clone(keys)
	r.derived = map[derivation]cipher.AEAD{}
	if !slices.ContainsFunc(r.keys, func(k Key) bool { return k.ID() == r.current }) {
		r.current = r.keys[0].ID()
	}
	return nil
}

// Seal seals plain under the current key and binds it to the name. The part of the name before its first slash is the
// purpose, which has a derived key of its own.
func (r *Keyring) Seal(name string, plain []byte) ([]byte, error) {
	return r.SealWith(r.Current(), name, plain)
}

// SealWith is Seal under the key with this id.
func (r *Keyring) SealWith(id, name string, plain []byte) ([]byte, error) {
	if len(plain) > MaxPlain {
		return nil, fmt.Errorf("seal %s: %d bytes are more than %d", name, len(plain), MaxPlain)
	}
	aead, err := r.aead(id, name)
	if err != nil {
		return nil, fmt.Errorf("seal %s: %w", name, err)
	}
	raw, err := hex.DecodeString(id)
	if err != nil {
		return nil, fmt.Errorf("seal %s: read key id: %w", name, err)
	}
	out := make([]byte, 0, header+overhead+len(plain))
	out = append(append(out, version), raw...)
	return aead.Seal(out, nil, plain, bound(out, name)), nil
}

// Open returns the plain value that was sealed under the same name. Errors wrap ErrDamaged or ErrUnknownKey.
func (r *Keyring) Open(name string, sealed []byte) ([]byte, error) {
	id, err := KeyID(sealed)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	aead, err := r.aead(id, name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	plain, err := aead.Open(nil, nil, sealed[header:], bound(sealed[:header], name))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, ErrDamaged)
	}
	return plain, nil
}

// KeyID returns the id of the key under which a value was sealed; ErrDamaged when it can't be a sealed value.
func KeyID(sealed []byte) (string, error) {
	if len(sealed) < header+overhead || len(sealed) > header+overhead+MaxPlain || sealed[0] != version {
		return "", ErrDamaged
	}
	return hex.EncodeToString(sealed[1:header]), nil
}

// bound returns the additional data that the tag authenticates: header and name.
func bound(head []byte, name string) []byte { return append(slices.Clone(head), name...) }

// aead returns the cipher of a key for the purpose of name.
func (r *Keyring) aead(id, name string) (cipher.AEAD, error) {
	purpose, _, _ := strings.Cut(name, "/")
	at := derivation{id, purpose}
	r.mu.RLock()
	found := r.derived[at]
	r.mu.RUnlock()
	if found != nil {
		return found, nil
	}
	k, err := r.find(id)
	if err != nil {
		return nil, err
	}
	made, err := derive(k, purpose)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.derived) < maxDerived && slices.ContainsFunc(r.keys, func(k Key) bool { return k.ID() == id }) {
		r.derived[at] = made
	}
	return made, nil
}

// maxDerived bounds the ciphers in memory; in use are a few purposes times a few keys.
const maxDerived = 64

// find returns the key with this id; it reloads the ring if it does not have it.
func (r *Keyring) find(id string) (Key, error) {
	if k, ok := r.lookUp(id); ok {
		return k, nil
	}
	if err := r.Reload(); err != nil {
		return Key{}, err
	}
	if k, ok := r.lookUp(id); ok {
		return k, nil
	}
	return Key{}, fmt.Errorf("%w: it was sealed under key %s and the keys here are %s; add that key to the key file or to QUARRY_SECRET_KEY of this node", ErrUnknownKey, id, strings.Join(r.IDs(), ", "))
}

func (r *Keyring) lookUp(id string) (Key, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	i := slices.IndexFunc(r.keys, func(k Key) bool { return k.ID() == id })
	if i < 0 {
		return Key{}, false
	}
	return r.keys[i], true
}

// derive returns the cipher of a key for one purpose.
func derive(k Key, purpose string) (cipher.AEAD, error) {
	secret, err := hkdf.Key(sha256.New, k.secret[:], nil, "quarry seal "+purpose, len(k.secret))
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}
