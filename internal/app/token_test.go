package app_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"quarry/internal/app"
)

// TestTokensOnEveryNode proves that a token given out by one node works on any, also right after a rotation on another;
// that rotation voids none; and that changes of the client and its deletion count from the next request on everywhere.
func TestTokensOnEveryNode(t *testing.T) {
	t.Parallel()
	onNodes(t, useTokens)
}

// bearer sends a request with an access token.
func bearer(a *app.App, token, method, path string) int {
	req := httptest.NewRequest(method, path, nil)
	req.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, req)
	return w.Code
}

// grant asks for a token under some host name.
func grant(t *testing.T, a *app.App, host, clientID, secret string) string {
	t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {clientID}, "client_secret": {secret}}
	req := httptest.NewRequest("POST", "http://"+host+"/oauth2/token", strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, req)
	var got struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
		t.Fatalf("a request for a token answers %d: %s", w.Code, w.Body)
	}
	return got.Token
}

func useTokens(t *testing.T, first, second *app.App) {
	raw, err := os.ReadFile(first.KeyFile())
	if err != nil {
		t.Fatal(err)
	}
	owner := strings.TrimSpace(string(raw))
	must := func(a *app.App, method, path, body string, want int) map[string]any {
		t.Helper()
		status, got := ask(a, owner, method, path, body)
		if status != want {
			t.Fatalf("%s %s answers %d: %v", method, path, status, got)
		}
		return got
	}
	made := must(first, "POST", "/v2/app_clients", `{"type":"client_credentials","name":"bot","api_roles":["corpus_viewer"]}`, 201)
	path, clientID, secret := "/v2/app_clients/"+made["id"].(string), made["client_id"].(string), made["client_secret"].(string)
	expect := func(token string, want int) {
		t.Helper()
		for i, n := range []*app.App{first, second} {
			if got := bearer(n, token, "GET", "/v2/corpora"); got != want {
				t.Errorf("node %d answers %d, want %d", i, got, want)
			}
		}
	}
	old := grant(t, first, "search.example.org", clientID, secret)
	expect(old, 200)
	kid := must(second, "POST", "/v2/signing_keys/rotate", "", 200)["kid"]
	expect(old, 200)
	fresh := grant(t, first, "other.example.org:81", clientID, secret)
	expect(fresh, 200)
	oldClaims, freshClaims := outsider(t, second, old), outsider(t, second, fresh)
	if oldClaims.Issuer != freshClaims.Issuer || oldClaims.Audience[0] != freshClaims.Audience[0] || freshClaims.ID == oldClaims.ID {
		t.Errorf("claims %+v and %+v", oldClaims, freshClaims)
	}
	if got := keyID(t, fresh); got != kid {
		t.Errorf("the first node signs with %s after a rotation on the second, want %v", got, kid)
	}
	must(second, "PATCH", path, `{"api_roles":[]}`, 200)
	expect(old, 403)
	must(first, "PATCH", path, `{"api_roles":["owner"]}`, 200)
	expect(fresh, 200)
	must(second, "DELETE", path, "", 204)
	expect(old, 401)
	expect(fresh, 401)
}

// outsider checks a token as a program would that knows the published keys and nothing else.
func outsider(t *testing.T, a *app.App, token string) jwt.Claims {
	t.Helper()
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/.well-known/jwks.json", nil))
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(w.Body.Bytes(), &set); err != nil {
		t.Fatal(err)
	}
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	var c jwt.Claims
	if err := parsed.Claims(&set, &c); err != nil {
		t.Fatalf("the published keys don't check the token: %v", err)
	}
	return c
}

func keyID(t *testing.T, token string) string {
	t.Helper()
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Headers[0].KeyID
}

// TestSigningKeyAtRest proves that no file of the data folder shows a private signing key or the secret of a client, and
// that tokens outlive a restart.
func TestSigningKeyAtRest(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var token, secret, owner string
	t.Run("before", func(t *testing.T) { // the service ends with the subtest
		a := node(t, "", folder)
		raw, err := os.ReadFile(a.KeyFile())
		if err != nil {
			t.Fatal(err)
		}
		owner = strings.TrimSpace(string(raw))
		_, made := ask(a, owner, "POST", "/v2/app_clients", `{"type":"client_credentials","name":"bot","api_roles":["corpus_viewer"]}`)
		secret = made["client_secret"].(string)
		token = grant(t, a, "localhost", made["client_id"].(string), secret)
	})
	seen := 0
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		seen++
		for _, hidden := range []string{`"d":"`, secret, token} {
			if strings.Contains(string(raw), hidden) {
				t.Errorf("%s holds %.8s…", path, hidden)
			}
		}
		return err
	})
	if err != nil || seen == 0 {
		t.Fatalf("%d files, %v", seen, err)
	}
	if got := bearer(node(t, "", folder), token, "GET", "/v2/corpora"); got != http.StatusOK {
		t.Errorf("the token answers %d after a restart", got)
	}
}
