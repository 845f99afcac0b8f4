package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"quarry/internal/fault"
	"quarry/internal/secret/seal"
)

// Progress is how far a rotation is.
type Progress struct {
	Key       string // id of the key under which everything is sealed at the end
	Resealed  int    // values sealed again by this step
	Remaining int    // values left; 0 when the rotation is done
	Done      bool
	Advice    string // what the operator still has to do, "" for nothing
}

const (
	// stepTime bounds one step, so that the request for it is answered in time.
	stepTime = 5 * time.Second
	// batch is how many values are sealed again in one transaction.
	batch = 100
)

// Rotate does one step of replacing the key under which everything is sealed; it is called until Done. It continues a
// rotation that any process began and did not finish, and begins one only if there is none. It returns a
// fault.KindConflict while another call is running.
//
// The order of the writes makes a crash harmless at any point: the new key is durable in the key file before the database
// knows it, the database knows it before anything is sealed under it, the old key leaves the register when nothing needs
// it any more, and leaves the file last.
func (v *Vault) Rotate(ctx context.Context) (Progress, error) {
	if !v.mu.TryLock() {
		return Progress{}, fault.Conflict("rotation_under_way", "a rotation of the secret keys is under way; try again when it is done")
	}
	defer v.mu.Unlock()
	target, err := v.target(ctx)
	if err != nil {
		return Progress{}, err
	}
	p := Progress{Key: target}
	for end := time.Now().Add(stepTime); ; {
		n, left, err := v.reseal(ctx, target)
		if err != nil {
			return p, err
		}
		p.Resealed += n
		if p.Remaining = left; left == 0 {
			break
		}
		if time.Now().After(end) {
			return p, nil
		}
	}
	return v.finish(ctx, p)
}

// target returns the id of the key under which everything is sealed at the end: that of the rotation under way, or of a new
// one.
func (v *Vault) target(ctx context.Context) (string, error) {
	registered, err := v.cfg.Rows.Keys(ctx)
	if err != nil {
		return "", err
	}
	if len(registered) == 0 {
		return "", fmt.Errorf("rotate secret keys: the database knows no key")
	}
	newest := registered[len(registered)-1].ID
	keys, err := v.keys(registered)
	if err != nil {
		return "", err
	}
	if len(registered) > 1 || len(v.cfg.Keys) == 0 && len(keys) > 1 && keys[0].ID() == newest {
		return newest, v.ring.Use(newest) // begun already; in the second case only the key file is not cleared
	}
	if keys[0].ID() == newest {
		if len(v.cfg.Keys) > 0 {
			return "", v.needsKey(newest, len(keys) > 1)
		}
		keys = append([]seal.Key{seal.NewKey()}, keys...)
		if err := v.cfg.File.Write(keys); err != nil {
			return "", unwritable(err)
		}
	}
	return v.begin(ctx, newest, keys)
}

// keys reads the keys again. It refuses a file that lacks a registered key: the running ring may be the last place that has
// that key, and a rotation to another one would leave values that nothing opens.
func (v *Vault) keys(registered []Registered) ([]seal.Key, error) {
	if len(v.cfg.Keys) > 0 {
		return v.cfg.Keys, nil
	}
	keys, err := v.cfg.File.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Conflict("secret_key_unusable", "the key file %s is gone; put it back from its backup before the service is started again, then rotate", v.cfg.File.Path())
	}
	if err != nil {
		return nil, fault.Conflict("secret_key_unusable", "%v", err)
	}
	for _, r := range registered {
		if !slices.ContainsFunc(keys, func(k seal.Key) bool { return k.ID() == r.ID }) {
			return nil, fault.Conflict("secret_key_unusable", "the key file %s lacks the secret key %s, under which the database has values; "+
				"restore it from its backup or copy it from another node of this database", v.cfg.File.Path(), r.ID)
		}
	}
	return keys, v.ring.Reload()
}

