// Package instructions keeps instructions and their versions in SQL: the instruction.Store of the service. Package app creates
// it.
package instructions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"quarry/internal/agent/instruction"
	"quarry/internal/id"
	"quarry/internal/store"
)

// Store is the instruction.Store over a database.
type Store struct{ db *store.DB }

var _ instruction.Store = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB) *Store { return &Store{db} }

// versions reads versions of instructions.
const versions = `SELECT i.no, i.id, v.version, i.latest, v.text, i.created, v.written
	FROM instructions i JOIN instruction_versions v ON v.instruction_no = i.no `

func scan(r store.Row) (in instruction.Instruction, err error) {
	var text string
	if err := r.Scan(&in.No, &in.ID, &in.Version, &in.Latest, &text, store.Micros(&in.Created), store.Micros(&in.Updated)); err != nil {
		return in, err
	}
	if err := json.Unmarshal([]byte(text), &in.Text); err != nil {
		return in, fmt.Errorf("read version %d of instruction %s: %w", in.Version, in.ID, err)
	}
	return in, nil
}

// Create writes an instruction. See instruction.Store.
func (s *Store) Create(ctx context.Context, in instruction.Instruction) (instruction.Instruction, error) {
	in.Version, in.Latest = 1, 1
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		err := tx.QueryRow(`INSERT INTO instructions (id, latest, last, created) VALUES ($1, 1, 1, $2) RETURNING no`,
			string(in.ID), in.Created.UnixMicro()).Scan(&in.No)
		if err != nil {
			return store.Wrap(err, "write instruction")
		}
		return insert(tx, &in)
	})
	if err != nil {
		return instruction.Instruction{}, err
	}
	return in, nil
}

// insert writes a version.
func insert(tx *store.Tx, in *instruction.Instruction) error {
	text, err := json.Marshal(&in.Text)
	if err != nil {
		return fmt.Errorf("encode an instruction: %w", err)
	}
	return store.Wrap(tx.Exec(`INSERT INTO instruction_versions (instruction_no, version, name, text, enabled, written) VALUES ($1, $2, $3, $4, $5, $6)`,
		in.No, in.Version, in.Name, string(text), in.Enabled, in.Updated.UnixMicro()), "write version of instruction")
}

// Get returns a version of an instruction. See instruction.Store.
func (s *Store) Get(ctx context.Context, which id.Instruction, version int64) (instruction.Instruction, error) {
	found, err := store.Select(s.db.Reader(ctx), "read instruction", scan,
		versions+`WHERE i.id = $1 AND (v.version = $2 OR v.version = i.latest)`, string(which), version)
	if err != nil {
		return instruction.Instruction{}, err
	}
	if len(found) == 0 {
		return instruction.Instruction{}, instruction.Missing(which)
	}
	for _, in := range found {
		if in.Version == version || version == 0 {
			return in, nil
		}
	}
	return instruction.Instruction{}, instruction.NoVersion(which, version)
}

// List returns instructions after a place, newest first. See instruction.Store.
func (s *Store) List(ctx context.Context, l instruction.List) (page []instruction.Instruction, more bool, err error) {
	return store.Matching(l.Limit, l.Match, func(last *instruction.Instruction, n int) ([]instruction.Instruction, error) {
		created, which := l.After.Bound()
		if last != nil {
			created, which = last.Created.UnixMicro(), string(last.ID)
		}
		args, only := []any{created, which, n}, ``
		if l.Enabled != nil {
			args, only = append(args, *l.Enabled), ` AND v.enabled = $4`
		}
		return store.Select(s.db.Reader(ctx), "list instructions", scan,
			versions+`WHERE v.version = i.latest AND (i.created, i.id) < ($1, $2)`+only+` ORDER BY i.created DESC, i.id DESC LIMIT $3`, args...)
	})
}

// Add writes the next version of an instruction. See instruction.Store.
func (s *Store) Add(ctx context.Context, in instruction.Instruction) (instruction.Instruction, error) {
	next := in
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		err := tx.QueryRow(`UPDATE instructions SET last = last + 1, latest = last + 1 WHERE no = $1 AND latest = $2 RETURNING latest`,
			in.No, in.Version).Scan(&next.Version)
		if err != nil {
			return store.OrNone(err, instruction.ErrChanged, "write instruction")
		}
		next.Latest = next.Version
		return insert(tx, &next)
	})
	if err != nil {
		return instruction.Instruction{}, err
	}
	return next, nil
}

// Delete removes an instruction. See instruction.Store.
func (s *Store) Delete(ctx context.Context, in instruction.Instruction) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		var was int64
		err := tx.QueryRow(`DELETE FROM instructions WHERE no = $1 RETURNING no`, in.No).Scan(&was)
		return store.OrNone(err, instruction.Missing(in.ID), "delete instruction")
	})
}

// maxNamed is how many agents a refusal names at most.
const maxNamed = 5

