package source_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/internal/folder/source"
)

// files are written under a folder; a name that ends in a slash is a folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		folder := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			folder = path
		}
		err := os.MkdirAll(folder, 0o700)
		if err == nil && folder != path {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// result is what a run over some arguments found, with the contents of its items.
type result struct {
	source.Found
	items []source.Item
	texts map[string]string // of items, by id
}

// search finds what the arguments name, relative to a folder, and reads it.
func search(t *testing.T, dir string, o source.Options, args ...string) result {
	t.Helper()
	for i, arg := range args {
		args[i] = filepath.Join(dir, filepath.FromSlash(arg))
	}
	roots, err := source.Resolve(args)
	if err != nil {
		t.Fatal(err)
	}
	f, err := source.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	r := result{texts: map[string]string{}}
	for _, root := range roots {
		found, err := f.Find(t.Context(), root, func(i source.Item) error {
			c, err := i.Read(t.Context())
			if err == nil && c.Stamp != i.Stamp {
				t.Errorf("%s has the stamp %v, and read %v", i.ID, i.Stamp, c.Stamp)
			}
			if err != nil {
				t.Errorf("read %s: %v", i.ID, err)
			}
			r.items = append(r.items, i)
			r.texts[i.ID] = string(c.Data)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r.Items += found.Items
		r.LeftOut = append(r.LeftOut, found.LeftOut...)
		r.Problems = append(r.Problems, found.Problems...)
	}
	for i := range r.LeftOut {
		r.LeftOut[i].Place = below(dir, r.LeftOut[i].Place)
	}
	for i := range r.Problems {
		r.Problems[i].Place = below(dir, r.Problems[i].Place)
	}
	return r
}

func below(dir, place string) string {
	return filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(place, dir), string(filepath.Separator)))
}

func (r result) ids() string {
	var all []string
	for _, i := range r.items {
		id := i.ID
		if i.Form == source.AsBody {
			id += "(body)"
		}
		all = append(all, id)
	}
	return strings.Join(all, " ")
}

func (r result) left() string {
	var all []string
	for _, l := range r.LeftOut {
		all = append(all, strings.ReplaceAll(string(l.Cause), " ", "-")+":"+l.Place)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// problems returns the places and the beginnings of what is wrong.
func (r result) problems() string {
	var all []string
	for _, p := range r.Problems {
		all = append(all, p.Place+": "+p.Reason)
	}
	return strings.Join(all, "\n")
}

const body = `{"type":"core","id":"one","document_parts":[{"text":"x"}]}`

// TestFolder proves which files of a folder are read, in which order and under which ids, and why the others are not.
func TestFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"d/b.md": "b", "d/a.txt": "a", "d/A.HTML": "page", "d/sub/c.rst": "c", "d/sub/deep/main.go": "package main", "d/LICENSE": "free",
		"d/x.mp4": "x", "d/y.mp4": "y", "d/sub/z.exe": "z", "d/what": "?", "d/empty.md": "",
		"d/.hidden.md": "h", "d/.git/config.md": "g", "d/sub/.env": "e",
		"d/one.json": body, "d/package.json": `{"type":"module","id":"x"}`, "d/list.json": "[1,2", "d/bad.json": `{"id"`,
		"d/all.jsonl": body, "d/old.zip": "PK", "d/old.tar.gz": "x",
		"d/.quarryignore": "drafts/\n*.log\n", "d/drafts/n.md": "n", "d/n.log": "n", "d/sub/.quarryignore": "!keep.log\n", "d/sub/keep.log": "k",
	})
	r := search(t, dir, source.Options{}, "d")
	if want := "A.HTML LICENSE a.txt b.md one(body) sub/c.rst sub/deep/main.go sub/keep.log"; r.ids() != want || r.Items != 8 {
		t.Errorf("found %d: %s", r.Items, r.ids())
	}
	if r.texts["sub/c.rst"] != "c" || r.texts["one"] != body {
		t.Errorf("the texts are %v", r.texts)
	}
	want := "empty:d/empty.md format:d/sub/z.exe format:d/what format:d/x.mp4 format:d/y.mp4 hidden:d/.git/ hidden:d/.hidden.md " +
		"hidden:d/sub/.env ignored:d/drafts/ ignored:d/n.log nested:d/all.jsonl nested:d/old.tar.gz nested:d/old.zip " +
		"no-body:d/bad.json no-body:d/list.json no-body:d/package.json"
	if r.left() != want {
		t.Errorf("left out: %s", r.left())
	}
	if r.problems() != "" {
		t.Errorf("problems: %s", r.problems())
	}
	for _, line := range []string{
		"2 .mp4, 1 .exe, 1 without ending: not read", "3 .json: not a document's body", "1 empty file: not read",
		"2 files, 1 folder: hidden", "1 file, 1 folder: left out by .quarryignore",
		"1 .jsonl, 1 .tar.gz, 1 .zip: with documents of their own: name them on the command line",
	} {
		if !slices.Contains(r.Summary(), line) {
			t.Errorf("the summary has no line %q: %q", line, r.Summary())
		}
	}
}

