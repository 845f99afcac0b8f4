package guide

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTerms proves that the documentation uses every term of the glossary outside of it, and that the terms are in order.
func TestTerms(t *testing.T) {
	t.Parallel()
	var others strings.Builder
	for _, name := range append(pages(t), readme) {
		if filepath.Base(name) != "glossary.md" {
			others.WriteString(strings.ToLower(read(t, name)))
		}
	}
	used := strings.Join(strings.Fields(others.String()), " ")
	before := ""
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| `).FindAllStringSubmatch(read(t, root+"/docs/guide/glossary.md"), -1)[1:] {
		term, other, _ := strings.Cut(strings.ToLower(row[1]), " (")
		if !regexp.MustCompile(`(^|[^\pL])` + regexp.QuoteMeta(term) + `s?([^\pL]|$)`).MatchString(used) {
			t.Errorf("no page uses %q", term)
		}
		if term = cmp.Or(strings.TrimSuffix(other, ")"), term); term < before {
			t.Errorf("%q stands behind %q", term, before)
		}
		before = term
	}
}

// TestBeginnings proves that each page that shows how to do something begins with an example that runs.
func TestBeginnings(t *testing.T) {
	t.Parallel()
	for _, name := range pages(t) {
		if base := filepath.Base(name); base == "README.md" || base == "glossary.md" {
			continue
		}
		if opening, _, found := strings.Cut(read(t, name), "```sh\n"); !found || strings.Contains(opening, "\n## ") {
			t.Errorf("%s has no example above its first heading", filepath.Base(name))
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	code    = regexp.MustCompile("(?s)```.*?\n```|`[^`\n]+`")
)

// TestLinks proves that the links of the documentation lead to files that exist, and to headings that they have; and that
// the list of guides has every page.
func TestLinks(t *testing.T) {
	t.Parallel()
	names := []string{readme, root + "/SECURITY.md"}
	for _, pattern := range []string{"/docs/*.md", "/docs/*/*.md"} {
		found, err := filepath.Glob(root + pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	for _, name := range names {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(read(t, name), ""), -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") || strings.HasPrefix(path, "mailto:") {
				continue
			}
			target := name
			if path != "" {
				target = filepath.Join(filepath.Dir(name), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which does not exist", filepath.Base(name), m[1])
			} else if anchor != "" && !anchors(read(t, target))[anchor] {
				t.Errorf("%s links to %s, which has no such heading", filepath.Base(name), m[1])
			}
		}
	}
	list := read(t, root+"/docs/guide/README.md")
	for _, name := range pages(t) {
		if base := filepath.Base(name); base != "README.md" && !strings.Contains(list, "]("+base+")") {
			t.Errorf("the list of guides lacks %s", base)
		}
	}
}

// anchors returns the fragments that lead to the headings of a page, as the common viewers make them.
func anchors(page string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(strings.TrimSpace(m[1])) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || regexp.MustCompile(`[\pL\pN]`).MatchString(string(r)):
				b.WriteRune(r)
			}
		}
		all[b.String()] = true
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
