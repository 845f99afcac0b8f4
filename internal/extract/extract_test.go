package extract_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/extract"
	"quarry/internal/extract/extracttest"
)

func TestReadGolden(t *testing.T) {
	t.Parallel() // Proves the whole tree of files of each kind, as written down by hand.
	for _, name := range []string{"pump.md", "page.html", "questions.html", "pumpd.8.txt", "dialect.md", "numbered.txt", "asked.txt", "underlined.txt"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := extract.Read(extract.Input{Name: name, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		extracttest.Golden(t, filepath.Join("testdata", strings.TrimSuffix(name, filepath.Ext(name))+".golden"), doc)
	}
}

func TestReadChoosesFormat(t *testing.T) {
	t.Parallel() // Proves the choice by type, name and bytes, the character sets, and each refusal.
	const page = "<!DOCTYPE html><p>hi <b>you</b>"
	tests := []struct {
		name, contentType, data string
		want                    string // text of the first section
		err                     error
	}{
		{"a.txt", "", "plain *text*", "plain *text*", nil},
		{"a.md", "application/octet-stream", "plain *text*", "plain text", nil},
		{"a.md", "text/plain; charset=utf-8", "plain *text*", "plain text", nil},
		{"a.txt", "text/markdown", "plain *text*", "plain text", nil},
		{"a", "TEXT/HTML; charset=UTF-8", page, "hi you", nil},
		{"a", "", page, "hi you", nil},
		{"a", "", "no page", "no page", nil},
		{"a.log", "", "a\r\nb\fc\n", "a\nb\n\nc", nil},
		{"a.txt", "", "Gr\xf6\xdfe \x93x\x94", "Größe “x”", nil},
		{"a.txt", "", "\xef\xbb\xbfGröße", "Größe", nil},
		{"a.txt", "", "\xff\xfeG\x00\xf6\x00", "Gö", nil},
		{"a.txt", "", "\xfe\xff\x00G\x00\xf6", "Gö", nil},
		{"a.txt", "text/plain; charset=iso-8859-5", "\xb4\xd0", "Да", nil},
		{"a.html", "", "<meta charset=koi8-r><p>\xe4\xc1", "Да", nil},
		{"a.txt", "", "\xff\xfe\x00\x00G\x00\x00\x00\xf6\x00\x00\x00", "Gö", nil},
		{"a.txt", "", "\x00\x00\xfe\xff\x00\x00\x00G", "G", nil},
		{"a.txt", "", "H\x00i\x00", "Hi", nil},
		{"a", "", "\x00H\x00i", "Hi", nil},
		{"a.md", "", "\x8b@\x82\xcc\x83|\x83\x93\x83v\x82\xf0\x8aJ\x82\xad", "機のポンプを開く", nil},
		{"a.txt", "text/plain; charset=utf-16be", "\x00H\x00i", "Hi", nil},
		{"a.txt", "text/plain; charset=koi8-r", "\xe4\xc1", "Да", nil},
		{"a.csv", "text/csv; charset=windows-1251", "\xc4\xe0", "Да", nil},
		{"a.xml", "", "<?xml version='1.0' encoding='iso-8859-5'?><a>\xb4\xd0</a>", "Да", nil},
		{"a.xml", "text/xml; charset=koi8-r", "<?xml version='1.0' encoding='iso-8859-5'?><a>\xe4\xc1</a>", "Да", nil},
		{"a", "", "<?xml version='1.0'?><a>b</a>", "b", nil},
		{"a.lxml", "", "<html><p>b", "b", nil},
		{"a.xhtml", "", "<?xml version='1.0'?><html><head><title/><script src='x'/></head><body><p/>a <i/>&lt;<![CDATA[<b>]]><br/></body></html>", "a <<b>", nil},
		{"a.xml", "", "<a>b", "", extract.ErrUnparsable},
		{"a.adoc", "", "plain *text*", "plain text", nil},
		{"a.txt", "", "", "", extract.ErrEmpty},
		{"a", "", "", "", extract.ErrEmpty},
		{"a.txt", "", "a\x00b", "", extract.ErrUnparsable},
		{"a.txt", "text/plain", "%PDF-1.7 x", "", extract.ErrUnparsable},
		{"a.html", "text/html", "PK\x03\x04", "", extract.ErrUnparsable},
		{"a.md", "", strings.Repeat("\x01\x02ab", 100), "", extract.ErrUnparsable},
		{"a.png", "", "\x89PNG\r\n", "", extract.ErrUnparsable},
		{"a.txt", "image/png", "text", "", extract.ErrUnparsable},
		{"a.svg", "image/svg+xml", "<svg/>", "", extract.ErrUnsupported},
		{"a.pdf", "application/pdf", "%PDF-1.7", "", extract.ErrUnparsable},
		{"a.xlsb", "", "x", "", extract.ErrUnsupported},
		{"noname", "", "%PDF-1.7", "", extract.ErrUnparsable},
		{"a.docx", "application/msword", "PK", "", extract.ErrUnparsable},
		{"a.doc", "application/msword", "x", "", extract.ErrUnparsable},
		{"a.csv", "application/vnd.ms-excel", "plain", "plain", nil},
		{"a", "application/vnd.ms-excel", "plain", "", extract.ErrUnparsable},
		{"a.xls", "", "plain", "", extract.ErrUnparsable},
		{"a.bin", "", "\x00\x01", "", extract.ErrUnsupported},
		{"a.jsonl", "", "{}\n{}", "", extract.ErrUnsupported},
		{"a.ndjson", "text/plain", "{}", "", extract.ErrUnsupported},
	}
	for _, tt := range tests {
		doc, err := extract.Read(extract.Input{Name: tt.name, ContentType: tt.contentType, Data: []byte(tt.data)})
		if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
			t.Errorf("Read(%s, %q, %.20q) = %v, want %v", tt.name, tt.contentType, tt.data, err, tt.err)
			continue
		}
		if err != nil {
			continue
		}
		if len(doc.Sections) == 0 || doc.Sections[0].Text != tt.want {
			t.Errorf("Read(%s, %q, %.20q) = %+v, want text %q", tt.name, tt.contentType, tt.data, doc.Sections, tt.want)
		}
	}
}

// TestReadSaysWhyNot proves that files which are not read say why, or what to do.
func TestReadSaysWhyNot(t *testing.T) {
	t.Parallel()
	const index = "`quarry index` opens it"
	zip, workbook := string(extracttest.Zip(t, map[string]string{"a.txt": "x"})), string(extracttest.Zip(t, map[string]string{"xl/workbook.bin": "x"}))
	for _, tt := range []struct{ name, contentType, data, want string }{
		{"a.zip", "", zip, index}, {"A.ZIP", "application/octet-stream", "", index}, {"a", "application/zip", zip, index}, {"a", "", zip, index}, {"a.jsonl", "", "{}\n", index},
		{"a", "application/x-ndjson; charset=utf-8", "{}", index}, {"a.jsonl", "text/plain", "{}", index}, {"a.tgz", "", "x", index}, {"a.tar.gz", "", "x", ".tar.gz"}, {"a.7z", "", "x", "unpack"},
		{"a.xlsb", "", workbook, ".xlsx"}, {"a", "", workbook, ".xlsx"}, {"a.xlsb", "application/vnd.ms-excel.sheet.binary.macroEnabled.12", workbook, ".xlsx"}, {"a.pages", "", zip, "PDF"}, {"a.mobi", "", "\x00", "EPUB"},
		{"a.mp3", "", "\x00", "no text"}, {"a.odd", "", "\x00", "not text"}, {"a", "video/mp4", "x", "video/mp4"},
	} {
		_, err := extract.Read(extract.Input{Name: tt.name, ContentType: tt.contentType, Data: []byte(tt.data)})
		if !errors.Is(err, extract.ErrUnsupported) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Read(%s, %q) = %v, want %q", tt.name, tt.contentType, err, tt.want)
		}
	}
}

