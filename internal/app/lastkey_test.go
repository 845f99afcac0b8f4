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
