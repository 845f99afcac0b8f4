package docx_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/extract/docx"
	"quarry/internal/extract/outline"
)

const head = `<?xml version="1.0" encoding="UTF-8"?>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><w:body>`

const styles = `<w:styles xmlns:w="w">
<w:style w:type="paragraph" w:default="1" w:styleId="Standard"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>
<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="My own"/><w:basedOn w:val="berschrift2"/></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="Beschriftung"><w:name w:val="caption"/></w:style>
<w:style w:type="paragraph" w:styleId="Verzeichnis1"><w:name w:val="toc 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Loop"><w:name w:val="x"/><w:basedOn w:val="Loop"/></w:style>
<w:style w:type="paragraph" w:styleId="Liste"><w:name w:val="List"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
</w:styles>`

const lists = `<w:numbering xmlns:w="w">
<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerRoman"/><w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="9"/></w:lvlOverride></w:num>
</w:numbering>`

const core = `<cp:coreProperties xmlns:cp="cp" xmlns:dc="dc" xmlns:dcterms="t"><dc:title> Pump  manual </dc:title><dc:creator>Ada</dc:creator>
<dcterms:created>2024-02-03T04:05:06Z</dcterms:created><dc:language>en-GB</dc:language></cp:coreProperties>`

// file returns an archive of parts.
func file(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range parts {
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
	return b.Bytes()
}

// word returns a document with the given body and the styles and lists above.
func word(t testing.TB, body string, more ...string) []byte {
	t.Helper()
	parts := map[string]string{
		"[Content_Types].xml": "<Types/>", "word/styles.xml": styles, "word/numbering.xml": lists,
		"word/document.xml": head + body + "</w:body></w:document>",
	}
	for i := 0; i < len(more); i += 2 {
		parts[more[i]] = more[i+1]
	}
	return file(t, parts)
}

// p returns a paragraph in a style.
func p(style, text string) string {
	return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

// item returns a paragraph in a list.
func item(num, level, text string) string {
	return `<w:p><w:pPr><w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + num + `"/></w:numPr></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

// dump returns a tree as text, with a line for each section, paragraph and table.
func dump(all []outline.Section, indent string) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "%s%d %q page %d %v: %q\n", indent, s.Level, s.Title, s.Page, s.Pages, s.Text)
		for _, t := range s.Tables {
			fmt.Fprintf(&b, "%s  table %q %q %q\n", indent, t.Title, t.Headers, t.Rows)
		}
		b.WriteString(dump(s.Sections, indent+"  "))
	}
	return b.String()
}

