// Package page has the place in a list by age and the opaque cursors of list operations: a keyset position, signed and bound to the operation
// and its filters, so that a token can't be forged, reused on another list or combined with other filters.
package page

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"quarry/internal/fault"
)

// Cursors signs and checks tokens with one key of the installation. Safe for concurrent use.
type Cursors struct{ key []byte }

// NewCursors takes the installation's secret (at least 16 bytes); nodes over one database share it.
func NewCursors(secret []byte) *Cursors {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte("page cursors"))
	return &Cursors{m.Sum(nil)}
}

// Scope names a list and the filters it was asked with; both are part of the signature.
type Scope struct {
	Operation string            `json:"o"`
	Filters   map[string]string `json:"f,omitempty"`
}

type token struct {
	Filters  map[string]string `json:"f,omitempty"`
	Position []string          `json:"p"`
}

// Encode gives the token for the page after position (the sort key of the last item shown).
func (c *Cursors) Encode(s Scope, position ...string) string {
	body, _ := json.Marshal(token{Filters: s.Filters, Position: position}) // strings always encode
	return base64.RawURLEncoding.EncodeToString(append(c.sign(s.Operation, body), body...))
}

// Decode gives the position of a token; a foreign, damaged or conflicting one is a fault of query.page_key.
// An empty token is the first page: nil. Filters that the request leaves out are taken from the token and written
// to s.Filters.
func (c *Cursors) Decode(s *Scope, text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	bad := Foreign()
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) < signature {
		return nil, bad
	}
	body := raw[signature:]
	var t token
	if !hmac.Equal(raw[:signature], c.sign(s.Operation, body)) || json.Unmarshal(body, &t) != nil {
		return nil, bad
	}
	for k, v := range s.Filters {
		if t.Filters[k] != v {
			return nil, fault.InvalidField("query.page_key", "belongs to a list with another %s; repeat the filters or start again", k)
		}
	}
	s.Filters = t.Filters
	return t.Position, nil
}

const signature = 16

func (c *Cursors) sign(operation string, body []byte) []byte {
	m := hmac.New(sha256.New, c.key)
	m.Write([]byte(operation))
	m.Write([]byte{0})
	m.Write(body)
	return m.Sum(nil)[:signature]
}
