package token

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"

	"quarry/internal/fault"
	"quarry/internal/id"
)

// kidLength is the length of a key's id.
const kidLength = 16

// maxPublished bounds the keys published at once, and with it how often keys can be replaced within a token's life.
const maxPublished = 16

// Prepare sees to it that a key signs. Nodes that start at once agree on one.
func (s *Service) Prepare(ctx context.Context) error {
	if _, err := s.add(ctx, true); err != nil {
		return fmt.Errorf("prepare signing key: %w", err)
	}
	return nil
}

// Rotate makes a new key that signs from now on, on every node, and gives its id. Tokens of the keys before stay valid
// until they expire. fault.KindLimited where so many keys are published that another would flood the key set.
func (s *Service) Rotate(ctx context.Context) (kid string, err error) {
	all, err := s.cfg.Store.Keys(ctx)
	if err != nil {
		return "", fmt.Errorf("read signing keys: %w", err)
	}
	now, live := time.Now(), 0
	oldest := now
	for _, k := range all {
		if k.published(now) {
			live++
			if !k.Retired.IsZero() && k.Retired.Before(oldest) {
				oldest = k.Retired
			}
		}
	}
	if live >= maxPublished {
		return "", fault.Limited("signing_keys_limit", "%d signing keys are published, the most there may be; the oldest goes when its last token has expired", live).
			After(oldest.Add(Lifetime + skew).Sub(now))
	}
	if kid, err = s.add(ctx, false); err != nil {
		return "", fmt.Errorf("rotate signing key: %w", err)
	}
	return kid, nil
}

func (s *Service) add(ctx context.Context, first bool) (kid string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("make key: %w", err)
	}
	kid = id.Text(kidLength)
	secret, err := json.Marshal(jose.JSONWebKey{Key: private, KeyID: kid, Algorithm: string(jose.ES256), Use: "sig"})
	if err != nil {
		return "", fmt.Errorf("encode private key: %w", err)
	}
	public, err := json.Marshal(jose.JSONWebKey{Key: private.Public(), KeyID: kid, Algorithm: string(jose.ES256), Use: "sig"})
	if err != nil {
		return "", fmt.Errorf("encode public key: %w", err)
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	_, err = s.cfg.Store.Add(ctx, Fresh{
		Key: Key{ID: kid, Public: public, Created: now}, Private: secret, First: first,
		Forget: now.Add(-Lifetime - skew),
	})
	s.ring.forget()
	return kid, err
}

// Published gives the key set that anyone may check tokens with: the key that signs, and those before it as long as
// tokens of theirs can be valid. It holds no private part.
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
