package crash

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"quarry/internal/secret/seal"
	"quarry/internal/secret/vault"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
	"quarry/internal/testkit"
)

// sealedSecrets is large enough that each rotation takes several batches.
const sealedSecrets = 450

// TestKillRotation proves that a service that is killed at any point of rotating its secret keys can read every secret
// at its next start, and that the next rotation ends with one key in the file, under which everything is sealed.
func TestKillRotation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	openSecrets(t, dir, func(db *store.DB, s *secrets.Store) {
		for i := range sealedSecrets {
			if err := db.Write(t.Context(), func(tx *store.Tx) error { return s.Put(tx, secretName(i), []byte(secretText(i))) }); err != nil {
				t.Fatal(err)
			}
		}
	})
	unfinished := 0
	for range *rounds {
		p := testkit.StartBinary(t, dir)
		dead := make(chan struct{})
		go func() {
			defer close(dead)
			for c := p.Client(); ; {
				if status, answer, err := c.Do("POST", "/v2/secret_keys/rotate", nil); err != nil {
					return // the program is gone
				} else if status != http.StatusOK {
					t.Errorf("rotate answers %d: %v", status, answer)
					return
				}
			}
		}()
		awaitChanges(t, dir, 1+r.IntN(4), r.IntN(3000))
		p.Kill()
		<-dead
		if keysInFile(t, dir) > 1 {
			unfinished++
		}
		verifySecrets(t, dir)
	}
	t.Logf("killed %d times, %d times in the middle", *rounds, unfinished)
	p := testkit.StartBinary(t, dir)
	for i, done := 0, false; !done; i++ {
		answer := p.Client().Must(t, http.StatusOK, "POST", "/v2/secret_keys/rotate", nil)
		if done = answer["done"].(bool); i == 100 {
			t.Fatalf("the rotation does not end: %v", answer)
		}
	}
	if err := p.Stop(); err != nil {
		t.Errorf("the last stop: %v\n%s", err, p.Log())
	}
	if n := keysInFile(t, dir); n != 1 {
		t.Errorf("%d keys are left in the file", n)
	}
	verifySecrets(t, dir)
}

func secretName(i int) string { return fmt.Sprintf("crash/%03d", i) }
func secretText(i int) string { return fmt.Sprintf("credential number %d", i) }

// awaitChanges returns when the key file has changed so many times, and some looks later.
func awaitChanges(t *testing.T, dir string, changes, looks int) {
	t.Helper()
	name := filepath.Join(dir, "secret.key")
	last, err := os.ReadFile(name)
	for changes > 0 && err == nil {
		var now []byte
		if now, err = os.ReadFile(name); !bytes.Equal(now, last) {
			changes, last = changes-1, now
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for range looks {
		runtime.Gosched()
		_, _ = os.Stat(name) // takes its time
	}
}

func keysInFile(t *testing.T, dir string) int {
	t.Helper()
	keys, err := seal.NewFile(filepath.Join(dir, "secret.key")).Read()
	if err != nil {
		t.Fatal(err)
	}
	return len(keys)
}

// openSecrets opens the store of a data folder that no server holds, as a start of the service does.
func openSecrets(t *testing.T, dir string, use func(*store.DB, *secrets.Store)) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	v, err := vault.Open(t.Context(), vault.Config{Rows: secrets.NewRows(db), File: seal.NewFile(filepath.Join(dir, "secret.key"))})
	if err != nil {
		t.Fatal(err)
	}
	use(db, secrets.New(db, v.Keyring()))
}

func verifySecrets(t *testing.T, dir string) {
	t.Helper()
	openSecrets(t, dir, func(_ *store.DB, s *secrets.Store) {
		all, err := s.List(t.Context(), "crash/")
		if err != nil || len(all) != sealedSecrets {
			t.Fatalf("%d of %d secrets are readable: %v", len(all), sealedSecrets, err)
		}
		for i, one := range all {
			if one.Name != secretName(i) || string(one.Plain) != secretText(i) {
				t.Fatalf("%s is %q", one.Name, one.Plain)
			}
		}
	})
}
