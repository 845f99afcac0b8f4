package compact_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/compact"
	"quarry/internal/agent/session"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
)

// log returns events, each written as turn and type: i an input, a an answer, c a call, o an output, s a summary. The letters
// behind c and o name the call. Numbers are left out where a dot stands.
func log(text string) (out []session.Event) {
	types := map[byte]session.Type{'i': session.InputMessage, 'a': session.AgentOutput, 'c': session.ToolInput, 'o': session.ToolOutput, 's': session.Compaction}
	for n, word := range strings.Fields(text) {
		if word == "." {
			continue
		}
		e := session.Event{Ord: int64(n + 1), ID: id.Event(word), Turn: int64(word[0] - '0'), Type: types[word[1]]}
		switch e.Type {
		case session.ToolInput, session.ToolOutput:
			e.CallID, e.Tool = word[2:], "find"
			e.Arguments, e.Output = json.RawMessage(`{"query":"what is there to see in `+word+`"}`), json.RawMessage(`{"found":"this is what was seen in `+word+`"}`)
		case session.InputMessage:
			e.Parts = []session.Part{{Text: word}}
		default:
			e.Text = word
		}
		out = append(out, e)
	}
	return out
}

func names(events []session.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.ID))
	}
	return strings.Join(out, " ")
}

// TestWhich proves which events a compaction sums up.
func TestWhich(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, log, anchor string
		keep              int
		want              string
	}{
		{"nothing", "", "", 1, ""},
		{"the only turn", "1i 1a", "", 1, ""},
		{"the first of two", "1i 1a 2i 2a", "", 1, "1i 1a"},
		{"two are kept", "1i 1a 2i 2a", "", 2, ""},
		{"none is kept, which is one", "1i 1a 2i 2a", "", 0, "1i 1a"},
		{"steered inputs are of their turn", "1i 1a 1i 1a", "", 1, ""},
		{"the former summary, too", "1i 1a 2s 3i 3a", "", 1, "1i 1a 2s"},
		{"a summary is no turn", "2i 2a 3s", "", 1, ""},
		{"an anchor is inclusive", "1i 1a 2i 2a", "2i", 1, "1i 1a 2i"},
		{"the very first event", "1i 1a", "1i", 1, "1i"},
		{"a summary behind the anchor", "1i 1a 2s", "1i", 1, "1i 2s"},
		{"nothing but a summary", "1s 2i", "1s", 1, ""},
		{"an output goes with its call", "1i 1cx 1cy 1ox 1oy 1a", "1cx", 1, "1i 1cx 1ox"},
		{"both outputs", "1i 1cx 1cy 1ox 1oy 1a", "1cy", 1, "1i 1cx 1cy 1ox 1oy"},
		{"a call that waits stays", "1i 1cx 1cy 1oy", "1oy", 1, "1i 1cy 1oy"},
		{"a call of an earlier turn without its output goes", "1i 1cx 2i 2a", "", 1, "1i 1cx"},
		{"nothing but a call that waits", "1cx", "1cx", 1, ""},
	} {
		events := log(tc.log)
		var got []session.Event
		var err error
		if tc.anchor == "" {
			got = compact.Old(events, tc.keep)
		} else {
			got, err = compact.UpTo(events, id.Event(tc.anchor))
		}
		if err != nil || names(got) != tc.want {
			t.Errorf("%s: %q, %v; want %q", tc.name, names(got), err, tc.want)
		}
	}
	_, err := compact.UpTo(log("1i"), "9i")
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindInvalid || f.Fields[compact.AnchorField] == "" {
		t.Errorf("an anchor that is not there: %v", err)
	}
}

// TestEvent proves what the event says of the events that it stands for, and that the spans of these have no gaps.
func TestEvent(t *testing.T) {
	t.Parallel()
	gone := log("1i 1a . 2i 2a 3s . 4i")
	e := compact.Event("aev_x", "so far", gone)
	if e.Type != session.Compaction || e.Text != "so far" || e.Summed.Turns != 3 || e.Summed.Events != 6 || !strings.HasPrefix(e.Summed.Key, "sum_") {
		t.Errorf("the event is %+v of %+v", e, e.Summed)
	}
	if diff := cmp.Diff([]session.Span{{From: 1, To: 2}, {From: 4, To: 6}, {From: 8, To: 8}}, compact.Spans(gone)); diff != "" {
		t.Errorf("spans (-want +got): %s", diff)
	}
}

