package identity

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// TestPageIsSealed proves that the page's policy allows the style that it holds, a form to itself and nothing else, and
// that what was typed comes back as text. It is inside the package, since a view has no other way in.
func TestPageIsSealed(t *testing.T) {
	t.Parallel()
	const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(1)>{{.}}`
	for _, v := range []view{
		{}, {Username: hostile, Code: hostile}, {Username: hostile, Code: hostile, Problem: hostile}, {Username: hostile, Done: true},
	} {
		w := httptest.NewRecorder()
		if err := show(w, http.StatusOK, v); err != nil {
			t.Fatal(err)
		}
		body := w.Body.String()
		style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(body)
		if len(style) != 2 {
			t.Fatalf("no style in %s", body)
		}
		digest := sha256.Sum256([]byte(style[1]))
		want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) +
			"'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
		if got := w.Header().Get("Content-Security-Policy"); got != want {
			t.Errorf("policy %s, want %s", got, want)
		}
		for _, bad := range []string{"<script", "<img", "style=", "http:", "https:"} {
			if strings.Contains(body, bad) {
				t.Errorf("%q is in %s", bad, body)
			}
		}
		if v.Done == strings.Contains(body, "<form") {
			t.Errorf("done %t: %s", v.Done, body)
		}
	}
}
