// Package page provides the page keys of list operations and the position in a list ordered by age that most of them
// hold. A page key is a keyset position, signed together with the operation, its filters and its caller, so that it can't be
// forged, used by somebody else, reused on another list or combined with other filters.
package page

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"quarry/internal/fault"
)

// Cursors signs and verifies page keys with the key of an installation. It is safe for concurrent use.
type Cursors struct{ key []byte }

// NewCursors returns cursors whose key is derived from the installation's secret (at least 16 bytes), which all nodes
// on one database share.
func NewCursors(secret []byte) *Cursors {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte("page cursors"))
	return &Cursors{m.Sum(nil)}
}

// Scope names a list, who asks for it and the filters it was asked with; all are part of the signature.
type Scope struct {
	Operation string
	Caller    string
	Filters   map[string]string
}

type token struct {
	Filters  map[string]string `json:"f,omitempty"`
	Position []string          `json:"p"`
}

// Encode returns the key of the page after position, the sort key of the last item on the page before.
func (c *Cursors) Encode(s Scope, position ...string) string {
	body, _ := json.Marshal(token{Filters: s.Filters, Position: position}) // strings always encode
	return base64.RawURLEncoding.EncodeToString(append(c.sign(s, body), body...))
}

// Decode returns the position in a page key, or nil for "", the first page. A key that is damaged, belongs to another
// list, was given to another caller or contradicts s.Filters is a fault of page_key. The filters of the key are written to s.Filters, so that
// a request may leave them out.
func (c *Cursors) Decode(s *Scope, text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	bad := Foreign()
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) < signatureBytes {
		return nil, bad
	}
	body := raw[signatureBytes:]
	var t token
	if !hmac.Equal(raw[:signatureBytes], c.sign(*s, body)) || json.Unmarshal(body, &t) != nil {
		return nil, bad
	}
	for k, v := range s.Filters {
		if t.Filters[k] != v {
			return nil, fault.InvalidField("page_key", "belongs to a list with another %s; repeat the filters or start again", k)
		}
	}
	s.Filters = t.Filters
	return t.Position, nil
}

// signatureBytes is the length that HMAC-SHA256 is truncated to: 128 bits suffice against forgery (RFC 2104, section 5)
// and keep keys short.
const signatureBytes = 16

func (c *Cursors) sign(s Scope, body []byte) []byte {
	m := hmac.New(sha256.New, c.key)
	m.Write([]byte(s.Operation))
	m.Write([]byte{0})
	m.Write([]byte(s.Caller))
	m.Write([]byte{0})
	m.Write(body)
	return m.Sum(nil)[:signatureBytes]
}