// DeleteVersion removes a version. See instruction.Store.
func (s *Store) DeleteVersion(ctx context.Context, in instruction.Instruction, version int64) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Lock(pinLock); err != nil {
			return err
		}
		var was int64 // locks the row, so that the deletions of two versions follow one another
		if err := tx.QueryRow(`UPDATE instructions SET last = last WHERE no = $1 RETURNING no`, in.No).Scan(&was); err != nil {
			return store.OrNone(err, instruction.Missing(in.ID), "read instruction")
		}
		agents, err := store.Select(tx, "read who pins the version", store.One[string], `SELECT a.key FROM instruction_pins p JOIN agents a ON a.no = p.agent_no
			WHERE p.instruction = $1 AND p.version = $2 AND a.deleted = 0 ORDER BY a.key LIMIT $3`, string(in.ID), version, maxNamed)
		if err != nil {
			return err
		}
		err = tx.QueryRow(`DELETE FROM instruction_versions WHERE instruction_no = $1 AND version = $2 RETURNING version`, in.No, version).Scan(&was)
		if err != nil {
			return store.OrNone(err, instruction.NoVersion(in.ID, version), "delete version of instruction")
		}
		if len(agents) > 0 {
			return &instruction.PinnedError{Agents: agents}
		}
		err = tx.QueryRow(`UPDATE instructions SET latest = (SELECT MAX(v.version) FROM instruction_versions v WHERE v.instruction_no = no)
			WHERE no = $1 AND EXISTS (SELECT 1 FROM instruction_versions v WHERE v.instruction_no = no) RETURNING no`, in.No).Scan(&was)
		return store.OrNone(err, instruction.ErrOnly, "write instruction")
	})
}

// pinLock is the lock under which pins are written, and versions are deleted that nobody pins.
const pinLock = "instruction_pins"

// Pin writes which versions of instructions an agent has in its steps by their number, in the transaction that writes its
// configuration, so that these are not deleted. instruction.ErrGone if one is gone that the agent did not pin before: what was
// checked is decided here. A pin that it had may be of an instruction that was deleted. fresh is whether the agent is new.
func Pin(tx *store.Tx, agentNo int64, refs []instruction.Reference, fresh bool) error {
	var had []instruction.Reference
	if !fresh {
		var err error
		if had, err = store.Select(tx, "remove pins of agent", scanPin,
			`DELETE FROM instruction_pins WHERE agent_no = $1 RETURNING instruction, version`, agentNo); err != nil {
			return err
		}
	}
	refs = slices.DeleteFunc(refs, func(r instruction.Reference) bool { return r.Version == 0 })
	if len(refs) == 0 {
		return nil
	}
	if err := tx.Lock(pinLock); err != nil {
		return err
	}
	for _, r := range refs {
		if there := slices.Contains(had, r); !there {
			err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM instructions i JOIN instruction_versions v ON v.instruction_no = i.no
				WHERE i.id = $1 AND v.version = $2)`, string(r.ID), r.Version).Scan(&there)
			if err != nil {
				return store.Wrap(err, "read version of instruction")
			}
			if !there {
				return instruction.ErrGone
			}
		}
		if err := tx.Exec(`INSERT INTO instruction_pins (agent_no, instruction, version) VALUES ($1, $2, $3)`, agentNo, string(r.ID), r.Version); err != nil {
			return store.Wrap(err, "write pin of agent")
		}
	}
	return nil
}

func scanPin(row store.Row) (r instruction.Reference, err error) {
	return r, row.Scan(&r.ID, &r.Version)
}

// atOnce is how many references one statement looks up.
const atOnce = 500

// Refer returns what references name. See instruction.Store.
func (s *Store) Refer(ctx context.Context, refs []instruction.Reference) (instruction.Found, error) {
	var all []instruction.Instruction
	for some := range slices.Chunk(refs, atOnce) {
		ids, names, numbers := []string{""}, []string{""}, []any{int64(0)} // a list has at least one value
		for _, r := range some {
			if r.ID != "" {
				ids = append(ids, string(r.ID))
			} else {
				names = append(names, r.Name)
			}
			numbers = append(numbers, r.Version)
		}
		args := store.Args(store.Args(nil, ids), names)
		query := versions + `WHERE (i.id IN (` + store.List(1, len(ids)) + `) OR i.no IN (SELECT n.instruction_no FROM instruction_versions n
			WHERE n.name IN (` + store.List(len(ids)+1, len(names)) + `))) AND (v.version = i.latest OR v.version IN (` + store.List(len(args)+1, len(numbers)) + `))
			ORDER BY i.created, i.id`
		found, err := store.Select(s.db.Reader(ctx), "read instructions", scan, query, append(args, numbers...)...)
		if err != nil {
			return instruction.Found{}, err
		}
		all = append(all, found...)
	}
	return instruction.Gather(all), nil
}
