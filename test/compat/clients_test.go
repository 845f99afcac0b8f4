package compat

import (
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/testkit"
	"quarry/test/guide"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// TestClients proves that the published clients work as docs/guide/clients.md shows, with the versions that it names.
func TestClients(t *testing.T) {
	t.Parallel()
	guide.Needs(t, "python3", "npm", "node")
	constraints, err := filepath.Abs("testdata/constraints.txt")
	if err != nil {
		t.Fatal(err)
	}
	r := guide.NewReader(t)
	r.Everything = true
	r.Env = append(r.Env, "PIP_CONSTRAINT="+constraints, "NPM_CONFIG_LOGLEVEL=error") // npm warns of whatever its user has set
	r.Follow(t, guide.Load(t, "../../docs/guide/clients.md"))
}
