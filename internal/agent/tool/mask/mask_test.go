package mask_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"quarry/internal/agent/tool/mask"
)

const secret = "p&ss \"wörd\" <1>"

// TestForms proves that a secret is found in each form in which others repeat it.
func TestForms(t *testing.T) {
	t.Parallel()
	m := mask.New(secret, "abc")
	html, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{
		secret, string(html), `"p&ss \"wörd\" <1>"`, `p&ss \"w\u00f6rd\" <1>`, url.QueryEscape(secret), url.PathEscape(secret),
	} {
		if got := m.Text("it is " + form + "!"); strings.Contains(got, "ss") || !strings.Contains(got, mask.Masked) {
			t.Errorf("%s is shown as %s", form, got)
		}
	}
	if m.Text("abc") != mask.Masked || m.Text("abcd") != "abcd" {
		t.Error("a short one is masked as a whole, and there alone")
	}
}

// TestTrim proves that a text that was cut within a secret loses its beginning, and only that.
func TestTrim(t *testing.T) {
	t.Parallel()
	m := mask.New("secret-token", "secret-key-of-a-kind", "kestrel")
	for text, want := range map[string]string{
		"it is secret-to": "it is ", "it is secret-k": "it is ", "it is s": "it is ", "it is k": "it is ", "it is": "it i", "it": "it", "": "", "secret-tok": "", "no": "no",
	} {
		if got := m.Trim(text); got != want {
			t.Errorf("%q is trimmed to %q, want %q", text, got, want)
		}
	}
	var none *mask.Mask
	if none.Trim("secret") != "secret" {
		t.Error("without secrets nothing is trimmed")
	}
}
