package vault_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/secret/seal"
	"quarry/internal/secret/vault"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
	"quarry/internal/store/storetest"
)

func keyFile(t *testing.T) *seal.File { return seal.NewFile(filepath.Join(t.TempDir(), "secret.key")) }

// TestOpen proves that the first start creates a key file, that later starts open what was sealed, and that a database is
// refused with other keys in a text that names both.
func TestOpen(t *testing.T) {
	t.Parallel()
	rows, file := secrets.NewRows(storetest.Open(t, store.Config{Dir: t.TempDir()})), keyFile(t)
	first, err := vault.Open(t.Context(), vault.Config{Rows: rows, File: file})
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := first.Keyring().Seal("a/b", []byte("plain"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := file.Read()
	if err != nil || len(keys) != 1 {
		t.Fatalf("%d keys in the file, %v; want 1", len(keys), err)
	}
	for name, cfg := range map[string]vault.Config{"file": {Rows: rows, File: file}, "setting": {Rows: rows, File: keyFile(t), Keys: keys}} {
		again, err := vault.Open(t.Context(), cfg)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if plain, err := again.Keyring().Open("a/b", sealed); err != nil || string(plain) != "plain" {
			t.Errorf("%s: opened %q, %v", name, plain, err)
		}
	}
	other := seal.NewKey()
	_, err = vault.Open(t.Context(), vault.Config{Rows: rows, File: keyFile(t), Keys: []seal.Key{other}})
	var refused *vault.KeyError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), other.ID()) || !strings.Contains(err.Error(), keys[0].ID()) {
		t.Errorf("other keys: %v, want a KeyError that names %s and %s", err, other.ID(), keys[0].ID())
	}
}

// TestRotate proves that a rotation leaves one new key in the file, and that keys of the environment are rotated only when
// a new one stands first.
func TestRotate(t *testing.T) {
	t.Parallel()
	rows, file := secrets.NewRows(storetest.Open(t, store.Config{Dir: t.TempDir()})), keyFile(t)
	v, err := vault.Open(t.Context(), vault.Config{Rows: rows, File: file})
	if err != nil {
		t.Fatal(err)
	}
	before := v.Keyring().Current()
	p, err := v.Rotate(t.Context())
	keys, errRead := file.Read()
	if err != nil || errRead != nil || !p.Done || p.Key == before || len(keys) != 1 || keys[0].ID() != p.Key {
		t.Fatalf("%+v, %v; %d keys in the file, %v", p, err, len(keys), errRead)
	}
	if v, err = vault.Open(t.Context(), vault.Config{Rows: rows, Keys: keys}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Rotate(t.Context()); !fault.Is(err, fault.KindConflict) {
		t.Errorf("without a new key in the environment: %v, want a conflict", err)
	}
	fresh := seal.NewKey()
	if v, err = vault.Open(t.Context(), vault.Config{Rows: rows, Keys: append([]seal.Key{fresh}, keys...)}); err != nil {
		t.Fatal(err)
	}
	if p, err := v.Rotate(t.Context()); err != nil || !p.Done || p.Key != fresh.ID() || p.Advice == "" {
		t.Errorf("with a new key in the environment: %+v, %v", p, err)
	}
}
