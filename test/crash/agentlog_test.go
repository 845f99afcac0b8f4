package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/provider/scripted"
	"quarry/internal/provider/scripted/transcript"
	"quarry/internal/testkit"
)

// agentEvent is an event or a frame of a session.
type agentEvent struct {
	Type     string          `json:"type"`
	ID       string          `json:"id"`
	EventID  string          `json:"event_id"`
	Created  time.Time       `json:"created_at"`
	Messages json.RawMessage `json:"messages"`
	Content  any             `json:"content"`
	From     string          `json:"from_step"`
	To       string          `json:"to_step"`
	Call     string          `json:"tool_call_id"`
	Input    struct {
		Query string `json:"query"`
	} `json:"tool_input"`
	Output     map[string]any `json:"tool_output"`
	Error      bool           `json:"error"`
	HideReason string         `json:"hide_reason"`
}

// logOf reads the whole log of a session.
func logOf(t *testing.T, c *testkit.Client, key string) (out []agentEvent) {
	t.Helper()
	path := "/v2/agents/a/sessions/" + key + "/events?limit=100&include_hidden=true"
	for next := path; next != ""; {
		answer := c.Must(t, http.StatusOK, "GET", next, nil)
		raw, err := json.Marshal(answer["events"])
		if err != nil {
			t.Fatal(err)
		}
		var page []agentEvent
		if err := json.Unmarshal(raw, &page); err != nil {
			t.Fatal(err)
		}
		out, next = append(out, page...), ""
		if key, _ := answer["metadata"].(map[string]any)["page_key"].(string); key != "" {
			next = path + "&page_key=" + url.QueryEscape(key)
		}
	}
	return out
}

// lines returns a line for each event, the outputs of one reply sorted, and the instants of the outputs by their queries.
func lines(t *testing.T, key string, log []agentEvent) (out []string, answered map[string]time.Time) {
	t.Helper()
	queries := map[string]string{}
	answered = map[string]time.Time{}
	for i := range log {
		e := &log[i]
		if i > 0 && e.Created.Before(log[i-1].Created) {
			t.Errorf("%s: event %d is of %v, the one before it of %v", key, i, e.Created, log[i-1].Created)
		}
		line := fmt.Sprint(e.Type, " ", e.Content)
		switch e.Type {
		case "input_message":
			var parts []struct{ Content string }
			if err := json.Unmarshal(e.Messages, &parts); err != nil || len(parts) != 1 {
				t.Errorf("%s: the input %s", key, e.Messages)
				continue
			}
			line = e.Type + " " + parts[0].Content
		case "tool_input":
			if queries[e.Call] != "" {
				t.Errorf("%s: the call %s is there twice", key, e.Call)
			}
			queries[e.Call] = e.Input.Query
			line = e.Type + " " + e.Input.Query
		case "tool_output":
			if e.Error || e.Output["search_results"] == nil {
				t.Errorf("%s: the search for %q came to %v", key, queries[e.Call], e.Output)
			}
			answered[queries[e.Call]] = e.Created
			line = e.Type + " " + queries[e.Call]
		case "structured_output":
			raw, _ := json.Marshal(e.Content) // it was JSON
			line = e.Type + " " + string(raw)
		case "step_transition":
			line = e.Type + " " + e.From + " " + e.To
		}
		out = append(out, line)
	}
	for i := 0; i < len(out); i++ {
		j := i
		for j < len(out) && strings.HasPrefix(out[j], "tool_output ") {
			j++
		}
		slices.Sort(out[i:j])
		i = max(i, j-1)
	}
	return out, answered
}

