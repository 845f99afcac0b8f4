package app_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/app"
	"quarry/internal/app/apptest"
	"quarry/internal/config"
	"quarry/internal/store"
	"quarry/internal/store/agents"
)

// desk starts a service with an agent whose rule keeps who opens a session, as its tool has heard it.
func desk(t *testing.T) (a *app.App, owner string, cfg config.Config) {
	t.Helper()
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("X-Caller")) }))
	t.Cleanup(echo.Close)
	a, owner = apptest.Start(t, func(c *config.Config) {
		c.OutboundAllow = "127.0.0.1"
		cfg = *c
	})
	status, made := ask(a, owner, "POST", "/v2/agents", `{"key": "desk", "name": "Desk", "model": {"name": "extractive-1.0"},
		"tool_configurations": {"echo": {"type": "web_get", "argument_override": {"url": "`+echo.URL+`", "headers": {"X-Caller": {"$ref": "session.caller.id"}}}}},
		"enrichment": [{"tool_configuration": "echo", "output_transform": "{heard: .content, caller: $session.caller}"}]}`)
	if status != http.StatusCreated {
		t.Fatalf("the agent is answered with %d: %v", status, made)
	}
	return a, owner, cfg
}

// TestCaller proves who opens a session, as its rules see them, for each kind of credential: a role-based key is known by the digest of its
// secret, a personal key and an access token by their person.
func TestCaller(t *testing.T) {
	t.Parallel()
	a, owner, _ := desk(t)
	must := func(method, path, body string, want int) map[string]any {
		t.Helper()
		status, got := ask(a, owner, method, path, body)
		if status != want {
			t.Fatalf("%s %s answers %d: %v", method, path, status, got)
		}
		return got
	}
	text := func(of map[string]any, member string) string { return fmt.Sprint(of[member]) }
	person := must("POST", "/v2/users", `{"email": "ann@x.test", "username": "Ann", "api_roles": ["viewer", "agent_user"]}`, 201)
	must("POST", "/v2/set_password", fmt.Sprintf(`{"username": "Ann", "one_time_code": %q, "password": "correct horse battery"}`, person["one_time_code"]), 204)
	token := text(must("POST", "/v2/sign_in", `{"username": "Ann", "password": "correct horse battery"}`, 200), "access_token")
	status, made := askBearer(a, token, "POST", "/v2/api_keys", `{"name": "mine", "api_key_role": "personal"}`)
	if status != http.StatusCreated {
		t.Fatalf("a personal key is answered with %d: %v", status, made)
	}
	personal := text(made, "secret_key")
	role := text(must("POST", "/v2/api_keys", `{"name": "role", "api_roles": ["agent_user"]}`, 201), "secret_key")
	client := must("POST", "/v2/app_clients", `{"type": "client_credentials", "name": "bot", "api_roles": ["agent_user"]}`, 201)
	granted := grant(t, a, "search.example.org", text(client, "client_id"), text(client, "client_secret"))
	digest := sha256.Sum256([]byte(role))
	ann := map[string]any{"type": "user", "id": person["id"], "email": "ann@x.test"}
	for name, c := range map[string]struct {
		header, credential string
		want               map[string]any
	}{
		"signed in": {"Authorization", "Bearer " + token, ann}, "a personal key": {"x-api-key", personal, ann},
		"a key with roles": {"x-api-key", role, map[string]any{"type": "api_key", "id": hex.EncodeToString(digest[:])}},
		"a client":         {"Authorization", "Bearer " + granted, map[string]any{"type": "app_client", "id": client["client_id"]}},
	} {
		status, got := askWith(a, c.header, c.credential, "POST", "/v2/agents/desk/sessions", `{"metadata": {"caller": "me"}, "caller": {"type": "user", "id": "me"}}`)
		want := map[string]any{"heard": c.want["id"], "caller": c.want}
		if d := cmp.Diff(want, got["metadata"]); status != http.StatusCreated || d != "" {
			t.Errorf("%s: %d (-want +got):\n%s", name, status, d)
		}
	}
}

// TestEnrichmentOfBefore proves what becomes of a value that an agent has kept from before there were rules: it is read as it is, and
// sessions and writes that leave it in place are refused with what to do, until it is cleared or replaced.
func TestEnrichmentOfBefore(t *testing.T) {
	t.Parallel()
	a, owner, cfg := desk(t)
	db, err := store.Open(t.Context(), store.Config{Dir: cfg.Data})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows := agents.New(db)
	was, err := rows.Get(t.Context(), "desk")
	if err == nil {
		was.Enrichment = json.RawMessage(`{"rules": "free"}`)
		_, err = rows.Replace(t.Context(), was)
	}
	if err != nil {
		t.Fatal(err)
	}
	const place = "/v2/agents/desk"
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", place, "", 200, `"enrichment":{"rules":"free"}`},
		{"POST", place + "/sessions", `{}`, 422, "must be a list of rules"},
		{"PATCH", place, `{"name": "Other"}`, 400, `"body.enrichment":"must be a list of rules`},
		{"PATCH", place, `{"enabled": true}`, 400, `"body.enrichment"`},
		{"GET", place + "/sessions", "", 200, `"sessions":[]`},
		{"PATCH", place, `{"name": "Other", "enrichment": null}`, 200, `"name":"Other"`},
		{"POST", place + "/sessions", `{}`, 201, `"metadata":{}`},
	} {
		status, got := ask(a, owner, c.method, c.path, c.body)
		raw, _ := json.Marshal(got)
		if status != c.status || !strings.Contains(string(raw), c.says) {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, status, raw)
		}
	}
}