func TestRead(t *testing.T) {
	// Proves what each construct of a Word file becomes.
	t.Parallel()
	cell := func(props, text string) string {
		return "<w:tc><w:tcPr>" + props + "</w:tcPr>" + p("", text) + "</w:tc>"
	}
	tests := []struct{ name, body, want string }{
		{"headings by style, translated ids, inherited and direct levels",
			p("berschrift1", "A") + p("", "a1") + p("Mine", "B") + p("", "b1") +
				`<w:p><w:pPr><w:outlineLvl w:val="2"/></w:pPr><w:r><w:t>C</w:t></w:r></w:p>` +
				`<w:p><w:pPr><w:pStyle w:val="berschrift1"/><w:outlineLvl w:val="9"/></w:pPr><w:r><w:t>text</w:t></w:r></w:p>`,
			"1 \"A\" page 0 []: \"a1\"\n  2 \"B\" page 0 []: \"b1\"\n    3 \"C\" page 0 []: \"text\"\n"},
		{"a title stands above headings", p("Titel", "T") + p("berschrift1", "A") + p("", "a"), "1 \"T\" page 0 []: \"\"\n  2 \"A\" page 0 []: \"a\"\n"},
		{"a style based on itself", p("Loop", "x"), "0 \"\" page 0 []: \"x\"\n"},
		{"runs, tabs, breaks and special signs",
			`<w:p><w:r><w:t xml:space="preserve">one </w:t><w:t>two</w:t><w:tab/><w:t>three</w:t><w:br/><w:t>four</w:t><w:noBreakHyphen/><w:t>5 &amp; 6</w:t></w:r></w:p>`,
			"0 \"\" page 0 []: \"one two three\\nfour‑5 & 6\"\n"},
		{"lists, their numbers and restarts",
			item("1", "0", "x") + item("2", "0", "y") + item("2", "1", "y1") + item("2", "1", "y2") + item("2", "0", "z") + item("3", "0", "w") + item("99", "0", "v") + p("Liste", "u") + p("", "end"),
			"0 \"\" page 0 []: \"- x\\n3. y\\n  3.i) y1\\n  3.ii) y2\\n4. z\\n9. w\\n- v\\n- u\\n\\nend\"\n"},
		{"tracked changes: what was deleted or moved away goes, what was added stays",
			`<w:p><w:r><w:t>kept </w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins>` +
				`<w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom></w:p>` +
				`<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>first half, </w:t></w:r></w:p><w:p><w:r><w:t>second half</w:t></w:r></w:p>` +
				`<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>last</w:t></w:r></w:p>`,
			"0 \"\" page 0 []: \"kept new\\n\\nfirst half, second half\\n\\nlast\"\n"},
		{"hidden text, field codes, phonetic guides, contents",
			`<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>7</w:t></w:r>` +
				`<w:r><w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>` + p("Verzeichnis1", "A 1"),
			"0 \"\" page 0 []: \"7漢\"\n"},
		{"a table with its caption, spans and a header row",
			p("Beschriftung", "Table 1: sizes") + `<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>` + cell("", "name") + cell(`<w:gridSpan w:val="2"/>`, "size") + `</w:tr><w:tr>` +
				cell(`<w:vMerge w:val="restart"/>`, "pump") + cell("", "1") + cell("", "2") + `</w:tr><w:tr>` + cell(`<w:vMerge/>`, "") + cell("", "3") + cell("", "4") +
				`</w:tr><w:tr><w:trPr><w:del/></w:trPr>` + cell("", "old") + cell("", "") + cell("", "") + `</w:tr></w:tbl>`,
			"0 \"\" page 0 []: \"\"\n  table \"Table 1: sizes\" [[\"name\" \"size\" \"size\"]] [[\"pump\" \"1\" \"2\"] [\"pump\" \"3\" \"4\"]]\n"},
		{"the first row is a header by the table's look", `<w:tbl><w:tblPr><w:tblLook w:val="04A0"/></w:tblPr><w:tr>` + cell("", "a") + cell("", "b") + `</w:tr><w:tr>` + cell("", "1") + cell("", "2") + `</w:tr></w:tbl>`,
			"0 \"\" page 0 []: \"\"\n  table \"\" [[\"a\" \"b\"]] [[\"1\" \"2\"]]\n"},
		{"a caption without a table, a layout table, a table in a table",
			p("Beschriftung", "Figure 1") + `<w:tbl><w:tr>` + cell("", "only") + `</w:tr></w:tbl><w:tbl><w:tr>` + cell("", "left") + `<w:tc><w:tbl><w:tr>` +
				cell("", "x") + `</w:tr></w:tbl></w:tc></w:tr><w:tr>` + cell("", "a") + cell("", "b") + `</w:tr></w:tbl>`,
			"0 \"\" page 0 []: \"Figure 1\\n\\nonly\\n\\nleft\\n\\nx\\n\\na\\n\\nb\"\n"},
		{"text boxes once, picture texts, formulas, content controls",
			`<w:p><w:r><w:t>before</w:t></w:r><w:r><mc:AlternateContent><mc:Choice><w:drawing><wp:docPr descr="a red valve"/><w:txbxContent>` + p("", "boxed") + `</w:txbxContent></w:drawing></mc:Choice><mc:Fallback><w:txbxContent>` +
				p("", "boxed") + `</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath></w:p>` +
				`<w:sdt><w:sdtPr><w:docPartObj/></w:sdtPr><w:sdtContent>` + p("", "controlled") + `</w:sdtContent></w:sdt>`,
			"0 \"\" page 0 []: \"before a red valve $\\\\frac{a}{b}$\\n\\nboxed\\n\\ncontrolled\"\n"},
		{"notes below their paragraph", `<w:p><w:r><w:t>claim</w:t><w:footnoteReference w:id="2"/></w:r></w:p>` + p("", "next"), "0 \"\" page 0 []: \"claim\\n\\nthe source\\n\\nnext\"\n"},
		{"pages where Word last saw them", p("berschrift1", "A") + `<w:p><w:r><w:t>one </w:t><w:lastRenderedPageBreak/><w:t>two</w:t></w:r></w:p><w:p><w:r><w:lastRenderedPageBreak/><w:t>three</w:t></w:r></w:p>` + p("berschrift1", "B"),
			"1 \"A\" page 1 [{0 1 false} {4 2 false} {9 3 false}]: \"one two\\n\\nthree\"\n1 \"B\" page 3 []: \"\"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc, err := read(word(t, tt.body, "word/footnotes.xml",
				`<w:footnotes xmlns:w="w"><w:footnote w:type="separator" w:id="0">`+p("", "rule")+`</w:footnote><w:footnote w:id="2">`+p("", "the source")+`</w:footnote></w:footnotes>`))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, dump(doc.Sections, "")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadMetadata(t *testing.T) {
	// Proves what a file says of itself, and where the main part is found.
	t.Parallel()
	doc, err := read(file(t, map[string]string{
		"_rels/.rels":       `<Relationships><Relationship Type="http://x/relationships/officeDocument" Target="/doc/Main.xml"/></Relationships>`,
		"doc/main.xml":      head + p("Heading1", "Top") + "</w:body></w:document>",
		"docProps/core.xml": core, "docProps/app.xml": `<Properties><Pages>12</Pages><Words>x</Words></Properties>`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"title": "Pump manual", "Author": "Ada", "date": "2024-02-03T04:05:06Z", "Content-Language": "en-GB", "Page-Count": 12}
	if diff := cmp.Diff(want, doc.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if doc.Title != "Pump manual" || doc.Sections[0].Title != "Top" || doc.Sections[0].Level != 1 {
		t.Errorf("title %q, sections %v", doc.Title, doc.Sections)
	}
}

func TestReadRefusals(t *testing.T) {
	// Proves that what is no Word file, is damaged, encrypted, too deep or a bomb is refused as unparsable.
	t.Parallel()
	whole := word(t, p("", "text"))
	damaged := bytes.Clone(whole)
	copy(damaged[len(damaged)/3:], strings.Repeat("\xFF", 40))
	deep := strings.Repeat("<w:sdt>", 500) + strings.Repeat("</w:sdt>", 500)
	entities := `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><w:document xmlns:w="w"><w:body>` + p("", "&b;") + `</w:body></w:document>`
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"text", []byte("hello"), "zip"},
		{"cut off", whole[:len(whole)-30], "zip"},
		{"damaged", damaged, ""},
		{"encrypted", []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and so on"), "before 2007"},
		{"another format", file(t, map[string]string{"xl/workbook.xml": "<x/>"}), "no Word document"},
		{"no body", file(t, map[string]string{"word/document.xml": "<w:document xmlns:w='w'/>"}), "no body"},
		{"broken XML", word(t, "<w:p><w:r></w:p>"), ""},
		{"deep", word(t, deep), "deep"},
		{"entities", file(t, map[string]string{"word/document.xml": entities}), "entity"},
		{"a bomb", word(t, "<w:p><w:r><w:t>"+strings.Repeat(" ", 40<<20)+"</w:t></w:r></w:p>"), "compressed more than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := read(tt.data); !errors.Is(err, outline.ErrUnparsable) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read: %v, want it to be unparsable for %q", err, tt.want)
			}
		})
	}
}