// TestOptions proves what --include and --exclude choose, among hidden and unknown files, too.
func TestOptions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"a.md": "a", "b.txt": "b", "sub/c.md": "c", "sub/d.dat": "d", "drafts/e.md": "e", ".github/f.md": "f", ".cache/g.md": "g", ".env": "h",
		"i": "i", "x.mp4": "x", "sub/.j/k.md": "k",
	})
	type list = []string
	for name, c := range map[string]struct {
		include, exclude list
		want             string
	}{
		"nothing":                      {nil, nil, "a.md b.txt drafts/e.md sub/c.md"},
		"an ending":                    {list{"*.md"}, nil, "a.md drafts/e.md sub/c.md"},
		"two":                          {list{"*.md", "*.txt"}, nil, "a.md b.txt drafts/e.md sub/c.md"},
		"braces":                       {list{"*.{md,txt}"}, list{"drafts"}, "a.md b.txt sub/c.md"},
		"a folder":                     {list{"sub"}, nil, "sub/c.md"},
		"an unknown ending by name":    {list{"*.dat", "*.md"}, nil, "a.md drafts/e.md sub/c.md sub/d.dat"},
		"a file by name":               {list{"/i"}, nil, "i"},
		"all of a folder":              {list{"sub/**"}, nil, "sub/c.md"},
		"a hidden folder":              {list{".github/", "/*.md"}, nil, ".github/f.md a.md"},
		"a hidden file":                {list{".env"}, nil, ".env"},
		"a hidden folder further down": {list{"sub/.j/*.md"}, nil, "sub/.j/k.md"},
		"everything hidden":            {list{".*"}, nil, ".cache/g.md .github/f.md sub/.j/k.md"},
		"exclude wins":                 {list{"*.md"}, list{"a.*", "/drafts/"}, "sub/c.md"},
		"exclude with stars":           {nil, list{"**/*.md"}, "b.txt"},
		"nothing left":                 {list{"*.none"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := search(t, dir, source.Options{Include: c.include, Exclude: c.exclude}, ".")
			if r.ids() != c.want || r.problems() != "" {
				t.Errorf("found %q, problems %q", r.ids(), r.problems())
			}
		})
	}
	for _, wrong := range []source.Options{{Include: list{"a["}}, {Exclude: list{"ok", ""}}} {
		if _, err := source.New(wrong); err == nil || !strings.HasPrefix(err.Error(), "--") {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}

// TestArguments proves what each kind of argument names, and that ids which two of them share are problems.
func TestArguments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"d/a.md": "a", "d/sub/b.md": "b", "d/sub/deep/c.md": "c", "d/x.txt": "x", "e/a.md": "other", "e/.hidden": "h", "n[1].md": "brackets",
		"d/.g/h.md": "h", "one.json": body, "settings.json": `{"a":1}`, "l/1.jsonl": body, "l/2.jsonl": strings.Replace(body, "one", "two", 1), "data.bin": "z",
	})
	for name, c := range map[string]struct {
		args           string
		want, problems string
	}{
		"a file":                   {"d/sub/b.md", "b.md", ""},
		"files":                    {"d/a.md d/x.txt", "a.md x.txt", ""},
		"one twice":                {"d/a.md d/a.md d d", "a.md sub/b.md sub/deep/c.md x.txt", `d/a.md: d/a.md has the same document id "a.md"`},
		"two of one name":          {"d/a.md e/a.md d/x.txt", "a.md x.txt", `e/a.md: d/a.md has the same document id "a.md"`},
		"two folders":              {"d/sub e", "b.md deep/c.md a.md", ""},
		"a glob":                   {"d/*.md", "a.md", ""},
		"a glob in folders":        {"d/**/*.md", "a.md sub/b.md sub/deep/c.md", ""},
		"the fixed part of a glob": {"d/sub/*/c.md", "deep/c.md", ""},
		"a glob of folders":        {"d/s*", "sub/b.md sub/deep/c.md", ""},
		"a glob in braces":         {"d/{a,x}.*", "a.md x.txt", ""},
		"a glob of hidden folders": {"d/.*/*", ".g/h.md", ""},
		"a glob of an ending":      {"*.bin", "data.bin", ""},
		"a glob of JSON lines":     {"l/*.jsonl", "one(body) two(body)", ""},
		"a name with brackets":     {"n[1].md", "n[1].md", ""},
		"a body":                   {"one.json", "one(body)", ""},
		"other JSON, named":        {"settings.json", "settings.json", ""},
		"an unknown ending, named": {"data.bin", "data.bin", ""},
		"a hidden file, named":     {"e/.hidden", ".hidden", ""},
		"a body twice":             {"one.json l/1.jsonl", "one(body)", `l/1.jsonl:1: one.json has the same document id "one"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := search(t, dir, source.Options{}, strings.Fields(c.args)...)
			problems := strings.ReplaceAll(r.problems(), dir+string(filepath.Separator), "")
			if r.ids() != c.want || problems != c.problems {
				t.Errorf("found %q, problems %q", r.ids(), problems)
			}
		})
	}
}

// TestArgumentsThatNameNothing proves that they are refused with what is wrong.
func TestArgumentsThatNameNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "a"})
	for arg, want := range map[string]string{
		"https://example.com/a.md":         "web pages are not fetched",
		"":                                 "names no file",
		filepath.Join(dir, "nosuch"):       "there is no such file or folder",
		filepath.Join(dir, "nosuch/*.md"):  "there is no such file or folder",
		filepath.Join(dir, "a.md/*.md"):    "not a directory",
		filepath.Join(dir, "x[.md"):        "open bracket",
		filepath.Join(dir, "nosuch*"):      "matches nothing",
		filepath.Join(dir, "*.jsonl"):      "there is no such file",
		filepath.Join(dir, "a.md", "b.md"): "not a directory",
	} {
		if roots, err := source.Resolve([]string{arg}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", arg, roots, err)
		}
	}
}

// TestErrorOfTheCaller proves that the search ends with the error of the function that it calls, for every kind of root.
func TestErrorOfTheCaller(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/a.md": "a", "l.jsonl": body})
	writeZip(t, filepath.Join(dir, "z.zip"), entry{name: "a.md", text: "a"})
	writeTar(t, filepath.Join(dir, "t.tar.gz"), entry{name: "a.md", text: "a"})
	for _, arg := range []string{"d", "d/a.md", "d/*.md", "l.jsonl", "z.zip", "t.tar.gz"} {
		roots, err := source.Resolve([]string{filepath.Join(dir, arg)})
		if err != nil {
			t.Fatal(err)
		}
		f, err := source.New(source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		stop := errors.New("stop")
		if _, err := f.Find(t.Context(), roots[0], func(source.Item) error { return stop }); err != stop { //nolint:errorlint // the same one
			t.Errorf("%s: the error is %v", arg, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
