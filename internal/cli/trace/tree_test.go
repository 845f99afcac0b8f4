package trace

import (
	"bytes"
	"encoding/json"
	"testing"

	"quarry/internal/cli/command"
)

// TestTree proves that spans stand below their parents in the order in which they began, with times from the beginning on, tokens of
// models alone, why they failed, and texts beside the branches; and that a span without its parent is shown, too.
func TestTree(t *testing.T) {
	t.Parallel()
	var all []span
	err := json.Unmarshal([]byte(`[
		{"span_id":"a","parent_span_id":null,"operation":"invoke_agent","started_at":"2026-05-01T08:00:00Z","duration_ms":75000,"status":"ok","attributes":{"agent_name":"Desk","input_tokens":9}},
		{"span_id":"b","parent_span_id":"a","operation":"chat","started_at":"2026-05-01T08:00:00.1Z","duration_ms":1500,"status":"ok","attributes":{"model":"m","input_tokens":1200,"output_tokens":3}},
		{"span_id":"c","parent_span_id":"a","operation":"execute_tool","started_at":"2026-05-01T08:00:02Z","duration_ms":7,"status":"error","error_message":"too\nslow","tool_error_type":"timeout","attributes":{"tool_name":"sub_agent","tool_key":"ask"},"content":{"tool_arguments":"{}","tool_result":""}},
		{"span_id":"d","parent_span_id":"c","operation":"invoke_agent","started_at":"2026-05-01T08:00:02Z","duration_ms":6,"status":"error","error_type":"internal","attributes":{"agent_name":"Night"}},
		{"span_id":"e","parent_span_id":"a","operation":"step_transition","started_at":"2026-05-01T08:00:03Z","duration_ms":0,"status":"ok","attributes":{"from_step":"one","to_step":"two"}},
		{"span_id":"f","parent_span_id":"gone","operation":"thinking","started_at":"2026-05-01T08:01:00Z","duration_ms":999,"status":"ok"}
	]`), &all)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	printTree(&command.Env{Streams: command.Streams{Out: &out}}, all)
	const want = `
      AT     TOOK   READ  WROTE  STEP
    0 ms    1m15s                invoke_agent Desk
  100 ms    1.5 s   1.2k      3  ├─ chat m
   2.0 s     7 ms                ├─ execute_tool sub_agent (ask) ✗ timeout: too slow
                                 │  │  tool_arguments: {}
   2.0 s     6 ms                │  └─ invoke_agent Night ✗ internal
   3.0 s     0 ms                └─ step_transition one → two
    1m0s   999 ms                thinking
`
	if got := out.String(); got != want {
		t.Errorf("shown as\n%s\nwant\n%s", got, want)
	}
}
