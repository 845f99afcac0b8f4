package toolconfigurations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"quarry/internal/agent/tool/configuration"
	"quarry/internal/agent/tool/credential"
	"quarry/internal/store"
)

// folder is what the names of the secrets of a configuration begin with; no later one gets its number. Behind it stands the version.
func folder(no int64) string { return fmt.Sprintf("tool_configuration/%d/", no) }

func secretName(no, version int64) string { return folder(no) + fmt.Sprint(version) }

// one is the name of an entry among entries of an agent.
const one = "entry"

// split returns a definition without the credentials of its entry, and these.
func split(d configuration.Definition) (configuration.Definition, []string) {
	marked, taken := credential.Take(map[string]json.RawMessage{one: d.Entry})
	d.Entry = marked[one]
	return d, taken
}

// keep seals the credentials of a version in the transaction that writes it. Those of the version before stay for who has just read
// that, and those before it go.
func (s *Store) keep(tx *store.Tx, no, version int64, taken []string) error {
	if s.secrets == nil {
		if len(taken) > 0 {
			return errors.New("this store of tool configurations can't seal credentials")
		}
		return nil
	}
	if version > 2 {
		if err := s.secrets.DeleteOne(tx, secretName(no, version-2)); err != nil {
			return err
		}
	}
	if len(taken) == 0 {
		return nil
	}
	plain, err := json.Marshal(taken)
	if err != nil {
		return errors.New("encode the credentials of a tool configuration") // the cause may quote them
	}
	return s.secrets.Put(tx, secretName(no, version), plain)
}

// open puts the credentials of an entry back.
func (s *Store) open(ctx context.Context, c *configuration.Configuration) error {
	all := map[string]json.RawMessage{one: c.Entry}
	if !credential.Marked(all) || s.secrets == nil {
		return nil
	}
	plain, err := s.secrets.Get(ctx, secretName(c.No, c.Version))
	if err != nil {
		return fmt.Errorf("read the credentials of tool configuration %s: %w", c.Key, err)
	}
	var taken []string
	if json.Unmarshal(plain, &taken) != nil {
		return fmt.Errorf("read the credentials of tool configuration %s: they are damaged", c.Key)
	}
	if all, err = credential.Put(all, taken); err != nil {
		return fmt.Errorf("read tool configuration %s: %w", c.Key, err)
	}
	c.Entry = all[one]
	return nil
}
