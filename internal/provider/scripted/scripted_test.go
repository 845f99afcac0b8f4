package scripted_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"quarry/internal/provider/scripted"
)

func post(t *testing.T, ctx context.Context, url, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer sk-secret")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func chatBody(model string, stream bool) string {
	return fmt.Sprintf(`{"model":%q,"stream":%v,"messages":[{"role":"user","content":"Why is the moon round?"}]}`, model, stream)
}

func read(t *testing.T, res *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestScript proves that calls get the replies of the script in order, and later ones the reply for their model's name,
// and that every call is recorded as it was sent.
func TestScript(t *testing.T) {
	t.Parallel()
	s := scripted.Start(t, scripted.Reply{Text: "first"}, scripted.Reply{Text: "second"})
	for _, want := range []string{"first", "second", scripted.Answer} {
		var out struct {
			Choices []struct{ Message struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(read(t, post(t, t.Context(), s.URL+"/v1/chat/completions", chatBody("m", false)))), &out); err != nil {
			t.Fatal(err)
		}
		if got := out.Choices[0].Message.Content; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := len(s.Requests()); got != 3 {
		t.Fatalf("%d requests are recorded, want 3", got)
	}
	last := s.Last()
	if last.Model != "m" || last.Stream || last.Header.Get("Authorization") != "Bearer sk-secret" || string(last.Body) != chatBody("m", false) {
		t.Errorf("recorded %+v", last)
	}
}

// TestFaults proves what a caller sees of each fault that a model's name can select.
func TestFaults(t *testing.T) {
	t.Parallel()
	s := scripted.Start(t)
	for _, c := range []struct {
		model  string
		status int
		holds  string // of the body of a stream
		broken bool   // the connection breaks
	}{
		{"limited", 429, "too fast", false},
		{"rejected", 400, "max_tokens", false},
		{"failed", 500, "broke", false},
		{"unavailable", 503, "overloaded", false},
		{"leak", 401, "sk-secret", false},
		{"html", 200, "<html>", false},
		{"redirect", 307, "", false},
		{"cut", 200, "The", true},
		{"malformed", 200, `"tor`, false},
		{"event", 200, "overloaded", false},
		{"refusal", 200, "refusal", false},
		{"length", 200, `"finish_reason":"length"`, false},
		{"on:moon:failed", 500, "broke", false},
		{"on:sun:failed", 200, "passage", false},
		{"say:Well.", 200, "Well.", false},
		{"echo", 200, "moon", false},
		{`call:search:{"q":"x"}`, 200, "search", false},
	} {
		res := post(t, t.Context(), s.URL+"/v1/chat/completions", chatBody(c.model, true))
		raw, err := io.ReadAll(res.Body)
		if res.StatusCode != c.status || !strings.Contains(string(raw), c.holds) || (err != nil) != c.broken {
			t.Errorf("%s: got %d, %v: %s", c.model, res.StatusCode, err, raw)
		}
		if whole := strings.HasSuffix(string(raw), "[DONE]\n\n"); c.status == 200 && !c.broken && c.model != "html" && c.model != "event" && !whole {
			t.Errorf("%s: the stream does not end with [DONE]: %s", c.model, raw)
		}
		if c.model == "limited" && res.Header.Get("Retry-After") != "7" {
			t.Errorf("limited: Retry-After is %q", res.Header.Get("Retry-After"))
		}
	}
}

// TestGates proves that a stream waits at a gate until it is let through, and that the server notices when its caller
// disconnects.
func TestGates(t *testing.T) {
	t.Parallel()
	gate := scripted.NewGate()
	s := scripted.Start(t, scripted.Reply{Pieces: []string{"one ", "two ", "three"}, Between: gate})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res := post(t, ctx, s.URL+"/v1/chat/completions", chatBody("m", true))
	lines := bufio.NewScanner(res.Body)
	until := func(word string) {
		for lines.Scan() {
			if strings.Contains(lines.Text(), word) {
				return
			}
		}
		t.Fatalf("no %q came", word)
	}
	until("one ")
	<-gate.Reached()
	gate.Let()
	until("two ")
	cancel()
	<-s.Last().Gone
	<-s.Last().Done
}

// TestToken proves that the token endpoint accepts both ways of identifying a client, and refuses unknown clients.
func TestToken(t *testing.T) {
	t.Parallel()
	s := scripted.Start(t)
	for body, want := range map[string]int{
		"grant_type=client_credentials&client_id=a&client_secret=b&audience=x": 200,
		"grant_type=client_credentials&client_id=bad&client_secret=b":          401,
		"grant_type=client_credentials":                                        401,
		"client_id=a&client_secret=b":                                          400,
	} {
		res, err := http.Post(s.URL+"/oauth/token", "application/x-www-form-urlencoded", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: got %d, want %d", body, res.StatusCode, want)
		}
		if got := s.Last().Form.Get("client_id"); got != "" && !strings.Contains(body, "client_id="+got) {
			t.Errorf("%s: recorded the client %q", body, got)
		}
	}
}
