package session

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"quarry/internal/agent"
	"quarry/internal/agent/enrich"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/fault"
)

// taken is the code of Taken.
const taken = "session_exists"

// Taken returns the fault of a key that another session of the agent has.
func Taken(key string) error {
	return fault.Conflict(taken, "the agent has a session with the key %s; choose another key, or leave it out to have one made", key)
}

// Refusing returns the fault of a session with an agent that is disabled.
func Refusing(agent string) error {
	return fault.Conflict("agent_disabled", "agent %s is disabled and takes no new session; enable it first", agent)
}

// enrich runs the rules of an agent for a session that is to be made, unless it is known already that it won't be. Whoever doesn't make
// it then calls undo.
func (s *Service) enrich(ctx context.Context, a *agent.Agent, x *Session, d *Draft) (metadata json.RawMessage, undo func(), err error) {
	if s.rules == nil {
		return nil, nil, errors.New("there is nothing that runs the rules of agents")
	}
	if !a.Enabled {
		return nil, nil, Refusing(a.Key)
	}
	switch _, err := s.store.Get(ctx, a.No, x.Key); {
	case err == nil:
		return nil, nil, Taken(x.Key)
	case !fault.Is(err, fault.KindNotFound):
		return nil, nil, err
	}
	return s.rules.Run(ctx, enrich.Opening{
		Rules: a.Enrichment, Agent: configuration.Agent{No: a.No, Revision: a.Revision, Entries: a.Tools},
		Of:      reference.Subject{Key: a.Key, Name: a.Name, Description: a.Description, Metadata: a.Metadata},
		Session: reference.Subject{Key: x.Key, Name: x.Name, Description: x.Description, Metadata: x.Metadata},
		Secrets: d.Secrets, Caller: d.Caller.Caller, Sender: d.Caller.Rights, Payers: append(slices.Clone(d.Caller.Payers), a.Account()),
	})
}
