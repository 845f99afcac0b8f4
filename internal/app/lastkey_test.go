package app_test

import (
	"testing"

	"quarry/internal/app/apptest"
)

// TestLastKey proves that the only key of a new installation can neither disable nor delete itself, and can both once there is another
// way in.
func TestLastKey(t *testing.T) {
	t.Parallel()
	a, owner := apptest.Start(t, nil)
	_, all := ask(a, owner, "GET", "/v2/api_keys", "")
	path := "/v2/api_keys/" + all["api_keys"].([]any)[0].(map[string]any)["id"].(string)
	for _, method := range []string{"PATCH", "DELETE"} {
		if status, said := ask(a, owner, method, path, `{"enabled":false}`); status != 409 || said["code"] != "last_key" {
			t.Errorf("%s: %d %v, want 409 last_key", method, status, said)
		}
	}
	made(t, a, owner, "/v2/api_keys", `{"name":"weak","api_roles":["administrator"]}`)
	if status, said := ask(a, owner, "DELETE", path, ""); status != 409 {
		t.Errorf("beside the key of an administrator: %d %v, want 409", status, said)
	}
	second := made(t, a, owner, "/v2/api_keys", `{"name":"second","api_key_role":"personal"}`)["secret_key"].(string)
	if status, said := ask(a, owner, "PATCH", path, `{"enabled":false}`); status != 200 {
		t.Errorf("beside another key: %d %v", status, said)
	}
	if status, said := ask(a, second, "DELETE", path, ""); status != 204 {
		t.Errorf("a disabled key by another: %d %v", status, said)
	}
}

// TestLastWayIn proves that an owner who alone can come in can neither go nor lose the password, whatever other owners there are, and
// can go once another has a password.
func TestLastWayIn(t *testing.T) {
	t.Parallel()
	a, owner := apptest.Start(t, nil)
	second := made(t, a, owner, "/v2/users", `{"email":"ann@x.test","username":"ann","api_roles":["owner"]}`)
	_, all := ask(a, owner, "GET", "/v2/api_keys", "")
	key := "/v2/api_keys/" + all["api_keys"].([]any)[0].(map[string]any)["id"].(string)
	refused := func(what string, status int, said map[string]any, want int, code string) {
		t.Helper()
		if status != want || said["code"] != code {
			t.Errorf("%s: %d %v, want %d %s", what, status, said, want, code)
		}
	}
	goes := []struct{ method, body string }{{"PATCH", `{"enabled":false}`}, {"PATCH", `{"api_roles":["viewer"]}`}, {"DELETE", ""}}
	for _, g := range goes {
		status, said := ask(a, owner, g.method, "/v2/users/owner", g.body)
		refused(g.method+" "+g.body+" beside an owner who has a code only", status, said, 400, "last_owner")
	}
	status, said := ask(a, owner, "DELETE", key, "")
	refused("the key beside an owner who has a code only", status, said, 409, "last_key")

	made(t, a, owner, "/v2/set_password", `{"username":"ann","one_time_code":"`+second["one_time_code"].(string)+`","password":"correct horse battery"}`)
	token := made(t, a, "", "/v2/sign_in", `{"username":"ann","password":"correct horse battery"}`)["access_token"].(string)
	if status, said := ask(a, owner, "DELETE", "/v2/users/owner", ""); status != 204 {
		t.Fatalf("beside an owner with a password: %d %v", status, said)
	}
	status, said = askBearer(a, token, "POST", "/v2/users", `{"email":"bob@x.test","username":"bob","api_roles":["owner"]}`)
	if status != 201 {
		t.Fatalf("another owner: %d %v", status, said)
	}
	for _, g := range goes {
		status, said := askBearer(a, token, g.method, "/v2/users/ann", g.body)
		refused(g.method+" "+g.body+" of the only owner with a password", status, said, 400, "last_owner")
	}
	status, said = askBearer(a, token, "POST", "/v2/users/ann/reset_password", "")
	refused("a reset of the only password", status, said, 409, "last_password")
	if status, said := askBearer(a, token, "POST", "/v2/api_keys", `{"name":"mine","api_key_role":"personal"}`); status != 201 {
		t.Fatalf("a key: %d %v", status, said)
	}
	if status, said := askBearer(a, token, "POST", "/v2/users/ann/reset_password", ""); status != 200 {
		t.Errorf("a reset beside a key: %d %v", status, said)
	}
}
