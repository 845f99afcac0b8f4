package odf_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/odf"
	"quarry/internal/extract/outline"
)

const namespaces = `xmlns:office="o" xmlns:text="t" xmlns:table="tb" xmlns:style="s" xmlns:draw="d" xmlns:presentation="pr" xmlns:dc="dc" xmlns:meta="m" xmlns:svg="urn:svg"`

const styles = `<office:document-styles ` + namespaces + `><office:styles><style:style style:name="Title"/><style:style style:name="P1" style:parent-style-name="Title"/>
<style:style style:name="Loop" style:parent-style-name="Loop"/><style:style style:name="Gone"><style:text-properties text:display="none"/></style:style>
<style:style style:name="NoSheet"><style:table-properties table:display="false"/></style:style><style:style style:name="NoSlide"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>
<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="i" style:num-suffix=")" text:start-value="4"/></text:list-style>
<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1" text:bullet-char="•"/></text:list-style></office:styles></office:document-styles>`

const meta = `<office:document-meta ` + namespaces + `><office:meta><dc:title>Pump  manual</dc:title><meta:initial-creator>Ada</meta:initial-creator><dc:creator>Bob</dc:creator>
<meta:creation-date>2024-02-03T04:05:06.123456789</meta:creation-date><meta:keyword>pump</meta:keyword><meta:keyword>water</meta:keyword><meta:document-statistic meta:page-count="3"/></office:meta></office:document-meta>`

// pack returns the parts of a document of a kind with a body.
func pack(kind, body string) map[string]string {
	return map[string]string{
		"mimetype": "application/vnd.oasis.opendocument." + kind, "styles.xml": styles, "meta.xml": meta,
		"META-INF/manifest.xml": `<manifest:manifest xmlns:manifest="m"><manifest:file-entry manifest:full-path="/"/></manifest:manifest>`,
		"content.xml":           `<office:document-content ` + namespaces + `><office:body><office:` + strings.TrimSuffix(kind, "-template") + `>` + body + `</office:` + strings.TrimSuffix(kind, "-template") + `></office:body></office:document-content>`,
	}
}

func p(text string) string { return "<text:p>" + text + "</text:p>" }

func cell(attributes, text string) string {
	return "<table:table-cell" + attributes + ">" + p(text) + "</table:table-cell>"
}