// TestDue proves when a session is full.
func TestDue(t *testing.T) {
	t.Parallel()
	on := agent.Compaction{Enabled: true, Threshold: 80}
	if !compact.Due(&on, 80, 100) || compact.Due(&on, 79, 100) || compact.Due(&on, 80, 0) || compact.Due(&agent.Compaction{Threshold: 50}, 100, 100) {
		t.Error("a threshold is not kept")
	}
}

// TestTokens proves that the count of the provider goes before the estimate, unless the log was changed since or the estimate alone is
// more than the model reads.
func TestTokens(t *testing.T) {
	t.Parallel()
	events := log("1i 1a")
	counted := session.Session{Usage: &session.Usage{Input: 50, Output: 10}}
	counted.Measured.Ord, counted.Measured.Edits = 2, 7
	next := llm.Request{Messages: []llm.Message{llm.Text(llm.User, strings.Repeat("some words ", 300))}}
	estimate := next.Tokens() * 3 / 4
	for _, tc := range []struct {
		name    string
		s       session.Session
		edits   int64
		context int
		want    int
	}{
		{"counted", counted, 7, estimate, 60},
		{"edited since", counted, 8, estimate, estimate},
		{"never counted", session.Session{}, 0, estimate, estimate},
		{"more than is read", counted, 7, estimate - 1, estimate},
	} {
		if got := compact.Tokens(&tc.s, events, tc.edits, &next, tc.context); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}

// model answers by a function.
type model func(r llm.Request) (llm.Answer, error)

func (m model) Stream(_ context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	a, err := m(r)
	if err == nil && a.Text != "" {
		err = emit(llm.Event{Text: a.Text})
	}
	return a, err
}

// TestPolicies proves which events of tools each policy shows to the model, in its own words and as the passages of the embedded one.
func TestPolicies(t *testing.T) {
	t.Parallel()
	events := log("1i 1cx 1ox 1a 2s")
	for policy, want := range map[string]struct{ call, output bool }{
		"exclude": {false, false}, "include_outputs": {false, true}, "include_all": {true, true},
	} {
		for _, embedded := range []bool{false, true} {
			var read string
			m := &llm.Model{Name: "m", Embedded: embedded, Can: llm.Abilities{Context: 8192}, Provider: model(func(r llm.Request) (llm.Answer, error) {
				for _, m := range r.Messages {
					read += m.Plain() + "\n"
				}
				for _, e := range r.Evidence {
					read += e.Text + "\n"
				}
				if r.Summarize != embedded || len(r.Tools) > 0 || len(r.Parameters.Extra) > 0 {
					t.Errorf("the request is %+v", r)
				}
				return llm.Answer{Text: " so far\x00 "}, nil
			})}
			text, err := compact.Write(t.Context(), m, nil, &agent.Compaction{ToolEventPolicy: policy, Message: "Keep the plan."}, events)
			if err != nil || text != "so far\uFFFD" {
				t.Errorf("%s: %q, %v", policy, text, err)
			}
			if call, output := strings.Contains(read, "what is there to see"), strings.Contains(read, "what was seen"); call != want.call || output != want.output {
				t.Errorf("%s, embedded %v: the call is shown: %v, the output: %v", policy, embedded, call, output)
			}
			for _, always := range []string{"1i", "1a", "2s"} {
				if !strings.Contains(read, always) {
					t.Errorf("%s: %s is not shown", policy, always)
				}
			}
			if !embedded && !strings.Contains(read, "Keep the plan.") {
				t.Errorf("%s: the guidance is not shown", policy)
			}
		}
	}
}

// TestQuotable proves that the embedded generator is given the texts in the output of a tool, not its JSON.
func TestQuotable(t *testing.T) {
	t.Parallel()
	events := log("1i 1cx 1ox")
	events[2].Output = json.RawMessage(`{"results":[{"text":"The belt of the mill is tightened.","title":"Belt","n":1},"A loose belt squeaks all day."],"error":null}`)
	var got []string
	m := &llm.Model{Name: "m", Embedded: true, Provider: model(func(r llm.Request) (llm.Answer, error) {
		for _, e := range r.Evidence {
			got = append(got, e.Text)
		}
		return llm.Answer{Text: "so far"}, nil
	})}
	if _, err := compact.Write(t.Context(), m, nil, &agent.Compaction{ToolEventPolicy: "include_outputs"}, events); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1i", "The belt of the mill is tightened.", "A loose belt squeaks all day."}, got); diff != "" {
		t.Errorf("passages (-want +got): %s", diff)
	}
}

