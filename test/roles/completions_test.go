package roles_test

import (
	"net/http"
	"testing"

	"quarry/internal/provider/scripted"
)

// TestCompletions proves that a model is called only for whom the contract names, at both paths: a role on a corpus does
// not reach it, and a caller without a role costs no call whatever its body holds. The header of our own keys wins over a
// bearer token, as clients send a made-up one beside it.
func TestCompletions(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	provider := scripted.Start(t)
	s.must(t, http.StatusCreated, "POST", "/v2/corpora", object{"key": "a"})
	made := s.must(t, http.StatusCreated, "POST", "/v2/llms", object{
		"type": "openai-compatible", "name": "assistant", "model": "say:hi", "uri": provider.URL + "/v1/chat/completions",
	})
	_, viewer := s.key(t, object{"name": "viewer", "api_roles": []string{"corpus_viewer"}})
	_, onlyA := s.key(t, object{"name": "a", "corpus_roles": onCorpus("a", "administrator")})
	_, agents := s.key(t, object{"name": "agents", "api_roles": []string{"agent_administrator"}})
	_, none := s.key(t, object{"name": "none"})
	asked := object{"model": "assistant", "messages": []object{{"role": "user", "content": "hello"}}}
	tested := len(provider.Requests()) // the connection, when it was registered
	for _, path := range []string{"/v2/llms/chat/completions", "/v1/chat/completions"} {
		for _, body := range []object{asked, {"model": 5}, {"model": "nobody", "messages": []object{{"role": "user", "content": "hello"}}}} {
			for name, secret := range map[string]string{"a role on a corpus": onlyA, "roles for agents": agents, "no role": none} {
				if w := s.ask(t, "POST", path, secret, body); w.Code != http.StatusForbidden {
					t.Errorf("%s with %s: %d %s, want 403", path, name, w.Code, w.Body)
				}
			}
			if w := s.ask(t, "POST", path, "", body, "Authorization: Bearer nobody"); w.Code != http.StatusUnauthorized {
				t.Errorf("%s as nobody: %d %s, want 401", path, w.Code, w.Body)
			}
		}
	}
	if n := len(provider.Requests()); n != tested {
		t.Fatalf("%d calls were made for callers that may make none", n-tested)
	}
	for _, path := range []string{"/v2/llms/chat/completions", "/v1/chat/completions"} {
		s.mustAs(t, http.StatusOK, viewer, "POST", path, asked)
		for _, header := range []string{"Authorization: Bearer " + viewer, "Authorization: Bearer sk-made-up"} {
			secret := ""
			if header != "Authorization: Bearer "+viewer {
				secret = viewer
			}
			if w := s.ask(t, "POST", path, secret, asked, header); w.Code != http.StatusOK {
				t.Errorf("%s with %s: %d %s", path, header, w.Code, w.Body)
			}
		}
	}
	for _, path := range []string{"/v2/llms/models", "/v1/models"} {
		s.mustAs(t, http.StatusOK, viewer, "GET", path, nil)
		s.mustAs(t, http.StatusForbidden, onlyA, "GET", path, nil)
	}
	usage := "/v2/llms/" + made["id"].(string) + "/usage"
	s.must(t, http.StatusOK, "GET", usage, nil)
	s.mustAs(t, http.StatusForbidden, viewer, "GET", usage, nil)
}
