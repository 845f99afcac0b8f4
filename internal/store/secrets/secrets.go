// Package secrets keeps sealed values in SQL, all of them in one table. The other stores keep their secrets in a Store;
// Rows is the vault.Rows with which the keys are rotated. Package app creates both.
package secrets

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"quarry/internal/fault"
	"quarry/internal/secret/seal"
	"quarry/internal/store"
)

// ErrNone is returned when there is no secret with a name.
var ErrNone = errors.New("no such secret")

// maxName bounds names, in bytes.
const maxName = 500

// Store keeps secrets sealed. A name is a path such as signing/4f1c or llm/<id>/auth: its first part is the purpose,
// and the value is bound to the whole of it. It is safe for concurrent use.
type Store struct {
	db   *store.DB
	ring *seal.Keyring
}

// New returns a store over db that seals with ring.
func New(db *store.DB, ring *seal.Keyring) *Store { return &Store{db, ring} }

// Put seals plain and writes it in the transaction of what it belongs to; a secret of that name is replaced.
func (s *Store) Put(tx *store.Tx, name string, plain []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	var id string
	if err := tx.QueryRow(`SELECT id FROM secret_keys ORDER BY no DESC LIMIT 1`).Scan(&id); err != nil {
		return fmt.Errorf("find the key that seals: %w", err)
	}
	sealed, err := s.ring.SealWith(id, name, plain)
	if err != nil {
		return known(err)
	}
	// A rotation that ends between the two statements takes the key away; the reference then refuses the write.
	if err := tx.Exec(`INSERT INTO secrets (name, sealed, key_id) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed, key_id = excluded.key_id`, name, sealed, id); err != nil {
		return fmt.Errorf("write secret %s: %w", name, err)
	}
	return nil
}

// Get returns a secret; ErrNone when there is none of that name. Where its key is unknown here, that is a
// fault.KindUnavailable, as for List and Put.
func (s *Store) Get(ctx context.Context, name string) ([]byte, error) {
	return s.Read(s.db.Reader(ctx), name)
}

// Read is Get by q, such as a transaction that has written the secret.
func (s *Store) Read(q store.Querier, name string) ([]byte, error) {
	var plain []byte
	err := s.reading(func() error {
		var sealed []byte
		err := q.QueryRow(`SELECT sealed FROM secrets WHERE name = $1`, name).Scan(&sealed)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNone
		}
		if err != nil {
			return fmt.Errorf("read secret %s: %w", name, store.Translate(err))
		}
		plain, err = s.ring.Open(name, sealed)
		return err
	})
	return plain, err
}

// Secret is a value with its name.
type Secret struct {
	Name  string
	Plain []byte
}

// List returns the secrets whose names begin with prefix, which ends in a slash, in the order of their names.
func (s *Store) List(ctx context.Context, prefix string) ([]Secret, error) {
	from, to, err := span(prefix)
	if err != nil {
		return nil, err
	}
	var all []Secret
	err = s.reading(func() error {
		all, err = store.Select(s.db.Reader(ctx), "read secrets "+prefix, scanSecret,
			`SELECT name, sealed FROM secrets WHERE name >= $1 AND name < $2 ORDER BY name`, from, to)
		if err != nil {
			return err
		}
		for i, one := range all {
			if all[i].Plain, err = s.ring.Open(one.Name, one.Plain); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func scanSecret(r store.Row) (one Secret, err error) { return one, r.Scan(&one.Name, &one.Plain) }

// Delete removes the secrets whose names begin with prefix, which ends in a slash, in the transaction of what they
// belong to.
func (s *Store) Delete(tx *store.Tx, prefix string) error {
	from, to, err := span(prefix)
	if err != nil {
		return err
	}
	if err := tx.Exec(`DELETE FROM secrets WHERE name >= $1 AND name < $2`, from, to); err != nil {
		return fmt.Errorf("delete secrets %s: %w", prefix, err)
	}
	return nil
}

// DeleteOne removes the secret of a name, if there is one, in the transaction of what it belongs to.
func (s *Store) DeleteOne(tx *store.Tx, name string) error {
	if err := tx.Exec(`DELETE FROM secrets WHERE name = $1`, name); err != nil {
		return fmt.Errorf("delete secret %s: %w", name, err)
	}
	return nil
}

// reading runs read a second time when a key was not known: a rotation may have resealed the value and removed its old key
// between the reading of the row and its opening.
func (s *Store) reading(read func() error) error {
	err := read()
	if errors.Is(err, seal.ErrUnknownKey) {
		err = read()
	}
	return known(err)
}

// known returns an error about a key that this node does not have as fault.KindUnavailable; the log names the key and the
// remedy.
func known(err error) error {
	if !errors.Is(err, seal.ErrUnknownKey) {
		return err
	}
	return fault.Unavailable("secret_key_unknown", "this node does not have the secret key of what it needs; its log says which one and what to do").Because(err)
}

// span returns the bounds of the names that begin with prefix.
func span(prefix string) (from, to string, err error) {
	folder, ok := strings.CutSuffix(prefix, "/")
	if !ok || folder == "" {
		return "", "", fmt.Errorf("the prefix %q of secrets does not end in a slash", prefix)
	}
	return prefix, folder + "0", nil // 0 is the byte after the slash
}

func checkName(name string) error {
	if purpose, rest, _ := strings.Cut(name, "/"); purpose == "" || rest == "" || len(name) > maxName || strings.ContainsRune(name, 0) {
		return fmt.Errorf("%q can't be the name of a secret", name)
	}
	return nil
}
