package binary

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"quarry/internal/testkit"
)

// TestCopyWhileWriting proves what the guide says about a copy of a running service (VACUUM INTO): it holds every document
// that was acknowledged before it began, whole, while others write; the writers never fail; and a service starts from the
// database and the secret key alone.
func TestCopyWhileWriting(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("sqlite3")
	if err != nil {
		testkit.Skip(t, "sqlite3 is not installed")
	}
	dir, to := t.TempDir(), t.TempDir()
	p := testkit.StartBinary(t, dir)
	createCorpus(t, p.Client(), "c")
	var mu sync.Mutex
	written := 0 // guarded by mu: documents d0 to d(written-1) are acknowledged
	known := func() int {
		mu.Lock()
		defer mu.Unlock()
		return written
	}
	ready, stop := make(chan struct{}), make(chan struct{})
	enough := sync.OnceFunc(func() { close(ready) })
	var writer sync.WaitGroup
	writer.Go(func() {
		defer enough()
		for i := 0; ; i++ {
			status, answer, err := p.Client().Do("POST", "/v2/corpora/c/documents", core(fmt.Sprintf("d%d", i), i, fmt.Sprintf("Close the uniform%dq gate.", i)))
			if err != nil || status != http.StatusCreated {
				t.Errorf("document %d: %d %v %v", i, status, answer, err)
				return
			}
			mu.Lock()
			written++
			mu.Unlock()
			if i == 20 {
				enough()
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	<-ready
	var before []int // of each copy
	for n := range 3 {
		before = append(before, known())
		name := filepath.Join(to, fmt.Sprint(n), "quarry.db")
		if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), tool, "-readonly", filepath.Join(dir, "quarry.db"), "VACUUM INTO '"+name+"'").CombinedOutput(); err != nil {
			t.Fatalf("copy %d: %v: %s", n, err, out)
		}
	}
	close(stop)
	writer.Wait()
	secret, err := os.ReadFile(filepath.Join(dir, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	for n, least := range before {
		folder := filepath.Join(to, fmt.Sprint(n))
		for name, content := range map[string]string{"secret.key": string(secret), "owner.key": p.Key} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		again := testkit.StartBinary(t, folder)
		all := listed(t, again.Client(), "c")
		if len(all) < least {
			t.Errorf("copy %d has %d documents, %d were acknowledged before it", n, len(all), least)
		}
		for i := range len(all) { // those of the first ones, without a gap
			mustFind(t, again.Client(), "c", fmt.Sprintf("d%d", i), fmt.Sprintf("uniform%dq", i), i, true)
		}
		again.Kill()
	}
}
