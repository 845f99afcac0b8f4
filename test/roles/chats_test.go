package roles_test

import (
	"net/http"
	"testing"

	"quarry/internal/store/storetest"
)

// TestChats proves that a caller with roles on corpora alone goes on with chats all of whose turns searched corpora that it
// may read now, the rows of then and not later ones of their keys; that other chats are not there for it, whatever its
// question names; and that chats are listed and read with roles over the account alone.
func TestChats(t *testing.T) {
	t.Parallel()
	testChats(t, open(t, ""))
}

// TestChatsPostgres proves the same on PostgreSQL.
func TestChatsPostgres(t *testing.T) {
	t.Parallel()
	testChats(t, open(t, storetest.Postgres(t)))
}

func testChats(t *testing.T, s *service) {
	for _, key := range []string{"a", "b"} {
		s.must(t, http.StatusCreated, "POST", "/v2/corpora", object{"key": key})
	}
	_, onlyA := s.key(t, object{"name": "a", "corpus_roles": onCorpus("a", "viewer")})
	_, both := s.key(t, object{"name": "ab", "corpus_roles": append(onCorpus("a", "viewer"), onCorpus("b", "editor")...)})
	viewer := s.person(t, "viewer", "corpus_viewer")
	begin := func(secret string, corpora ...string) (path string) {
		t.Helper()
		return "/v2/chats/" + s.mustAs(t, http.StatusOK, secret, "POST", "/v2/chats", across(corpora...))["chat_id"].(string)
	}
	want := func(when, secret, chat string, status int, corpora ...string) {
		t.Helper()
		if w := s.ask(t, "POST", chat+"/turns", secret, across(corpora...)); w.Code != status {
			t.Errorf("%s: %d %s, want %d", when, w.Code, w.Body, status)
		}
	}
	ofA, ofB, ofBoth := begin(onlyA, "a"), begin(s.owner, "b"), begin(both, "a", "b")

	want("its own chat", onlyA, ofA, 200, "a")
	want("its own chat over another corpus", onlyA, ofA, 403, "b")
	want("a chat over another corpus", onlyA, ofB, 404, "a")
	want("a chat over another corpus, with a body at fault", onlyA, ofB, 404)
	want("a chat over its corpus and another", onlyA, ofBoth, 404, "a")
	want("a chat that there is not", onlyA, "/v2/chats/cht_none", 404, "a")
	want("with roles on both", both, ofA, 200, "a")
	want("with roles on both", both, ofBoth, 200, "b")
	want("with a role over the account", viewer, ofBoth, 200, "a")
	for _, path := range []string{"/v2/chats", ofA, ofA + "/turns"} {
		if w := s.ask(t, "GET", path, both, nil); w.Code != http.StatusForbidden {
			t.Errorf("GET %s with roles on corpora: %d, want 403", path, w.Code)
		}
		s.mustAs(t, http.StatusOK, viewer, "GET", path, nil)
	}

	second := s.must(t, http.StatusOK, "POST", ofA+"/turns", across("b"))["turn_id"].(string)
	want("once another searched another corpus in it", onlyA, ofA, 404, "a")
	s.must(t, http.StatusOK, "PATCH", ofA+"/turns/"+second, object{"enabled": false})
	want("also where that turn is disabled", onlyA, ofA, 404, "a")
	s.must(t, http.StatusNoContent, "DELETE", ofA+"/turns/"+second, nil)
	want("and not where it is deleted", onlyA, ofA, 200, "a")

	s.must(t, http.StatusNoContent, "DELETE", "/v2/corpora/a", nil)
	s.must(t, http.StatusCreated, "POST", "/v2/corpora", object{"key": "a"})
	_, later := s.key(t, object{"name": "later", "corpus_roles": onCorpus("a", "owner")})
	want("another corpus of the key", later, ofA, 404, "a")
	want("another corpus of the key, with a role over the account", viewer, ofA, 200, "a")
	if w := s.ask(t, "POST", "/v2/chats", later, across("a")); w.Code != http.StatusOK {
		t.Errorf("a chat over the new corpus: %d %s", w.Code, w.Body)
	}
}
