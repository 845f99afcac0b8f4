package source_test

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"quarry/internal/folder/source"
)

// TestCorpusKey proves which key stands for which name.
func TestCorpusKey(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"docs": "docs", "My Docs": "My-Docs", "my_docs": "my_docs", "v1.2": "v1-2", "a.md": "a-md", "-x-": "x", "a - b": "a-b",
		"__init__": "__init__", "Übung": "ubung", "Straße 7": "strasse-7", "Ærø": "aero", "Łódź": "lodz", "naïve Café": "naive-cafe",
		"Документы": "dokumenty", "Щука и ёж": "shchuka-i-ezh", "Ελληνικά": "ellinika", "işler": "isler", "tiếng Việt": "tieng-viet",
		"คู่มือ": "corpus-b4185be1", "報告": "corpus-64442e2b", "2024 報告": "2024-43918fbf", "!!!": "corpus-e84c538e",
		"🎉 party": "party", "(old) docs [2]": "old-docs-2", "...docs": "docs",
	} {
		got, err := source.CorpusKey(name)
		if err != nil || got != want {
			t.Errorf("the key of %q is %q, %v", name, got, err)
		}
		if again, _ := source.CorpusKey(norm.NFD.String(name)); again != got {
			t.Errorf("the key of %q decomposed is %q, not %q", name, again, got)
		}
	}
	for _, name := range []string{"", ".", "..", "/", `\`} {
		if key, err := source.CorpusKey(name); err == nil {
			t.Errorf("the key of %q is %q", name, key)
		}
	}
	a, _ := source.CorpusKey(strings.Repeat("long name ", 10) + "a")
	b, _ := source.CorpusKey(strings.Repeat("long name ", 10) + "b")
	if a == b || !strings.HasPrefix(a, "long-name-long-name-") {
		t.Errorf("long names have the keys %s and %s", a, b)
	}
}

// TestRootKey proves that the key of a file is that of its name without ending, and that of a folder keeps a dot's rest.
func TestRootKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind       source.Kind
		path, want string
	}{
		{source.Folder, "/x/docs", "docs"},
		{source.Folder, "/x/docs.md", "docs-md"},
		{source.Glob, "/x/docs", "docs"},
		{source.File, "/x/a.md", "a"},
		{source.Archive, "/x/a.tar.gz", "a"},
		{source.Archive, "/x/a.b.zip", "a-b"},
		{source.Lines, "/x/Übung.jsonl", "ubung"},
		{source.File, "/x/.env", "env"},
	} {
		root := source.Root{Kind: c.kind, Path: c.path}
		if got, err := root.CorpusKey(); err != nil || got != c.want {
			t.Errorf("%s %s has the key %q, %v", c.kind, c.path, got, err)
		}
	}
}

// FuzzCorpusKey proves that every key is one of the contract, without a dash at its ends or two in a row.
func FuzzCorpusKey(f *testing.F) {
	valid := regexp.MustCompile(`^[a-zA-Z0-9_]+(-[a-zA-Z0-9_]+)*$`)
	f.Add("Übung -- a")
	f.Add(strings.Repeat("報告 x", 40))
	f.Fuzz(func(t *testing.T, name string) {
		key, err := source.CorpusKey(name)
		if err == nil && (!valid.MatchString(key) || len(key) > 50) {
			t.Errorf("the key of %q is %q", name, key)
		}
	})
}
