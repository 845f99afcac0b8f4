package app_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"quarry/internal/app/apptest"
	"quarry/internal/provider/scripted"
)

// TestConvertedIsIndexed proves that createCorpusDocument takes a structured document that document_conversion has made as it is, and that
// searches find what the file says.
func TestConvertedIsIndexed(t *testing.T) {
	t.Parallel()
	models := scripted.Start(t)
	a, owner := apptest.Start(t, nil)
	const page = "<title>Mill</title><h1>Stones</h1><p>Dress the stone every 200 hours.<h2>Belts</h2><table><tr><th>Belt<th>mm<tr><td>fan<td>3</table>"
	convert := `rounds:{"go":[{"calls":[{"name":"convert","arguments":{"output_format":"structured_document"}}]},{"text":"Done."}]}`
	model, _ := json.Marshal(convert)
	want(t, a, owner, "POST", "/v2/llms", fmt.Sprintf(`{"type":"openai-compatible","name":"m","model":%s,"uri":"%s/v1/chat/completions"}`, model, models.URL), http.StatusCreated)
	want(t, a, owner, "POST", "/v2/agents", `{"key":"c","name":"C","model":{"name":"m"}}`, http.StatusCreated)
	want(t, a, owner, "POST", "/v2/agents/c/sessions", `{"key":"s"}`, http.StatusCreated)
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("files", "mill page.html")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write([]byte(page))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequestWithContext(t.Context(), "POST", "/v2/agents/c/sessions/s/events", &form)
	req.Header.Set("Content-Type", w.FormDataContentType())
	req.Header.Set("x-api-key", owner)
	sent := httptest.NewRecorder()
	a.Handler().ServeHTTP(sent, req)
	var uploaded struct {
		Events []struct {
			Artifacts []struct {
				ID string `json:"artifact_id"`
			} `json:"artifacts"`
		} `json:"events"`
	}
	if err := json.Unmarshal(sent.Body.Bytes(), &uploaded); err != nil || sent.Code != http.StatusCreated {
		t.Fatalf("%d %s: %v", sent.Code, sent.Body, err)
	}
	id := uploaded.Events[0].Artifacts[0].ID
	want(t, a, owner, "PATCH", "/v2/agents/c", `{"tool_configurations":{"convert":{"type":"document_conversion","argument_override":{"artifact_id":"`+id+`"}}}}`, http.StatusOK)
	want(t, a, owner, "POST", "/v2/agents/c/sessions/s/events", `{"messages":[{"type":"text","content":"go"}]}`, http.StatusCreated)
	var files struct {
		Artifacts []struct {
			ID       string `json:"artifact_id"`
			Filename string `json:"filename"`
			MIME     string `json:"mime_type"`
		} `json:"artifacts"`
	}
	if err := json.Unmarshal([]byte(want(t, a, owner, "GET", "/v2/agents/c/sessions/s/artifacts?limit=1", "", http.StatusOK)), &files); err != nil ||
		files.Artifacts[0].Filename != "mill page.json" || files.Artifacts[0].MIME != "application/json" {
		t.Fatalf("%+v, %v", files, err)
	}
	var file struct {
		Data string `json:"data"`
	}
	if err := json.Unmarshal([]byte(want(t, a, owner, "GET", "/v2/agents/c/sessions/s/artifacts/"+files.Artifacts[0].ID, "", http.StatusOK)), &file); err != nil {
		t.Fatal(err)
	}
	document, err := base64.StdEncoding.DecodeString(file.Data)
	if err != nil {
		t.Fatal(err)
	}
	want(t, a, owner, "POST", "/v2/corpora", `{"key":"mill"}`, http.StatusCreated)
	made := want(t, a, owner, "POST", "/v2/corpora/mill/documents", string(document), http.StatusCreated)
	if !strings.Contains(made, `"id":"mill page.html"`) {
		t.Errorf("%s became %s", document, made)
	}
	if found := want(t, a, owner, "POST", "/v2/corpora/mill/query", `{"query":"How often is the stone dressed?","search":{}}`, http.StatusOK); !strings.Contains(found, "Dress the stone every 200 hours.") {
		t.Error(found)
	}
	if found := want(t, a, owner, "POST", "/v2/corpora/mill/query", `{"query":"fan belt mm","search":{}}`, http.StatusOK); !strings.Contains(found, "Belt: fan; mm: 3") {
		t.Error(found)
	}
}