// bodies has everything that the reader knows of each kind.
var bodies = map[string]string{
	"text": `<text:tracked-changes><text:deletion>` + p("deleted") + `</text:deletion></text:tracked-changes><text:p text:style-name="P1">Pump <text:span>42</text:span></text:p>` +
		`<text:table-of-content>` + p("Contents") + `</text:table-of-content><text:h text:outline-level="1">Start</text:h>` +
		p(`Open  <text:s text:c="2"/>the<text:tab/>valve,<text:line-break/>then wait<text:note><text:note-citation>1</text:note-citation><text:note-body>`+p("Three bar.")+`</text:note-body></text:note>.<text:span text:style-name="Gone">secret</text:span>`) +
		`<text:p text:style-name="Gone">hidden</text:p><text:section text:display="none">` + p("away") + `</text:section><text:section>` + p("in a section") + `</text:section>` +
		`<text:list text:style-name="L1"><text:list-item>` + p("one") + `</text:list-item><text:list-item>` + p("two") + p("more of it") + `<text:list><text:list-item>` + p("deep") + `</text:list-item><text:list-item text:start-value="9">` + p("nine") + `</text:list-item></text:list></text:list-item></text:list>` +
		`<text:list text:style-name="L2"><text:list-item>` + p("dot") + `</text:list-item></text:list>` +
		`<text:h text:outline-level="2">Sizes</text:h><table:table><table:table-header-rows><table:table-row>` + cell("", "bolt") + cell(` table:number-columns-spanned="2"`, "torque") + `<table:covered-table-cell/></table:table-row></table:table-header-rows>` +
		`<table:table-row>` + cell(` table:number-rows-spanned="2"`, "M6") + cell(` table:number-columns-repeated="2"`, "10") + `</table:table-row><table:table-row><table:covered-table-cell/>` + cell("", "12") +
		`<table:table-cell><text:list text:style-name="L2"><text:list-item>` + p("item") + `</text:list-item></text:list></table:table-cell></table:table-row></table:table>` +
		p(`<draw:frame><draw:image/><svg:title>Valve</svg:title><svg:desc>a red valve</svg:desc></draw:frame>See<draw:frame><draw:text-box>`+p("boxed")+`</draw:text-box></draw:frame>`),
	"spreadsheet": `<table:table table:name="Stock"><table:table-column/><table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>` +
		`<table:table-row>` + cell("", "item") + cell(` table:number-columns-spanned="2"`, "price") + `<table:covered-table-cell/></table:table-row>` +
		`<table:table-row table:number-rows-repeated="2"><table:table-cell office:value="2"><office:annotation><dc:creator>Cleo</dc:creator><dc:date>2026-01-02T03:04:05</dc:date>` + p("Old?") + `</office:annotation>` + p("Pump") + `</table:table-cell>` + cell("", "1,50 €") + cell("", "x") + `</table:table-row>` +
		`<table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="16384"/></table:table-row><table:shapes><draw:frame><svg:desc>a chart</svg:desc></draw:frame></table:shapes></table:table>` +
		`<table:table table:name="Empty"><table:table-row><table:table-cell/></table:table-row></table:table><table:table table:name="Secret" table:style-name="NoSheet"><table:table-row>` + cell("", "42") + `</table:table-row></table:table>`,
	"presentation": `<draw:page><draw:frame presentation:class="subtitle"><draw:text-box>` + p("For operators") + `</draw:text-box></draw:frame><draw:frame presentation:class="title"><draw:text-box>` + p("Training") + `</draw:text-box></draw:frame>` +
		`<draw:g><draw:custom-shape>` + p("in a group") + `</draw:custom-shape></draw:g><draw:frame presentation:class="footer"><draw:text-box>` + p("Confidential") + `</draw:text-box></draw:frame>` +
		`<office:annotation><dc:creator>Cleo</dc:creator>` + p("Shorter?") + `</office:annotation><presentation:notes><draw:page-thumbnail/><draw:frame presentation:class="notes"><draw:text-box>` + p("Say hello.") + `</draw:text-box></draw:frame></presentation:notes></draw:page>` +
		`<draw:page draw:style-name="NoSlide">` + p("hidden") + `</draw:page><draw:page><draw:frame><table:table><table:table-row>` + cell("", "a") + cell("", "b") + `</table:table-row><table:table-row>` + cell("", "1") + cell("", "2") + `</table:table-row></table:table></draw:frame></draw:page>`,
}

// plain is a reader without choices.
func plain(read func([]byte, outline.Options) (*outline.Document, error)) func([]byte) (*outline.Document, error) {
	return func(data []byte) (*outline.Document, error) { return read(data, outline.Options{}) }
}

var readers = map[string]func([]byte) (*outline.Document, error){"text": plain(odf.ReadText), "spreadsheet": plain(odf.ReadSpreadsheet), "presentation": plain(odf.ReadPresentation)}

// TestRead proves what everything in a document of each kind becomes: see testdata; and that a template is read as well.
func TestRead(t *testing.T) {
	t.Parallel()
	for kind, body := range bodies {
		data := extracttest.Zip(t, pack(kind, body))
		doc, err := readers[kind](data)
		if err != nil {
			t.Fatal(err)
		}
		extracttest.Golden(t, "testdata/"+kind+".golden", doc)
		extracttest.Damage(t, readers[kind], data)
		if _, err := readers[kind](extracttest.Zip(t, pack(kind+"-template", body))); err != nil {
			t.Errorf("a template: %v", err)
		}
		for other, is := range map[string]func([]byte) bool{"text": odf.IsText, "spreadsheet": odf.IsSpreadsheet, "presentation": odf.IsPresentation} {
			if is(data) != (other == kind) {
				t.Errorf("a %s is judged as %s", kind, other)
			}
		}
	}
}

