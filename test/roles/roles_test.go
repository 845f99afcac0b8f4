package roles_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	contract "quarry/api"
	"quarry/internal/app/apptest"
	"quarry/internal/config"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
	"quarry/internal/store/storetest"
	"quarry/test/roles"
)

// service is a running service, called without a network.
type service struct {
	handler http.Handler
	db      store.Config
	owner   string // secret of the owner's key
}

func open(t *testing.T, database string) *service {
	t.Helper()
	dir := t.TempDir()
	a, owner := apptest.Start(t, func(c *config.Config) { c.Data, c.Database = dir, database })
	return &service{a.Handler(), store.Config{Dir: dir, URL: database}, owner}
}

// ask sends one request; body is marshalled unless it is nil. A secret that is an access token goes as one. header
// lines are "Name: value".
func (s *service) ask(t *testing.T, method, path, secret string, body any, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	var in io.Reader
	if given, ok := body.(object); body != nil && (!ok || given != nil) {
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		in = strings.NewReader(string(raw))
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path, in)
	switch {
	case strings.HasPrefix(secret, "eyJ"):
		r.Header.Set("Authorization", "Bearer "+secret)
	case secret != "":
		r.Header.Set("X-Api-Key", secret)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

type object = map[string]any

// must asks as the owner, fails the test unless the status is the one wanted, and returns the body.
func (s *service) must(t *testing.T, status int, method, path string, body any) object {
	t.Helper()
	return s.mustAs(t, status, s.owner, method, path, body)
}

func (s *service) mustAs(t *testing.T, status int, secret, method, path string, body any) object {
	t.Helper()
	w := s.ask(t, method, path, secret, body)
	if w.Code != status {
		t.Fatalf("%s %s: %d %s, want %d", method, path, w.Code, w.Body, status)
	}
	var out object
	if w.Body.Len() > 0 {
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, w.Body)
		}
	}
	return out
}

// key creates a key over the API and returns its id and secret.
func (s *service) key(t *testing.T, body object) (id, secret string) {
	t.Helper()
	made := s.must(t, http.StatusCreated, "POST", "/v2/api_keys", body)
	return made["id"].(string), made["secret_key"].(string)
}

// client creates an application client over the API and returns its id and an access token.
func (s *service) client(t *testing.T, body object) (id, token string) {
	t.Helper()
	body["type"] = "client_credentials"
	made := s.must(t, http.StatusCreated, "POST", "/v2/app_clients", body)
	got := s.mustAs(t, http.StatusOK, "", "POST", "/oauth/token", object{
		"grant_type": "client_credentials", "client_id": made["client_id"], "client_secret": made["client_secret"],
	})
	return made["id"].(string), got["access_token"].(string)
}

// signedIn creates a user over the API, sets a password with its code and returns the token of a sign-in with it.
func (s *service) signedIn(t *testing.T, name string, api ...string) (token string) {
	t.Helper()
	const password = "a walk through every door"
	made := s.must(t, http.StatusCreated, "POST", "/v2/users", object{"email": name + "@x.test", "username": name, "api_roles": append([]string{}, api...)})
	s.mustAs(t, http.StatusNoContent, "", "POST", "/v2/set_password", object{"username": name, "one_time_code": made["one_time_code"], "password": password})
	return s.mustAs(t, http.StatusOK, "", "POST", "/v2/sign_in", object{"username": name, "password": password})["access_token"].(string)
}

func onCorpus(key, role string) []object { return []object{{"corpus_key": key, "role": role}} }

// person creates a user by a direct write, because only a user can create a personal key, and returns the secret of such a key.
func (s *service) person(t *testing.T, name string, api ...string) (secret string) {
	t.Helper()
	return storetest.AddKey(t, s.db, name, api...)
}

const right, wrong = "right", "wrong"

// TestWalk proves, for every operation of the contract against every role and every way of being nobody, that the
// service lets in whom the contract names: a user by a personal key, and a key with roles of its own, for each API
// role; a user and a key for each corpus role, on the corpus named and on another one; callers without a role; and
// callers that must count as nobody whatever their roles are.
func TestWalk(t *testing.T) {
	t.Parallel()
	walk(t, open(t, ""))
}

// TestWalkPostgres proves the same on PostgreSQL.
func TestWalkPostgres(t *testing.T) {
	t.Parallel()
	walk(t, open(t, storetest.Postgres(t)))
}

func walk(t *testing.T, s *service) {
	table, err := roles.Table(contract.YAML)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{right, wrong} {
		s.must(t, http.StatusCreated, "POST", "/v2/corpora", object{"key": key})
	}
	asked := 0
	for name, c := range s.known(t) {
		for _, row := range table {
			w := s.probe(t, row, c.secret)
			asked++
			switch {
			case row.Public:
				if w.Code == http.StatusUnauthorized || w.Code == http.StatusForbidden {
					t.Errorf("%s is public and answers %d to %s", row.ID, w.Code, name)
				}
			case !row.Open(c.holder, right):
				refused(t, row, name, w, http.StatusForbidden, "forbidden")
			case w.Code != http.StatusBadRequest && w.Code != http.StatusNotImplemented && w.Code != http.StatusNotFound:
				t.Errorf("%s as %s: %d %s, want it let in", row.ID, name, w.Code, w.Body)
			}
		}
	}
	for name, secret := range s.nobody(t) {
		for _, row := range table {
			w := s.probe(t, row, secret)
			asked++
			if !row.Public {
				refused(t, row, name, w, http.StatusUnauthorized, "unauthorized")
			}
		}
	}
	if asked < 15_000 {
		t.Errorf("%d requests were made, at least 15,000 were to be", asked)
	}
}

