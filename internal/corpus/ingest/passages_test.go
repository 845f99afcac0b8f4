package ingest_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"html"
	"slices"
	"strings"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/draft"
	"quarry/internal/extract/samplefile"
)

// things are the items of a list, the lines of a program or the rows of a table, of one sentence or of several, and of very different
// lengths. Each has a word of its own (mark7) in front and another (end7) at its end.
func things(n int, between string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("mark%d %sat 3.5 bar%s the second one is shut by end%d", i, strings.Repeat("opens the valve ", i*7%6), between, i)
	}
	return out
}

const (
	one     = ", e.g."
	several = ". Then it waits. And"
)

// listed returns files of several formats with things as items of lists.
func listed(t *testing.T, all []string) map[string][]byte {
	t.Helper()
	each := func(format string) string {
		var b strings.Builder
		for _, s := range all {
			fmt.Fprintf(&b, format, html.EscapeString(s))
		}
		return b.String()
	}
	var word bytes.Buffer
	z := zip.NewWriter(&word)
	for name, text := range map[string]string{
		"_rels/.rels":        `<Relationships><Relationship Id="r" Type="x/officeDocument" Target="word/document.xml"/></Relationships>`,
		"word/numbering.xml": `<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`,
		"word/document.xml": `<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>Before. The list.</w:t></w:r></w:p>` +
			each(`<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>%s</w:t></w:r></w:p>`) + `<w:p><w:r><w:t>After. The end.</w:t></w:r></w:p></w:body></w:document>`,
	} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"list.docx": word.Bytes(),
		"list.html": []byte("<p>Before. The list.</p><ul>" + each("<li>%s</li>") + "</ul><p>After. The end.</p>"),
		"list.md":   []byte("Before. The list.\n\n" + each("1. %s\n") + "\nAfter. The end.\n"),
		"list.adoc": []byte("Before. The list.\n\n" + each("* %s\n") + "\nAfter. The end.\n"),
		"list.txt":  []byte("Before. The list.\n\n" + each("- %s\n") + "\nAfter. The end.\n"),
		"list.rtf":  []byte(`{\rtf1 Before. The list.\par` + each(`{\pntext 1.\tab}{\*\pn\pnlvlbody\pndec}\ls1 %s\par`) + `\pard After. The end.\par}`),
	}
}

// coded returns files of several formats with things as lines of code.
func coded(all []string) map[string][]byte {
	lines := "func f() {\n\t" + strings.Join(all, "\n\n\t") + "\n}"
	return map[string][]byte{
		"code.go":   []byte(lines + "\n"),
		"code.md":   []byte("Before. The code.\n\n```go\n" + lines + "\n```\n\nAfter. The end.\n"),
		"code.html": []byte("<p>Before. The code.</p><pre>" + html.EscapeString(lines) + "</pre><p>After. The end.</p>"),
		"code.adoc": []byte("Before. The code.\n\n----\n" + lines + "\n----\n\nAfter. The end.\n"),
	}
}

// tabled returns files of several formats with things as rows of tables.
func tabled(all []string) map[string][]byte {
	out := map[string][]byte{}
	for _, kind := range []string{"xlsx", "csv", "ods"} {
		out["rows."+kind] = samplefile.New(kind, append([]string{"what"}, all...)...)
	}
	out["rows.md"] = []byte("| what | n |\n|---|---|\n| " + strings.Join(all, " | 7 |\n| ") + " | 7 |\n")
	out["rows.html"] = []byte("<table><tr><th>what</th><th>n</th></tr><tr><td>" + strings.Join(all, "</td><td>7</td></tr><tr><td>") + "</td><td>7</td></tr></table>")
	return out
}

// TestPassagesAreWhole proves, with both strategies and files of several formats, that a list item, a line of code or a row that fits is in
// one passage, and that no passage has a part of another one; and that code keeps its line breaks. Where every sentence is a passage, the
// items of lists have one.
func TestPassagesAreWhole(t *testing.T) {
	t.Parallel()
	whole := things(24, several)
	for kind, files := range map[string]map[string][]byte{"lists": listed(t, whole), "code": coded(whole), "tables": tabled(whole)} {
		for name, data := range files {
			for _, most := range []int{160, 512, 1024} {
				t.Run(fmt.Sprint(name, " ", most), func(t *testing.T) {
					t.Parallel()
					testWhole(t, name, data, most, whole)
				})
			}
			if kind != "lists" {
				t.Run(name+" by sentences", func(t *testing.T) {
					t.Parallel()
					testWhole(t, name, data, 0, whole)
				})
			}
		}
	}
	single := things(24, one)
	for name, data := range listed(t, single) {
		t.Run(name+" by sentences", func(t *testing.T) {
			t.Parallel()
			testWhole(t, name, data, 0, single)
		})
	}
}

// testWhole indexes a file and looks for each thing in its passages.
func testWhole(t *testing.T, name string, data []byte, most int, all []string) {
	t.Helper()
	b := newBench(corpus.Corpus{Enabled: true})
	u := upload(name, string(data))
	u.Chunking = draft.Chunking{MaxChars: most}
	if _, err := b.Upload(t.Context(), "manuals", u); err != nil {
		t.Fatal(err)
	}
	stored, _ := b.store.Document(name)
	held := map[string]int{}
	for _, p := range stored.Parts {
		words := strings.FieldsFunc(p.Text, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == ';' || r == '.' })
		for i, thing := range all {
			starts, ends := slices.Contains(words, fmt.Sprint("mark", i)), slices.Contains(words, fmt.Sprint("end", i))
			if starts != ends || starts && !strings.Contains(p.Text, thing) {
				t.Fatalf("%q is cut: %q", thing, p.Text)
			}
			if starts {
				held[thing]++
			}
		}
		if n := len([]rune(p.Text)); most > 0 && n > most && !strings.HasPrefix(name, "rows.") {
			t.Errorf("a passage of %d characters, more than %d", n, most)
		}
		if n := strings.Count(p.Text, "mark"); strings.HasPrefix(name, "code.") && strings.Count(p.Text, "\n") < n-1 {
			t.Errorf("code has lost its line breaks: %q", p.Text)
		}
	}
	for _, thing := range all {
		if held[thing] != 1 {
			t.Errorf("%q is in %d passages", thing, held[thing])
		}
	}
}
