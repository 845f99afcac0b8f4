package script

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quarry/internal/testkit"
)

// unprinted are the commands without --json: they print no result, or print JSON in any case.
var unprinted = []string{"serve", "mcp serve", "completion", "audit export"}

// TestEveryCommand proves that each command has help with an example, refuses a flag that it does not have and names its own
// help, has --json if it prints results, and that a script runs it, with --json where it has it.
func TestEveryCommand(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reference/cli.md") // which a test keeps complete
	if err != nil {
		t.Fatal(err)
	}
	scripts := allScripts(t)
	binary := testkit.Binary(t)
	sections := strings.Split(string(page), "\n## quarry ")[1:]
	if len(sections) < 50 {
		t.Errorf("the page has %d commands", len(sections))
	}
	for _, section := range sections {
		name, _, _ := strings.Cut(section, "\n")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := strings.Fields(name)
			help, _, code := run(t, binary, append(words, "--help")...)
			if code != 0 || !strings.HasPrefix(help, "Usage: quarry "+name) || !strings.Contains(help, "Example: ") {
				t.Errorf("--help exits with %d and prints\n%s", code, help)
			}
			out, errs, code := run(t, binary, append(words, "--no-such-flag")...)
			if code != 2 || out != "" || !strings.HasSuffix(errs, "\nTry: quarry "+name+" --help\n") {
				t.Errorf("a wrong flag exits with %d and prints %q and %q", code, out, errs)
			}
			json := regexp.MustCompile(`(?m)^ +--json `).MatchString(help)
			if json == slices.Contains(unprinted, name) {
				t.Errorf("it has --json: %t", json)
			}
			use := fmt.Sprintf(`(?m)^(exec|exits \d+|terminal .*) quarry (--.* )?%s\b`, regexp.QuoteMeta(name))
			if name != "serve" && !regexp.MustCompile(use).MatchString(scripts) {
				t.Errorf("no script runs it")
			}
			if json && !regexp.MustCompile(use+`.*--json`).MatchString(scripts) {
				t.Errorf("no script runs it with --json")
			}
		})
	}
}

func allScripts(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(raw)
	}
	return all.String()
}

func run(t *testing.T, binary string, args ...string) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// TestClosedPipe proves that a command whose reader has gone ends with 1 and without a word.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	for _, args := range [][]string{{"--help"}, {"query", "--help"}, {"secret", "new"}, {"completion", "bash"}} {
		var errs bytes.Buffer
		cmd := exec.Command(testkit.Binary(t), args...)
		cmd.Stdout, cmd.Stderr = w, &errs
		if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 || errs.Len() > 0 {
			t.Errorf("%v: %v, and it says %q", args, err, errs.String())
		}
	}
}
