package artifact_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"quarry/internal/agent/artifact"
)

var ids = regexp.MustCompile(`^art_[a-z0-9_-]+$`)

func TestNames(t *testing.T) {
	// Proves what names from outside become: never a path, nothing that isn't shown, within bounds, with their endings.
	t.Parallel()
	long := strings.Repeat("ä", 5000)
	for name, want := range map[string]string{
		"report.pdf": "report.pdf", "Größe 1.txt": "Größe 1.txt", "../../x": "x", `C:\temp\a.doc`: "a.doc", "a/b/": "file", "": "file", ".": "file", "..": "file",
		"a\x00b.txt": "ab.txt", "line\nbreak": "linebreak", "\u202egpj.exe": "gpj.exe", "\xff\xfe.txt": "\uFFFD.txt", " .hidden ": "hidden", "...": "file",
		long + ".txt": strings.Repeat("ä", 125) + ".txt", "a." + strings.Repeat("e", 5000): "a." + strings.Repeat("e", 253), "con": "con",
	} {
		got := artifact.Clean(name)
		if got != want {
			t.Errorf("%.40q is %q, want %q", name, got, want)
		}
		if id := artifact.NewID(got); !ids.MatchString(id) || len(id) > 60 {
			t.Errorf("%.40q has the id %q", name, id)
		}
	}
}

func FuzzNames(f *testing.F) {
	// Proves that no name makes a path, an id of another form, or what a database doesn't take.
	for _, name := range []string{"../../x", "a\x00", strings.Repeat("x", 10_000), "\xff", "a\\b", "ß.ẞ", "name.tar.gz"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := artifact.Clean(name)
		if got == "" || got == "." || got == ".." || len(got) > 255 || strings.ContainsAny(got, "/\\\x00\n") || !utf8.ValidString(got) {
			t.Errorf("%q is %q", name, got)
		}
		if again := artifact.Clean(got); again != got && strings.Trim(got, " .") == got {
			t.Errorf("%q is %q and then %q", name, got, again)
		}
		if o := artifact.Original(name); len(o) > 1024 || !utf8.ValidString(o) || strings.Contains(o, "\x00") {
			t.Errorf("%q is kept as %q", name, o)
		}
		if id := artifact.NewID(got); !ids.MatchString(id) {
			t.Errorf("%q has the id %q", name, id)
		}
	})
}

func TestIDs(t *testing.T) {
	// Proves that ids are made of the name and differ from one to the next.
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		id := artifact.NewID("Stock List (May).CSV")
		if seen[id] || !strings.HasPrefix(id, "art_stock_list_may_csv_") {
			t.Fatalf("the id is %q", id)
		}
		seen[id] = true
	}
}

func TestTypes(t *testing.T) {
	// Proves where the media type of a file comes from: what was declared, if it says something, else the ending.
	t.Parallel()
	for _, c := range []struct{ name, declared, want string }{
		{"a.csv", "text/plain; charset=utf-8", "text/plain; charset=utf-8"}, {"a.csv", "", "text/csv"}, {"A.CSV", "application/octet-stream", "text/csv"},
		{"a", "", "application/octet-stream"}, {"a.md", "nonsense", "text/markdown"}, {"a.md", "TEXT/HTML", "text/html"}, {"a.md", "a/b; c=\"", "text/markdown"},
		{"a.txt", "text/plain; x=" + strings.Repeat("y", 300), "text/plain"},
	} {
		if got := artifact.TypeOf(c.name, c.declared); got != c.want {
			t.Errorf("%s declared as %.40q is %q, want %q", c.name, c.declared, got, c.want)
		}
	}
}

// TestEndings proves which ending files of a media type have, where several stand for it the usual one.
func TestEndings(t *testing.T) {
	t.Parallel()
	for declared, want := range map[string]string{
		"image/jpeg": ".jpg", "text/html; charset=utf-8": ".html", "text/plain": ".txt", "application/yaml": ".yaml", "application/pdf": ".pdf",
		"application/x-unknown": "", "": "", "a b": "",
	} {
		if got := artifact.Ending(declared); got != want {
			t.Errorf("%q: %q, want %q", declared, got, want)
		}
	}
}
