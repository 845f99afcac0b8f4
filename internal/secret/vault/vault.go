// Package vault manages the secret keys of the installation: it finds them at the start (in a key file, or in the setting
// secret_key), checks that they belong to the database, and rotates them while the service runs. Package seal does the
// sealing itself; vault does not know what is sealed, or for whom.
package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"quarry/internal/secret/seal"
)

// Registered is a key that the database knows by its id. Proof is the id sealed under the key.
type Registered struct {
	ID    string
	Proof []byte
}

// Sealed is a sealed value with its name.
type Sealed struct {
	Name  string
	Value []byte
}

// Change is a value before and after it was sealed again.
type Change struct {
	Name     string
	Old, New []byte
}

// Rows stores the register of keys and everything that is sealed.
type Rows interface {
	// Keys lists the registered keys, oldest first; the newest seals.
	Keys(ctx context.Context) ([]Registered, error)
	// Register writes k as the newest key if the newest one is still after, "" for none; done reports whether it did.
	Register(ctx context.Context, after string, k Registered) (done bool, err error)
	// Stale returns up to n values that are sealed under another key than id, and how many there are.
	Stale(ctx context.Context, id string, n int) (some []Sealed, all int, err error)
	// Replace writes values that were sealed again under id, each if the stored value is still the old one.
	Replace(ctx context.Context, id string, changes []Change) error
	// Retire removes all keys older than id from the register; done is false while a value needs one of them.
	Retire(ctx context.Context, id string) (done bool, err error)
}

// Config is where the keys are.
type Config struct {
	Rows Rows
	File *seal.File // created at the first start; not used when Keys are given
	Keys []seal.Key // of the setting secret_key, newest first
}

// Vault manages the keys of a running service. It is safe for concurrent use.
type Vault struct {
	cfg  Config
	ring *seal.Keyring

	mu sync.Mutex // held by the rotation under way
}

// KeyError is the error of keys that can't be used; its text advises what to do.
type KeyError struct {
	text string
	err  error
}

func (e *KeyError) Error() string { return e.text }
func (e *KeyError) Unwrap() error { return e.err }

// Open finds the keys, creates the first one for a database that has none, and checks that they belong to the database. It
// returns a *KeyError when they do not, or can't be read.
func Open(ctx context.Context, cfg Config) (*Vault, error) {
	v := &Vault{cfg: cfg}
	registered, err := cfg.Rows.Keys(ctx)
	if err != nil {
		return nil, err
	}
	keys, made, err := v.find(registered)
	if err != nil {
		return nil, err
	}
	load := cfg.File.Read
	if len(cfg.Keys) > 0 {
		load = nil // the environment of a process does not change
	}
	if v.ring, err = seal.NewKeyring(keys, load); err != nil {
		return nil, err
	}
	if len(registered) == 0 {
		if registered, err = v.first(ctx, made); err != nil {
			return nil, err
		}
	}
	for _, r := range registered {
		if err := v.prove(r); err != nil {
			return nil, err
		}
	}
	return v, v.ring.Use(registered[len(registered)-1].ID)
}

// Keyring returns the ring that seals and opens values with these keys.
func (v *Vault) Keyring() *seal.Keyring { return v.ring }

// find reads the keys, or creates the first one.
func (v *Vault) find(registered []Registered) (keys []seal.Key, made bool, err error) {
	if len(v.cfg.Keys) > 0 {
		return v.cfg.Keys, false, nil
	}
	keys, err = v.cfg.File.Read()
	switch {
	case err == nil:
		return keys, false, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, false, &KeyError{err.Error(), err}
	case len(registered) > 0:
		return nil, false, &KeyError{fmt.Sprintf("the key file %s is missing, and the database has values sealed under %s; "+
			"restore the file from its backup, copy it from another node of this database, or set QUARRY_SECRET_KEY", v.cfg.File.Path(), names(registered)), err}
	}
	keys = []seal.Key{seal.NewKey()}
	return keys, true, v.cfg.File.Write(keys)
}

// first registers the first key of a database. When another node was faster, the key created here is dropped.
func (v *Vault) first(ctx context.Context, made bool) ([]Registered, error) {
	mine, err := v.proof(v.ring.Current())
	if err != nil {
		return nil, err
	}
	done, err := v.cfg.Rows.Register(ctx, "", mine)
	if err != nil {
		return nil, err
	}
	if done {
		return []Registered{mine}, nil
	}
	if made {
		if err := v.cfg.File.Remove(); err != nil {
			return nil, err
		}
	}
	return v.cfg.Rows.Keys(ctx)
}

// prove checks that the ring has a registered key.
func (v *Vault) prove(r Registered) error {
	plain, err := v.ring.Open(proofName(r.ID), r.Proof)
	if err == nil && string(plain) == r.ID {
		return nil
	}
	return &KeyError{fmt.Sprintf("the database has values sealed under the secret key %s, and %s; restore that key, copy it from "+
		"another node of this database, or start on the database that belongs to these keys", r.ID, v.have()), err}
}

// have describes which keys there are, and where, for errors.
func (v *Vault) have() string {
	ids := strings.Join(v.ring.IDs(), ", ")
	if len(v.cfg.Keys) > 0 {
		return "QUARRY_SECRET_KEY holds only " + ids
	}
	return fmt.Sprintf("the key file %s holds only %s", v.cfg.File.Path(), ids)
}

func (v *Vault) proof(id string) (Registered, error) {
	sealed, err := v.ring.SealWith(id, proofName(id), []byte(id))
	return Registered{id, sealed}, err
}

func proofName(id string) string { return "proof/" + id }

func names(all []Registered) string {
	ids := make([]string, len(all))
	for i, r := range all {
		ids[i] = r.ID
	}
	return "the secret key " + strings.Join(ids, ", ")
}
