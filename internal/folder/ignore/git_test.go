package ignore_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/folder/ignore"
	"quarry/internal/testkit"
)

// TestAsGit proves that random patterns ignore the paths that git ignores. They have no stars such as in "a**/b", which git
// takes for one star or for many, depending on what stands before them.
func TestAsGit(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		testkit.Skip(t, "git is not on this machine")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	pattern := func() string {
		p := pick("", "", "", "!", "!") + pick("", "", "/")
		for n := 1 + r.IntN(3); n > 0; n-- {
			p += pick("a", "b", "ab", "a*", "*b", "?", "*", "**", "[ab]", "[!a]", "c.md", "*.md", "{a,b}", `\a`, ".x")
			if n > 1 {
				p += "/"
			}
		}
		return p + pick("", "", "/", " ", "/**")
	}
	var paths []string
	for _, top := range []string{"a", "b", "ab", "aab", "c.md", "{a,b}", ".x"} {
		paths = append(paths, top)
		for _, mid := range []string{"a", "b", "c.md"} {
			paths = append(paths, top+"/"+mid, top+"/"+mid+"/a", top+"/"+mid+"/ab", top+"/"+mid+"/c.md")
		}
	}
	dir := t.TempDir()
	run := func(in string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), git, append([]string{"-C", dir, "-c", "core.excludesFile=/dev/null"}, args...)...)
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) { // 1: none is ignored
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	run("", "init", "-q")
	for range 60 {
		var file strings.Builder
		for range 1 + r.IntN(4) {
			file.WriteString(pattern() + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(file.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		// Nothing exists in the folder, so that git takes each path for a file and what stands before a slash for a folder.
		theirs := map[string]bool{}
		for path := range strings.FieldsSeq(run(strings.Join(paths, "\n"), "check-ignore", "--no-index", "--stdin")) {
			theirs[strings.Trim(path, `"`)] = true
		}
		rules, _ := ignore.Read(strings.NewReader(file.String()), "", nil)
		for _, path := range paths {
			if ours := ignored(rules, path); ours != theirs[path] {
				t.Errorf("%q: ignored is %v, by git %v, with\n%s", path, ours, theirs[path], file.String())
			}
		}
	}
}
