// Package tokentest keeps signing keys in memory, for tests of code that issues or checks tokens. Conform checks it and
// every other token.Store against the comments of the interface. Only tests import it.
package tokentest

import (
	"context"
	"slices"
	"sync"

	"quarry/internal/identity/token"
)

// Memory is a token.Store without a database.
type Memory struct {
	mu      sync.Mutex
	keys    []token.Key       // newest first; guarded by mu
	private map[string][]byte // guarded by mu
	reads   int               // guarded by mu
	failing error             // guarded by mu
}

var _ token.Store = (*Memory)(nil)

// Keys returns every key, newest first.
func (m *Memory) Keys(context.Context) ([]token.Key, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	return slices.Clone(m.keys), m.failing
}

// Signing returns the id of the key that signs.
func (m *Memory) Signing(context.Context) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.keys {
		if k.Retired.IsZero() {
			return k.ID, m.failing
		}
	}
	return "", token.ErrNoKey
}

// Private returns the private part of the key that signs.
func (m *Memory) Private(_ context.Context, kid string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	plain, ok := m.private[kid]
	if !ok {
		return nil, token.ErrNoKey
	}
	return plain, m.failing
}

// Add adds k as the signing key.
func (m *Memory) Add(_ context.Context, k token.Fresh) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failing != nil {
		return false, m.failing
	}
	if k.First && len(m.private) > 0 {
		return false, nil
	}
	m.keys = slices.DeleteFunc(m.keys, func(old token.Key) bool { return !old.Retired.IsZero() && old.Retired.Before(k.Forget) })
	if len(m.keys) >= k.Most {
		return false, nil
	}
	for i := range m.keys {
		if m.keys[i].Retired.IsZero() {
			m.keys[i].Retired = k.Created
		}
	}
	m.keys, m.private = append([]token.Key{k.Key}, m.keys...), map[string][]byte{k.ID: k.Private}
	return true, nil
}

// Reads counts the calls of Keys, which is what an unknown key id costs.
func (m *Memory) Reads() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reads
}

// Fail sets the error that every later call returns, nil for none.
func (m *Memory) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failing = err
}
