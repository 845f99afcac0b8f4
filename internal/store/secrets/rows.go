package secrets

import (
	"context"
	"fmt"

	"quarry/internal/clock"
	"quarry/internal/secret/vault"
	"quarry/internal/store"
)

// Rows is the vault.Rows over a database.
type Rows struct{ db *store.DB }

var _ vault.Rows = (*Rows)(nil)

// NewRows returns the rows of db.
func NewRows(db *store.DB) *Rows { return &Rows{db} }

// Keys lists the registered keys, oldest first.
func (r *Rows) Keys(ctx context.Context) ([]vault.Registered, error) {
	scan := func(r store.Row) (k vault.Registered, err error) { return k, r.Scan(&k.ID, &k.Proof) }
	return store.Select(r.db.Reader(ctx), "read secret keys", scan, `SELECT id, proof FROM secret_keys ORDER BY no`)
}

// Register writes k as the newest key, which seals, if the newest one is still after ("" for none).
func (r *Rows) Register(ctx context.Context, after string, k vault.Registered) (done bool, err error) {
	err = r.db.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Lock("secret_keys"); err != nil {
			return err
		}
		var newest string
		if err := tx.QueryRow(`SELECT COALESCE((SELECT id FROM secret_keys ORDER BY no DESC LIMIT 1), '')`).Scan(&newest); err != nil {
			return fmt.Errorf("read the newest secret key: %w", err)
		}
		if done = newest == after; !done {
			return nil
		}
		err := tx.Exec(`INSERT INTO secret_keys (id, proof, created) VALUES ($1, $2, $3)`, k.ID, k.Proof, clock.Now().UnixMicro())
		return store.Wrap(err, "write secret key")
	})
	return done && err == nil, err
}

// Stale returns up to n values that are sealed under another key than id, and how many there are.
func (r *Rows) Stale(ctx context.Context, id string, n int) (some []vault.Sealed, all int, err error) {
	err = r.db.Read(ctx, func(q store.Querier) error {
		if err := q.QueryRow(`SELECT COUNT(*) FROM secrets WHERE key_id <> $1`, id).Scan(&all); err != nil {
			return fmt.Errorf("count secrets: %w", err)
		}
		scan := func(r store.Row) (v vault.Sealed, err error) { return v, r.Scan(&v.Name, &v.Value) }
		some, err = store.Select(q, "read secrets", scan,
			`SELECT name, sealed FROM secrets WHERE key_id <> $1 ORDER BY name LIMIT $2`, id, n)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read secrets to seal anew: %w", err)
	}
	return some, all, nil
}

// Replace writes values that were sealed again under id, each only if the stored value is still the one that was read.
func (r *Rows) Replace(ctx context.Context, id string, changes []vault.Change) error {
	err := r.db.Write(ctx, func(tx *store.Tx) error {
		for _, c := range changes {
			if err := tx.Exec(`UPDATE secrets SET sealed = $1, key_id = $2 WHERE name = $3 AND sealed = $4`, c.New, id, c.Name, c.Old); err != nil {
				return err
			}
		}
		return nil
	})
	return store.Wrap(err, "write secrets sealed anew")
}

// Retire removes every key except id, the newest, from the register; it does nothing while a value needs one of them.
func (r *Rows) Retire(ctx context.Context, id string) (done bool, err error) {
	err = r.db.Write(ctx, func(tx *store.Tx) error {
		var needed int
		if err := tx.QueryRow(`SELECT COUNT(*) FROM secrets WHERE key_id <> $1`, id).Scan(&needed); err != nil {
			return err
		}
		if done = needed == 0; !done {
			return nil
		}
		return tx.Exec(`DELETE FROM secret_keys WHERE id <> $1 AND no < (SELECT no FROM secret_keys WHERE id = $1)`, id)
	})
	if err != nil {
		return false, fmt.Errorf("retire secret keys: %w", err)
	}
	return done, nil
}
