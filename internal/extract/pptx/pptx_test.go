package pptx_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/pptx"
)

const namespaces = `xmlns:p="p" xmlns:a="a" xmlns:c="c" xmlns:dgm="dgm" xmlns:mc="mc" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`

// related returns the part of relationships: pairs of a type and a target, with the ids r1, r2, …
func related(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, `<Relationship Id="r%d" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"/>`, i/2+1, pairs[i], pairs[i+1])
	}
	return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + b.String() + `</Relationships>`
}

// shape returns a shape with a placeholder, "" for none, and the content of its paragraphs.
func shape(placeholder string, paragraphs ...string) string {
	ph := ""
	if placeholder != "" {
		ph = `<p:nvPr><p:ph type="` + placeholder + `"/></p:nvPr>`
	}
	return `<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"/>` + ph + `</p:nvSpPr><p:txBody><a:p>` + strings.Join(paragraphs, "</a:p><a:p>") + `</a:p></p:txBody></p:sp>`
}

func run(text string) string { return "<a:r><a:t>" + text + "</a:t></a:r>" }

func slide(attributes, content string) string {
	return `<p:sld ` + namespaces + attributes + `><p:cSld><p:spTree>` + content + `</p:spTree></p:cSld></p:sld>`
}

// deck is a presentation with everything that the reader knows.
func deck() map[string]string {
	cell := func(attributes, text string) string {
		return "<a:tc" + attributes + "><a:txBody><a:p>" + run(text) + "</a:p></a:txBody></a:tc>"
	}
	return map[string]string{
		"_rels/.rels":       related("officeDocument", "ppt/presentation.xml"),
		"docProps/core.xml": `<cp xmlns:dc="dc"><dc:title>PowerPoint Presentation</dc:title><dc:creator>Ada</dc:creator></cp>`,
		"docProps/app.xml":  `<Properties><Slides>3</Slides></Properties>`,
		"ppt/presentation.xml": `<p:presentation ` + namespaces + `><p:sldMasterIdLst><p:sldMasterId id="1" r:id="r9"/></p:sldMasterIdLst>` +
			`<p:sldIdLst><p:sldId id="256" r:id="r2"/><p:sldId id="257" r:id="r3"/><p:sldId id="258" r:id="r1"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels": related("slide", "slides/last.xml", "slide", "slides/first.xml", "slide", "slides/hidden.xml", "commentAuthors", "authors.xml"),
		"ppt/authors.xml":                 `<p:cmAuthorLst xmlns:p="p"><p:cmAuthor id="0" name="Bob"/><p:author id="{C}" name="Cleo"/></p:cmAuthorLst>`,
		"ppt/slides/first.xml": slide("", shape("subTitle", run("For operators"))+shape("ctrTitle", run("Pump ")+"<a:br/>"+run("manual"))+
			shape("body", run("Open the valve"), `<a:pPr lvl="1"/>`+run("slowly"), `<a:pPr><a:buNone/></a:pPr>`+run("Then wait."))+
			shape("", `<a:pPr><a:buAutoNum startAt="3"/></a:pPr>`+run("three"), `<a:pPr><a:buAutoNum startAt="3"/></a:pPr>`+run("four"), run("plain"))+
			shape("ftr", run("Confidential"))+shape("sldNum", `<a:fld><a:t>1</a:t></a:fld>`)+
			`<p:grpSp><p:pic><p:nvPicPr><p:cNvPr id="4" descr="a red valve"/></p:nvPicPr></p:pic></p:grpSp>`+
			`<p:sp><p:nvSpPr><p:cNvPr hidden="1"/></p:nvSpPr><p:txBody><a:p>`+run("unseen")+`</a:p></p:txBody></p:sp>`+
			`<mc:AlternateContent><mc:Choice>`+shape("", run("new"))+`</mc:Choice><mc:Fallback>`+shape("", run("old"))+`</mc:Fallback></mc:AlternateContent>`),
		"ppt/slides/_rels/first.xml.rels": related("notesSlide", "../notes/n1.xml", "comments", "../comments/c1.xml", "comments", "../comments/c2.xml"),
		"ppt/notes/n1.xml":                `<p:notes ` + namespaces + `>` + shape("sldImg") + shape("body", run("Say hello.")) + shape("sldNum", run("1")) + `</p:notes>`,
		"ppt/comments/c1.xml":             `<p:cmLst xmlns:p="p"><p:cm authorId="0" dt="2026-01-02T00:00:00"><p:pos x="1"/><p:text>Too long?</p:text></p:cm></p:cmLst>`,
		"ppt/comments/c2.xml":             `<p188:cmLst xmlns:p188="q" xmlns:a="a"><p188:cm authorId="{C}" created="2026-01-03T10:00:00"><p188:replyLst><p188:reply authorId="0" created="2026-01-04T10:00:00"><p188:txBody><a:p><a:r><a:t>No.</a:t></a:r></a:p></p188:txBody></p188:reply></p188:replyLst><p188:txBody><a:p><a:r><a:t>Shorter</a:t></a:r></a:p></p188:txBody></p188:cm></p188:cmLst>`,
		"ppt/slides/hidden.xml":           slide(` show="0"`, shape("title", run("Secret"))),
		"ppt/slides/last.xml": slide("", `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow="1"/><a:tr>`+cell("", "bolt")+cell(` gridSpan="2"`, "torque")+cell(` hMerge="1"`, "")+
			`</a:tr><a:tr>`+cell(` rowSpan="2"`, "M6")+cell("", "10")+cell("", "Nm")+`</a:tr><a:tr>`+cell(` vMerge="1"`, "")+cell("", "12")+cell("", "Nm")+`</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`+
			`<p:graphicFrame><c:chart r:id="r1"/></p:graphicFrame><p:graphicFrame><dgm:relIds r:dm="r2" r:lo="r9"/></p:graphicFrame>`),
		"ppt/slides/_rels/last.xml.rels": related("chart", "../charts/c.xml", "diagramData", "../diagrams/d.xml"),
		"ppt/charts/c.xml":               `<c:chartSpace xmlns:c="c"><c:ser><c:tx><c:v>bar</c:v></c:tx><c:cat><c:pt idx="0"><c:v>May</c:v></c:pt></c:cat><c:val><c:pt idx="0"><c:v>3</c:v></c:pt></c:val></c:ser></c:chartSpace>`,
		"ppt/diagrams/d.xml":             `<dgm:dataModel ` + namespaces + `><dgm:pt><dgm:t><a:p>` + run("Plan") + `</a:p></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p/></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p>` + run("Do") + `</a:p></dgm:t></dgm:pt></dgm:dataModel>`,
	}
}

// TestRead proves what everything in a presentation becomes: see testdata/deck.golden.
func TestRead(t *testing.T) {
	t.Parallel()
	data := extracttest.Zip(t, deck())
	doc, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	extracttest.Golden(t, "testdata/deck.golden", doc)
	if !pptx.Is(data) || pptx.Is(extracttest.Zip(t, map[string]string{"xl/workbook.xml": "<x/>"})) {
		t.Error("Is judges wrongly")
	}
	extracttest.Damage(t, read, data)
}

// TestReadRefusals proves that what is no presentation, encrypted, damaged, too deep or a bomb is refused with the reason.
func TestReadRefusals(t *testing.T) {
	t.Parallel()
	with := func(name, text string) []byte {
		parts := maps.Clone(deck())
		parts[name] = text
		return extracttest.Zip(t, parts)
	}
	const first = "ppt/slides/first.xml"
	for name, tt := range map[string]struct {
		data []byte
		err  error
		want string
	}{
		"empty":          {nil, outline.ErrUnparsable, "zip"},
		"encrypted":      {[]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00"), outline.ErrProtected, "password"},
		"Excel":          {extracttest.Zip(t, map[string]string{"xl/workbook.xml": "<x/>"}), outline.ErrUnparsable, "no PowerPoint presentation"},
		"a slide is out": {with("ppt/_rels/presentation.xml.rels", "<x/>"), outline.ErrUnparsable, "missing"},
		"broken XML":     {with(first, "<p:sld>"), outline.ErrUnparsable, ""},
		"entities":       {with(first, `<!DOCTYPE x [<!ENTITY a "b">]>`+slide("", shape("", run("&a;")))), outline.ErrUnparsable, "entity"},
		"deep":           {with(first, slide("", strings.Repeat("<p:grpSp>", 500))), outline.ErrUnparsable, "deep"},
		"a bomb":         {with(first, slide("", strings.Repeat(" ", 40<<20))), outline.ErrUnparsable, "compressed more than"},
	} {
		if _, err := read(tt.data); !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func FuzzSlide(f *testing.F) {
	// Proves that no slide, notes or comments make the reader panic or end otherwise than in a tree or a refusal.
	parts := deck()
	f.Add(parts["ppt/slides/first.xml"], parts["ppt/notes/n1.xml"], parts["ppt/comments/c2.xml"])
	f.Add(parts["ppt/slides/last.xml"], "<notes/>", "<cm/>")
	f.Add(`<sld><tc/><tbl><tc/><tr><tc hMerge="1" vMerge="1"/></tr></tbl><sp><p><pPr lvl="-9"/><buAutoNum startAt="-1"/><t>x</t></p></sp></sld>`, "", "<text>x</text>")
	f.Fuzz(func(t *testing.T, first, notes, comments string) {
		parts["ppt/slides/first.xml"], parts["ppt/notes/n1.xml"], parts["ppt/comments/c2.xml"] = first, notes, comments
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
func read(data []byte) (*outline.Document, error) { return pptx.Read(data, outline.Options{}) }
