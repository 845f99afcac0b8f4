// Package permit decides what a call of a tool may touch. There is one rule: what a configuration names is decided by the identity of the
// agent, everything else by the rights of whoever sent the input, unless the identity decides alone. Whoever writes a configuration must
// have the right to what it names.
package permit

import (
	"cmp"
	"slices"

	"quarry/internal/fault"
)

// Level is what is done with a corpus or an agent.
type Level int

// The levels: to search and read a corpus, to index and delete in it, to talk to an agent.
const (
	Read Level = iota
	Edit
	Use
)

// Need is a corpus or an agent that a tool touches, and how.
type Need struct {
	Corpus string // key; "" for an agent
	Agent  string // key; "" for a corpus
	Level  Level
}

// Role returns the role that is enough for a level, on the corpus or the agent.
func (l Level) Role() string { return [...]string{"viewer", "editor", "agent_user"}[l] }

// Rights are what somebody may touch. The JSON names are those of the store.
type Rights struct {
	All     bool     `json:"all,omitempty"`      // every corpus may be read
	Corpora []string `json:"corpora,omitempty"`  // keys of those that may, if not All
	EditAll bool     `json:"edit_all,omitempty"` // likewise
	Edit    []string `json:"edit,omitempty"`
	UseAll  bool     `json:"use_all,omitempty"` // every agent may be talked to
	Use     []string `json:"use,omitempty"`
}

// Holds reports whether the rights are enough.
func (r *Rights) Holds(n Need) bool {
	switch n.Level {
	case Read:
		return r.All || slices.Contains(r.Corpora, n.Corpus)
	case Edit:
		return r.EditAll || slices.Contains(r.Edit, n.Corpus)
	}
	return r.UseAll || slices.Contains(r.Use, n.Agent)
}

// Written returns a fault for the first of the needs of a configuration that its writer may not have.
func Written(writer Rights, needs []Need) error {
	for _, n := range needs {
		if writer.Holds(n) {
			continue
		}
		switch n.Level {
		case Read:
			return fault.Forbidden("a tool that reads the corpus %s can be configured only by who may read it: that needs the role viewer or better on it", n.Corpus)
		case Edit:
			return fault.Forbidden("a tool that indexes or deletes in the corpus %s can be configured only by who may do so: that needs the role editor or better on it", n.Corpus)
		}
		return fault.Forbidden("a tool that calls the agent %s can be configured only by who may talk to it: that needs the role agent_user or better on it", n.Agent)
	}
	return nil
}

// Identity is the account that an agent acts as, as it is at one moment.
type Identity struct {
	ClientID string
	Alone    bool // it decides about everything that the agent touches (mode manual)
	Rights   Rights
}

// Passed returns the rights that go with an input which the agent sends to another one, for somebody's own input.
func (i *Identity) Passed(sender Rights) Rights {
	if i.Alone {
		return i.Rights
	}
	return sender
}

// Call returns a fault if a call may not have what it needs: the identity decides about what the configuration names, and in everything
// if it decides alone; else whoever sent the input does. What is not there and what may not be touched read alike.
func Call(named []Need, self *Identity, sender Rights, n Need) error {
	own := self.Alone || slices.Contains(named, n)
	if own && self.Rights.Holds(n) || !own && sender.Holds(n) {
		return nil
	}
	can := map[Level]string{Read: "read", Edit: "index or delete in", Use: "talk to"}[n.Level]
	switch {
	case own && n.Agent != "":
		return fault.NotFound("agent_not_found", n.Agent, "agent %s does not exist, or this agent may not %s it", n.Agent, can)
	case own:
		return fault.NotFound("corpus_not_found", n.Corpus, "corpus %s does not exist, or this agent may not %s it", n.Corpus, can)
	case n.Agent != "":
		return fault.NotFound("agent_not_found", n.Agent, "there is no agent %q that whoever sent the message may %s", n.Agent, can)
	}
	return fault.NotFound("corpus_not_found", n.Corpus, "there is no corpus %q that whoever sent the message may %s", n.Corpus, can)
}

// Sorted returns needs in order, each once.
func Sorted(needs []Need) []Need {
	out := slices.Clone(needs)
	slices.SortFunc(out, func(a, b Need) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Corpus, b.Corpus), cmp.Compare(a.Agent, b.Agent))
	})
	return slices.Compact(out)
}
