package check

import (
	"bytes"
	"strings"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/identity/audit"
)

// The tests of this file are inside the package: most operations that take secrets are not built, so their schemas have
// no other way in.

// TestMasksAreRefused proves that the mask of a secret, in every place where the contract takes one, is refused by name
// with what to do, and that a secret itself is taken and not shown by the audit record.
func TestMasksAreRefused(t *testing.T) {
	t.Parallel()
	s, _ := contractSchemas(t)
	for _, tc := range []struct{ schema, before, after, path string }{
		{"CreateLLMRequest", `{"type":"openai-compatible","name":"a","model":"m","uri":"https://x.test","auth":{"type":"bearer","token":`, `}}`, "body.auth.token"},
		{"UpdateLLMRequest", `{"type":"openai-compatible","auth":{"type":"header","header":"x-key","value":`, `}}`, "body.auth.value"},
		{"UpdateLLMRequest", `{"type":"openai-compatible","auth":{"type":"oauth_client_credentials","client_id":"c","token_endpoint":"https://x.test","client_secret":`, `}}`, "body.auth.client_secret"},
		{"UpdateAgentSecretsRequest", `{"secrets":{"crm":`, `}}`, "body.secrets.crm"},
		{"ReplaceAgentSecretsRequest", `{"secrets":{"other":"plain","crm":`, `}}`, "body.secrets.crm"},
		{"CreateAgentSessionRequest", `{"secrets":{"crm":`, `}}`, "body.secrets.crm"},
		{"CreateConnectorConfiguration", `{"type":"slack","api_app_id":"A1","signing_secret":"s","bot_token":`, `}`, "body.bot_token"},
		{"CreateToolServerRequest", `{"type":"mcp","name":"n","uri":"https://x.test","transport":"sse","auth":{"type":"bearer","token":`, `}}`, "body.auth.token"},
		{"WebGetToolParameters", `{"auth":{"type":"oauth_refresh_token","client_id":"c","client_secret":"s","token_endpoint":"https://x.test","refresh_token":`, `}}`, "body.auth.refresh_token"},
		{"SignInRequest", `{"username":"ann","password":`, `}`, "body.password"},
	} {
		t.Run(tc.schema+" "+tc.path, func(t *testing.T) {
			t.Parallel()
			for _, mask := range []string{`"****"`, `"********"`, `"zqt_****hdiA"`, `"****hdiA"`} {
				bad := refusals(t, s, tc.schema, tc.before+mask+tc.after)
				if mask == `"****"` && tc.schema == "ReplaceAgentSecretsRequest" { // package agent/secret knows whether it may be one
					if len(bad.Fields) > 0 {
						t.Errorf("%s: refused %v", mask, bad.Fields)
					}
					continue
				}
				if reason := bad.Fields[tc.path]; len(bad.Fields) != 1 || !strings.Contains(reason, "leave the member out") {
					t.Errorf("%s: refused %v", mask, bad.Fields)
				}
			}
			schema, err := s.get(tc.schema)
			if err != nil {
				t.Fatal(err)
			}
			if kept := audit.Mask([]byte(tc.before+`"correct horse"`+tc.after), known{schema}); bytes.Contains(kept, []byte("correct")) || !bytes.Contains(kept, []byte("****")) {
				t.Errorf("the audit record keeps %s", kept)
			}
			for _, secret := range []string{`"correct horse"`, `"***"`, `"a****b"`, `"zut_0aB9cD8eF7gH6iJ5kL4mN3oP2q"`} {
				if bad := refusals(t, s, tc.schema, tc.before+secret+tc.after); len(bad.Fields) > 0 {
					t.Errorf("%s: refused %v", secret, bad.Fields)
				}
			}
		})
	}
}

// TestMasksOfReads proves that a change that sends back what was read is refused for its masked secret, also where the
// change takes no secret at all, and that data may look as it likes.
func TestMasksOfReads(t *testing.T) {
	t.Parallel()
	s, _ := contractSchemas(t)
	for _, tc := range []struct{ schema, body, path string }{
		{"UpdateApiKeyRequest", `{"id":"aky_1","name":"n","enabled":false,"secret_key":"zqt_****hdiA"}`, "body.secret_key"},
		{"UpdateAppClientRequest", `{"type":"client_credentials","description":"d","client_secret":"****"}`, "body.client_secret"},
		{"UpdateAppClientRequest", `{"type":"client_credentials","description":"****"}`, ""},
		{"UpdateApiKeyRequest", `{"enabled":false,"secret_key":"zqt_0aB9cD8eF7gH6iJ5kL4mN3oP2qhdiA"}`, ""},
		{"UpdateApiKeyRequest", `{"enabled":false,"token_count":"****","nested":{"secret_key":"****"}}`, ""},
		{"UpdateUserRequest", `{"metadata":{"token":"****"}}`, ""},
		{"CoreDocument", `{"type":"core","id":"****","metadata":{"password":"****"},"document_parts":[{"text":"****"}]}`, ""},
	} {
		bad := refusals(t, s, tc.schema, tc.body)
		switch {
		case tc.path == "" && len(bad.Fields) > 0:
			t.Errorf("%s %s: refused %v", tc.schema, tc.body, bad.Fields)
		case tc.path != "" && !strings.Contains(bad.Fields[tc.path], "leave the member out"):
			t.Errorf("%s %s: refused %v, want %s", tc.schema, tc.body, bad.Fields, tc.path)
		}
	}
}

func refusals(t *testing.T, s *Schemas, schema, body string) *fault.Fault {
	t.Helper()
	v, err := Parse([]byte(body), "body")
	if err != nil {
		t.Fatal(err)
	}
	bad := fault.Invalid()
	if _, err := s.Check(schema, v, "body", bad); err != nil {
		t.Fatal(err)
	}
	return bad
}
