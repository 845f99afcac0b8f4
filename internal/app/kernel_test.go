package app_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"quarry/internal/app/apptest"
	"quarry/internal/config"
	"quarry/internal/cpu"
	"quarry/internal/testkit"
)

// TestKernel proves that the setting kernel forces the path of the encoder and of the vector scan, that the start line
// names both, and that one index has equal hits and scores on every path. It does not run in parallel: the path is one
// of the whole process.
func TestKernel(t *testing.T) {
	t.Cleanup(func() {
		if err := cpu.Use("auto"); err != nil {
			t.Error(err)
		}
	})
	data := t.TempDir()
	var want any
	for _, kernel := range []string{"auto", "portable", "avx2"} {
		t.Run(kernel, func(t *testing.T) {
			if have := fmt.Sprint("auto ", cpu.Available()); !strings.Contains(have, kernel) {
				testkit.Skip(t, "this CPU lacks the instructions of "+kernel)
			}
			a, owner := apptest.Start(t, func(c *config.Config) { c.Data, c.Kernel = data, kernel })
			if got := cpu.Current().String(); kernel != "auto" && got != kernel {
				t.Errorf("the path is %s", got)
			}
			if line := fmt.Sprintf("%s encoder kernels, %[1]s vector scan", cpu.Current()); !strings.HasSuffix(a.Encoder(), line) {
				t.Errorf("the start line has %q, want %q", a.Encoder(), line)
			}
			must := func(want int, path, body string) map[string]any {
				t.Helper()
				status, got := ask(a, owner, "POST", path, body)
				if status != want {
					t.Fatalf("%s: %d %v", path, status, got)
				}
				return got
			}
			if want == nil {
				must(http.StatusCreated, "/v2/corpora", `{"key":"c"}`)
				for i, text := range []string{"The boiler is in the cellar.", "A cat sleeps on the roof.", "Rent is due in May."} {
					must(http.StatusCreated, "/v2/corpora/c/documents", fmt.Sprintf(`{"id":"d%d","type":"core","document_parts":[{"text":%q}]}`, i, text))
				}
			}
			got := must(http.StatusOK, "/v2/corpora/c/query", `{"query":"where is the furnace","search":{"lexical_interpolation":0}}`)["search_results"]
			if hits, _ := got.([]any); len(hits) != 3 {
				t.Fatalf("%d hits, want 3: %v", len(hits), got)
			}
			if want == nil {
				want = got
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("hits are %v, with auto %v", got, want)
			}
		})
	}
}