// TestPieces proves that what is too long for the model is summed up in pieces that fit, without a loss, each with the summary of
// those before it.
func TestPieces(t *testing.T) {
	t.Parallel()
	const context = 4096
	for _, parts := range [][]string{{strings.Repeat("lorem ipsum ", 4000)}, {strings.Repeat("é", 9000), "short"}, strings.Split(strings.Repeat("one two three four five.|", 900), "|")} {
		var events []session.Event
		var all strings.Builder
		for i, text := range parts {
			events = append(events, session.Event{Ord: int64(i + 1), Turn: 1, Type: session.InputMessage, Body: session.Body{Parts: []session.Part{{Text: text}}}})
			all.WriteString(strings.TrimSpace(text))
		}
		calls, read := 0, ""
		m := &llm.Model{Name: "m", Can: llm.Abilities{Context: context}, Provider: model(func(r llm.Request) (llm.Answer, error) {
			calls++
			if n := r.Tokens(); n > context {
				t.Errorf("a piece has %d tokens", n)
			}
			text := r.Messages[1].Plain()
			if (calls > 1) != strings.Contains(text, "<summary>\nso far\n</summary>") {
				t.Errorf("the summary before piece %d is missing, or there is none", calls)
			}
			_, text, _ = strings.Cut(text, "<conversation>\n")
			text, _, _ = strings.Cut(text, "\n</conversation>")
			for _, one := range strings.Split(text, "\n\n") {
				_, one, _ = strings.Cut(one, ":\n")
				read += one
			}
			return llm.Answer{Text: "so far"}, nil
		})}
		if text, err := compact.Write(t.Context(), m, nil, &agent.Compaction{}, events); err != nil || text != "so far" {
			t.Errorf("%q, %v", text, err)
		}
		if calls < 2 || read != all.String() {
			t.Errorf("%d calls have read %d bytes of %d", calls, len(read), all.Len())
		}
	}
}

// TestFailures proves that a summary which is cut off, refused, empty or endless is none.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]llm.Answer{
		"cut off": {Text: "so", Reason: llm.Length}, "refused": {Text: "No.", Reason: llm.Refused}, "empty": {Text: " \n"}, "endless": {Text: strings.Repeat("x", 2<<20)},
	} {
		m := &llm.Model{Name: "m", Can: llm.Abilities{Context: 8192}, Provider: model(func(llm.Request) (llm.Answer, error) { return a, nil })}
		if text, err := compact.Write(t.Context(), m, nil, &agent.Compaction{}, log("1i 1a")); err == nil || text != "" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	tries := 0
	m := &llm.Model{Name: "m", Can: llm.Abilities{Context: 8192}, Provider: model(func(llm.Request) (llm.Answer, error) {
		if tries++; tries == 1 {
			return llm.Answer{}, &llm.Error{Failure: llm.Unreachable}
		}
		return llm.Answer{Text: "so far"}, nil
	})}
	retry := agent.DefaultRetry
	if text, err := compact.Write(t.Context(), m, &retry, &agent.Compaction{}, log("1i 1a")); err != nil || text != "so far" || tries != 2 {
		t.Errorf("a call that may be made again: %q, %v, %d tries", text, err, tries)
	}
}
