package ignore_test

import (
	"strings"
	"testing"

	"quarry/internal/folder/ignore"
)

// ignored walks down to a path as the search of a folder does: what is in an ignored folder is ignored.
func ignored(r *ignore.Rules, path string) bool {
	folder := strings.HasSuffix(path, "/")
	path = strings.TrimSuffix(path, "/")
	for i := range len(path) {
		if path[i] == '/' && r.Ignored(path[:i], true) {
			return true
		}
	}
	return r.Ignored(path, folder)
}

// TestRules proves that a file of patterns means what the same lines mean in a .gitignore.
func TestRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, out, in string }{
		"a name at any depth":          {"draft.md", "draft.md a/draft.md a/b/draft.md draft.md/", "draft.mdx a/xdraft.md"},
		"an ending":                    {"*.log", "a.log x/y/b.log .log", "a.logs log"},
		"one character":                {"v?.md", "v1.md a/v2.md", "v.md v10.md"},
		"a class":                      {"v[0-9].md\nw[!0-9].md", "v1.md wx.md", "vx.md w1.md"},
		"a star stays in its folder":   {"a/*.md", "a/x.md", "a/b/x.md b/a/x.md"},
		"a slash in front":             {"/todo.md", "todo.md", "a/todo.md"},
		"a slash inside":               {"a/b.md", "a/b.md", "x/a/b.md"},
		"a folder with what is in it":  {"build/", "build/ build/x.md a/build/ a/build/c/x.md", "build a/build"},
		"a folder from the top":        {"/build/", "build/x.md", "a/build/x.md"},
		"stars in front":               {"**/x.md", "x.md a/x.md a/b/x.md", "xx.md"},
		"stars in front of a folder":   {"**/tmp/x.md", "tmp/x.md a/tmp/x.md", "x.md a/x.md"},
		"stars behind":                 {"a/**", "a/x.md a/b/x.md a/b/", "a/ b/a/x.md"},
		"stars between":                {"a/**/z.md", "a/z.md a/b/z.md a/b/c/z.md", "z.md b/z.md"},
		"stars inside a name are one":  {"a**z.md", "az.md abz.md", "a/z.md"},
		"the last line decides":        {"*.md\n!keep.md\n", "a.md b/c.md", "keep.md a/keep.md"},
		"an exception taken back":      {"*.md\n!keep.md\nkeep.md", "keep.md", "keep.txt"},
		"no exception in a folder":     {"a/\n!a/keep.md", "a/keep.md a/", "keep.md"},
		"an exception beside the rest": {"a/*\n!a/keep.md", "a/x.md a/b/", "a/keep.md a/"},
		"an exception under stars":     {"a/**\n!a/keep.md", "a/x.md a/b/keep.md", "a/keep.md"},
		"only one folder":              {"/*\n!/docs/\n/docs/*\n!/docs/guide/", "x.md a/ docs/x.md", "docs/ docs/guide/ docs/guide/x.md"},
		"comments and blank lines":     {"# x.md\n\n   \n\\#y.md\n", "#y.md", "x.md y.md"},
		"an exclamation mark":          {`\!x.md`, "!x.md", "x.md"},
		"spaces at the end":            {"x.md  \ny\\ \n", "x.md y\u0020", "y"},
		"a tab and CR at the end":      {"x.md\t\r\ny.md\r\n", "x.md y.md", "z.md"},
		"byte order mark":              {"\uFEFFx.md\n", "x.md", "y.md"},
		"no newline at the end":        {"x.md\ny.md", "x.md y.md", "z.md"},
		"braces are characters":        {"{a,b}.md", "{a,b}.md", "a.md b.md"},
		"an escaped star":              {`a\*.md`, "a*.md", "ab.md"},
		"a dot is a dot":               {"a.md", "a.md", "abmd"},
		"names of other scripts":       {"Übung*\nคู่มือ/", "Übungen.md คู่มือ/x.md", "Ubung.md"},
		"nothing":                      {"", "", "x.md a/"},
		"a line that is wrong":         {"a[\nx.md\n/\nb\\\n", "x.md", "a[ b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := ignore.Read(strings.NewReader(c.file), "", nil)
			for _, path := range split(c.out) {
				if !ignored(r, path) {
					t.Errorf("%q is not ignored by %q", path, c.file)
				}
			}
			for _, path := range split(c.in) {
				if ignored(r, path) {
					t.Errorf("%q is ignored by %q", path, c.file)
				}
			}
		})
	}
}

