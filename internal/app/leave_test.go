package app_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"quarry/internal/app/apptest"
	"quarry/internal/provider/scripted"
)

// TestClientLeaves proves that the calls of a model end, each on its connection, when the client leaves that a completion
// is for: before the model has begun, between two pieces, and all of several.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	provider := scripted.Start(t)
	a, owner := apptest.Start(t, nil)
	web := httptest.NewServer(a.Handler())
	t.Cleanup(web.Close)
	for _, c := range []struct {
		name, members string
		calls         int
		held          bool // before the first byte, else between two pieces
	}{
		{"whole", ``, 1, true},
		{"whole, between two pieces", ``, 1, false},
		{"streamed, before the head", `,"stream":true`, 1, true},
		{"streamed, between two pieces", `,"stream":true`, 1, false},
		{"several", `,"n":3`, 3, true},
		{"several, streamed", `,"n":3,"stream":true`, 3, false},
	} {
		gate := scripted.NewGate()
		reply := scripted.Reply{Pieces: []string{"one ", "two"}, Between: gate}
		if c.held {
			reply = scripted.Reply{Text: "one", Held: gate}
		}
		name := strings.NewReplacer(" ", "-", ",", "").Replace(c.name)
		status, got := ask(a, owner, "POST", "/v2/llms", `{"type":"openai-compatible","name":"`+name+`","model":"`+name+`","uri":"`+provider.URL+`/v1/chat/completions"}`)
		if status != http.StatusCreated {
			t.Fatalf("%d %v", status, got)
		}
		provider.Model(name, reply) // after the test of its connection
		before := len(provider.Requests())
		ctx, leave := context.WithCancel(t.Context())
		body := `{"model":"` + name + `","messages":[{"role":"user","content":"hello"}]` + c.members + `}`
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, web.URL+"/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+owner)
		r.Header.Set("Content-Type", "application/json")
		done := make(chan error, 1)
		go func() {
			res, err := web.Client().Do(r)
			if err == nil {
				_, err = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
			done <- err
		}()
		for len(provider.Requests()) < before+c.calls {
			<-provider.Arrived()
		}
		<-gate.Reached()
		leave()
		for _, call := range provider.Requests()[before:] {
			<-call.Gone // the test does not end if the connection stays
		}
		if err := <-done; err == nil {
			t.Errorf("%s: an answer came", c.name)
		}
	}
}
