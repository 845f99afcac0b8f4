// Package secret keeps the secrets of agents: named credentials that tools use and nobody reads back. A change counts from the next
// turn on; a turn in progress goes on with the values that it began with.
package secret

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"quarry/internal/agent/tool/mask"
	"quarry/internal/fault"
	"quarry/internal/opt"
)

// Most is how many secrets an agent has at most, and MaxValue how many characters each has.
const (
	Most     = 100
	MaxValue = 4096
)

// secrets is the member of a command that has the values.
const secrets = "secrets"

// Store keeps the secrets of agents, by the row numbers of these.
type Store interface {
	// SecretNames returns the names of the secrets of an agent, sorted.
	SecretNames(ctx context.Context, agentNo int64) ([]string, error)
	// ChangeSecrets writes what change returns for the present names of an agent's secrets, and returns the names that there are then.
	// Changes at once follow one another. An agent that is gone is fault.KindNotFound.
	ChangeSecrets(ctx context.Context, agentNo int64, change func(names []string) (Change, error)) ([]string, error)
}

// Change is what is written: values by their names, and names whose secrets are removed.
type Change struct {
	Set    map[string]string
	Remove []string
}

// Service manages the secrets of agents. Safe for concurrent use.
type Service struct{ store Store }

// New returns a service.
func New(s Store) *Service { return &Service{s} }

// Names returns the names of an agent's secrets, sorted.
func (s *Service) Names(ctx context.Context, agentNo int64) ([]string, error) {
	return s.store.SecretNames(ctx, agentNo)
}

// Replace writes values as all secrets of an agent, and returns their names. The mask of reads is a value like others under a new name; under
// one that the agent has, somebody sends back what was read, and it is refused.
func (s *Service) Replace(ctx context.Context, agentNo int64, values map[string]string) ([]string, error) {
	bad := fault.Invalid()
	for name, value := range values {
		check(name, value, bad)
	}
	if err := bad.Err(); err != nil {
		return nil, err
	}
	return s.store.ChangeSecrets(ctx, agentNo, func(names []string) (Change, error) {
		bad := fault.Invalid()
		c := Change{Set: values}
		for _, name := range names {
			switch value, stays := values[name]; {
			case !stays:
				c.Remove = append(c.Remove, name)
			case value == mask.Masked:
				bad.Field(fault.Join(secrets, name), "%s; updateAgentSecrets keeps the secrets that it doesn't name", masked)
			}
		}
		count(len(values), bad)
		return c, bad.Err()
	})
}

// Update sets and removes (null) secrets of an agent, keeps the others, and returns the names of all.
func (s *Service) Update(ctx context.Context, agentNo int64, values map[string]opt.Field[string]) ([]string, error) {
	bad := fault.Invalid()
	c := Change{Set: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		sent := values[name]
		value, given := sent.Get()
		if !given {
			value = "removed" // its name alone is checked
		} else {
			c.Set[name] = value
		}
		check(name, value, bad)
		if given && value == mask.Masked {
			bad.Field(fault.Join(secrets, name), "%s, or leave it out to keep the one that there is", masked)
		}
	}
	if err := bad.Err(); err != nil {
		return nil, err
	}
	return s.store.ChangeSecrets(ctx, agentNo, func(names []string) (Change, error) {
		then := len(c.Set)
		for _, name := range names {
			switch _, set := c.Set[name]; {
			case set:
			case values[name].IsNull():
				c.Remove = append(c.Remove, name)
			default:
				then++
			}
		}
		bad := fault.Invalid()
		count(then, bad)
		return c, bad.Err()
	})
}

const masked = "is " + mask.Masked + ", which reads show in place of the secret that the agent has; send the secret itself"

var namePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

// check adds to bad what is wrong with a secret.
func check(name, value string, bad *fault.Fault) {
	at := fault.Join(secrets, name)
	switch n := utf8.RuneCountInString(value); {
	case !namePattern.MatchString(name):
		bad.Field(at, "can't be the name of a secret: it has 1 to 64 letters, digits, _ and -, and begins with a letter or _")
	case n == 0:
		bad.Field(at, "must not be empty; updateAgentSecrets removes a secret that is sent as null")
	case n > MaxValue:
		bad.Field(at, "has %d characters, more than the %d that a secret may have", n, MaxValue)
	}
}

func count(n int, bad *fault.Fault) {
	if n > Most {
		bad.Field(secrets, "an agent has at most %d secrets, and these would be %d; remove some that no tool uses", Most, n)
	}
}
