package compat

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"quarry/internal/provider/scripted"
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

// TestOpenAIPython proves what OpenAI's own library for Python does with the service at both of its addresses: answers
// whole and in chunks, by the scripted provider and the embedded generator, calls of tools and back, structured output,
// several answers, the list of models, and its own exception for each kind of failure.
func TestOpenAIPython(t *testing.T) {
	t.Parallel()
	guide.Needs(t, "python3")
	dir := t.TempDir()
	python := filepath.Join(dir, "venv", "bin", "python")
	run(t, nil, "python3", "-m", "venv", filepath.Join(dir, "venv"))
	run(t, nil, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", inTestdata(t, "constraints.txt"), "openai")
	for _, base := range []string{"/v2/llms", "/v1"} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			service := testkit.StartBinary(t, t.TempDir())
			got := run(t, []string{
				"URL=" + service.URL, "BASE=" + service.URL + base, "KEY=" + service.Key, "PROVIDER=" + scripted.Start(t).URL,
			}, python, inTestdata(t, "library.py"))
			want, err := os.ReadFile(inTestdata(t, "library.txt"))
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the library prints\n%swant\n%s", got, want)
			}
		})
	}
}

// run runs a program and returns what it prints.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}