func FuzzBody(f *testing.F) {
	// Proves that no body makes the reader panic or give a page mark outside its text.
	f.Add(p("berschrift1", "A") + item("2", "1", "x") + `<w:tbl><w:tr><w:tc>` + p("", "y") + `</w:tc></w:tr></w:tbl>`)
	f.Add(`<w:p><w:r><w:t>one </w:t><w:lastRenderedPageBreak/><w:t>two</w:t><w:footnoteReference w:id="2"/></w:r></w:p>`)
	f.Add(`<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr></w:p><w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="9999"/><w:vMerge/></w:tcPr></w:tc></w:tr></w:tbl>`)
	f.Fuzz(func(t *testing.T, body string) {
		doc, err := read(word(t, body))
		if err != nil {
			if !errors.Is(err, outline.ErrUnparsable) {
				t.Fatalf("a bad body is not unparsable: %v", err)
			}
			return
		}
		check(t, doc.Sections)
	})
}

func check(t *testing.T, all []outline.Section) {
	t.Helper()
	for _, s := range all {
		last := outline.Mark{At: -1}
		for _, m := range s.Pages {
			if m.At < last.At || m.At > len(s.Text) || m.Page <= last.Page {
				t.Fatalf("page marks %v in a text of %d bytes", s.Pages, len(s.Text))
			}
			last = m
		}
		check(t, s.Sections)
	}
}

// TestReadChart proves that the data of a chart is a table behind the paragraph that it hangs on.
func TestReadChart(t *testing.T) {
	t.Parallel()
	const relations = `<Relationships><Relationship Id="r7" Type="x/chart" Target="charts/c.xml"/></Relationships>`
	const chart = `<c:chartSpace xmlns:c="c"><c:ser><c:tx><c:v>bar</c:v></c:tx><c:cat><c:pt idx="0"><c:v>May</c:v></c:pt></c:cat><c:val><c:pt idx="0"><c:v>3</c:v></c:pt></c:val></c:ser></c:chartSpace>`
	body := `<w:p><w:r><w:t>Sales</w:t></w:r><w:r><w:drawing><c:chart xmlns:c="c" xmlns:r="r" r:id="r7"/></w:drawing></w:r></w:p>`
	doc, err := read(word(t, body, "word/_rels/document.xml.rels", relations, "word/charts/c.xml", chart))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := dump(doc.Sections, ""), "0 \"\" page 0 []: \"Sales\"\n  table \"\" [[\"\" \"bar\"]] [[\"May\" \"3\"]]\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := read(word(t, body, "word/_rels/document.xml.rels", relations, "word/charts/c.xml", "<c>")); !errors.Is(err, outline.ErrUnparsable) {
		t.Errorf("a chart that is damaged: %v", err)
	}
}

// read reads a file without choices.
func read(data []byte) (*outline.Document, error) { return docx.Read(data, outline.Options{}) }
