package epub_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"quarry/internal/extract/epub"
	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/outline"
)

const box = `<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/a%20book.opf" media-type="application/oebps-package+xml"/>` +
	`<rootfile full-path="other.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`

// page returns a chapter.
func page(title, body string) string {
	return `<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html [<!ENTITY pump "x">]><html xmlns="http://www.w3.org/1999/xhtml"><head>` + title + `<script src="http://192.0.2.1/x.js"/><link rel="stylesheet" href="http://192.0.2.1/x.css"/></head><body>` + body + `</body></html>`
}

// books are one of each version, with all that the reader knows.
var books = map[string]map[string]string{
	"epub3": {
		"mimetype": "application/epub+zip", "META-INF/container.xml": box,
		"META-INF/encryption.xml": `<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/><enc:CipherData><enc:CipherReference URI="OEBPS/f.otf"/></enc:CipherData></enc:EncryptedData></encryption>`,
		"OEBPS/a book.opf": `<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The  Pump</dc:title><dc:title>A subtitle</dc:title>` +
			`<dc:creator>Ada</dc:creator><dc:creator>Bob</dc:creator><dc:language>en</dc:language><dc:language>de</dc:language><dc:date>2024-03-05</dc:date><meta property="dcterms:modified">2025-01-02T03:04:05Z</meta><meta name="cover" content="x"/>` +
			`<dc:subject>pumps</dc:subject><dc:subject>water</dc:subject><dc:description>&lt;p&gt;All about &lt;b&gt;pumps&lt;/b&gt;.&lt;/p&gt;&lt;p&gt;And valves.&lt;/p&gt;</dc:description><dc:publisher>Press</dc:publisher></metadata>` +
			`<manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="scripted nav"/><item id="c" href="cover.svg" media-type="image/svg+xml"/><item id="t" href="text/title.xhtml" media-type="application/xhtml+xml"/>` +
			`<item id="one" href="text/one%20pump.xhtml" media-type="application/xhtml+xml"/><item id="more" href="text/../text/more.xhtml" media-type="application/xhtml+xml"/><item id="two" href="text/two.xhtml" media-type="application/xhtml+xml"/>` +
			`<item id="pdf" href="n.pdf" media-type="application/pdf" fallback="png"/><item id="png" href="n.png" media-type="image/png" fallback="n"/><item id="n" href="notes.html" media-type="text/html"/><item id="away" href="http://192.0.2.1/x.xhtml" media-type="application/xhtml+xml"/>` +
			`<item id="loop" href="l.png" media-type="image/png" fallback="loop"/><item id="extra" href="extra.xhtml" media-type="application/xhtml+xml"/><item id="end" href="end.xhtml" media-type="application/xhtml+xml"/></manifest>` +
			`<spine><itemref idref="c"/><itemref idref="nav"/><itemref idref="t"/><itemref idref="one"/><itemref idref="more"/><itemref idref="two"/><itemref idref="one"/><itemref idref="pdf" linear="no"/><itemref idref="away"/><itemref idref="loop"/><itemref idref="gone"/><itemref idref="end"/></spine></package>`,
		"OEBPS/nav.xhtml": page("<title>Contents</title>", `<nav xmlns:epub="e" epub:type="toc"><h1>Table of contents</h1><ol><li><a href="text/title.xhtml">Title page</a></li><li><span>Part I</span><ol><li><a href="text/one%20pump.xhtml">Chapter <b>1</b></a><ol><li><a href="text/one%20pump.xhtml#s">A place</a></li></ol></li>`+
			`<li><a href="text/two.xhtml#start">Somewhere</a></li></ol></li><li><a href="notes.html">Notes</a></li><li><a href="end.xhtml">The end</a></li></ol></nav><nav epub:type="landmarks"><ol><li><a href="text/more.xhtml">no entry</a></li></ol></nav>`),
		"OEBPS/cover.svg":           `<svg xmlns="http://www.w3.org/2000/svg"><text>Cover</text></svg>`,
		"OEBPS/text/title.xhtml":    page("<title/>", `<div/><p>By <i/>Ada &amp; Bob, &copy;.</p><img src="http://192.0.2.1/i.png" alt="a pump"/>`),
		"OEBPS/text/one pump.xhtml": page("<title>one</title>", `<p>A motto.</p><h2>Chapter 1</h2><p>It <![CDATA[<pumps>]]>.</p><h3 id="s">Valves</h3><pre>open()</pre>`),
		"OEBPS/text/more.xhtml":     page("<title>more</title>", `<p>It goes on.</p><pre>close()</pre><table><tr><th>bolt</th><th>size</th></tr><tr><td>M6</td><td>6</td></tr></table><h3>Seals</h3><p>Two.</p>`),
		"OEBPS/text/two.xhtml":      page("<title>two</title>", `<p>Before.</p><h1 id="start">Second</h1><p>After.</p>`),
		"OEBPS/notes.html":          `<p>1. A note.`,
		"OEBPS/extra.xhtml":         page("", "<p>Not in the spine.</p>"),
		"OEBPS/end.xhtml":           "\xFF\xFE" + wide("<p>Grüße</p>"),
	},
	"epub2": {
		"META-INF/container.xml": strings.ReplaceAll(box, "OEBPS/a%20book.opf", "b.opf"),
		"b.opf": `<package version="2.0"><metadata xmlns:opf="o"><dc:title>Old</dc:title><dc:date opf:event="modification">2011</dc:date><dc:date opf:event="publication">2010</dc:date></metadata><manifest><item id="ncx" href="t.ncx" media-type="application/x-dtbncx+xml"/>` +
			`<item id="toc" href="toc.html" media-type="application/xhtml+xml"/><item id="a" href="a.html" media-type="text/x-oeb1-document"/><item id="b" href="b.html"/><item id="c" href="c.html" media-type="application/xml"/></manifest><spine toc="ncx"><itemref idref="toc"/><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/></spine>` +
			`<guide><reference type="toc" href="toc.html"/><reference type="text" href="a.html"/><reference type="toc" href="a.html#x"/></guide></package>`,
		"t.ncx":    `<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://192.0.2.1/ncx.dtd"><ncx><navMap><navPoint><navLabel><text>Part</text></navLabel><content src="a.html"/><navPoint><navLabel><text>Inner</text></navLabel><content src="b.html"/></navPoint></navPoint></navMap><pageList><pageTarget><content src="c.html"/></pageTarget></pageList></ncx>`,
		"toc.html": "<h1>Contents</h1><a href='a.html'>Part</a>", "a.html": "<p>Words \xe9t\xe9.", "b.html": "<h1>Inner</h1><p>b", "c.html": "<p>c",
	},
	"bare": {
		"META-INF/container.xml": strings.ReplaceAll(box, "OEBPS/a%20book.opf", "b.opf"),
		"b.opf":                  `<package><metadata/><manifest><item id="a" href="a.html" media-type="text/html"/><item id="b" href="b.html" media-type="text/html"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>`,
		"a.html":                 "<title>First</title><p>a", "b.html": "<title>Second</title><p>b<h2>Below</h2><p>c",
	},
}

