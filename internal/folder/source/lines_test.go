package source_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/folder/source"
)

func line(id string) string {
	return fmt.Sprintf(`{"id":%q,"type":"structured","sections":[{"text":"x"}]}`, id)
}

// TestLines proves that each line is a body, that ends of lines, blank ones and a byte order mark make no difference, and that
// broken ones are problems with their number while the others go on.
func TestLines(t *testing.T) {
	t.Parallel()
	long := line(strings.Repeat("x", 500))
	for name, c := range map[string]struct{ file, want, problems string }{
		"two":            {line("a") + "\n" + line("b") + "\n", "a b", ""},
		"no end":         {line("a") + "\n" + line("b"), "a b", ""},
		"CRLF":           {line("a") + "\r\n" + line("b") + "\r\n", "a b", ""},
		"blank lines":    {"\n\r\n  \n" + line("a") + "\n\n\t\n" + line("b") + "\n\n", "a b", ""},
		"BOM":            {"\uFEFF" + line("a") + "\n" + line("b"), "a b", ""},
		"nothing":        {"", "", ""},
		"other scripts":  {line("คู่มือ"), "คู่มือ", ""},
		"not JSON":       {line("a") + "\n{\"id\": \n" + line("b"), "a b", "l.jsonl:2: it is not JSON: unexpected end"},
		"two in a line":  {line("a") + line("b") + "\n" + line("c"), "c", "l.jsonl:1: it is not JSON"},
		"no id":          {`{"type":"core"}` + "\n" + line("a"), "a", "l.jsonl:1: JSON that is no document's body"},
		"an empty id":    {line("") + "\n" + line("a"), "a", "l.jsonl:1: JSON that is no document's body"},
		"another type":   {`{"type":"other","id":"x"}` + "\n" + line("a"), "a", "l.jsonl:1: JSON that is no document's body"},
		"a list":         {"[1]\n" + line("a"), "a", "l.jsonl:1: JSON that is no document's body"},
		"an id twice":    {line("a") + "\n\n" + line("a") + "\n" + line("b"), "a b", `l.jsonl:1 has the same document id "a"`},
		"a long line":    {line("a") + "\n" + long + "\n" + line("b"), "a b", "l.jsonl:2: the line has more than the 200 bytes"},
		"long at last":   {line("a") + "\n" + long, "a", "l.jsonl:2: the line has more than the 200 bytes"},
		"nested deeply":  {strings.Repeat("[", 150) + "\n" + line("a"), "a", "l.jsonl:1: it is not JSON"},
		"all are broken": {strings.Repeat("x\n", 1500) + line("a"), "", "1000 lines are broken; the rest is not read"},
		"a long number":  {`{"id":"a","n":` + strings.Repeat("1", 90) + `,"type":"core"}`, "a", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, map[string]string{"l.jsonl": c.file})
			r := search(t, dir, source.Options{MaxBody: 200}, "l.jsonl")
			if got := strings.ReplaceAll(r.ids(), "(body)", ""); got != c.want {
				t.Errorf("found %s", got)
			}
			if !strings.Contains(r.problems(), c.problems) || (c.problems == "") != (len(r.Problems) == 0) {
				t.Errorf("problems: %s", r.problems())
			}
			for id, text := range r.texts {
				if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") || !strings.Contains(text, fmt.Sprintf("%q", id)) {
					t.Errorf("%s is %q", id, text)
				}
			}
		})
	}
}

// TestLinesThatChange proves that a line which is no longer what was found is a problem, and one of a file that was deleted
// is gone.
func TestLinesThatChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"l.jsonl": line("a") + "\n" + line("b")})
	r := search(t, dir, source.Options{}, "l.jsonl")
	write(t, dir, map[string]string{"l.jsonl": line("c") + "\n"})
	for _, i := range r.items {
		if _, err := i.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "it changes while it is read") {
			t.Errorf("%s: %v", i.ID, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "l.jsonl")); err != nil {
		t.Fatal(err)
	}
	gone(t, r.items[0])
}

// FuzzLines proves that no bytes make the search of JSON lines fail, and that each item is read as it was found.
func FuzzLines(f *testing.F) {
	f.Add([]byte(line("a") + "\r\n\n" + line("b") + "\n{"))
	f.Add([]byte("\uFEFF" + line("a")))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "l.jsonl")
		save(t, path, data)
		fuzzed(t, path)
	})
}
