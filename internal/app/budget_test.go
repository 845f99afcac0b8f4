package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/internal/app"
	"quarry/internal/app/apptest"
	"quarry/internal/config"
	"quarry/internal/provider/scripted"
)

// ownerOf returns the key of the owner.
func ownerOf(t *testing.T, a *app.App) string {
	t.Helper()
	raw, err := os.ReadFile(a.KeyFile())
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(raw))
}

// TestAgentRate proves that of 200 inputs at once, each to a session of its own, an agent with 50 calls a second takes 50 and what
// the time adds that they took, and that the others are 429 with Retry-After and leave no event.
func TestAgentRate(t *testing.T) {
	t.Parallel()
	onNodes(t, func(t *testing.T, a, _ *app.App) {
		const inputs, rate = 200, 50
		owner := ownerOf(t, a)
		want(t, a, owner, "POST", "/v2/agents", `{"key":"fifty","name":"Fifty","model":{"name":"extractive-1.0"},"llm_quota":{"requests_per_second":50}}`, http.StatusCreated)
		path := func(i int) string { return fmt.Sprintf("/v2/agents/fifty/sessions/s%d/events", i) }
		for i := range inputs {
			want(t, a, owner, "POST", "/v2/agents/fifty/sessions", fmt.Sprintf(`{"key":"s%d"}`, i), http.StatusCreated)
		}
		answers := make([]*httptest.ResponseRecorder, inputs)
		var done sync.WaitGroup
		began := time.Now()
		for i := range inputs {
			req := httptest.NewRequestWithContext(t.Context(), "POST", path(i), strings.NewReader(`{"messages":[{"type":"text","content":"Hello!"}]}`))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("x-api-key", owner)
			answers[i] = httptest.NewRecorder()
			done.Go(func() { a.Handler().ServeHTTP(answers[i], req) })
		}
		done.Wait()
		took := time.Since(began)
		most := rate + 1 + int(took.Seconds()*rate)
		taken := 0
		for i, w := range answers {
			stored := strings.Count(want(t, a, owner, "GET", path(i), "", http.StatusOK), `"id":"aev_`)
			switch w.Code {
			case http.StatusCreated:
				if taken++; stored != 2 {
					t.Errorf("session %d was answered and has %d events", i, stored)
				}
			case http.StatusTooManyRequests:
				if n, err := strconv.Atoi(w.Header().Get("Retry-After")); err != nil || n < 1 || stored != 0 {
					t.Errorf("session %d was refused, has %d events, and may come back after %q", i, stored, w.Header().Get("Retry-After"))
				}
			default:
				t.Errorf("session %d: %d %s", i, w.Code, w.Body)
			}
		}
		if taken < rate || taken > most {
			t.Errorf("%d of %d inputs are answered, want %d to %d", taken, inputs, rate, most)
		}
		t.Logf("%d of %d inputs are answered within %s", taken, inputs, took)
	})
}

// TestAgentQuotaOnEveryNode proves that what an agent has used on one node counts on the other.
func TestAgentQuotaOnEveryNode(t *testing.T) {
	t.Parallel()
	onNodes(t, func(t *testing.T, first, second *app.App) {
		provider, owner := scripted.Start(t), ownerOf(t, first)
		for name, model := range map[string]string{"dear": "tokens:1:100000", "cheap": "tokens:1:1"} {
			want(t, first, owner, "POST", "/v2/llms", fmt.Sprintf(`{"type":"openai-compatible","name":%q,"model":%q,"uri":"%s/v1/chat/completions"}`, name, model, provider.URL), http.StatusCreated)
		}
		want(t, first, owner, "POST", "/v2/agents", `{"key":"a","name":"A","model":{"name":"dear"},"llm_quota":{"output_tokens_per_month":100000}}`, http.StatusCreated)
		want(t, first, owner, "POST", "/v2/agents/a/sessions", `{"key":"s"}`, http.StatusCreated)
		const say = `{"messages":[{"type":"text","content":"Hello!"}]}`
		want(t, first, owner, "POST", "/v2/agents/a/sessions/s/events", say, http.StatusCreated)
		want(t, first, owner, "PATCH", "/v2/agents/a", `{"model":{"name":"cheap"}}`, http.StatusOK)
		for n := range 50_000 { // far fewer than use the quota up by themselves
			status, body := ask(second, owner, "POST", "/v2/agents/a/sessions/s/events", say)
			if status == http.StatusTooManyRequests {
				if text := fmt.Sprint(body["messages"]); !strings.Contains(text, "output_tokens_per_month") {
					t.Errorf("refused for %s", text)
				}
				return
			}
			if status != http.StatusCreated {
				t.Fatalf("input %d: %d %v", n, status, body)
			}
		}
		t.Error("the other node does not know what was used")
	})
}

// TestAgentQuotaSurvives proves that what an agent has used counts after a restart, and not for a later agent of its key.
func TestAgentQuotaSurvives(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	const say = `{"messages":[{"type":"text","content":"Hello!"}]}`
	const create = `{"key":"a","name":"A","model":{"name":"extractive-1.0"},"llm_quota":{"output_tokens_per_month":1}}`
	for start, wants := range []int{http.StatusCreated, http.StatusTooManyRequests} {
		t.Run(fmt.Sprint("start ", start), func(t *testing.T) {
			a, _ := apptest.Start(t, func(c *config.Config) { c.Data = folder })
			owner := ownerOf(t, a)
			if start == 0 {
				want(t, a, owner, "POST", "/v2/agents", create, http.StatusCreated)
				want(t, a, owner, "POST", "/v2/agents/a/sessions", `{"key":"s"}`, http.StatusCreated)
			}
			want(t, a, owner, "POST", "/v2/agents/a/sessions/s/events", say, wants)
			if start == 1 {
				want(t, a, owner, "DELETE", "/v2/agents/a", "", http.StatusNoContent)
				want(t, a, owner, "POST", "/v2/agents", create, http.StatusCreated)
				want(t, a, owner, "POST", "/v2/agents/a/sessions", `{"key":"s"}`, http.StatusCreated)
				want(t, a, owner, "POST", "/v2/agents/a/sessions/s/events", say, http.StatusCreated)
			}
		})
	}
}