// wide returns a text in UTF-16, the low byte first.
func wide(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteString(string([]byte{byte(r), byte(r >> 8)}))
	}
	return b.String()
}

// with returns a book in which one part is another.
func with(t testing.TB, book, name, content string) []byte {
	parts := maps.Clone(books[book])
	if parts[name] = content; content == "" {
		delete(parts, name)
	}
	return extracttest.Zip(t, parts)
}

// TestRead proves what becomes of books: see testdata.
func TestRead(t *testing.T) {
	t.Parallel()
	for name, parts := range books {
		data := extracttest.Zip(t, parts)
		doc, err := read(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		extracttest.Golden(t, "testdata/"+name+".golden", doc)
		extracttest.Damage(t, read, data)
		if !epub.Is(data) {
			t.Errorf("%s is not taken for a book", name)
		}
	}
	for _, other := range []string{"", "PK\x03\x04", string(extracttest.Zip(t, map[string]string{"a": "b"}))} {
		if epub.Is([]byte(other)) {
			t.Errorf("%.20q is taken for a book", other)
		}
	}
}

// TestReadRefusals proves that what is no book, encrypted, not whole or made to exhaust is refused with the reason.
func TestReadRefusals(t *testing.T) {
	t.Parallel()
	const drm = `<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></EncryptedData></encryption>`
	var long strings.Builder
	for i := range 1_500_000 {
		fmt.Fprintln(&long, i)
	}
	for name, tt := range map[string]struct {
		data []byte
		err  error
		want string
	}{
		"empty":              {nil, outline.ErrUnparsable, "zip"},
		"no book":            {extracttest.Zip(t, map[string]string{"mimetype": "application/epub+zip"}), outline.ErrUnparsable, "no book"},
		"no package":         {with(t, "bare", "b.opf", ""), outline.ErrUnparsable, "package document"},
		"no reading order":   {with(t, "bare", "b.opf", "<package><manifest/></package>"), outline.ErrUnparsable, "spine"},
		"a chapter is away":  {with(t, "bare", "b.html", ""), outline.ErrUnparsable, "lacks the chapter b.html"},
		"encrypted":          {with(t, "bare", "META-INF/encryption.xml", drm), outline.ErrProtected, "password"},
		"encrypted somehow":  {with(t, "bare", "META-INF/encryption.xml", "<encryption><EncryptedData/></encryption>"), outline.ErrProtected, "password"},
		"broken XML":         {with(t, "bare", "b.opf", "<package>"), outline.ErrUnparsable, "EOF"},
		"entities":           {with(t, "bare", "b.opf", `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><package>&a;</package>`), outline.ErrUnparsable, "entity"},
		"deep":               {with(t, "bare", "b.opf", strings.Repeat("<a>", 500)), outline.ErrUnparsable, "deep"},
		"a bomb":             {with(t, "bare", "a.html", strings.Repeat(" ", 40<<20)), outline.ErrUnparsable, "compressed more than"},
		"an endless chapter": {with(t, "bare", "a.html", long.String()), outline.ErrUnparsable, "10 MB"},
	} {
		if _, err := read(tt.data); !errors.Is(err, tt.err) || !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	// Proves that no package document, table of contents and chapter make the reader panic or end otherwise than in a tree or a refusal.
	for _, b := range books {
		f.Add(b["b.opf"]+b["OEBPS/a book.opf"], b["t.ncx"]+b["OEBPS/nav.xhtml"], b["a.html"]+b["OEBPS/text/one pump.xhtml"])
	}
	f.Fuzz(func(t *testing.T, opf, toc, chapter string) {
		doc, err := read(extracttest.Zip(t, map[string]string{
			"META-INF/container.xml": `<container><rootfile full-path="b.opf"/></container>`, "b.opf": opf, "t.ncx": toc, "nav.xhtml": toc, "a.html": chapter, "text/one pump.xhtml": chapter,
		}))
		if err != nil {
			if !errors.Is(err, outline.ErrUnparsable) {
				t.Fatal(err)
			}
			return
		}
		extracttest.Dump(t, doc)
	})
}

// read reads a file without choices.
func read(data []byte) (*outline.Document, error) { return epub.Read(data, outline.Options{}) }
