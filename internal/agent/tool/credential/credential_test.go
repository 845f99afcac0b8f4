package credential_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/tool/credential"
)

// TestPlaces proves where credentials are found: in auth and in headers of web_get, in either form, and nowhere else; and that configurations come
// back from their marks as they were.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for in, shown := range map[string]string{
		`{"argument_override":{"auth":{"token":"hush","type":"bearer"},"url":"https://a.test"},"type":"web_get"}`:            `{"argument_override":{"auth":{"token":"****","type":"bearer"},"url":"https://a.test"},"type":"web_get"}`,
		`{"argument_override":{"auth.value":"hush","auth.client_secret":"hush"},"type":"web_get"}`:                           `{"argument_override":{"auth.client_secret":"****","auth.value":"****"},"type":"web_get"}`,
		`{"argument_override":{"headers":{"Accept":"a","Authorization":"Bearer hush","X-Api-Key":"hush"}},"type":"web_get"}`: `{"argument_override":{"headers":{"Accept":"a","Authorization":"****","X-Api-Key":"****"}},"type":"web_get"}`,
		`{"argument_override":{"headers.Accept":"a","headers.Cookie":"hush","headers.cookie":"hush"},"type":"web_get"}`:      `{"argument_override":{"headers.Accept":"a","headers.Cookie":"****","headers.cookie":"****"},"type":"web_get"}`,
		`{"type": "web_get", "argument_override": {"headers": {"$ref": "session.metadata.headers"}}}`:                        "",
		`{"type": "web_get", "argument_override": {"headers": {"Authorization": {"$ref": "session.secrets.token"}}}}`:        "",
		`{"type": "web_get", "argument_override": {"auth": {"type": "bearer", "token": {"$ref": "session.secrets.token"}}}}`: "",
		`{"type":"web_get"}`: "",
		`{"type":"corpora_search","argument_override":{"auth":{"token":"hush"}}}`: "",
		`{"type":"web_get","argument_override":5,"x":"\"auth"}`:                   "",
	} {
		if shown == "" {
			shown = in
		}
		if got := string(credential.MaskedOne(json.RawMessage(in))); got != shown {
			t.Errorf("%s is shown as %s", in, got)
		}
		all := map[string]json.RawMessage{"a": json.RawMessage(in)}
		marked, taken := credential.Take(all)
		if credential.Marked(marked) != (len(taken) > 0) || (len(taken) > 0) != (shown != in) {
			t.Errorf("%s: marked as %s with %v", in, marked["a"], taken)
		}
		back, err := credential.Put(marked, taken)
		if err != nil {
			t.Fatal(err)
		}
		var was, is any
		if json.Unmarshal(all["a"], &was) != nil || json.Unmarshal(back["a"], &is) != nil || cmp.Diff(was, is) != "" {
			t.Errorf("%s comes back as %s", in, back["a"])
		}
		if len(taken) > 0 {
			if _, err := credential.Put(marked, taken[1:]); err == nil {
				t.Errorf("%s: a credential that is missing is not noticed", in)
			}
		}
	}
}
