package app_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"quarry/internal/app"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/provider/scripted"
)

// TestModelsOnEveryNode proves that a language model answers on every node over one database with its credentials, that
// what one node changes, disables or deletes holds for the next call on the other, also after the secret keys were
// rotated, and that the audit does not hold the credentials.
func TestModelsOnEveryNode(t *testing.T) {
	t.Parallel()
	onNodes(t, useModels)
}

// said is what answers to a name on a node: its text with the credentials that the provider got, or 400.
func said(t *testing.T, a *app.App, provider *scripted.Server, name string) string {
	t.Helper()
	m, err := a.Models.Model(t.Context(), name)
	if fault.Is(err, fault.KindInvalid) {
		return "400"
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := llm.Complete(t.Context(), m, llm.Request{Messages: []llm.Message{llm.Text(llm.User, "hi")}})
	if err != nil {
		t.Fatal(err)
	}
	return got.Text + " " + strings.TrimPrefix(provider.Last().Header.Get("Authorization"), "Bearer ")
}

func useModels(t *testing.T, first, second *app.App) {
	provider := scripted.Start(t)
	raw, err := os.ReadFile(first.KeyFile())
	if err != nil {
		t.Fatal(err)
	}
	owner := strings.TrimSpace(string(raw))
	must := func(a *app.App, want int, method, path, body string) map[string]any {
		t.Helper()
		status, got := ask(a, owner, method, path, body)
		if status != want {
			t.Fatalf("%s %s answers %d, want %d: %v", method, path, status, want, got)
		}
		return got
	}
	want := func(a *app.App, name, text string) {
		t.Helper()
		if got := said(t, a, provider, name); got != text {
			t.Errorf("%q is answered by %q, want %q", name, got, text)
		}
	}
	made := must(first, http.StatusCreated, "POST", "/v2/llms", `{"type":"openai-compatible","name":"house/model","model":"say:one","default":true,
		"uri":"`+provider.URL+`/v1/chat/completions","auth":{"type":"bearer","token":"credential-one"}}`)
	path := "/v2/llms/" + url.PathEscape("house/model")
	for _, name := range []string{"", "house/model", "gpt-4o"} {
		want(second, name, "one credential-one")
	}
	must(second, http.StatusOK, "PATCH", path, `{"model":"say:two"}`)
	want(first, "house/model", "two credential-one")
	if first == second { // nodes with files of their own get the new key by hand
		must(first, http.StatusOK, "POST", "/v2/secret_keys/rotate", "")
	}
	must(second, http.StatusOK, "PATCH", path, `{"model":"say:three"}`)
	want(first, "", "three credential-one")
	want(second, "", "three credential-one")
	must(first, http.StatusOK, "PATCH", "/v2/llms/"+made["id"].(string), `{"auth":{"type":"bearer","token":"credential-two"}}`)
	want(second, "house/model", "three credential-two")
	must(second, http.StatusOK, "PATCH", path, `{"enabled":false}`)
	want(first, "house/model", "400")
	must(first, http.StatusOK, "PATCH", path, `{"enabled":true,"requests_per_second":1}`)
	must(first, http.StatusForbidden, "DELETE", "/v2/llms/gpt-4o", "")
	must(second, http.StatusNoContent, "DELETE", path, "")
	want(first, "house/model", "400")
	if got := must(first, http.StatusOK, "GET", "/v2/llms/extractive-1.0", ""); got["default"] != true {
		t.Errorf("with the default one deleted the embedded one is %v", got)
	}
	audit, err := json.Marshal(must(first, http.StatusOK, "GET", "/v2/audit_events?limit=100", ""))
	if err != nil || !strings.Contains(string(audit), made["id"].(string)) || strings.Contains(string(audit), "credential-") {
		t.Errorf("the audit: %s, %v", audit, err)
	}
}