// begin registers the first of keys as the newest.
func (v *Vault) begin(ctx context.Context, newest string, keys []seal.Key) (string, error) {
	if err := v.ring.Reload(); err != nil {
		return "", err
	}
	fresh, err := v.proof(keys[0].ID())
	if err != nil {
		return "", err
	}
	done, err := v.cfg.Rows.Register(ctx, newest, fresh)
	if err != nil {
		return "", err
	}
	if !done {
		return "", fault.Conflict("rotation_under_way", "another node began to rotate the secret keys at this moment; try again")
	}
	if len(v.cfg.Keys) == 0 {
		if err := v.keep(keys[0]); err != nil {
			return "", err
		}
	}
	return fresh.ID, v.ring.Use(fresh.ID)
}

// keep checks that the file has k, and writes it again if not: where nodes share the file, one that began at the same
// moment may have overwritten it.
func (v *Vault) keep(k seal.Key) error {
	now, err := v.cfg.File.Read()
	if err != nil {
		return unwritable(err)
	}
	if slices.ContainsFunc(now, func(o seal.Key) bool { return o.ID() == k.ID() }) {
		return nil
	}
	if err := v.cfg.File.Write(append([]seal.Key{k}, now...)); err != nil {
		return unwritable(err)
	}
	return v.ring.Reload()
}

// reseal seals one batch again under the target key.
func (v *Vault) reseal(ctx context.Context, target string) (n, left int, err error) {
	some, all, err := v.cfg.Rows.Stale(ctx, target, batch)
	if err != nil || len(some) == 0 {
		return 0, all, err
	}
	changes := make([]Change, len(some))
	for i, s := range some {
		plain, err := v.ring.Open(s.Name, s.Value)
		if err != nil {
			return 0, all, err
		}
		sealed, err := v.ring.SealWith(target, s.Name, plain)
		if err != nil {
			return 0, all, err
		}
		changes[i] = Change{s.Name, s.Value, sealed}
	}
	if err := v.cfg.Rows.Replace(ctx, target, changes); err != nil {
		return 0, all, err
	}
	return len(some), all - len(some), nil
}

// finish removes the old keys: from the register, then from the file.
func (v *Vault) finish(ctx context.Context, p Progress) (Progress, error) {
	done, err := v.cfg.Rows.Retire(ctx, p.Key)
	if err != nil {
		return p, err
	}
	if !done { // another node sealed a value under the old key meanwhile
		p.Remaining = 1
		return p, nil
	}
	p.Done = true
	if len(v.cfg.Keys) > 0 {
		if len(v.cfg.Keys) > 1 {
			p.Advice = fmt.Sprintf("leave only the key %s in QUARRY_SECRET_KEY, at every node's next start", p.Key)
		}
		return p, nil
	}
	keys, err := v.cfg.File.Read()
	if err != nil {
		return p, unwritable(err)
	}
	keys = slices.DeleteFunc(keys, func(k seal.Key) bool { return k.ID() != p.Key })
	if err := v.cfg.File.Write(keys); err != nil {
		return p, unwritable(err)
	}
	return p, v.ring.Reload()
}

// needsKey returns the conflict that explains how to rotate keys that come from the environment.
func (v *Vault) needsKey(newest string, old bool) error {
	if old {
		return fault.Conflict("secret_key_needed", "everything is sealed under the key %s already: leave only that one in QUARRY_SECRET_KEY; "+
			"to rotate again put a new key (quarry secret new) before it, start every node again, then rotate", newest)
	}
	return fault.Conflict("secret_key_needed", "the secret keys come from QUARRY_SECRET_KEY, which the service can't change: put a new key "+
		"(quarry secret new) and a comma before the one there, start every node again, then rotate")
}

func unwritable(err error) error {
	return fault.Unavailable("secret_key_unwritable", "the key file can't be changed; nothing is lost; see the log, repair it and rotate again").Because(err)
}
