package roles_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"quarry/internal/identity/authz"
)

// TestTraces proves for every role that a caller may hold, over the account or on one agent, what it sees of the trace of an agent: all of
// it, a list without it and 404, or 403.
func TestTraces(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	for _, key := range []string{"entry", "other"} {
		s.must(t, http.StatusCreated, "POST", "/v2/agents", object{"key": key, "name": key, "model": object{"name": "extractive-1.0"}})
	}
	s.must(t, http.StatusCreated, "POST", "/v2/agents/entry/sessions", object{"key": "s"})
	s.must(t, http.StatusCreated, "POST", "/v2/agents/entry/sessions/s/events", object{"messages": []object{{"type": "text", "content": "Hello."}}})
	const at = "/v2/agent_analytics/traces"
	var found struct {
		Traces []struct {
			ID string `json:"trace_id"`
		}
		Spans []struct {
			ID string `json:"span_id"`
		}
	}
	read := func(path string) {
		if err := json.Unmarshal(s.ask(t, "GET", path, s.owner, nil).Body.Bytes(), &found); err != nil {
			t.Fatal(err)
		}
	}
	read(at)
	read(at + "/" + found.Traces[0].ID + "/spans")
	trace, span := found.Traces[0].ID, found.Spans[0].ID
	const (
		all = iota
		others
		nothing
	)
	sees := func(who, secret string, what int) {
		t.Helper()
		for _, path := range []string{at, at + "?agent_key=entry", at + "/" + trace, at + "/" + trace + "/spans?include_content=true", at + "/" + trace + "/spans/" + span + "?include_content=true"} {
			want, shown := http.StatusOK, what == all
			if one := strings.HasPrefix(path, at+"/"); what == others && one {
				want = http.StatusNotFound
			}
			if what == nothing {
				want = http.StatusForbidden
			}
			w := s.ask(t, "GET", path, secret, nil)
			if w.Code != want || strings.Contains(w.Body.String(), `"trace_id":"`+trace) != shown {
				t.Errorf("%s reads %s: %d %.200s; want %d, the trace in it: %t", who, path, w.Code, w.Body, want, shown)
			}
		}
	}
	readers := map[string]bool{"viewer": true, "administrator": true, "owner": true, "agent_viewer": true, "agent_developer": true, "agent_administrator": true}
	for _, role := range authz.APIRoles() {
		what := nothing
		if readers[role] {
			what = all
		}
		_, secret := s.key(t, object{"name": role, "api_roles": []string{role}})
		sees(role, secret, what)
	}
	for _, role := range authz.AgentRoles() {
		for _, on := range []string{"entry", "other"} {
			what := nothing
			switch {
			case readers[role] && on == "entry":
				what = all
			case readers[role]:
				what = others
			}
			name := fmt.Sprint(role, " of ", on)
			_, secret := s.key(t, object{"name": name, "agent_roles": []object{{"agent_key": on, "role": role}}})
			sees(name, secret, what)
		}
	}
}
