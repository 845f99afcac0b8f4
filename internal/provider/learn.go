package provider

import (
	"sync"

	"quarry/internal/oauth"
)

// learned is what calls found out about servers: which of two parameters they accept, what they refuse. It lives as long as
// the process, since adapters are created for every call.
type learned struct {
	mu    sync.Mutex
	facts map[string]bool // guarded by mu
}

// maxLearned bounds the facts; when it is reached, all are forgotten.
const maxLearned = 4096

// Knows returns what earlier calls of this address and model found out about a matter.
func (c *Client) Knows(matter string) (fact, known bool) {
	l := &c.shared.learned
	l.mu.Lock()
	defer l.mu.Unlock()
	fact, known = l.facts[c.about(matter)]
	return fact, known
}

// Learn remembers what a call found out about a matter.
func (c *Client) Learn(matter string, fact bool) {
	l := &c.shared.learned
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.facts == nil || len(l.facts) >= maxLearned {
		l.facts = map[string]bool{}
	}
	l.facts[c.about(matter)] = fact
}

// about returns the key of a fact; the address may hold a credential.
func (c *Client) about(matter string) string { return oauth.Key(c.conn.URI, c.conn.Model, matter) }
