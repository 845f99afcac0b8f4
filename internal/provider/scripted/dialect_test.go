package scripted_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"quarry/internal/provider/scripted"
)

// formats are a request of each wire format.
var formats = []struct {
	name, path, stream string // paths of a plain and a streamed call
	body               string
	mime, end          string // of the stream
}{
	{"chat", "/v1/chat/completions", "/v1/chat/completions", `{"model":"m","stream":STREAM,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"x"}]}`, "text/event-stream", "data: [DONE]\n\n"},
	{"responses", "/v1/responses", "/v1/responses", `{"model":"m","stream":STREAM,"input":[{"role":"user","content":"x"}]}`, "text/event-stream", "\n\n"},
	{"messages", "/v1/messages", "/v1/messages", `{"model":"m","stream":STREAM,"max_tokens":9,"messages":[{"role":"user","content":"x"}]}`, "text/event-stream", "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
	{"bedrock", "/model/m/invoke", "/model/m/invoke-with-response-stream", `{"anthropic_version":"bedrock-2023-05-31","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`, "application/vnd.amazon.eventstream", ""},
	{"vertex", "/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict", "/v1/projects/p/locations/l/publishers/anthropic/models/m:streamRawPredict", `{"anthropic_version":"vertex-2023-10-16","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`, "text/event-stream", "\n\n"},
	{"gemini", "/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`, "text/event-stream", "\r\n\r\n"},
}

func ask(t *testing.T, url, body string, stream bool) (*http.Response, string, error) {
	t.Helper()
	value := "false"
	if stream {
		value = "true"
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(strings.Replace(body, "STREAM", value, 1)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return res, string(raw), err
}

// TestFormats proves that each wire format answers with a single body and with events, ends properly, and is cut off in
// the middle if scripted so.
func TestFormats(t *testing.T) {
	t.Parallel()
	reply := scripted.Reply{Pieces: []string{"unus ", "duo"}, Reasoning: "cogito", Calls: []scripted.Call{{ID: "c1", Name: "find", Pieces: []string{`{"q":`, `"x"}`}}}}
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			cut := reply
			cut.Fault = scripted.Cut
			s := scripted.Start(t, reply, reply, cut, scripted.Reply{Fault: scripted.Failed})
			res, raw, err := ask(t, s.URL+f.path, f.body, false)
			if err != nil || res.StatusCode != 200 || !strings.Contains(raw, "unus duo") || !strings.Contains(raw, "cogito") || !strings.Contains(raw, "find") {
				t.Errorf("plain: %d, %v: %s", res.StatusCode, err, raw)
			}
			res, raw, err = ask(t, s.URL+f.stream, f.body, true)
			if err != nil || res.StatusCode != 200 || res.Header.Get("Content-Type") != f.mime || !strings.HasSuffix(raw, f.end) {
				t.Errorf("streamed: %d, %v: %s", res.StatusCode, err, raw)
			}
			if f.name != "bedrock" && (!strings.Contains(raw, `"unus "`) || !strings.Contains(raw, `"duo"`)) {
				t.Errorf("streamed without its pieces: %s", raw)
			}
			if _, part, err := ask(t, s.URL+f.stream, f.body, true); err == nil || part == "" || len(part) >= len(raw) {
				t.Errorf("cut: got %v after %d of %d bytes", err, len(part), len(raw))
			}
			if res, raw, _ := ask(t, s.URL+f.stream, f.body, true); res.StatusCode != 500 || !bytes.Contains([]byte(raw), []byte("Something broke.")) {
				t.Errorf("failed: %d: %s", res.StatusCode, raw)
			}
			if got := s.Last().Model; got != "m" {
				t.Errorf("the model is recorded as %q", got)
			}
		})
	}
}
