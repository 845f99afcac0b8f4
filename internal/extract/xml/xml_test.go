package xml_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/xml"
)

func TestGolden(t *testing.T) {
	t.Parallel() // Proves the whole trees of an article and of another vocabulary, and what becomes of damaged ones.
	for _, name := range []string{"article.nxml", "book.xml"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := xml.Read(string(data))
		if err != nil {
			t.Fatal(err)
		}
		extracttest.Golden(t, "testdata/"+strings.TrimSuffix(strings.TrimSuffix(name, ".nxml"), ".xml")+".golden", doc)
		extracttest.Damage(t, func(data []byte) (*outline.Document, error) { return xml.Read(string(data)) }, data)
		for _, part := range []string{"Pump House", "root:", "Hidden"} {
			if strings.Contains(extracttest.Dump(t, doc), part) {
				t.Errorf("%s: %q is read", name, part)
			}
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel() // Proves what is read as what, and each refusal.
	for text, want := range map[string]string{
		`<a>x <b>y</b>z</a>`:                                 "x yz",
		`<a><b>x</b><c>y</c></a>`:                            "x\ny",
		`<a><b><c>1</c><c>2</c></b><b><c>3</c></b></a>`:      "1\n2\n\n3",
		`<a>&lt;&nbsp;&own;&#65;<![CDATA[<b>&own;]]></a>`:    "< &own;A<b>&own;",
		`<!DOCTYPE a [<!ENTITY e "&e;&e;">]><a>&e;</a>`:      "&e;",
		`<?xml version="1.0"?><html><p>One<br>two</html>`:    "One\ntwo",
		`<?xml version="1.0" encoding="shift_jis"?><a>é</a>`: "é",
		`<article><title>T</title><para>x.</para></article>`: "x.",
		`<a xml:space="preserve"> <b/> </a>`:                 "",
	} {
		doc, err := xml.Read(text)
		if err != nil {
			t.Errorf("Read(%s) = %v", text, err)
			continue
		}
		got := ""
		for _, s := range doc.Sections {
			got += s.Text
		}
		if got != want {
			t.Errorf("Read(%s) = %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{
		"", "text", "<a>", "<a></b>", "<a", "<?xml version='1.0'?>", "</a>", strings.Repeat("<a>", 401) + strings.Repeat("</a>", 401),
		"<a>" + strings.Repeat("<b/>", 1_000_001) + "</a>", "<a>&broken</a>",
	} {
		if doc, err := xml.Read(text); !errors.Is(err, outline.ErrUnparsable) {
			t.Errorf("Read(%.30s) = %v, %v", text, doc, err)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel() // Proves that files made to cost time or memory are no larger as a tree than they are.
	deep := strings.Repeat("<a>x", 399) + strings.Repeat("</a>", 399)
	for name, text := range map[string]string{
		"entities": `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><a>` + strings.Repeat("&b;", 100_000) + "</a>",
		"spans":    `<a><table>` + strings.Repeat(`<tr><td colspan="1000" rowspan="1000">x</td></tr>`, 1000) + `</table></a>`,
		"deep":     deep,
		"many":     "<a>" + strings.Repeat("<b>x</b>", 400_000) + "</a>",
		"formula":  `<article><front/><body><p>` + strings.Repeat(`<mfrac>`, 300) + strings.Repeat(`</mfrac>`, 300) + `</p></body></article>`,
	} {
		doc, err := xml.Read(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if size := len(extracttest.Dump(t, doc)); size > 2*len(text)+1000 {
			t.Errorf("%s: %d bytes became %d", name, len(text), size)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"article.nxml", "book.xml"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := xml.Read(text)
		if err != nil {
			if !errors.Is(err, outline.ErrUnparsable) {
				t.Fatalf("outcome without a name: %v", err)
			}
			return
		}
		extracttest.Dump(t, doc)
	})
}
