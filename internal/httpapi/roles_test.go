package httpapi_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"quarry/internal/api"
	"quarry/internal/httpapi"
	"quarry/internal/identity/authz"
)

// rolesInKey reads "api owner", "corpus mine editor" or "agent other agent_user", which stand for a key with that role
// alone, "person owner" and "client owner", which stand for others with it; test/roles makes real users and keys, and has no agents yet.
func rolesInKey(_ context.Context, c httpapi.Credential) (authz.Principal, error) {
	p := authz.Principal{Kind: authz.APIKey, ID: "key", Name: c.Secret}
	switch f := strings.Fields(c.Secret); f[0] {
	case "api":
		p.APIRoles = f[1:]
	case "person":
		p.Kind, p.APIRoles = authz.User, f[1:]
	case "client":
		p.Kind, p.APIRoles = authz.AppClient, f[1:]
	case "corpus":
		p.CorpusRoles = map[string][]string{f[1]: {f[2]}}
	case "agent":
		p.AgentRoles = map[string][]string{f[1]: {f[2]}}
	}
	return p, nil
}

// TestWalkRoles proves for every operation of the contract, built or not, and every single role, also on another
// corpus or agent than the one named, that the chain lets in whom the operation's lists name literally and nobody else.
func TestWalkRoles(t *testing.T) {
	t.Parallel()
	built := area{}
	for _, op := range api.Operations {
		if strings.HasPrefix(op.Path, "/v2/") {
			built[op.ID] = seen
		}
	}
	asked := 0
	for name, handlers := range map[string]area{"built": built, "not built": {}} {
		s, err := httpapi.New(httpapi.Config{
			Authenticate: rolesInKey, Areas: []httpapi.Area{handlers}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), MaxJSON: 1 << 16,
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range api.Operations {
			op := &api.Operations[i]
			if !strings.HasPrefix(op.Path, "/v2/") || op.Public {
				continue
			}
			for key, want := range callers(op) {
				r := httptest.NewRequestWithContext(t.Context(), op.Method, fill(op.Path), nil)
				r.Header.Set("X-Api-Key", key)
				r.Header.Set("Request-Timeout", "0") // at fault in every request, behind the decision
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				asked++
				allowed := w.Code != http.StatusForbidden
				if past := w.Code == http.StatusBadRequest || w.Code == http.StatusNotImplemented; allowed != want || allowed && !past {
					t.Errorf("%s, %s, as %q: %d %s, want allowed %t", name, op.ID, key, w.Code, w.Body, want)
				}
			}
		}
	}
	if asked < 10_000 {
		t.Errorf("%d requests were made, at least 10,000 were to be", asked)
	}
}

// callers returns a key for each role and whether the operation's own lists name it.
func callers(op *api.Operation) map[string]bool {
	out := map[string]bool{"nobody": false}
	for _, role := range authz.APIRoles() {
		out["api "+role] = slices.Contains(op.APIRoles, role) && !op.PersonalKeys
		out["person "+role] = slices.Contains(op.APIRoles, role)
		out["client "+role] = slices.Contains(op.APIRoles, role)
	}
	for _, role := range authz.CorpusRoles() {
		named := strings.Contains(op.Path, "{corpus_key}")
		listed := slices.Contains(op.CorpusRoles, role)
		out["corpus mine "+role] = listed
		out["corpus other "+role] = listed && !named // the body or the rows name the corpus, and the handler decides
	}
	for _, role := range authz.AgentRoles() {
		named := strings.Contains(op.Path, "{agent_key}")
		listed := slices.Contains(op.AgentRoles, role)
		out["agent mine "+role] = listed
		out["agent other "+role] = listed && !named
	}
	out["person"], out["client"] = false, false
	for key := range out {
		if op.OpenTo != "" { // whatever the roles are
			out[key] = op.OpenTo == api.OpenToCallers || strings.HasPrefix(key, "person")
		}
	}
	return out
}
