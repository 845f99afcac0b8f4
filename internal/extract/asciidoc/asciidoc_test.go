package asciidoc_test

import (
	"os"
	"strings"
	"testing"

	"quarry/internal/extract/asciidoc"
	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/outline"
)

func read(t testing.TB, text string) *outline.Document {
	t.Helper()
	doc, err := asciidoc.Read(text)
	if err != nil {
		t.Fatalf("Read(%.40q) = %v", text, err)
	}
	return doc
}

func TestGolden(t *testing.T) {
	t.Parallel() // Proves the whole tree of a file with all that is read.
	data, err := os.ReadFile("testdata/pump.adoc")
	if err != nil {
		t.Fatal(err)
	}
	doc := read(t, string(data))
	extracttest.Golden(t, "testdata/pump.golden", doc)
	extracttest.Damage(t, func(data []byte) (*outline.Document, error) { return asciidoc.Read(string(data)) }, data)
	code := doc.Sections[0].Sections[0]
	if got := code.Text[code.Code[0].Start:code.Code[0].End]; got != "pump --start\n  # wait. Then go\n\npump --stop" {
		t.Errorf("code is %q", got)
	}
}

func TestTables(t *testing.T) {
	t.Parallel() // Proves how cells become rows: by lines, by the columns that are declared, with spans, and repeated ones.
	for text, want := range map[string]string{
		"|a|b\n|1|2":                               `[[a b]] [[1 2]]`,
		"|a\n|b\n\n|1\n|2":                         `[[a]] [[b] [1] [2]]`,
		"[cols=2*]\n|===\n|a\n|b\n\n|1\n|2\n":      `[[a b]] [[1 2]]`,
		"|a |b\n\n|1\n|2\n\n|3\n|4":                `[[a b]] [[1 2] [3 4]]`,
		"|a|b|\n|1|2|\n||":                         `[[a b]] [[1 2] [ ]]`,
		"|a|b|c\n2+|12|3\n.2+|4|5|6\n|7|8":         `[[a b c]] [[12 12 3] [4 5 6] [4 7 8]]`,
		"|a|b|c\n3*|x":                             `[[a b c]] [[x x x]]`,
		"|a|b\n|one\nmore|two":                     `[[a b]] [[one more two]]`,
		"[%noheader]\n|===\n|a|b\n|1|2\n":          `[] [[a b] [1 2]]`,
		"[format=dsv]\n|===\na:b\n1:2\n":           `[[a b]] [[1 2]]`,
		"[separator=!]\n|===\n!a!b\n!1|x!2\n":      `[[a b]] [[1|x 2]]`,
		"[cols=\"1,1\"]\n|===\n>s|a ^.>|b\n|1 h|2": `[[a b]] [[1 2]]`,
	} {
		if !strings.Contains(text, "===") {
			text = "|===\n" + text + "\n"
		}
		doc := read(t, strings.TrimRight(text, "\n")+"\n|===\n")
		if len(doc.Sections) != 1 || len(doc.Sections[0].Tables) != 1 {
			t.Errorf("%q is %+v", text, doc.Sections)
			continue
		}
		table := doc.Sections[0].Tables[0]
		if got := sprint(table.Headers) + " " + sprint(table.Rows); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func sprint(rows [][]string) string {
	var all []string
	for _, row := range rows {
		all = append(all, "["+strings.Join(row, " ")+"]")
	}
	return "[" + strings.Join(all, " ") + "]"
}

func TestBounds(t *testing.T) {
	t.Parallel() // Proves that files made to cost time or memory are read.
	long := strings.Repeat("x", 1900)
	for name, text := range map[string]string{
		"blocks": strings.Repeat("====\n=====\n", 3000) + "needle",
		"delimiters": func() string {
			s := ""
			for i := 4; i < 2000; i++ {
				s += strings.Repeat("-", i) + "\n"
			}
			return s + "needle"
		}(),
		"attributes": ":a: " + long + "\n" + strings.Repeat("{a}", 100_000) + " needle",
		"circle":     ":a: {b}{b}{b}\n:b: {a}{a}{a}\n" + strings.Repeat(":a: {b}{b}\n:b: {a}{a}\n", 1000) + "{a} needle",
		"bars":       "|===\n" + strings.Repeat("|", 300_000) + "\n|===\nneedle",
		"spans":      "|===\n" + strings.Repeat("999999+|a ", 1000) + "\n|===\nneedle",
		"lists":      strings.Repeat("* a\n** b\n- c\n", 20_000) + "\nneedle",
		"marks":      strings.Repeat("*a _b `c #d ", 50_000) + "needle",
		"brackets":   strings.Repeat("[[", 50_000) + strings.Repeat("<<", 50_000) + "needle",
	} {
		if doc := read(t, text); !strings.Contains(extracttest.Dump(t, doc), "needle") {
			t.Errorf("%s: the text behind is lost", name)
		} else if size := len(extracttest.Dump(t, doc)); size > 12<<20 {
			t.Errorf("%s: %d bytes became %d", name, len(text), size)
		}
	}
}

func FuzzRead(f *testing.F) {
	data, err := os.ReadFile("testdata/pump.adoc")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Add("|===\n2.3+^.>a|x\n3*|y\n|===\n")
	f.Add("a::\n\n\nb\n+\n====\n+\n")
	f.Fuzz(func(t *testing.T, text string) { extracttest.Dump(t, read(t, text)) })
}
