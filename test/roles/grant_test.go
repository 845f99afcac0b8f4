package roles_test

import (
	"net/http"
	"slices"
	"testing"

	contract "quarry/api"
	"quarry/internal/identity/authz"
	"quarry/test/roles"
)

// TestNobodyGrantsMore proves for every role that a caller may hold, and every role that it may try to give to a key:
// what is made opens nothing that is closed to its maker, and a role that the maker's includes can be given.
func TestNobodyGrantsMore(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	s.must(t, http.StatusCreated, "POST", "/v2/corpora", object{"key": right})
	table, err := roles.Table(contract.YAML)
	if err != nil {
		t.Fatal(err)
	}
	create := table[slices.IndexFunc(table, func(r roles.Row) bool { return r.ID == "createApiKey" })]
	made := 0
	for _, maker := range authz.APIRoles() {
		_, secret := s.key(t, object{"name": maker, "api_roles": []string{maker}})
		if !create.Open(roles.Holder{API: maker}, right) {
			continue
		}
		try := func(what string, body object, want roles.Holder, included bool) {
			body["name"] = what
			w := s.ask(t, "POST", "/v2/api_keys", secret, body)
			switch {
			case w.Code != http.StatusCreated && w.Code != http.StatusForbidden:
				t.Errorf("%s makes %s: %d %s", maker, what, w.Code, w.Body)
			case included != (w.Code == http.StatusCreated):
				t.Errorf("%s makes %s: %d, want it made %t", maker, what, w.Code, included)
			case w.Code == http.StatusForbidden:
				return
			}
			made++
			for _, row := range table {
				if row.Open(want, right) && !row.Open(roles.Holder{API: maker}, right) {
					t.Errorf("%s, which may not %s, made %s, which may", maker, row.ID, what)
				}
			}
		}
		includes := append(authz.Includes(maker), maker)
		for _, role := range authz.APIRoles() {
			try(role, object{"api_roles": []string{role}}, roles.Holder{API: role}, slices.Contains(includes, role))
		}
		for role, as := range map[string]string{
			"viewer": "corpus_viewer", "editor": "corpus_developer", "administrator": "corpus_administrator", "owner": "corpus_administrator",
		} {
			try(role+" of a corpus", object{"corpus_roles": onCorpus(right, role)}, roles.Holder{Corpus: role, Key: right}, slices.Contains(includes, as))
		}
		for style, as := range map[string]string{"serving": "corpus_viewer", "serving_and_indexing": "corpus_developer"} {
			try(style, object{"api_key_role": style, "corpus_keys": []string{right}}, roles.Holder{Corpus: map[string]string{"serving": "viewer", "serving_and_indexing": "editor"}[style], Key: right}, slices.Contains(includes, as))
		}
	}
	if made < 50 {
		t.Errorf("%d keys were made, at least 50 were to be", made)
	}
}

// TestAdministratorIsNoOwner proves that an administrator gets at no owner: not by making one, nor by becoming, demoting,
// switching off, deleting or resetting one, nor through a key or client of one.
func TestAdministratorIsNoOwner(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	admin := s.person(t, "admin", "administrator")
	s.person(t, "boss", "owner")
	s.must(t, http.StatusOK, "PATCH", "/v2/users/boss", object{"description": "second owner"})
	key, _ := s.key(t, object{"name": "of the owner", "api_roles": []string{"owner"}})
	s.must(t, http.StatusOK, "PATCH", "/v2/api_keys/"+key, object{"enabled": false})
	client, _ := s.client(t, object{"name": "of the owner", "api_roles": []string{"owner"}})
	owner := []string{"owner"}
	for _, tc := range []struct {
		method, path string
		body         object
		status       int
	}{
		{"POST", "/v2/users", object{"email": "new@x.test", "api_roles": owner}, 403},
		{"POST", "/v2/api_keys", object{"name": "k", "api_roles": owner}, 403},
		{"POST", "/v2/app_clients", object{"type": "client_credentials", "name": "c", "api_roles": owner}, 403},
		{"PATCH", "/v2/users/admin", object{"api_roles": owner}, 403},
		{"PATCH", "/v2/users/boss", object{"api_roles": []string{"administrator"}}, 403},
		{"PATCH", "/v2/users/boss", object{"enabled": false}, 403},
		{"PATCH", "/v2/users/BOSS", object{"api_roles": []string{}}, 403},
		{"DELETE", "/v2/users/boss", nil, 403},
		{"POST", "/v2/users/boss/reset_password", nil, 403},
		{"POST", "/v2/users/owner/reset_password", nil, 403},
		{"PATCH", "/v2/api_keys/" + key, object{"enabled": true}, 403},
		{"DELETE", "/v2/api_keys/" + key, nil, 403},
		{"PATCH", "/v2/app_clients/" + client, object{"type": "client_credentials", "api_roles": []string{}}, 403},
		{"DELETE", "/v2/app_clients/" + client, nil, 403},
		{"PATCH", "/v2/users/boss", object{"description": "words harm nobody"}, 200},
		{"POST", "/v2/users", object{"email": "ann@x.test", "api_roles": []string{"administrator"}}, 201},
		{"PATCH", "/v2/users/ann@x.test", object{"api_roles": []string{"viewer"}, "enabled": false}, 200},
	} {
		if w := s.ask(t, tc.method, tc.path, admin, tc.body); w.Code != tc.status {
			t.Errorf("%s %s %v: %d %s, want %d", tc.method, tc.path, tc.body, w.Code, w.Body, tc.status)
		}
	}
}
