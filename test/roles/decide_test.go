package roles_test

import (
	"net/http"
	"slices"
	"testing"
)

// across is the body of a query over corpora.
func across(corpora ...string) object {
	list := []object{}
	for _, key := range corpora {
		list = append(list, object{"corpus_key": key})
	}
	return object{"query": "words", "search": object{"corpora": list}, "save_history": true}
}

// TestBodies proves that corpora which stand in a body are decided one by one, and that a caller with a role on one
// corpus learns of no other, not even whether it exists.
func TestBodies(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	for _, key := range []string{"a", "b"} {
		s.must(t, http.StatusCreated, "POST", "/v2/corpora", object{"key": key})
		s.must(t, http.StatusCreated, "POST", "/v2/corpora/"+key+"/documents", object{
			"type": "core", "id": "of-" + key, "document_parts": []object{{"text": "words of " + key}},
		})
	}
	_, onlyA := s.key(t, object{"name": "a", "corpus_roles": onCorpus("a", "viewer")})
	_, both := s.key(t, object{"name": "ab", "corpus_roles": append(onCorpus("a", "viewer"), onCorpus("b", "editor")...)})
	_, none := s.key(t, object{"name": "none"})
	mixed := s.person(t, "mixed", "agent_administrator", "pipeline_administrator")
	s.must(t, http.StatusOK, "PATCH", "/v2/users/mixed", object{"corpus_roles": onCorpus("a", "viewer")})
	flat := object{"query": "words", "corpus_key": []object{{"corpus_key": "b"}}, "search": object{"corpora": []object{{"corpus_key": "a"}}}}
	for _, tc := range []struct {
		name, secret, path string
		body               object
		status             int
	}{
		{"its corpus", onlyA, "/v2/query", across("a"), 200},
		{"its corpus twice", onlyA, "/v2/query", across("a", "a"), 200},
		{"another", onlyA, "/v2/query", across("b"), 403},
		{"its corpus and another", onlyA, "/v2/query", across("a", "b"), 403},
		{"another and its corpus", onlyA, "/v2/query", across("b", "a"), 403},
		{"one that does not exist", onlyA, "/v2/query", across("c"), 403},
		{"its corpus in another case", onlyA, "/v2/query", across("A"), 403},
		{"another, as a member that is not known", onlyA, "/v2/query", flat, 200},
		{"no corpus", onlyA, "/v2/query", across(), 400},
		{"roles for agents do not help", mixed, "/v2/query", across("a", "b"), 403},
		{"but the one for the corpus does", mixed, "/v2/query", across("a"), 200},
		{"both", both, "/v2/query", across("a", "b"), 200},
		{"both and one that does not exist", both, "/v2/query", across("a", "b", "c"), 403},
		{"no role", none, "/v2/query", across("a"), 403},
		{"no role, and a body at fault", none, "/v2/query", object{"query": 5}, 403},
		{"the owner learns what is missing", s.owner, "/v2/query", across("a", "c"), 404},
		{"in the path", onlyA, "/v2/corpora/b/query", object{"query": "words", "search": object{}}, 403},
		{"metadata", onlyA, "/v2/corpora/b/metadata_query", object{"queries": []object{{"field": "x", "query": "y"}}}, 403},
		{"writing", onlyA, "/v2/corpora/a/documents", object{"type": "core", "id": "x", "document_parts": []object{{"text": "x"}}}, 403},
		{"writing where it may", both, "/v2/corpora/b/documents", object{"type": "core", "id": "x", "document_parts": []object{{"text": "x"}}}, 201},
	} {
		if w := s.ask(t, "POST", tc.path, tc.secret, tc.body); w.Code != tc.status {
			t.Errorf("%s: %d %s, want %d", tc.name, w.Code, w.Body, tc.status)
		}
	}
	for _, path := range []string{"/v2/corpora", "/v2/jobs", "/v2/users", "/v2/api_keys", "/v2/app_clients", "/v2/corpora/b", "/v2/corpora/c", "/v2/corpora/b/documents/of-b"} {
		if w := s.ask(t, "GET", path, onlyA, nil); w.Code != http.StatusForbidden {
			t.Errorf("GET %s: %d %s, want 403", path, w.Code, w.Body)
		}
	}
}

// queries returns the texts of the history that a caller sees.
func (s *service) queries(t *testing.T, secret, path string) []string {
	t.Helper()
	out := []string{}
	for _, q := range s.mustAs(t, http.StatusOK, secret, "GET", path, nil)["queries"].([]any) {
		out = append(out, q.(object)["id"].(string))
	}
	slices.Sort(out)
	return out
}

