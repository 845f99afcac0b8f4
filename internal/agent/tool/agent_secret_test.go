package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"quarry/internal/agent/tool"
)

// TestAgentSecrets proves that secrets of the agent are read by references, whole or one by one, and by input_transform; that they
// are masked in all that is stored; and that one that is not there fails the call without showing what was resolved.
func TestAgentSecrets(t *testing.T) {
	t.Parallel()
	sc := scene()
	sc.AgentSecrets = map[string]string{"crm": "crm-key-1234567890", "x": "agent-x-1234567890", "short": "abc"}
	sc.Session.Metadata = json.RawMessage(`{"user_id": "x", "nobody": "none", "list": ["x"]}`)
	const args = `{"text": "t", "headers": {"Accept": "a", "Authorization": "b"}}`
	for _, c := range []struct{ name, configuration, sent, overrides, failed string }{
		{"one", `{"type": "test", "argument_override": {"any": {"$ref": "agent.secrets.crm"}}}`, `"crm-key-1234567890"`, `{"any": "****"}`, ""},
		{"short", `{"type": "test", "argument_override": {"any": {"a": {"$ref": "agent.secrets.short"}, "b": "abc of it"}}}`, `{"a":"abc","b":"abc of it"}`, `{"any": {"a": "****", "b": "abc of it"}}`, ""},
		{"whole", `{"type": "test", "argument_override": {"any": {"$ref": "agent.secrets"}}}`, `{"crm":"crm-key-1234567890","short":"abc","x":"agent-x-1234567890"}`,
			`{"any": {"crm": "****", "x": "****", "short": "****"}}`, ""},
		{"by what the session says", `{"type": "test", "argument_override": {"any": {"$ref": "agent.secrets[session.metadata.user_id]"}}}`, `"agent-x-1234567890"`, `{"any": "****"}`, ""},
		{"by a path with a root", `{"type": "test", "argument_override": {"any": {"$ref": "$agent.secrets[$.session.metadata.user_id]"}}}`, `"agent-x-1234567890"`, `{"any": "****"}`, ""},
		{"by a name of nothing", `{"type": "test", "argument_override": {"any": {"$ref": "agent.secrets[$session.metadata.nobody]"}}}`, "", "",
			"unresolved refs [agent.secrets[$session.metadata.nobody]]"},
		{"by a list", `{"type": "test", "argument_override": {"any": {"$ref": "agent.secrets[session.metadata.list]"}}}`, "", "", "unresolved refs [agent.secrets[session.metadata.list]]"},
		{"of another root", `{"type": "test", "argument_override": {"any": {"$ref": "agent.secrets.token"}}}`, "", "", "unresolved refs [agent.secrets.token]"},
		{"jq", `{"type": "test", "input_transform": ". as $in | .args | .any = (\"u:\" + $in.agent.secrets.crm | @base64)"}`, `"dTpjcm0ta2V5LTEyMzQ1Njc4OTA="`, `{}`, ""},
		{"jq, not there", `{"type": "test", "input_transform": ". as $in | .args | .any = $in.agent.secrets.none"}`, `null`, `{}`, ""},
	} {
		var sent struct {
			Any json.RawMessage `json:"any"`
		}
		var said []string
		sc.Tell = func(p tool.Progress) { said = append(said, p.Message) }
		_, out := call(t, kit(t, func(_ context.Context, call tool.Call, tell tool.Activity) (json.RawMessage, error) {
			tell(tool.Progress{Message: "working with " + string(call.Arguments)})
			return call.Arguments, json.Unmarshal(call.Arguments, &sent)
		}), c.configuration, args, sc)
		if c.failed != "" {
			if !out.Failed || !strings.Contains(string(out.Output), c.failed) || out.Overrides != nil {
				t.Errorf("%s: %s, %s", c.name, out.Output, out.Overrides)
			}
			continue
		}
		if string(sent.Any) != c.sent {
			t.Errorf("%s: the tool got %s, not %s", c.name, sent.Any, c.sent)
		}
		same(t, c.name, c.overrides, out.Overrides)
		for _, secret := range []string{"crm-key", "agent-x", "Y3JtLWtleS0xMjM0", "pjcm0ta2V5LTEyM"} {
			if all := string(out.Output) + string(out.Overrides) + strings.Join(said, ""); strings.Contains(all, secret) {
				t.Errorf("%s: %s is in %s", c.name, secret, all)
			}
		}
	}
}

// TestAgentSecretsOutsideTools proves that templates of descriptions don't read secrets, and that the mask of a turn has those of agent,
// session and configurations.
func TestAgentSecretsOutsideTools(t *testing.T) {
	t.Parallel()
	sc := scene()
	sc.AgentSecrets = map[string]string{"crm": "crm-key-1234567890"}
	s := compile(t, kit(t, nil), `{"type": "test", "description_template": "a $!agent.secrets.crm b $!session.secrets.token c $!{agent.metadata.region}"}`)
	b := bind(t, s, sc)
	if d := b.Offer(nil)[0].Description; d != "a  b  c eu" {
		t.Errorf("the description is %q", d)
	}
	if got := b.Mask().Text("crm-key-1234567890 tok-1234567890 else"); got != "**** **** else" {
		t.Errorf("shown as %q", got)
	}
}
