package xlsx_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/xlsx"
)

const (
	relations = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">%s</Relationships>`
	namespace = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
)

// related returns the part of relationships: pairs of a type and a target, with the ids r1, r2, …
func related(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		mode := ""
		if strings.Contains(pairs[i+1], "://") {
			mode = ` TargetMode="External"`
		}
		fmt.Fprintf(&b, `<Relationship Id="r%d" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"%s/>`, i/2+1, pairs[i], pairs[i+1], mode)
	}
	return fmt.Sprintf(relations, b.String())
}

// book is a workbook with everything that the reader knows.
func book() map[string]string {
	return map[string]string{
		"[Content_Types].xml": `<Types/>`,
		"_rels/.rels":         related("officeDocument", "xl/workbook.xml"),
		"docProps/core.xml":   `<cp xmlns:dc="dc" xmlns:dcterms="t"><dc:title>Store  2024</dc:title><dc:creator>Ada</dc:creator><dcterms:created>2024-02-03T04:05:06Z</dcterms:created></cp>`,
		"xl/workbook.xml": `<workbook ` + namespace + `><workbookPr/><sheets><sheet name="Stock" sheetId="1" r:id="r1"/>` +
			`<sheet name="Secret" sheetId="2" state="hidden" r:id="r2"/><sheet name="Very" sheetId="3" state="veryHidden" r:id="r2"/><sheet name="Chart" sheetId="4" r:id="r3"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": related("worksheet", "worksheets/sheet1.xml", "worksheet", "worksheets/sheet2.xml", "chartsheet", "/xl/chartsheets/sheet3.xml",
			"sharedStrings", "sharedStrings.xml", "styles", "styles.xml", "person", "persons/person.xml", "worksheet", "https://example.com/sheet.xml"),
		"xl/sharedStrings.xml": `<sst ` + namespace + `><si><t>Item</t></si><si><r><t xml:space="preserve">Pump </t></r><r><t>A</t></r><rPh><t>ponpu</t></rPh></si><si><t>line_x000D_
break _x00zz_</t></si></sst>`,
		"xl/styles.xml": `<styleSheet ` + namespace + `><numFmts><numFmt numFmtId="164" formatCode="#,##0.00\ &quot;€&quot;"/></numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs>` +
			`<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/><xf numFmtId="9"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml": `<worksheet ` + namespace + `><dimension ref="A1:XFD1048576"/><sheetData>
<row r="1"><c r="A1" t="inlineStr"><is><t>Stock of May</t></is></c></row>
<row r="3"><c r="A3" t="s"><v>0</v></c><c r="B3" t="inlineStr"><is><t>Price</t></is></c><c r="C3" t="str"><f>"Since"</f><v>Since</v></c><c r="D3" t="inlineStr"><is><t>Left</t></is></c><c r="E3" t="inlineStr"><is><t>Sold</t></is></c></row>
<row r="4"><c r="A4" t="s"><v>1</v></c><c r="B4" s="1"><v>1234.5</v></c><c r="C4" s="2"><v>45292</v></c><c r="D4"><f>1/3</f><v>0.33333333333333331</v></c><c r="E4" t="b"><v>1</v></c></row>
<row><c t="s"><v>2</v></c><c t="e"><v>#N/A</v></c><c t="d"><v>2024-05-06</v></c><c s="3"><v>0.5</v></c><c t="s"><v>99</v></c></row>
<row r="9"><c r="G9"><v>7</v></c></row></sheetData><mergeCells><mergeCell ref="D4:D4"/><mergeCell ref="G9:H10"/><mergeCell ref="nonsense"/></mergeCells></worksheet>`,
		"xl/worksheets/_rels/sheet1.xml.rels":  related("comments", "../comments1.xml", "threadedComment", "../threaded/t.xml", "drawing", "../drawings/drawing1.xml", "image", "https://example.com/x.png"),
		"xl/worksheets/sheet2.xml":             `<worksheet ` + namespace + `><sheetData><row><c><v>42</v></c></row></sheetData></worksheet>`,
		"xl/chartsheets/sheet3.xml":            `<chartsheet ` + namespace + `><drawing r:id="r1"/></chartsheet>`,
		"xl/chartsheets/_rels/sheet3.xml.rels": related("drawing", "../drawings/drawing2.xml"),
		"xl/persons/person.xml":                `<personList><person displayName="Cleo" id="{C}"/></personList>`,
		"xl/comments1.xml":                     `<comments ` + namespace + `><authors><author>Bob</author><author>tc={1}</author></authors><commentList><comment ref="B4" authorId="0"><text><r><t>Bob:</t></r><r><t xml:space="preserve"> too dear</t></r></text></comment><comment ref="A3" authorId="1"><text><t>[Threaded comment]</t></text></comment></commentList></comments>`,
		"xl/threaded/t.xml":                    `<ThreadedComments><threadedComment ref="A3" personId="{C}" dT="2026-06-18T17:12:57.35"><text>Since when?</text></threadedComment></ThreadedComments>`,
		"xl/drawings/drawing1.xml":             `<d:wsDr xmlns:d="d" xmlns:a="a" xmlns:r="r"><d:pic><d:cNvPr descr="a red valve"/></d:pic><d:sp><d:txBody><a:p><a:r><a:t>Count </a:t></a:r><a:r><a:t>twice</a:t></a:r></a:p></d:txBody></d:sp></d:wsDr>`,
		"xl/drawings/drawing2.xml":             `<d:wsDr xmlns:d="d" xmlns:c="c" xmlns:r="r"><d:graphicFrame><c:chart r:id="r1"/></d:graphicFrame></d:wsDr>`,
		"xl/drawings/_rels/drawing2.xml.rels":  related("chart", "../charts/chart1.xml"),
		"xl/charts/chart1.xml": `<c:chartSpace xmlns:c="c" xmlns:a="a"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>
<c:ser><c:tx><c:strRef><c:f>S!$B$1</c:f><c:strCache><c:ptCount val="1"/><c:pt idx="0"><c:v>2023</c:v></c:pt></c:strCache></c:strRef></c:tx>
<c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>north</c:v></c:pt><c:pt idx="1"><c:v>south</c:v></c:pt></c:strCache></c:strRef></c:cat>
<c:val><c:numRef><c:f>S!B</c:f><c:numCache><c:formatCode>0.0</c:formatCode><c:pt idx="0"><c:v>1.25</c:v></c:pt><c:pt idx="1"><c:v>2</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>
<c:ser><c:tx><c:v>plan</c:v></c:tx><c:val><c:numLit><c:pt idx="1"><c:v>3</c:v></c:pt></c:numLit></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>`,
	}
}

// TestRead proves what everything in a workbook becomes: see testdata/book.golden.
func TestRead(t *testing.T) {
	t.Parallel()
	data := extracttest.Zip(t, book())
	doc, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	extracttest.Golden(t, "testdata/book.golden", doc)
	if !xlsx.Is(data) || xlsx.Is(extracttest.Zip(t, map[string]string{"word/document.xml": "<x/>"})) || xlsx.Is([]byte("PK\x03\x04")) {
		t.Error("Is judges wrongly")
	}
	extracttest.Damage(t, read, data)
}

// TestReadFarCells proves that a sheet that declares all cells and fills one costs nothing, that cells need no order, and that dates
// count from 1904 where the workbook says so.
func TestReadFarCells(t *testing.T) {
	t.Parallel()
	parts := book()
	parts["xl/workbook.xml"] = strings.Replace(parts["xl/workbook.xml"], "<workbookPr/>", `<workbookPr date1904="1"/>`, 1)
	parts["xl/worksheets/sheet1.xml"] = `<worksheet><dimension ref="A1:XFD1048576"/><sheetData><row r="1048576"><c r="XFD1048576" s="2"><v>0</v></c></row><row r="1"><c r="A1"><v>1</v></c></row></sheetData></worksheet>`
	doc, err := read(extracttest.Zip(t, parts))
	if err != nil {
		t.Fatal(err)
	}
	if got := doc.Sections[0].Text; !strings.HasPrefix(got, "1\n\n1904-01-01") {
		t.Errorf("read %q", got)
	}
}

// TestReadRefusals proves that what is no workbook, encrypted, damaged, too deep, too large or has entities is refused with the reason.
func TestReadRefusals(t *testing.T) {
	t.Parallel()
	with := func(name, text string) []byte {
		parts := maps.Clone(book())
		parts[name] = text
		return extracttest.Zip(t, parts)
	}
	const sheet = "xl/worksheets/sheet1.xml"
	locked := "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00"
	for name, tt := range map[string]struct {
		data []byte
		err  error
		want string
	}{
		"empty":              {nil, outline.ErrUnparsable, "zip"},
		"text":               {[]byte("a,b"), outline.ErrUnparsable, "zip"},
		"encrypted":          {[]byte(locked), outline.ErrProtected, "password"},
		"old":                {[]byte(locked[:8]), outline.ErrUnparsable, "before 2007"},
		"Word":               {extracttest.Zip(t, map[string]string{"word/document.xml": "<x/>"}), outline.ErrUnparsable, "no Excel workbook"},
		"another archive":    {extracttest.Zip(t, map[string]string{"a.txt": "x"}), outline.ErrUnparsable, "no Office document"},
		"a sheet is missing": {with("xl/_rels/workbook.xml.rels", "<x/>"), outline.ErrUnparsable, "missing"},
		"broken XML":         {with(sheet, "<worksheet><sheetData></worksheet>"), outline.ErrUnparsable, ""},
		"entities":           {with(sheet, `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><worksheet><row><c t="str"><v>&a;</v></c></row></worksheet>`), outline.ErrUnparsable, "entity"},
		"deep":               {with("xl/sharedStrings.xml", "<sst>"+strings.Repeat("<a>", 500)), outline.ErrUnparsable, "deep"},
		"a bomb":             {with(sheet, "<worksheet>"+strings.Repeat(" ", 40<<20)+"</worksheet>"), outline.ErrUnparsable, "compressed more than"},
		"a cell far out":     {with(sheet, `<row><c r="ZZZZ1"><v>1</v></c></row>`), outline.ErrUnparsable, "outside"},
		"too much merged":    {with(sheet, `<w><row r="1"><c r="A1"><v>1</v></c></row><row r="900000"><c r="XX900000"><v>1</v></c></row><mergeCell ref="A1:XX900000"/></w>`), outline.ErrUnparsable, "filled cells"},
	} {
		if _, err := read(tt.data); !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func FuzzSheet(f *testing.F) {
	// Proves that no sheet, style or text makes the reader panic or end otherwise than in a tree or a refusal.
	parts := book()
	f.Add(parts["xl/worksheets/sheet1.xml"], parts["xl/styles.xml"], parts["xl/sharedStrings.xml"], parts["xl/charts/chart1.xml"])
	f.Add(`<row r="-1"><c r="$A$0" t="s"><v>-1</v></c><c r="a1b"/></row><mergeCell ref="B2:A1"/>`, `<cellXfs><xf numFmtId="-5"/></cellXfs>`, "<si/>", `<ser><val><pt idx="-1"><v/></pt></val></ser>`)
	f.Fuzz(func(t *testing.T, cells, styles, texts, chart string) {
		parts["xl/worksheets/sheet1.xml"], parts["xl/styles.xml"], parts["xl/sharedStrings.xml"], parts["xl/charts/chart1.xml"] = cells, styles, texts, chart
		doc, err := read(extracttest.Zip(t, parts))
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
func read(data []byte) (*outline.Document, error) { return xlsx.Read(data, outline.Options{}) }
