package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/internal/provider/scripted"
	"quarry/internal/provider/scripted/transcript"
	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

// levelsBelow is how many levels of agents are below the one that is asked.
const levelsBelow = 3

// TestKillBelow proves that a turn over three levels of agents which is killed at any call of a language model, before its reply or when that
// is out, ends with the logs of one that was never killed at all levels: every agent has answered once, in one session for each call.
func TestKillBelow(t *testing.T) {
	t.Parallel()
	killBelow(t, 1)
}

// TestKillBelowPostgres proves the same where each lease of a dead process has to run out first, which takes half a minute.
func TestKillBelowPostgres(t *testing.T) {
	t.Parallel()
	killBelow(t, 5, "--database", storetest.Postgres(t))
}

// killBelow kills at every call of the model in one turn, or only at each so manieth.
func killBelow(t *testing.T, each int, args ...string) {
	t.Helper()
	dir, provider := t.TempDir(), scripted.Start(t)
	var mu sync.Mutex
	left, kill := 0, func() {} // guarded by mu
	provider.Respond("below", func(said *transcript.Transcript) scripted.Reply {
		mu.Lock()
		defer mu.Unlock()
		if left--; left == 0 {
			kill()
		}
		return scripted.Named("told", said.Body)
	})
	p := testkit.StartBinary(t, dir, args...)
	c := p.Client()
	c.Must(t, http.StatusCreated, "POST", "/v2/llms", map[string]any{
		"type": "openai-compatible", "name": "below", "model": "below", "uri": provider.URL + "/v1/chat/completions", "capabilities": map[string]any{"context_limit": 2_000_000},
	})
	message := "How deep?"
	for level := levelsBelow; level >= 0; level-- {
		a := map[string]any{"key": fmt.Sprint("level", level), "name": "L", "model": map[string]any{"name": "below"}}
		if level < levelsBelow {
			a["tool_configurations"] = map[string]any{"down": map[string]any{
				"type": "sub_agent", "sub_agent_configuration": map[string]any{"agent_key": fmt.Sprint("level", level+1)},
			}}
			told, _ := json.Marshal([]any{ // always encodes
				map[string]any{"calls": []any{map[string]any{"name": "down", "arguments": map[string]any{"message": message}}}}, map[string]any{"text": fmt.Sprint("Level ", level)},
			})
			message = string(told)
		}
		c.Must(t, http.StatusCreated, "POST", "/v2/agents", a)
	}
	var want []string
	for n := 0; n <= 2*(2*levelsBelow+1); n += each { // each level calls the model twice, the last one once
		mu.Lock()
		die := sync.OnceFunc(p.Kill)
		if left, kill = (n+1)/2, die; n%2 == 0 {
			kill = func() { go die() } // while the reply is on its way
		}
		mu.Unlock()
		session := fmt.Sprint("s", n)
		c.Must(t, http.StatusCreated, "POST", "/v2/agents/level0/sessions", map[string]any{"key": session})
		done := make(chan error, 1)
		go func() {
			_, _, err := c.Do("POST", "/v2/agents/level0/sessions/"+session+"/events", map[string]any{"messages": []any{map[string]any{"type": "text", "content": message}}})
			done <- err
		}()
		if err := <-done; err != nil && n == 0 {
			t.Fatal(err)
		}
		if n > 0 {
			die() // it has, or is about to
			p = testkit.StartBinary(t, dir, args...)
			c = p.Client()
		}
		got := logsBelow(t, c, session)
		if n == 0 {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("kill %d:\n%s\nwant\n%s", n, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if err := p.Stop(); err != nil {
		t.Errorf("the last stop: %v\n%s", err, p.Log())
	}
}

var madeKeys = regexp.MustCompile(`ase_[0-9a-f]{24}`)

// logsBelow waits until the turn of a session has ended, and returns its log and those of all sessions that it has led to.
func logsBelow(t *testing.T, c *testkit.Client, session string) (out []string) {
	t.Helper()
	keys := []string{session}
	for level := 0; level <= levelsBelow; level++ {
		var below []string
		for _, key := range keys {
			at := fmt.Sprintf("/v2/agents/level%d/sessions/%s", level, key)
			for c.Must(t, http.StatusOK, "GET", at, nil)["status"] == "running" {
				time.Sleep(10 * time.Millisecond) // the service goes on by itself
			}
			events, err := json.Marshal(c.Must(t, http.StatusOK, "GET", at+"/events?limit=100", nil)["events"])
			if err != nil {
				t.Fatal(err)
			}
			var all []struct {
				Type, Content string
				Output        json.RawMessage `json:"tool_output"`
			}
			if err := json.Unmarshal(events, &all); err != nil {
				t.Fatal(err)
			}
			line := fmt.Sprint("level ", level)
			for _, e := range all {
				line += "|" + e.Type + " " + e.Content + string(e.Output)
			}
			out = append(out, madeKeys.ReplaceAllString(line, "KEY"))
		}
		if level == levelsBelow {
			break
		}
		found, _ := c.Must(t, http.StatusOK, "GET", fmt.Sprintf("/v2/agents/level%d/sessions?limit=100", level+1), nil)["sessions"].([]any)
		for _, one := range found {
			s, _ := one.(map[string]any)
			if by, _ := s["created_by_session_key"].(string); slices.Contains(keys, by) {
				key, _ := s["key"].(string)
				below = append(below, key)
			}
		}
		keys = below
	}
	return out
}
