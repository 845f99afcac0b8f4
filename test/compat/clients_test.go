package compat

import (
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/testkit"
	"quarry/test/guide"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// TestClients proves that the published clients work as the guide shows, with the versions that it names.
func TestClients(t *testing.T) {
	t.Parallel()
	for page, tools := range map[string][]string{"clients.md": {"python3", "npm", "node"}, "openai.md": {"python3"}} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			guide.Needs(t, tools...)
			r := guide.NewReader(t)
			r.Everything = true
			r.Env = append(r.Env, "PIP_CONSTRAINT="+inTestdata(t, "constraints.txt"), "NPM_CONFIG_LOGLEVEL=error") // npm warns of whatever its user has set
			r.Follow(t, guide.Load(t, "../../docs/guide/"+page))
		})
	}
}

func inTestdata(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