// probe asks for an operation with a header that is at fault in every request and looked at behind the decision, so
// that nothing runs.
func (s *service) probe(t *testing.T, row roles.Row, secret string) *httptest.ResponseRecorder {
	t.Helper()
	return s.ask(t, row.Method, row.URL(right), secret, nil, "Request-Timeout: 0")
}

// refused checks status, body and headers of a refusal.
func refused(t *testing.T, row roles.Row, name string, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	var e struct {
		Messages  []string `json:"messages"`
		Code      string   `json:"code"`
		RequestID string   `json:"request_id"`
	}
	err := json.Unmarshal(w.Body.Bytes(), &e)
	if w.Code != status || err != nil || e.Code != code || len(e.Messages) == 0 || e.RequestID == "" {
		t.Errorf("%s as %s: %d %s, want %d %s", row.ID, name, w.Code, w.Body, status, code)
	}
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("CDN-Cache-Control") != "no-store" {
		t.Errorf("%s as %s: the refusal may be kept by a cache", row.ID, name)
	}
}

// caller is a secret and the caller that the contract derives from it.
type caller struct {
	secret string
	holder roles.Holder
}

// known returns the callers that are authenticated.
func (s *service) known(t *testing.T) map[string]caller {
	t.Helper()
	out := map[string]caller{
		"the owner":       {s.owner, roles.Holder{API: "owner", Person: true}},
		"a user, no role": {s.person(t, "none"), roles.Holder{Person: true}},
	}
	_, secret := s.key(t, object{"name": "nothing"})
	out["a key, no role"] = caller{secret, roles.Holder{}}
	for _, role := range authz.APIRoles() {
		out["user "+role] = caller{s.person(t, "role-"+role, role), roles.Holder{API: role, Person: true}}
		_, secret := s.key(t, object{"name": role, "api_roles": []string{role}})
		out["key "+role] = caller{secret, roles.Holder{API: role, RawKey: true}}
		_, token := s.client(t, object{"name": role, "api_roles": []string{role}})
		out["client "+role] = caller{token, roles.Holder{API: role}}
	}
	for _, role := range []string{"owner", "viewer", "agent_developer"} {
		out["signed in as "+role] = caller{s.signedIn(t, "signed-in-"+role, role), roles.Holder{API: role, Person: true}}
	}
	out["signed in, no role"] = caller{s.signedIn(t, "signed-in-none"), roles.Holder{Person: true}}
	for _, role := range authz.CorpusRoles() {
		for _, on := range []string{right, wrong} {
			holder := roles.Holder{Corpus: role, Key: on}
			_, secret := s.key(t, object{"name": role + on, "corpus_roles": onCorpus(on, role)})
			out["key "+role+" of "+on] = caller{secret, roles.Holder{Corpus: role, Key: on, RawKey: true}}
			_, token := s.client(t, object{"name": role + on, "corpus_roles": onCorpus(on, role)})
			out["client "+role+" of "+on] = caller{token, holder}
			name := role + "-" + on
			secret = s.person(t, name)
			s.must(t, http.StatusOK, "PATCH", "/v2/users/"+name, object{"corpus_roles": onCorpus(on, role)})
			holder.Person = true
			out["user "+role+" of "+on] = caller{secret, holder}
		}
	}
	for style, role := range map[string]string{"serving": "viewer", "serving_and_indexing": "editor"} {
		_, secret := s.key(t, object{"name": style, "api_key_role": style, "corpus_keys": []string{right}})
		out["key "+style] = caller{secret, roles.Holder{Corpus: role, Key: right, RawKey: true}}
	}
	return out
}

// nobody returns callers that must be refused with 401, though most of them were owners a moment ago.
func (s *service) nobody(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{
		"a stranger": "", "an unknown key": "zut_" + strings.Repeat("a", 38), "noise": "%00\xff'--", "half the owner's key": s.owner[:20],
	}
	everything := []string{"owner"}
	out["a disabled user"] = s.person(t, "off", everything...)
	s.must(t, http.StatusOK, "PATCH", "/v2/users/off", object{"enabled": false})
	out["a deleted user"] = s.person(t, "gone", everything...)
	s.must(t, http.StatusNoContent, "DELETE", "/v2/users/gone", nil)
	out["a disabled user who signed in"] = s.signedIn(t, "signed-in-off", everything...)
	s.must(t, http.StatusOK, "PATCH", "/v2/users/signed-in-off", object{"enabled": false})
	out["a deleted user who signed in"] = s.signedIn(t, "signed-in-gone", everything...)
	s.must(t, http.StatusNoContent, "DELETE", "/v2/users/signed-in-gone", nil)
	id, secret := s.key(t, object{"name": "off", "api_roles": everything})
	s.must(t, http.StatusOK, "PATCH", "/v2/api_keys/"+id, object{"enabled": false})
	out["a disabled key"] = secret
	id, secret = s.key(t, object{"name": "gone", "api_roles": everything})
	s.must(t, http.StatusNoContent, "DELETE", "/v2/api_keys/"+id, nil)
	out["a deleted key"] = secret
	id, token := s.client(t, object{"name": "gone", "api_roles": everything})
	s.must(t, http.StatusNoContent, "DELETE", "/v2/app_clients/"+id, nil)
	out["the token of a deleted client"] = token
	_, token = s.client(t, object{"name": "cut", "api_roles": everything})
	out["a token whose signature is cut"] = token[:len(token)-4]
	out["a token without signature"] = token[:strings.LastIndexByte(token, '.')+1]
	return out
}
