package cli

import (
	"os"
	"strings"
	"testing"
)

// TestReferenceIsCurrent proves that docs/reference/cli.md is what the commands print, and that the help of each has an example;
// rewrite it with make generate.
func TestReferenceIsCurrent(t *testing.T) {
	const page = "../../docs/reference/cli.md" // not parallel: help reads the environment
	for _, name := range []string{"QUARRY_DATA", "QUARRY_URL", "QUARRY_API_KEY", "QUARRY_CA", "QUARRY_CONFIG"} {
		t.Setenv(name, "")
		_ = os.Unsetenv(name)
	}
	want, err := Reference()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("QUARRY_GENERATE") != "" {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("%s is stale: run make generate (%v)", page, err)
	}
	for command := range strings.SplitSeq(want, "\n## ") {
		if strings.HasPrefix(command, "quarry ") && !strings.Contains(command, "Example:") {
			t.Errorf("no example in the help of %s", strings.SplitN(command, "\n", 2)[0])
		}
	}
}
