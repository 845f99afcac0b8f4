package app_test

import (
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quarry/internal/app"
	"quarry/internal/store"
	"quarry/internal/store/storetest"
)

// TestSignInsOnEveryNode proves that codes, tokens and renewals of one node count on any other, that a code signs in once
// among all nodes and for five minutes, and that signing out and disabling on one node end all of them everywhere at once.
func TestSignInsOnEveryNode(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		a := node(t, "", dir)
		signIns(t, a, a, store.Config{Dir: dir})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		url := storetest.Postgres(t)
		first, second := nodesOver(t, url)
		signIns(t, first, second, store.Config{URL: url})
	})
}

func signIns(t *testing.T, first, second *app.App, db store.Config) {
	raw, err := os.ReadFile(first.KeyFile())
	if err != nil {
		t.Fatal(err)
	}
	owner := strings.TrimSpace(string(raw))
	made := func(a *app.App, key, method, path, body, member string, want int) string {
		t.Helper()
		status, got := ask(a, key, method, path, body)
		if status != want {
			t.Fatalf("%s %s answers %d: %v, want %d", method, path, status, got, want)
		}
		out, _ := got[member].(string)
		return out
	}
	user := `{"email":"ann@x.test","username":"ann","api_roles":["corpus_viewer"]}`
	once := made(first, owner, "POST", "/v2/users", user, "one_time_code", 201)
	made(second, "", "POST", "/v2/set_password", `{"username":"ann","one_time_code":"`+once+`","password":"correct horse battery"}`, "", 204)
	key := func(a *app.App) string {
		t.Helper()
		token := made(a, "", "POST", "/v2/sign_in", `{"username":"ann","password":"correct horse battery"}`, "access_token", 200)
		status, got := askBearer(a, token, "POST", "/v2/api_keys", `{"name":"k","api_key_role":"personal"}`)
		if status != 201 {
			t.Fatalf("make a key: %d %v", status, got)
		}
		return got["secret_key"].(string)
	}(first)
	code := func(a *app.App) string {
		t.Helper()
		return made(a, key, "POST", "/v2/sign_in/codes", "", "code", 201)
	}
	enter := func(a *app.App, code string, want int) string {
		t.Helper()
		return made(a, "", "POST", "/v2/sign_in", `{"code":"`+code+`"}`, "access_token", want)
	}
	nodes := []*app.App{first, second}
	expect := func(token string, want int) {
		t.Helper()
		for i, n := range nodes {
			if got := bearer(n, token, "GET", "/v2/corpora"); got != want {
				t.Errorf("node %d answers %d, want %d", i, got, want)
			}
		}
	}

	used := code(first)
	token := enter(second, used, 200)
	enter(first, used, 401)
	enter(second, used, 401)
	late := code(second)
	storetest.AgeSignInCodes(t, db, 4*time.Minute)
	early := code(second)
	storetest.AgeSignInCodes(t, db, time.Minute)
	enter(first, late, 401)
	expect(enter(first, early, 200), 200)

	raced := code(first)
	var entered atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if status, _ := ask(nodes[i%2], "", "POST", "/v2/sign_in", `{"code":"`+raced+`"}`); status == http.StatusOK {
				entered.Add(1)
			}
		})
	}
	all.Wait()
	if entered.Load() != 1 {
		t.Errorf("%d signed in with one code", entered.Load())
	}

	expect(token, 200)
	status, renewed := askBearer(first, token, "POST", "/v2/sign_in/renew", "")
	fresh, _ := renewed["access_token"].(string)
	if status != http.StatusOK || fresh == token {
		t.Fatalf("renewal answers %d: %v", status, renewed)
	}
	expect(fresh, 200)
	unused := code(second)
	if status, got := askBearer(second, fresh, "POST", "/v2/sign_out", ""); status != http.StatusNoContent {
		t.Fatalf("signing out answers %d: %v", status, got)
	}
	expect(token, 401)
	expect(fresh, 401)
	enter(first, unused, 401)
	if status, got := askBearer(first, token, "POST", "/v2/sign_in/renew", ""); status != http.StatusUnauthorized {
		t.Errorf("renewal after signing out answers %d: %v", status, got)
	}

	token, unused = enter(first, code(second), 200), code(first)
	made(second, owner, "PATCH", "/v2/users/ann", `{"enabled":false}`, "", 200)
	expect(token, 401)
	enter(first, unused, 401)
	made(first, owner, "PATCH", "/v2/users/ann", `{"enabled":true}`, "", 200)
	enter(second, unused, 401)
	unused = code(first)
	made(first, owner, "DELETE", "/v2/users/ann", "", "", 204)
	enter(second, unused, 401)
}
