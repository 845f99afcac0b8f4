package token

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"quarry/internal/identity/authz"
)

// maxToken is the longest token that is looked at, in bytes; ours have fewer than 700.
const maxToken = 4 << 10

// tokenText matches the characters of tokens. Base64 decoders would also accept line ends.
const tokenText = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

// InvalidError is the reason why a token is refused, worded for its holder. It contains no part of the token.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return "the access token " + e.Reason }

func invalid(format string, args ...any) error { return &InvalidError{fmt.Sprintf(format, args...)} }

// header is the complete header of our tokens. A token with anything else, such as a key, the address of a key or crit,
// is not one of ours.
type header struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
	Type      string `json:"typ"`
}

// Check returns the claims of a token if it is one of ours and valid now, *InvalidError if not, or an error of the store.
// Only the key id of the token is used to choose a key, and only among the keys of this installation.
func (s *Service) Check(ctx context.Context, token string) (Claims, error) {
	if len(token) > maxToken {
		return Claims{}, invalid("is longer than any that this service gives out")
	}
	sum := sha256.Sum256([]byte(token))
	r, ok := s.verified.get(sum)
	if ok {
		if _, err := s.key(ctx, r.kid); err != nil {
			return Claims{}, err
		}
		return s.claims(r.wire, time.Now())
	}
	r, err := s.verify(ctx, token)
	if err != nil {
		return Claims{}, err
	}
	c, err := s.claims(r.wire, time.Now())
	if err == nil {
		s.verified.put(sum, r)
	}
	return c, err
}

// verify returns the payload of a token if its signature is valid.
func (s *Service) verify(ctx context.Context, token string) (r remembered, err error) {
	if strings.Trim(token, tokenText) != "" {
		return r, invalid("is not a token of this service")
	}
	h, err := readHeader(token)
	if err != nil {
		return r, err
	}
	parsed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return r, invalid("is not a token of this service")
	}
	key, err := s.key(ctx, h.KeyID)
	if err != nil {
		return r, err
	}
	payload, err := parsed.Verify(key)
	if err != nil {
		return r, invalid("has a wrong signature")
	}
	if err := json.Unmarshal(payload, &r.wire); err != nil {
		return r, invalid("is not a token of this service")
	}
	r.kid = h.KeyID
	return r, nil
}

// key returns the public key with an id.
func (s *Service) key(ctx context.Context, kid string) (*ecdsa.PublicKey, error) {
	key, err := s.ring.find(ctx, kid)
	if errors.Is(err, ErrNoKey) {
		return nil, invalid("is signed with a key that this service does not use")
	}
	if err != nil {
		return nil, fmt.Errorf("find key of a token: %w", err)
	}
	return key, nil
}

// claims checks the payload of a token with a valid signature.
func (s *Service) claims(w wire, now time.Time) (Claims, error) {
	early := now.Add(skew).Unix()
	person := w.Kind == authz.User
	if person && w.SignedIn == 0 { // from before tokens said when
		w.SignedIn = w.IssuedAt
	}
	switch {
	case w.Issuer != s.cfg.Issuer:
		return Claims{}, invalid("comes from another issuer")
	case w.Audience != s.cfg.Installation:
		return Claims{}, invalid("is meant for another service")
	case person && now.Unix() >= s.signInEnds(w):
		return Claims{}, signInOver()
	case person && now.Unix() >= w.Expiry:
		return Claims{}, invalid("has expired; sign in again")
	case now.Unix() >= w.Expiry:
		return Claims{}, invalid("has expired; get a new one")
	case early < w.NotBefore || early < w.IssuedAt:
		return Claims{}, invalid("is not valid yet; check the clock of the machine")
	case w.Expiry-w.IssuedAt > int64(Lifetime/time.Second):
		return Claims{}, invalid("is valid for longer than this service allows")
	case w.Subject == "" || w.Kind != authz.AppClient && w.Kind != authz.User && w.Kind != authz.ServiceAccount:
		return Claims{}, invalid("names nobody")
	}
	h := Holder{Kind: w.Kind, ID: w.Subject, Epoch: w.Epoch}
	if person {
		h.SignedIn = at(w.SignedIn)
	}
	return Claims{h, at(w.IssuedAt), at(w.Expiry)}, nil
}

func at(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// readHeader returns the header of a token in compact form.
func readHeader(token string) (header, error) {
	first, _, ok := strings.Cut(token, ".")
	raw, err := base64.RawURLEncoding.DecodeString(first)
	if !ok || err != nil || strings.Count(token, ".") != 2 {
		return header{}, invalid("is not a token of this service")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var h header
	if err := d.Decode(&h); err != nil {
		return header{}, invalid("has a header that tokens of this service don't have")
	}
	if _, err := d.Token(); err != io.EOF {
		return header{}, invalid("has a header that tokens of this service don't have")
	}
	switch {
	case h.Algorithm != string(jose.ES256):
		return header{}, invalid("must be signed with ES256")
	case h.Type != "JWT" || len(h.KeyID) != kidLength:
		return header{}, invalid("has a header that tokens of this service don't have")
	}
	return h, nil
}