// split returns the paths of a list; a no-break space stands for the one inside a name.
func split(list string) []string {
	paths := strings.Fields(list)
	if strings.HasSuffix(list, " ") {
		paths[len(paths)-1] += " "
	}
	return paths
}

// TestNestedRules proves that the file of a folder counts from there, and before those above it.
func TestNestedRules(t *testing.T) {
	t.Parallel()
	top, err := ignore.Read(strings.NewReader("*.log\n/x.md\ntmp/"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	sub, err := ignore.Read(strings.NewReader("!keep.log\n/y.md\n"), "a/b", top)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"a/b/k.log": true, "a/b/keep.log": false, "a/b/c/keep.log": false, "a/keep.log": true, "keep.log": true,
		"a/b/y.md": true, "a/b/c/y.md": false, "y.md": false, "x.md": true, "a/b/x.md": false, "a/b/tmp/z.md": true,
	} {
		if got := ignored(sub, path); got != want {
			t.Errorf("%s: ignored is %v", path, got)
		}
	}
}

// TestWrongLines proves that the error of a file names each line that is wrong, and that one without end is refused.
func TestWrongLines(t *testing.T) {
	t.Parallel()
	_, err := ignore.Read(strings.NewReader("ok\na[\n/\n"), "", nil)
	if err == nil || !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("the error is %v", err)
	}
	if _, err := ignore.Read(strings.NewReader(strings.Repeat("x", 2<<20)), "", nil); err == nil {
		t.Error("2 MB of patterns are taken")
	}
}

// TestPatterns proves what the patterns of flags name: alternatives, folders with everything in them, hidden names.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, covers, not string }{
		{"*.{md,txt}", "a.md b/c.txt", "a.rst"},
		{"docs", "docs/a.md x/docs/y/b.md docs", "docsx/a.md"},
		{"/docs/", "docs/a.md docs/x/b.md", "x/docs/a.md docs"},
		{"docs/**/*.md", "docs/a.md docs/x/y/a.md", "a.md docs/a.txt"},
		{".github", ".github/a.md", "github/a.md"},
	} {
		p, err := ignore.New(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range strings.Fields(c.covers) {
			if !p.Covers(path) {
				t.Errorf("%s does not cover %s", c.pattern, path)
			}
		}
		for _, path := range strings.Fields(c.not) {
			if p.Covers(path) {
				t.Errorf("%s covers %s", c.pattern, path)
			}
		}
	}
	for _, wrong := range []string{"", "/", " ", "a[", "{a", `a\`, strings.Repeat("{a,b}", 30)} {
		if _, err := ignore.New(wrong); err == nil {
			t.Errorf("%q is taken for a pattern", wrong)
		}
	}
	if p, _ := ignore.New(".g*/**"); !p.Reaches(".github") || p.Reaches(".cache") {
		t.Error(".g*/** does not reach .github alone")
	}
	if p, _ := ignore.New("**/*.md"); p.Reaches(".github") {
		t.Error("**/*.md reaches .github")
	}
}

// FuzzRead proves that no file of patterns makes reading or matching fail or hang.
func FuzzRead(f *testing.F) {
	f.Add("*.md\n!a/**\n[", "a/b.md")
	f.Add("**/**/**/**/x\n\\ \n{a}", "x/y/z")
	f.Fuzz(func(t *testing.T, file, path string) {
		r, _ := ignore.Read(strings.NewReader(file), "", nil)
		r.Ignored(path, true)
		r.Ignored(path, false)
		if p, err := ignore.New(file); err == nil {
			p.Covers(path)
			p.Reaches(path)
		}
	})
}
