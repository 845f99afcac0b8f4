package secrets_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/secret/seal"
	"quarry/internal/secret/vault"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
	"quarry/internal/store/storetest"
)

// TestSecrets proves that the store of sealed values and the register of their keys keep their comments' promises on
// both databases.
func TestSecrets(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(_ *testing.T, db *store.DB) *store.DB { return db }, map[string]func(*testing.T, *store.DB){
		"put and get": testPutSecret, "list and delete": testListSecrets, "nothing in plain": testNothingPlain,
		"register": testRegister, "register at once": testRegisterAtOnce, "seal anew": testSealAnew,
		"a late write": testLateWrite, "names": testSecretNames, "kills": testRotationStops,
		"a foreign key file": testForeignFile,
	})
}

// lock registers a key and returns a ring of it and the others, newest first.
func lock(t *testing.T, db *store.DB, keys ...seal.Key) (*seal.Keyring, *secrets.Store) {
	t.Helper()
	ring, err := seal.NewKeyring(keys, nil)
	if err != nil {
		t.Fatal(err)
	}
	register(t, db, "", keys[0].ID(), true)
	return ring, secrets.New(db, ring)
}

func register(t *testing.T, db *store.DB, after, id string, want bool) {
	t.Helper()
	done, err := secrets.NewRows(db).Register(t.Context(), after, vault.Registered{ID: id, Proof: []byte("proof of " + id)})
	if err != nil || done != want {
		t.Fatalf("register %s after %q: %v, %v; want %v", id, after, done, err, want)
	}
}

func putSecret(t *testing.T, db *store.DB, s *secrets.Store, name, plain string) {
	t.Helper()
	if err := db.Write(t.Context(), func(tx *store.Tx) error { return s.Put(tx, name, []byte(plain)) }); err != nil {
		t.Fatalf("put %s: %v", name, err)
	}
}

func wantSecret(t *testing.T, s *secrets.Store, name, want string) {
	t.Helper()
	if got, err := s.Get(t.Context(), name); err != nil || string(got) != want {
		t.Errorf("%s is %q, %v; want %q", name, got, err, want)
	}
}

