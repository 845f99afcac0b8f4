package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/signin"
	"quarry/internal/store"
)

var _ signin.Store = (*Store)(nil)

// Login reads what belongs to a username in one statement. See signin.Store.
func (s *Store) Login(ctx context.Context, username string) (signin.Login, error) {
	var l signin.Login
	var expires int64
	err := s.db.Reader(ctx).QueryRow(`
		SELECT u.id, u.enabled, u.epoch, COALESCE(p.hash, ''), COALESCE(p.code, ''), COALESCE(p.code_expires, 0)
		FROM users u LEFT JOIN passwords p ON p.user_id = u.id WHERE u.folded = $1`, account.Fold(username)).
		Scan(&l.User, &l.Enabled, &l.Epoch, &l.Hash, &l.Code, &expires)
	if err != nil {
		return signin.Login{}, store.OrNone(err, signin.ErrNoUser, "read password")
	}
	l.CodeExpires = time.UnixMicro(expires).UTC()
	return l, nil
}

// SetCode stores a code in place of an earlier one. See signin.Store.
func (s *Store) SetCode(ctx context.Context, c signin.NewCode, allow func(account.User) error) (u account.User, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		var err error
		if u, err = lockUser(tx, c.Username); err != nil {
			return err
		}
		if err := allow(u); err != nil {
			return err
		}
		if err := putCode(tx, u.ID, c.CodeRow); err != nil {
			return err
		}
		if !c.Void {
			return nil
		}
		if err := keepWay(tx, "id", string(u.ID), account.LastPassword(u)); err != nil {
			return err
		}
		if err := tx.Exec(`UPDATE passwords SET hash = '' WHERE user_id = $1`, string(u.ID)); err != nil {
			return fmt.Errorf("void password: %w", err)
		}
		return store.Wrap(tx.Exec(`UPDATE users SET epoch = epoch + 1 WHERE id = $1`, string(u.ID)), "begin epoch")
	})
	return u, err
}

func putCode(tx *store.Tx, user id.User, c account.CodeRow) error {
	return store.Wrap(tx.Exec(`INSERT INTO passwords (user_id, hash, code, code_expires) VALUES ($1, '', $2, $3)
		ON CONFLICT (user_id) DO UPDATE SET code = excluded.code, code_expires = excluded.code_expires`,
		string(user), c.Digest, c.Expires.UnixMicro()), "write code")
}

// SetPassword stores a hash and uses up the code. See signin.Store.
func (s *Store) SetPassword(ctx context.Context, user id.User, code, hash string) (done bool, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		var name id.User
		err := tx.QueryRow(`UPDATE users SET epoch = epoch + 1 WHERE id = $1 AND enabled RETURNING id`, string(user)).Scan(&name)
		if err != nil {
			return store.OrNone(err, errVoid, "begin epoch")
		}
		err = tx.QueryRow(`UPDATE passwords SET hash = $3, code = '', code_expires = 0 WHERE user_id = $1 AND code = $2
			AND code <> '' RETURNING user_id`, string(user), code, hash).Scan(&name)
		if errors.Is(err, sql.ErrNoRows) {
			return errVoid
		}
		return err
	})
	if errors.Is(err, errVoid) {
		return false, nil
	}
	return err == nil, err
}

// errVoid undoes a transaction whose code is not the user's any more.
var errVoid = errors.New("the code is void")

// Rehash stores another hash of the same password. See signin.Store.
func (s *Store) Rehash(ctx context.Context, user id.User, old, hash string) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		return tx.Exec(`UPDATE passwords SET hash = $3 WHERE user_id = $1 AND hash = $2 AND hash <> ''`, string(user), old, hash)
	})
}