func TestReadBoundsDepth(t *testing.T) {
	t.Parallel() // Proves that files made to cost time or depth are read as flat text instead.
	for name, unit := range map[string]string{
		"deep.html": "<div>", "quote.md": ">", "emphasis.md": "_a*", "image.md": "![](", "list.md": "- ", "spans.html": "<table><tr><td>",
		"stray.html": "<tr><td>x", "unmatched.html": "x</b>", "foster.html": "<table>x<tr>x",
		"menus.html": `<div class="menu"><a href=x>a</a>`, "contents.html": `<ul><li><a href="#x">x</a>`, "bold.html": "<p><b>x</b></p><a></a>",
		"menu.html": `<div class="menu"><a href=x>a</a></div>`, "power.html": "1<sup>1", "asked.txt": "Q: a\n\nA: b\n\n", "numbered.txt": "1. a\n\n1.1. b\n\n",
		"underlined.txt": "abc\n---\n\n", "pages.txt": "A(1)   A(1)\n\nB\n     -x   c\n\n", "boxes.md": "!!! note\n    ", "empty.xhtml": "<?xml?><a <b x=\"/>", "fences.md": "```{note}\n",
	} {
		doc, err := extract.Read(extract.Input{Name: name, Data: []byte(strings.Repeat(unit, 200_000) + "needle")})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.Contains(extracttest.Dump(t, doc), "needle") {
			t.Errorf("%s: text behind the nesting is lost", name)
		}
	}
}

