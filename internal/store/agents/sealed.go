package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"quarry/internal/agent"
	"quarry/internal/agent/tool/credential"
	"quarry/internal/store"
)

// folder is what the names of the secrets of an agent begin with; no later agent gets its number. Behind it stands the revision.
func folder(no int64) string { return fmt.Sprintf("agent/%d/", no) }

func secretName(a *agent.Agent) string { return folder(a.No) + fmt.Sprint(a.Revision) }

// seal returns the definition of an agent without the credentials of its tools, which it seals in the transaction.
func (s *Store) seal(tx *store.Tx, a *agent.Agent) (agent.Definition, error) {
	d := a.Definition
	marked, taken := credential.Take(d.Tools)
	if len(taken) == 0 {
		return d, nil
	}
	if s.secrets == nil {
		return d, errors.New("this store of agents can't seal credentials")
	}
	plain, err := json.Marshal(taken)
	if err != nil {
		return d, errors.New("encode the credentials of an agent") // the cause may quote them
	}
	d.Tools = marked
	return d, s.secrets.Put(tx, secretName(a), plain)
}

// open puts the credentials of an agent's tools back.
func (s *Store) open(ctx context.Context, a *agent.Agent) error {
	if !credential.Marked(a.Tools) || s.secrets == nil {
		return nil
	}
	plain, err := s.secrets.Get(ctx, secretName(a))
	if err != nil {
		return fmt.Errorf("read the credentials of agent %d: %w", a.No, err)
	}
	var taken []string
	if json.Unmarshal(plain, &taken) != nil {
		return fmt.Errorf("read the credentials of agent %d: they are damaged", a.No)
	}
	tools, err := credential.Put(a.Tools, taken)
	if err != nil {
		return fmt.Errorf("read agent %d: %w", a.No, err)
	}
	a.Tools = tools
	return nil
}