func testPutSecret(t *testing.T, db *store.DB) {
	_, s := lock(t, db, seal.NewKey())
	putSecret(t, db, s, "a/b", "one")
	wantSecret(t, s, "a/b", "one")
	putSecret(t, db, s, "a/b", "two")
	wantSecret(t, s, "a/b", "two")
	if _, err := s.Get(t.Context(), "a/c"); !errors.Is(err, secrets.ErrNone) {
		t.Errorf("a secret that is not there: %v", err)
	}
	undone := errors.New("undone")
	err := db.Write(t.Context(), func(tx *store.Tx) error {
		if err := s.Put(tx, "a/b", []byte("three")); err != nil {
			return err
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Errorf("the write says %v", err)
	}
	wantSecret(t, s, "a/b", "two")
}

func testListSecrets(t *testing.T, db *store.DB) {
	_, s := lock(t, db, seal.NewKey())
	for _, name := range []string{"a/b/c", "a/b", "a/b/d", "a/bc/e", "a/B/c", "a/b-/c", "a/ü/c"} {
		putSecret(t, db, s, name, "of "+name)
	}
	list := func(prefix, want string) {
		t.Helper()
		all, err := s.List(t.Context(), prefix)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range all {
			if string(one.Plain) != "of "+one.Name {
				t.Errorf("%s is %q", one.Name, one.Plain)
			}
			got = append(got, one.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has %q, want %q", prefix, got, want)
		}
	}
	list("a/b/", "a/b/c a/b/d")
	list("a/", "a/B/c a/b a/b-/c a/b/c a/b/d a/bc/e a/ü/c")
	list("b/", "")
	if err := db.Write(t.Context(), func(tx *store.Tx) error { return s.Delete(tx, "a/b/") }); err != nil {
		t.Fatal(err)
	}
	list("a/", "a/B/c a/b a/b-/c a/bc/e a/ü/c")
	if err := db.Write(t.Context(), func(tx *store.Tx) error { return s.DeleteOne(tx, "a/b") }); err != nil {
		t.Fatal(err)
	}
	list("a/", "a/B/c a/b-/c a/bc/e a/ü/c")
	if err := db.Write(t.Context(), func(tx *store.Tx) error { return s.Delete(tx, "a") }); err == nil {
		t.Error("a prefix that could be half a name is accepted")
	}
}

func testNothingPlain(t *testing.T, db *store.DB) {
	ring, s := lock(t, db, seal.NewKey())
	putSecret(t, db, s, "a/b", "credential in plain")
	var sealed []byte
	var id string
	if err := db.Reader(t.Context()).QueryRow(`SELECT sealed, key_id FROM secrets WHERE name = 'a/b'`).Scan(&sealed, &id); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte("plain")) || id != ring.Current() {
		t.Errorf("the row holds %q under %s, the ring seals under %s", sealed, id, ring.Current())
	}
}

func testRegister(t *testing.T, db *store.DB) {
	for _, step := range []struct {
		after, id string
		want      bool
	}{{"x", "k1", false}, {"", "k1", true}, {"", "k2", false}, {"k1", "k2", true}, {"k1", "k3", false}, {"k2", "k0", true}} {
		register(t, db, step.after, step.id, step.want)
	}
	all, err := secrets.NewRows(db).Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for _, k := range all {
		got += k.ID + " " + string(k.Proof) + ","
	}
	if want := "k1 proof of k1,k2 proof of k2,k0 proof of k0,"; got != want {
		t.Errorf("keys %q, want %q", got, want)
	}
}

func testRegisterAtOnce(t *testing.T, db *store.DB) {
	rows := secrets.NewRows(db)
	var won atomic.Int64
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			done, err := rows.Register(t.Context(), "", vault.Registered{ID: fmt.Sprint("k", i), Proof: []byte("p")})
			if err != nil {
				t.Errorf("register: %v", err)
			}
			if done {
				won.Add(1)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Errorf("%d registrations were the first", won.Load())
	}
}

func testSealAnew(t *testing.T, db *store.DB) {
	older, newer := seal.NewKey(), seal.NewKey()
	_, s := lock(t, db, older, newer)
	for i := range 5 {
		putSecret(t, db, s, fmt.Sprint("a/", i), fmt.Sprint("secret ", i))
	}
	rows := secrets.NewRows(db)
	stale := func(n, want, all int) []vault.Sealed {
		t.Helper()
		some, count, err := rows.Stale(t.Context(), newer.ID(), n)
		if err != nil || len(some) != want || count != all {
			t.Fatalf("%d of %d values are to do, %v; want %d of %d", len(some), count, err, want, all)
		}
		return some
	}
	register(t, db, older.ID(), newer.ID(), true)
	if done, err := rows.Retire(t.Context(), newer.ID()); err != nil || done {
		t.Fatalf("the old key is retired though needed: %v, %v", done, err)
	}
	some := stale(2, 2, 5)
	ring, err := seal.NewKeyring([]seal.Key{newer, older}, nil)
	if err != nil {
		t.Fatal(err)
	}
	putSecret(t, db, s, some[1].Name, "written meanwhile") // a write seals under the newest by itself
	var changes []vault.Change
	for _, v := range some {
		plain, err := ring.Open(v.Name, v.Value)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ring.Seal(v.Name, plain)
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, vault.Change{Name: v.Name, Old: v.Value, New: again})
	}
	if err := rows.Replace(t.Context(), newer.ID(), changes); err != nil {
		t.Fatal(err)
	}
	wantSecret(t, s, some[0].Name, "secret 0")
	wantSecret(t, s, some[1].Name, "written meanwhile")
	for _, v := range stale(100, 3, 3) {
		if err := db.Write(t.Context(), func(tx *store.Tx) error { return s.DeleteOne(tx, v.Name) }); err != nil {
			t.Fatal(err)
		}
	}
	if done, err := rows.Retire(t.Context(), newer.ID()); err != nil || !done {
		t.Fatalf("the old key is not retired: %v, %v", done, err)
	}
	if all, err := rows.Keys(t.Context()); err != nil || len(all) != 1 || all[0].ID != newer.ID() {
		t.Errorf("keys %v, %v", all, err)
	}
}

// testLateWrite proves that nothing is sealed under a key that was retired.
func testLateWrite(t *testing.T, db *store.DB) {
	older, newer := seal.NewKey(), seal.NewKey()
	_, late := lock(t, db, older) // a node that doesn't have the new key
	putSecret(t, db, late, "a/b", "kept")
	register(t, db, older.ID(), newer.ID(), true)
	err := db.Write(t.Context(), func(tx *store.Tx) error { return late.Put(tx, "a/c", []byte("x")) })
	if !errors.Is(err, seal.ErrUnknownKey) {
		t.Errorf("a write under the old key: %v", err)
	}
	err = db.Write(t.Context(), func(tx *store.Tx) error {
		return tx.Exec(`INSERT INTO secrets (name, sealed, key_id) VALUES ('a/d', $1, 'retired')`, []byte("x"))
	})
	if err == nil {
		t.Error("the table takes a value of a key that is not registered")
	}
	wantSecret(t, late, "a/b", "kept")
}

func testSecretNames(t *testing.T, db *store.DB) {
	_, s := lock(t, db, seal.NewKey())
	for _, name := range []string{"", "a", "a/", "/a", "a/\x00", "a/" + strings.Repeat("x", 500)} {
		if err := db.Write(t.Context(), func(tx *store.Tx) error { return s.Put(tx, name, nil) }); err == nil {
			t.Errorf("%.20q is accepted as a name", name)
		}
	}
	putSecret(t, db, s, "a/"+strings.Repeat("x", 498), "")
	wantSecret(t, s, "a/"+strings.Repeat("x", 498), "")
}

// stopping lets so many calls of the register through and fails the rest, as a process that is killed does.
type stopping struct {
	vault.Rows
	left int
}

var errKilled = errors.New("killed")

func (s *stopping) alive() error {
	if s.left--; s.left < 0 {
		return errKilled
	}
	return nil
}

func (s *stopping) Register(ctx context.Context, after string, k vault.Registered) (bool, error) {
	if err := s.alive(); err != nil {
		return false, err
	}
	return s.Rows.Register(ctx, after, k)
}

func (s *stopping) Stale(ctx context.Context, id string, n int) ([]vault.Sealed, int, error) {
	if err := s.alive(); err != nil {
		return nil, 0, err
	}
	return s.Rows.Stale(ctx, id, min(n, 2)) // small steps, so that there are points between them
}

func (s *stopping) Replace(ctx context.Context, id string, changes []vault.Change) error {
	if err := s.alive(); err != nil {
		return err
	}
	return s.Rows.Replace(ctx, id, changes)
}

func (s *stopping) Retire(ctx context.Context, id string) (bool, error) {
	if err := s.alive(); err != nil {
		return false, err
	}
	return s.Rows.Retire(ctx, id)
}

// testRotationStops proves that a rotation that stops before any of its steps leaves everything readable to the next
// start, and that the next rotation ends what was begun: with one key, in the register and in the file.
func testRotationStops(t *testing.T, db *store.DB) {
	file := seal.NewFile(filepath.Join(t.TempDir(), "secret.key"))
	start := func(left int) *vault.Vault {
		t.Helper()
		v, err := vault.Open(t.Context(), vault.Config{Rows: &stopping{secrets.NewRows(db), left}, File: file})
		if err != nil {
			t.Fatalf("start: %v", err)
		}
		return v
	}
	first := secrets.New(db, start(1).Keyring())
	for i := range 5 {
		putSecret(t, db, first, fmt.Sprint("a/", i), fmt.Sprint("secret ", i))
	}
	check := func(v *vault.Vault, what string) {
		t.Helper()
		all, err := secrets.New(db, v.Keyring()).List(t.Context(), "a/")
		if err != nil || len(all) != 5 {
			t.Fatalf("%s: %d secrets are readable, %v", what, len(all), err)
		}
		for i, one := range all {
			if string(one.Plain) != fmt.Sprint("secret ", i) {
				t.Errorf("%s: %s is %q", what, one.Name, one.Plain)
			}
		}
	}
	before := start(0).Keyring().Current()
	for steps := 0; ; steps++ {
		what := fmt.Sprintf("stopped after %d steps", steps)
		v := start(steps)
		p, err := v.Rotate(t.Context())
		check(v, what+", running on")
		if err == nil && p.Done {
			break
		}
		if !errors.Is(err, errKilled) {
			t.Fatalf("%s: %+v, %v", what, p, err)
		}
		v = start(100)
		check(v, what+", started again")
		if p, err := v.Rotate(t.Context()); err != nil || !p.Done || p.Key == before {
			t.Fatalf("%s: the next rotation gives %+v, %v; the key was %s", what, p, err, before)
		}
		check(v, what+", ended")
		keys, err := file.Read()
		if err != nil || len(keys) != 1 || keys[0].ID() == before || keys[0].ID() != v.Keyring().Current() {
			t.Fatalf("%s: the file holds %v, %v; before %s", what, keys, err, before)
		}
		if rows, err := secrets.NewRows(db).Keys(t.Context()); err != nil || len(rows) != 1 || rows[0].ID != keys[0].ID() {
			t.Fatalf("%s: registered %v, %v", what, rows, err)
		}
		before = keys[0].ID()
	}
	// A kill between the register and the file leaves only the file to clear.
	keys := []seal.Key{keyOf(t, file), seal.NewKey()}
	if err := file.Write(keys); err != nil {
		t.Fatal(err)
	}
	v := start(100)
	if p, err := v.Rotate(t.Context()); err != nil || !p.Done || p.Key != keys[0].ID() || p.Resealed != 0 {
		t.Errorf("a rotation with only the file to clear gives %+v, %v; want the key %s", p, err, keys[0].ID())
	}
	if left, err := file.Read(); err != nil || len(left) != 1 || left[0].ID() != keys[0].ID() {
		t.Errorf("the file holds %v, %v", left, err)
	}
	check(v, "with the file cleared")
}

func keyOf(t *testing.T, file *seal.File) seal.Key {
	t.Helper()
	keys, err := file.Read()
	if err != nil {
		t.Fatal(err)
	}
	return keys[0]
}

// testForeignFile proves that a key file that was replaced under a running service changes nothing: rotation refuses it,
// the keys in memory still open and seal, and with the file back the rotation goes through.
func testForeignFile(t *testing.T, db *store.DB) {
	file := seal.NewFile(filepath.Join(t.TempDir(), "secret.key"))
	v, err := vault.Open(t.Context(), vault.Config{Rows: secrets.NewRows(db), File: file})
	if err != nil {
		t.Fatal(err)
	}
	s := secrets.New(db, v.Keyring())
	putSecret(t, db, s, "a/b", "kept")
	mine := keyOf(t, file)
	if err := file.Write([]seal.Key{seal.NewKey()}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Rotate(t.Context()); !fault.Is(err, fault.KindConflict) || !strings.Contains(err.Error(), mine.ID()) {
		t.Errorf("rotation over a foreign key file: %v, want a conflict that names %s", err, mine.ID())
	}
	putSecret(t, db, s, "a/c", "sealed meanwhile")
	wantSecret(t, s, "a/b", "kept")
	if rows, err := secrets.NewRows(db).Keys(t.Context()); err != nil || len(rows) != 1 || rows[0].ID != mine.ID() {
		t.Errorf("registered %v, %v; want %s alone", rows, err, mine.ID())
	}
	if err := file.Write([]seal.Key{mine}); err != nil {
		t.Fatal(err)
	}
	if p, err := v.Rotate(t.Context()); err != nil || !p.Done || p.Key == mine.ID() {
		t.Errorf("rotation with the file back: %+v, %v", p, err)
	}
	wantSecret(t, s, "a/b", "kept")
	wantSecret(t, s, "a/c", "sealed meanwhile")
}