func TestReadLongRules(t *testing.T) {
	t.Parallel() // Proves that borders and rules of any length don't cost a Markdown file its marks.
	for _, rule := range []string{
		"+" + strings.Repeat(strings.Repeat("-", 40)+"+", 4), strings.Repeat("- ", 90), strings.Repeat("-", 500), strings.Repeat(">", 60) + " deep",
	} {
		doc, err := extract.Read(extract.Input{Name: "a.md", Data: []byte(rule + "\n\nplain *text*\n")})
		if err != nil {
			t.Fatalf("Read(%.20q) = %v", rule, err)
		}
		if got := extracttest.Dump(t, doc); !strings.Contains(got, "plain text") {
			t.Errorf("Read(%.20q) = %s, want the marks of the paragraph read", rule, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a.md", "---\na: [1, .nan]\n---\n# x\n- a\n\n|a|b|\n|-|-|\n|c|d|\n<b>")
	f.Add("a.html", "<title>x</title><table><tr><td rowspan=9 colspan=9>a<tr><td>b</table><h7><h2>y<pre> z")
	f.Add("a.txt", "\xff\xfea\x00")
	f.Add("a.txt", "A(1)  b  A(1)\n\nNAME\n     a - b\n\n   C\n     -x   y\n          z\n\n     d   e\n     f   g\nx   A(1)\n")
	f.Fuzz(func(t *testing.T, name, data string) {
		doc, err := extract.Read(extract.Input{Name: name, Data: []byte(data)})
		if err != nil {
			if !errors.Is(err, extract.ErrEmpty) && !errors.Is(err, extract.ErrUnparsable) && !errors.Is(err, extract.ErrUnsupported) {
				t.Fatalf("outcome without a name: %v", err)
			}
			return
		}
		extracttest.Dump(t, doc) // metadata must be fit for JSON
	})
}

func TestReadLeavesTextAlone(t *testing.T) {
	t.Parallel() // Proves that what only looks a little like a manual page is one section, to the byte.
	for _, text := range []string{
		"NAME\nAnna\n\nADDRESS\nRoad 1", "NAME\n    Anna lives here.\nIt is red.\n", "PUMP(1)  x  VALVE(1)\n\nNAME\n       pump\n",
		"The pump is old.\n\n    indented\n\nThe valve is new.", "1. Heading\n\n   Text\n", "A(1)    A(1)\n\nB\n    c\n\nD(1)    D(1)\n\nE\n    f",
		"Q: Why?\n\nA: Because.", "pump(8) runs.", "NAME",
	} {
		doc, err := extract.Read(extract.Input{Name: "a.txt", Data: []byte(text)})
		if err != nil || len(doc.Sections) != 1 || doc.Sections[0].Title != "" || doc.Sections[0].Text != strings.Trim(text, "\n") {
			t.Errorf("Read(%q) = %+v, %v", text, doc, err)
		}
	}
}
