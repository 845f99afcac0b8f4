package token

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
)

// kidLength is the length of a key's id.
const kidLength = 16

// maxPublished bounds the keys published at once, and thereby how often keys can be replaced within a token's lifetime.
const maxPublished = 16

// Prepare adds the first signing key if there is none. Nodes that start at the same time agree on one.
func (s *Service) Prepare(ctx context.Context) error {
	if _, err := s.cfg.Store.Signing(ctx); !errors.Is(err, ErrNoKey) {
		return err
	}
	if _, _, err := s.add(ctx, true); err != nil {
		return fmt.Errorf("prepare signing key: %w", err)
	}
	return nil
}

// Rotate replaces the signing key on every node and returns the new one. Tokens signed by earlier keys stay valid until
// they expire. fault.KindLimited if too many keys are still published.
func (s *Service) Rotate(ctx context.Context) (Key, error) {
	k, made, err := s.add(ctx, false)
	if err != nil {
		return Key{}, fmt.Errorf("rotate signing key: %w", err)
	}
	if made {
		return k, nil
	}
	all, err := s.cfg.Store.Keys(ctx)
	if err != nil {
		return Key{}, fmt.Errorf("read signing keys: %w", err)
	}
	oldest := k.Created
	for _, k := range all {
		if !k.Retired.IsZero() && k.Retired.Before(oldest) {
			oldest = k.Retired
		}
	}
	return Key{}, fault.Limited("signing_keys_limit", "%d signing keys are published, the most there may be; the oldest goes when its last token has expired", len(all)).
		After(oldest.Add(Lifetime + skew + time.Microsecond).Sub(k.Created))
}

// add generates a key, adds it and returns it; made reports whether the store accepted it.
func (s *Service) add(ctx context.Context, first bool) (k Key, made bool, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Key{}, false, fmt.Errorf("make key: %w", err)
	}
	kid := id.Text(kidLength)
	secret, err := json.Marshal(jose.JSONWebKey{Key: private, KeyID: kid, Algorithm: string(jose.ES256), Use: "sig"})
	if err != nil {
		return Key{}, false, fmt.Errorf("encode private key: %w", err)
	}
	public, err := json.Marshal(jose.JSONWebKey{Key: private.Public(), KeyID: kid, Algorithm: string(jose.ES256), Use: "sig"})
	if err != nil {
		return Key{}, false, fmt.Errorf("encode public key: %w", err)
	}
	now := clock.Now()
	k = Key{ID: kid, Public: public, Created: now}
	made, err = s.cfg.Store.Add(ctx, Fresh{
		Key: k, Private: secret, First: first, Forget: now.Add(-Lifetime - skew), Most: maxPublished,
	})
	s.ring.forget()
	return k, made, err
}

// Published returns the key set for checking tokens: the signing key, and earlier keys as long as tokens signed by them
// can be valid. It contains no private parts.
func (s *Service) Published(ctx context.Context) (json.RawMessage, error) {
	all, err := s.cfg.Store.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("read signing keys: %w", err)
	}
	set := struct {
		Keys []json.RawMessage `json:"keys"`
	}{Keys: []json.RawMessage{}}
	now := time.Now()
	for _, k := range all {
		if k.published(now) {
			set.Keys = append(set.Keys, k.Public)
		}
	}
	return json.Marshal(set)
}
