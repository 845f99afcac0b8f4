package app_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"quarry/internal/app"
	"quarry/internal/app/apptest"
	"quarry/internal/config"
	"quarry/internal/store/storetest"
)

// TestKeyEndsOnEveryNode proves that a key that is disabled or deleted on one node is refused by the next request on
// any node over the same database, and that one that is enabled is taken, while others use the key without pause.
func TestKeyEndsOnEveryNode(t *testing.T) {
	t.Parallel()
	onNodes(t, endKeys)
}

// onNodes runs test in parallel on one node over SQLite, given twice, and on two over one PostgreSQL database.
func onNodes(t *testing.T, test func(t *testing.T, first, second *app.App)) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		a := node(t, "", t.TempDir())
		test(t, a, a)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		first, second := nodes(t)
		test(t, first, second)
	})
}

// node starts a service in process, on SQLite or on the database given.
func node(t *testing.T, database, folder string) *app.App {
	t.Helper()
	a, _ := apptest.Start(t, func(c *config.Config) { c.Data, c.Database = folder, database })
	return a
}

// nodes starts two services over one new PostgreSQL database, with one secret key.
func nodes(t *testing.T) (first, second *app.App) {
	t.Helper()
	return nodesOver(t, storetest.Postgres(t))
}

// nodesOver starts two services over one PostgreSQL database, with one secret key.
func nodesOver(t *testing.T, url string) (first, second *app.App) {
	t.Helper()
	first, folder := node(t, url, t.TempDir()), t.TempDir()
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(first.KeyFile()), "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "secret.key"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return first, node(t, url, folder)
}

func ask(a *app.App, key, method, path, body string) (status int, answer map[string]any) {
	return askWith(a, "x-api-key", key, method, path, body)
}

func askBearer(a *app.App, token, method, path, body string) (status int, answer map[string]any) {
	return askWith(a, "Authorization", "Bearer "+token, method, path, body)
}

// askWith sends a request with a header that holds the credential.
func askWith(a *app.App, header, credential, method, path, body string) (status int, answer map[string]any) {
	req := httptest.NewRequest(method, path, bytes.NewReader([]byte(body)))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(header, credential)
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, req)
	_ = json.Unmarshal(w.Body.Bytes(), &answer) // an answer without a body has no members
	return w.Code, answer
}

// endKeys makes keys on one node, uses them on both and ends them on either.
func endKeys(t *testing.T, first, second *app.App) {
	raw, err := os.ReadFile(first.KeyFile())
	if err != nil {
		t.Fatal(err)
	}
	owner := strings.TrimSpace(string(raw))
	nodes := []*app.App{first, second}
	for _, style := range []string{`"api_roles":["viewer"]`, `"api_key_role":"personal"`} {
		status, made := ask(first, owner, "POST", "/v2/api_keys", `{"name":"short-lived",`+style+`}`)
		if status != http.StatusCreated {
			t.Fatalf("create answers %d: %v", status, made)
		}
		secret, path := made["secret_key"].(string), "/v2/api_keys/"+made["id"].(string)
		for round := range 4 {
			whileUsed(t, nodes, secret, http.StatusUnauthorized, func() {
				if status, got := ask(nodes[round%2], owner, "PATCH", path, `{"enabled":false}`); status != http.StatusOK {
					t.Fatalf("disable answers %d: %v", status, got)
				}
			})
			whileUsed(t, nodes, secret, http.StatusOK, func() {
				if status, got := ask(second, owner, "PATCH", path, `{"enabled":true}`); status != http.StatusOK {
					t.Fatalf("enable answers %d: %v", status, got)
				}
			})
		}
		whileUsed(t, nodes, secret, http.StatusUnauthorized, func() {
			if status, got := ask(second, owner, "DELETE", path, ""); status != http.StatusNoContent {
				t.Fatalf("delete answers %d: %v", status, got)
			}
		})
	}
}

// whileUsed runs change while the key is in use on all nodes. A request that begins after change has ended must get the
// status wanted; those before may get either.
func whileUsed(t *testing.T, nodes []*app.App, secret string, want int, change func()) {
	t.Helper()
	var changed atomic.Bool
	var users sync.WaitGroup
	for _, n := range nodes {
		users.Go(func() {
			for after := 0; after < 3; {
				ended := changed.Load()
				status, got := ask(n, secret, "GET", "/v2/corpora", "")
				if ended {
					after++
				}
				if ended && status != want || status != http.StatusOK && status != http.StatusUnauthorized {
					t.Errorf("a request after the change answers %d, want %d: %v", status, want, got)
					return
				}
			}
		})
	}
	defer users.Wait()
	defer changed.Store(true)
	change()
}
