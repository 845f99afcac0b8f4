package storetest

import (
	"testing"
	"time"

	"quarry/internal/clock"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
)

// User returns a user to create, with every member set but rights.
func User(name string) account.User {
	now := clock.Now()
	return account.User{
		ID: id.NewUser(), Username: name, Email: name + "@example.test", Description: "all about " + name, Enabled: true,
		Metadata: []byte(`{"n":1.50,"s":"é<&>"}`), Groups: []string{"staff", "a b"}, Created: now, Updated: now,
	}
}

// PersonalKey returns the key of a user to create, and its secret.
func PersonalKey(u account.User) (k account.Key, secret string) {
	secret = "zut_" + id.Text(38)
	return account.Key{
		ID: id.NewAPIKey(), Name: "key of " + u.Username, Digest: account.Digest(secret), Prefix: "zut_", Tail: account.Tail(secret),
		Style: account.StylePersonal, Owner: u.ID, Creator: string(u.ID), Enabled: true, Created: u.Created,
	}, secret
}

// AgeSignInCodes changes the sign-in codes of an installation into ones that are older by that much.
func AgeSignInCodes(t testing.TB, c store.Config, by time.Duration) {
	t.Helper()
	db, err := store.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Write(t.Context(), func(tx *store.Tx) error {
		return tx.Exec(`UPDATE sign_in_codes SET expires = expires - $1`, by.Microseconds())
	}); err != nil {
		t.Fatal(err)
	}
}

// AddKey writes a user with these API roles and a personal key of its own, and returns the key's secret.
func AddKey(t testing.TB, c store.Config, username string, roles ...string) string {
	t.Helper()
	db, err := store.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	u := User(username)
	u.Rights = authz.Rights{API: roles}
	if err := accounts.New(db).CreateUser(t.Context(), u, account.CodeRow{}); err != nil {
		t.Fatal(err)
	}
	k, secret := PersonalKey(u)
	if err := accounts.New(db).CreateKey(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	return secret
}
