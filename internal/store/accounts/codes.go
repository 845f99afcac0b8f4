package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"quarry/internal/id"
	"quarry/internal/identity/signin"
	"quarry/internal/store"
)

// AddSignInCode writes a code. See signin.SignInCodes.
func (s *Store) AddSignInCode(ctx context.Context, c signin.CodeRow, now time.Time, most int) (added bool, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		var user id.User // locked, so that codes made at once are counted one after the other
		err := tx.QueryRow(`UPDATE users SET updated = updated WHERE id = $1 AND enabled RETURNING id`, string(c.User)).Scan(&user)
		if err != nil {
			return store.OrNone(err, signin.ErrNoUser, "read user")
		}
		if err := tx.Exec(`DELETE FROM sign_in_codes WHERE user_id = $1 AND expires <= $2`, string(user), now.UnixMicro()); err != nil {
			return fmt.Errorf("remove expired codes: %w", err)
		}
		var have int
		if err := tx.QueryRow(`SELECT COUNT(*) FROM sign_in_codes WHERE user_id = $1`, string(user)).Scan(&have); err != nil {
			return fmt.Errorf("count codes: %w", err)
		}
		if added = have < most; !added {
			return nil
		}
		began := int64(0)
		if !c.SignedIn.IsZero() {
			began = c.SignedIn.Unix()
		}
		return store.Wrap(tx.Exec(`INSERT INTO sign_in_codes (digest, user_id, epoch, signed_in, expires) VALUES ($1, $2, $3, $4, $5)`,
			c.Digest, string(user), c.Epoch, began, c.Expires.UnixMicro()), "write code")
	})
	return added && err == nil, err
}

// UseSignInCode removes a code. It reads first, so that guessing writes nothing. See signin.SignInCodes.
func (s *Store) UseSignInCode(ctx context.Context, digest string, now time.Time) (signin.CodeRow, error) {
	var c signin.CodeRow
	var began, expires int64
	err := s.db.Reader(ctx).QueryRow(`
		SELECT c.digest, c.user_id, u.username, c.epoch, c.signed_in, c.expires FROM sign_in_codes c JOIN users u ON u.id = c.user_id
		WHERE c.digest = $1 AND c.expires > $2 AND c.epoch = u.epoch AND u.enabled`, digest, now.UnixMicro()).
		Scan(&c.Digest, &c.User, &c.Username, &c.Epoch, &began, &expires)
	if err != nil {
		return signin.CodeRow{}, store.OrNone(err, signin.ErrNoCode, "read code")
	}
	c.Expires = time.UnixMicro(expires).UTC()
	if began != 0 {
		c.SignedIn = time.Unix(began, 0).UTC()
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		var used string
		err := tx.QueryRow(`DELETE FROM sign_in_codes WHERE digest = $1 RETURNING digest`, digest).Scan(&used)
		if errors.Is(err, sql.ErrNoRows) {
			return signin.ErrNoCode
		}
		return store.Wrap(err, "use code")
	})
	if err != nil {
		return signin.CodeRow{}, err
	}
	return c, nil
}

// EndSignIns begins an epoch. See signin.SignInCodes.
func (s *Store) EndSignIns(ctx context.Context, user id.User) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Exec(`UPDATE users SET epoch = epoch + 1 WHERE id = $1`, string(user)); err != nil {
			return fmt.Errorf("begin epoch: %w", err)
		}
		return store.Wrap(tx.Exec(`DELETE FROM sign_in_codes WHERE user_id = $1`, string(user)), "remove codes")
	})
}