// TestHistory proves that the history shows a caller only what it could ask itself now: queries whose corpora it all
// has a role on, while these corpora live. Neither an id, nor a filter, nor another caller's page key opens more.
func TestHistory(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	for _, key := range []string{"a", "b"} {
		s.must(t, http.StatusCreated, "POST", "/v2/corpora", object{"key": key})
	}
	_, onlyA := s.key(t, object{"name": "a", "corpus_roles": onCorpus("a", "viewer")})
	_, none := s.key(t, object{"name": "none"})
	viewer := s.person(t, "viewer", "corpus_viewer")
	const list = "/v2/queries"
	var seen, hidden []string
	ask := func(secret string, corpora ...string) (added []string) {
		t.Helper()
		before := s.queries(t, s.owner, list+"?limit=100")
		s.mustAs(t, http.StatusOK, secret, "POST", "/v2/query", across(corpora...))
		for _, id := range s.queries(t, s.owner, list+"?limit=100") {
			if !slices.Contains(before, id) {
				added = append(added, id)
			}
		}
		if len(added) != 1 {
			t.Fatalf("the query over %v is in the history as %v", corpora, added)
		}
		return added
	}
	seen = append(append(seen, ask(s.owner, "a")...), ask(onlyA, "a")...)
	hidden = append(append(append(hidden, ask(s.owner, "b")...), ask(s.owner, "a", "b")...), ask(viewer, "b", "a")...)
	slices.Sort(seen)

	if got := s.queries(t, onlyA, list); !slices.Equal(got, seen) {
		t.Errorf("the key sees %v, want %v", got, seen)
	}
	if got := s.queries(t, viewer, list); len(got) != len(seen)+len(hidden) {
		t.Errorf("corpus_viewer sees %v, want all", got)
	}
	if got := s.queries(t, onlyA, list+"?corpus_key=b"); len(got) != 0 {
		t.Errorf("by the filter the key sees %v", got)
	}
	for _, id := range hidden {
		if w := s.ask(t, "GET", list+"/"+id, onlyA, nil); w.Code != http.StatusNotFound {
			t.Errorf("a query over b: %d %s, want 404", w.Code, w.Body)
		}
		if got := s.queries(t, onlyA, list+"?history_id="+id); len(got) != 0 {
			t.Errorf("by its id the key sees %v", got)
		}
	}
	for _, id := range seen {
		s.mustAs(t, http.StatusOK, onlyA, "GET", list+"/"+id, nil)
	}
	page := s.must(t, http.StatusOK, "GET", list+"?limit=1", nil)["metadata"].(object)["page_key"].(string)
	if w := s.ask(t, "GET", list+"?page_key="+page, onlyA, nil); w.Code != http.StatusBadRequest {
		t.Errorf("with the owner's page key: %d %s, want 400", w.Code, w.Body)
	}
	if w := s.ask(t, "GET", list, none, nil); w.Code != http.StatusForbidden {
		t.Errorf("without a role: %d %s, want 403", w.Code, w.Body)
	}

	s.must(t, http.StatusNoContent, "DELETE", "/v2/corpora/a", nil)
	s.must(t, http.StatusCreated, "POST", "/v2/corpora", object{"key": "a"})
	if w := s.ask(t, "POST", "/v2/query", onlyA, across("a")); w.Code != http.StatusForbidden {
		t.Errorf("the key of the deleted corpus opens the new one of its name: %d %s", w.Code, w.Body)
	}
	_, later := s.key(t, object{"name": "later", "corpus_roles": onCorpus("a", "owner")})
	if got := s.queries(t, later, list); len(got) != 0 {
		t.Errorf("a key on the new corpus sees queries over the old one: %v", got)
	}
}

// TestAtOnce proves that what is taken away is gone with the next request: a key disabled or deleted, a user disabled,
// a role taken, for the personal keys of a user too.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	s.must(t, http.StatusCreated, "POST", "/v2/corpora", object{"key": "a"})
	personal := s.person(t, "ann", "corpus_administrator")
	id, secret := s.key(t, object{"name": "k", "corpus_roles": onCorpus("a", "viewer")})
	want := func(status int, secret string) {
		t.Helper()
		if w := s.ask(t, "GET", "/v2/corpora/a", secret, nil); w.Code != status {
			t.Errorf("%d %s, want %d", w.Code, w.Body, status)
		}
	}
	want(200, personal)
	s.must(t, http.StatusOK, "PATCH", "/v2/users/ann", object{"api_roles": []string{}})
	want(403, personal)
	s.must(t, http.StatusOK, "PATCH", "/v2/users/ann", object{"corpus_roles": onCorpus("a", "viewer")})
	want(200, personal)
	s.must(t, http.StatusOK, "PATCH", "/v2/users/ann", object{"enabled": false})
	want(401, personal)
	s.must(t, http.StatusOK, "PATCH", "/v2/users/ann", object{"enabled": true})
	want(200, personal)
	s.must(t, http.StatusNoContent, "DELETE", "/v2/users/ann", nil)
	want(401, personal)
	want(200, secret)
	s.must(t, http.StatusOK, "PATCH", "/v2/api_keys/"+id, object{"enabled": false})
	want(401, secret)
	s.must(t, http.StatusOK, "PATCH", "/v2/api_keys/"+id, object{"enabled": true})
	want(200, secret)
	s.must(t, http.StatusNoContent, "DELETE", "/v2/api_keys/"+id, nil)
	want(401, secret)
}