// TestReadRefusals proves that what is another kind, encrypted, damaged, too deep, too large or has entities is refused with the reason.
func TestReadRefusals(t *testing.T) {
	t.Parallel()
	with := func(name, text string) []byte {
		parts := maps.Clone(pack("spreadsheet", bodies["spreadsheet"]))
		parts[name] = text
		return extracttest.Zip(t, parts)
	}
	sheet := func(rows string) []byte {
		return extracttest.Zip(t, pack("spreadsheet", "<table:table>"+rows+"</table:table>"))
	}
	for name, tt := range map[string]struct {
		data []byte
		err  error
		want string
	}{
		"empty":          {nil, outline.ErrUnparsable, "zip"},
		"another kind":   {extracttest.Zip(t, pack("text", "")), outline.ErrUnparsable, "no OpenDocument spreadsheet"},
		"no content":     {extracttest.Zip(t, map[string]string{"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}), outline.ErrUnparsable, "no content.xml"},
		"encrypted":      {with("META-INF/manifest.xml", `<manifest><file-entry><encryption-data/></file-entry></manifest>`), outline.ErrProtected, "password"},
		"broken XML":     {with("content.xml", "<a>"), outline.ErrUnparsable, ""},
		"entities":       {with("content.xml", `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><a>&a;</a>`), outline.ErrUnparsable, "entity"},
		"deep":           {with("content.xml", strings.Repeat("<a>", 500)), outline.ErrUnparsable, "deep"},
		"a bomb":         {with("content.xml", "<a>"+strings.Repeat(" ", 40<<20)+"</a>"), outline.ErrUnparsable, "compressed more than"},
		"cells repeated": {sheet(`<table:table-row table:number-rows-repeated="1000000">` + cell(` table:number-columns-repeated="16000"`, "x") + `</table:table-row>`), outline.ErrUnparsable, "filled cells"},
		"cells merged":   {sheet(`<table:table-row>` + cell(` table:number-columns-spanned="16384" table:number-rows-spanned="1048576"`, "x") + `</table:table-row><table:table-row table:number-rows-repeated="999999"><table:table-cell/></table:table-row><table:table-row><table:table-cell table:number-columns-repeated="16000"/>` + cell("", "y") + `</table:table-row>`), outline.ErrUnparsable, "filled cells"},
		"cells too far":  {sheet(`<table:table-row table:number-rows-repeated="1048576"><table:table-cell/></table:table-row><table:table-row>` + cell("", "x") + `</table:table-row>`), outline.ErrUnparsable, "outside"},
	} {
		if _, err := readers["spreadsheet"](tt.data); !errors.Is(err, tt.err) || !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func FuzzBody(f *testing.F) {
	// Proves that no body and no styles make the readers panic or end otherwise than in a tree or a refusal.
	for _, body := range bodies {
		f.Add(body, styles)
	}
	f.Add(`<table:table><table:table-row><table:covered-table-cell table:number-columns-repeated="-5"/></table:table-row></table:table><text:list><text:list-item text:start-value="-9"/></text:list>`, "<list-style><list-level-style-number level=\"-1\" num-format=\"a\" start-value=\"-3\"/></list-style>")
	f.Fuzz(func(t *testing.T, body, styles string) {
		for kind, read := range readers {
			parts := pack(kind, body)
			parts["styles.xml"] = styles
			doc, err := read(extracttest.Zip(t, parts))
			if err != nil {
				if !errors.Is(err, outline.ErrUnparsable) {
					t.Fatal(err)
				}
				continue
			}
			extracttest.Dump(t, doc)
		}
	})
}
