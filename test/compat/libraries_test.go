package compat

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/internal/provider/scripted"
	"quarry/internal/testkit"
	"quarry/test/guide"
)

// libraries are those of OpenAI's interface and of Vectara's, by what installs them together. Each program in
// testdata/libraries prints what a library does, and next to it is what it has to print. It runs at the addresses that its
// entry names; those that take seconds to load run once.
var libraries = []struct {
	name     string
	needs    []string
	install  func(t *testing.T, dir string) (interpreter string)
	programs map[string][]string
}{
	{"python", []string{"python3"}, packages("libraries/python.txt"), map[string][]string{"openai-python.py": {ours, theirs}, "langchain-python.py": {ours}, "vectara-python.py": {""}}},
	{"llamaindex", []string{"python3"}, packages("libraries/llamaindex.txt"), map[string][]string{"llamaindex-python.py": {theirs}}},
	{"javascript", []string{"npm", "node"}, modules("libraries"), map[string][]string{"openai-javascript.mjs": {ours, theirs}, "vectara-javascript.mjs": {""}}},
}

// The base addresses that clients of OpenAI are given.
const ours, theirs = "/v2/llms", "/v1"

// TestLibraries proves what the libraries of others do with the service when they are given its address and a key, and
// nothing else. OpenAI's and those that build on it: answers whole and in chunks, a call of a tool and back, structured
// output, several answers and their own exception for each kind of failure, by the scripted provider and the embedded
// generator, at both addresses. Vectara's: chats, summaries and completions.
func TestLibraries(t *testing.T) {
	t.Parallel()
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			guide.Needs(t, l.needs...)
			dir := t.TempDir()
			interpreter := l.install(t, dir)
			for program, bases := range l.programs {
				copied(t, dir, "libraries/"+program) // a module of JavaScript finds others beside itself
				for _, base := range bases {
					t.Run(program+base, func(t *testing.T) {
						t.Parallel()
						service := models(t)
						got := run(t, dir, []string{"BASE=" + service.URL + base, "KEY=" + service.Key}, interpreter, program)
						want, err := os.ReadFile(inTestdata(t, "libraries/"+program+".out"))
						if err != nil {
							t.Fatal(err)
						}
						if got != string(want) {
							t.Errorf("the library prints\n%swant\n%s", got, want)
						}
					})
				}
			}
		})
	}
}

// packages returns an installation of packages of Python, in exactly the versions that a file names.
func packages(file string) func(t *testing.T, dir string) string {
	return func(t *testing.T, dir string) string {
		t.Helper()
		if exec.CommandContext(t.Context(), "python3", "-c", "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))").Run() != nil {
			testkit.Skip(t, "python3 is older than 3.11, or lacks venv")
		}
		run(t, dir, nil, "python3", "-m", "venv", "venv")
		python := filepath.Join(dir, "venv", "bin", "python")
		run(t, dir, nil, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--no-deps", "--only-binary", ":all:",
			"--requirement", inTestdata(t, file))
		return python
	}
}

// modules returns an installation of the modules of a folder's package-lock.json.
func modules(folder string) func(t *testing.T, dir string) string {
	return func(t *testing.T, dir string) string {
		t.Helper()
		copied(t, dir, folder+"/package.json", folder+"/package-lock.json")
		run(t, dir, []string{"NPM_CONFIG_LOGLEVEL=error"}, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
		return "node"
	}
}

// copied copies files of testdata into a folder.
func copied(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		raw, err := os.ReadFile(inTestdata(t, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(name)), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// models starts a service with the models that the programs name. Each passes the test of its registration and does as its
// name says afterwards.
func models(t *testing.T) *testkit.Process {
	t.Helper()
	service := testkit.StartBinary(t, t.TempDir())
	client, provider := service.Client(), scripted.Start(t)
	register := func(uri, name, model string, more ...any) {
		body := map[string]any{
			"type": "openai-compatible", "name": name, "model": model, "uri": uri + "/v1/chat/completions",
			"capabilities": map[string]any{"tool_calling": true, "structured_outputs": true},
		}
		for pair := range slices.Chunk(more, 2) {
			body[fmt.Sprint(pair[0])] = pair[1]
		}
		client.Must(t, 201, "POST", "/v2/llms", body)
	}
	register(provider.URL, "answers", "small-chat")
	register(provider.URL, "calls", `on:Oslo:call:search:{"query":"Oslo"}`)
	register(provider.URL, "fills", `say:{"city":"Oslo","degrees":4}`)
	register(provider.URL, "calls-to-fill", `on:Oslo:call:Weather:{"city":"Oslo","degrees":4}`)
	register(provider.URL, "refuses", "on:Oslo:refusal")
	register(provider.URL, "is-cut-off", "on:Oslo:length")
	register(provider.URL, "breaks", "on:Oslo:cut")
	register(provider.URL, "fails", "on:Oslo:unavailable")
	register(provider.URL, "is-spent", "on:Oslo:tokens:50:50", "output_tokens_per_month", 30)
	gone := httptest.NewServer(scripted.New())
	register(gone.URL, "is-away", "small-chat")
	gone.Close()
	return service
}

// run runs a program in a folder and returns what it prints, without its warnings.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var warnings strings.Builder
	cmd.Stderr = &warnings
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", name, err, out, warnings.String())
	}
	return string(out)
}
