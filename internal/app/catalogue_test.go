package app_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"quarry/internal/agent/tool/schema"
	"quarry/internal/app/apptest"
)

// TestCatalogue proves, for each tool that comes with the program, that it is listed with a type that clients know, the schemas of its
// arguments and its outputs, category, lineage and version; that it is found and used by its dated id and undated; and that a key
// which is no argument is refused in its overrides, on an agent and in a configuration that several agents refer to.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	a, owner := apptest.Start(t, nil)
	ask := func(method, path string, body any) (status int, out map[string]any) {
		t.Helper()
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		req := httptest.NewRequest(method, path, bytes.NewReader(raw))
		req.Header.Set("x-api-key", owner)
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, req)
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		return w.Code, out
	}
	ask(http.MethodPost, "/v2/agents", map[string]any{"key": "other", "name": "a", "model": map[string]any{"name": "extractive-1.0"}})
	// what a configuration must have beside its type
	required := map[string]map[string]any{
		"corpora_search": {"query_configuration": map[string]any{"search": map[string]any{"corpora": []any{map[string]any{"corpus_key": "c"}}}}},
		"sub_agent":      {"sub_agent_configuration": map[string]any{"agent_key": "other"}},
	}
	known := []string{
		"dynamic_vectara", "corpora_search", "web_search", "web_get", "sub_agent", "artifact_create", "artifact_read", "artifact_grep", "image_read",
		"document_conversion", "get_document_text",
	}
	_, list := ask(http.MethodGet, "/v2/tools?type=vectara&limit=100", nil)
	tools, _ := list["tools"].([]any)
	if len(tools) < len(known) {
		t.Errorf("%d tools are listed", len(tools))
	}
	for _, one := range tools {
		listed, _ := one.(map[string]any)
		text := func(member string) string { s, _ := listed[member].(string); return s }
		name, kind, id := text("name"), text("type"), text("id")
		date := strings.ReplaceAll(text("version"), "-", "")
		if !slices.Contains(known, kind) || id != "tol_vectara_"+name+"_"+date || text("category") == "" || text("lineage") != name || text("title") == "" {
			t.Errorf("%s is listed as %v", name, listed)
		}
		if kind == "dynamic_vectara" && date != "20260220" {
			t.Errorf("%s has the version %s", name, text("version"))
		}
		for _, member := range []string{"input_schema", "output_schema"} {
			raw, err := json.Marshal(listed[member])
			if err != nil {
				t.Fatal(err)
			}
			if _, err := schema.New(raw); err != nil || !strings.Contains(string(raw), `"properties"`) {
				t.Errorf("%s of %s: %v, %s", member, name, err, raw)
			}
		}
		for _, which := range []string{id, strings.TrimSuffix(id, "_"+date)} {
			if status, found := ask(http.MethodGet, "/v2/tools/"+which, nil); status != http.StatusOK || found["id"] != id {
				t.Errorf("%s: %d, %v", which, status, found["id"])
			}
			entry := map[string]any{"type": kind, "name": "a"}
			if kind == "dynamic_vectara" {
				entry["tool_id"] = which
			}
			for member, v := range required[name] {
				entry[member] = v
			}
			if status, made := ask(http.MethodPost, "/v2/tool_configurations", entry); status != http.StatusCreated {
				t.Errorf("a configuration of %s: %d, %v", which, status, made)
			}
			entry["argument_override"] = map[string]any{"no_argument": 1}
			agent := map[string]any{"name": "a", "model": map[string]any{"name": "extractive-1.0"}, "tool_configurations": map[string]any{"x": entry}}
			for path, body := range map[string]map[string]any{"/v2/tool_configurations": entry, "/v2/agents": agent} {
				status, refused := ask(http.MethodPost, path, body)
				fields, _ := json.Marshal(refused["field_errors"])
				if status != http.StatusBadRequest || !strings.Contains(string(fields), `argument_override.no_argument"`) {
					t.Errorf("POST %s with a key that is no argument of %s: %d, %s", path, which, status, fields)
				}
			}
		}
	}
	entry := map[string]any{"type": "dynamic_vectara", "name": "a", "tool_id": "tol_vectara_core_document_index_20200101"}
	if status, refused := ask(http.MethodPost, "/v2/tool_configurations", entry); status != http.StatusBadRequest {
		t.Errorf("a version that there never was: %d, %v", status, refused)
	}
}