// verify waits for the end of all turns and compares every log with that of a program which was never killed.
func (l *agentLoad) verify(t *testing.T, provider *scripted.Server) {
	t.Helper()
	answered, all := map[string]time.Time{}, map[string]bool{}
	for _, x := range l.talkers {
		if !x.send(t, l.client, l.turns-1, "start", 0) {
			t.Fatalf("%s: the last turn can't be resumed", x.key)
		}
		if s := l.client.Must(t, http.StatusOK, "GET", "/v2/agents/a/sessions/"+x.key, nil); s["status"] != "stopped" {
			t.Errorf("%s: the session is %v when its last turn has ended", x.key, s["status"])
		}
		log := logOf(t, l.client, x.key)
		var want []string
		for turn := range l.turns {
			want = append(want, planned(x.no, turn)...)
		}
		got, outputs := lines(t, x.key, log)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got): %s", x.key, diff)
		}
		for query, at := range outputs {
			answered[query] = at
		}
		kept := map[string]string{}
		for _, e := range log {
			if all[e.ID] {
				t.Errorf("%s: the id %s is there twice", x.key, e.ID)
			}
			all[e.ID] = true
			kept[e.ID] = fmt.Sprint(e.Content)
		}
		for _, id := range x.seen {
			if _, ok := kept[id]; !ok {
				t.Errorf("%s: event %s was shown, and is not there", x.key, id)
			}
		}
		for id, text := range x.texts {
			if kept[id] != text {
				t.Errorf("%s: the chunks of %s are %q, and it is %q", x.key, id, text, kept[id])
			}
		}
	}
	l.verifyPrompts(t, provider)
	verifySearches(t, l.client, answered)
}

// verifyPrompts proves that every prompt is the beginning of one conversation, that of its session, and has no word of another.
func (l *agentLoad) verifyPrompts(t *testing.T, provider *scripted.Server) {
	t.Helper()
	longest := map[string]*transcript.Transcript{}
	var prompts []*transcript.Transcript
	for _, r := range provider.Requests() {
		tr := r.Transcript()
		session := ""
		if !sentinels.Match(r.Body) {
			continue // the first call of a new model
		}
		for _, word := range sentinels.FindAllStringSubmatch(string(r.Body), -1) {
			if session == "" {
				session = word[1]
			}
			if word[1] != session {
				t.Fatalf("a prompt of session %s has %s", session, word[0])
			}
		}
		if left := tr.Unpaired(); len(left) > 0 {
			t.Errorf("a prompt of session %s has calls without a result: %v", session, left)
		}
		prompts = append(prompts, tr)
		if long := longest[session]; long == nil || len(tr.Messages) > len(long.Messages) {
			longest[session] = tr
		}
	}
	for _, tr := range prompts {
		long := longest[sentinels.FindStringSubmatch(string(tr.Body))[1]]
		if diff := cmp.Diff(long.Messages[:len(tr.Messages)], tr.Messages); diff != "" {
			t.Errorf("a prompt is no beginning of the conversation (-conversation +prompt): %s", diff)
		}
	}
}

// verifySearches proves that no search was made again once its result was there.
func verifySearches(t *testing.T, c *testkit.Client, answered map[string]time.Time) {
	t.Helper()
	page, found := "/v2/queries?limit=100", 0
	for next := page; next != ""; {
		answer := c.Must(t, http.StatusOK, "GET", next, nil)
		for _, q := range answer["queries"].([]any) {
			text, _ := q.(map[string]any)["query"].(string)
			started, err := time.Parse(time.RFC3339, q.(map[string]any)["started_at"].(string))
			at, ok := answered[text]
			switch {
			case err != nil || !ok:
				t.Errorf("the history has %v, which no turn has asked for", q)
			case started.After(at.Add(time.Millisecond)): // events have milliseconds
				t.Errorf("the search for %q was made at %v, and its result was there at %v", text, started, at)
			}
			found++
		}
		next = ""
		if key, _ := answer["metadata"].(map[string]any)["page_key"].(string); key != "" {
			next = page + "&page_key=" + url.QueryEscape(key)
		}
	}
	if found == 0 && len(answered) > 0 {
		t.Error("the history has no search")
	}
}
