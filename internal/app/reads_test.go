package app

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"quarry/internal/config"
	"quarry/internal/identity/authz"
	"quarry/internal/identity/token"
)

// TestAuthenticationReadsOnce proves that authentication and the permission check of a request cost one statement for a
// known credential of every kind, at most one for any other, and none for what is no token of ours. It stands in the
// package since nothing outside sees the database of an App.
func TestAuthenticationReadsOnce(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Data, cfg.Listen = t.TempDir(), ""
	a, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	raw, err := os.ReadFile(a.KeyFile())
	if err != nil {
		t.Fatal(err)
	}
	owner := strings.TrimSpace(string(raw))
	call := func(method, path string, body any, header ...string) (int, map[string]any) {
		var in bytes.Buffer
		if body != nil {
			if err := json.NewEncoder(&in).Encode(body); err != nil {
				t.Fatal(err)
			}
		}
		r := httptest.NewRequest(method, path, &in)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, r)
		var answer map[string]any
		_ = json.Unmarshal(w.Body.Bytes(), &answer) // some answers have no body
		return w.Code, answer
	}
	must := func(want int, method, path string, body any) map[string]any {
		t.Helper()
		status, answer := call(method, path, body, "X-Api-Key", owner)
		if status != want {
			t.Fatalf("%s %s: %d %v", method, path, status, answer)
		}
		return answer
	}
	type object = map[string]any
	var grants []object
	for _, key := range []string{"a", "b", "c"} {
		must(http.StatusCreated, "POST", "/v2/corpora", object{"key": key})
		grants = append(grants, object{"corpus_key": key, "role": "viewer"})
	}
	text := func(o object, name string) string { s, _ := o[name].(string); return s }
	viewer := text(must(http.StatusCreated, "POST", "/v2/api_keys", object{"name": "v", "api_roles": []string{"viewer"}, "corpus_roles": grants}), "secret_key")
	powerless := text(must(http.StatusCreated, "POST", "/v2/api_keys", object{"name": "p", "corpus_roles": grants}), "secret_key")
	made := must(http.StatusCreated, "POST", "/v2/app_clients", object{"name": "c", "type": "client_credentials", "api_roles": []string{"viewer"}, "corpus_roles": grants})
	client := text(must(http.StatusOK, "POST", "/oauth/token", object{"grant_type": "client_credentials", "client_id": made["client_id"], "client_secret": made["client_secret"]}), "access_token")
	ann := must(http.StatusCreated, "POST", "/v2/users", object{"email": "ann@x.test", "api_roles": []string{"viewer"}})
	signedIn, _, err := a.identity.tokens.Issue(t.Context(), token.Holder{Kind: authz.User, ID: text(ann, "id"), SignedIn: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, header, value string
		status              int
		reads               int64
	}{
		{"personal key", "X-Api-Key", owner, 200, 1},
		{"key with roles", "X-Api-Key", viewer, 200, 1},
		{"key as a bearer", "Authorization", "Bearer " + viewer, 200, 1},
		{"application client", "Authorization", "Bearer " + client, 200, 1},
		{"signed-in user", "Authorization", "Bearer " + signedIn, 200, 1},
		{"key without the role", "X-Api-Key", powerless, 403, 1},
		{"unknown key", "X-Api-Key", "zut_" + strings.Repeat("x", 38), 401, 1},
		{"no credential", "X-Other", "x", 401, 0},
		{"token with another signature", "Authorization", "Bearer " + client[:len(client)-4] + "AAAA", 401, 0},
		{"no token", "Authorization", "Bearer a.b.c", 401, 0},
	} {
		least := int64(-1)
		for range 10 { // the queue of jobs reads now and then, which only adds
			before := a.db.Reads()
			if status, answer := call("GET", "/v2/encoders", nil, c.header, c.value); status != c.status { // an operation that reads no row of its own
				t.Fatalf("%s: %d %v, want %d", c.name, status, answer, c.status)
			}
			if n := a.db.Reads() - before; least < 0 || n < least {
				least = n
			}
		}
		if least != c.reads {
			t.Errorf("%s: %d reads, want %d", c.name, least, c.reads)
		}
	}
}
