// Package samplefile makes small files of every kind that can be made in a few lines, and the compound files that others lie in, for tests
// and benchmarks of whole services.
package samplefile

import (
	"archive/zip"
	"bytes"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
)

// Kinds are the kinds of files that New makes, by their endings.
var Kinds = []string{"md", "docx", "txt", "pdf", "html", "xlsx", "eml", "pptx", "csv", "odt", "ods", "rtf", "epub", "xml"}

// New returns a small file of a kind, with these paragraphs: as such, as rows of a sheet, as slides or as pages of thirty.
func New(kind string, paragraphs ...string) []byte {
	var body strings.Builder
	each := func(format string) string {
		for _, p := range paragraphs {
			fmt.Fprintf(&body, format, html.EscapeString(p))
		}
		return body.String()
	}
	const xml, word, draw = `<?xml version="1.0"?>`, "http://schemas.openxmlformats.org/wordprocessingml/2006/main", "http://schemas.openxmlformats.org/drawingml/2006/main"
	switch kind {
	case "docx":
		return office("word/document.xml", "wordprocessingml.document.main", map[string]string{
			"word/document.xml": xml + `<w:document xmlns:w="` + word + `"><w:body>` + each("<w:p><w:r><w:t>%s</w:t></w:r></w:p>") + `</w:body></w:document>`,
		})
	case "xlsx":
		return office("xl/workbook.xml", "spreadsheetml.sheet.main", map[string]string{
			"xl/workbook.xml":            xml + `<workbook xmlns:r="` + relations + `"><sheets><sheet name="S" r:id="a"/></sheets></workbook>`,
			"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="a" Type="` + relations + `/worksheet" Target="sheet.xml"/></Relationships>`,
			"xl/sheet.xml":               xml + `<worksheet><sheetData>` + each(`<row><c t="str"><v>%s</v></c><c><v>7</v></c></row>`) + `</sheetData></worksheet>`,
		})
	case "pptx":
		return presentation(xml, draw, paragraphs)
	case "odt":
		return open("text", `<office:text>`+each("<text:p>%s</text:p>")+`</office:text>`)
	case "ods":
		const row = `<table:table-row><table:table-cell office:value-type="string"><text:p>%s</text:p></table:table-cell><table:table-cell office:value-type="float" office:value="7"><text:p>7</text:p></table:table-cell></table:table-row>`
		return open("spreadsheet", `<office:spreadsheet><table:table table:name="S">`+each(row)+`</table:table></office:spreadsheet>`)
	case "rtf":
		for _, p := range paragraphs {
			body.WriteString(strings.NewReplacer(`\`, `\\`, "{", `\{`, "}", `\}`).Replace(p) + "\\par\n")
		}
		return []byte("{\\rtf1\\ansi " + body.String() + "}")
	case "epub":
		return packed(map[string]string{
			"mimetype": "application/epub+zip", "META-INF/container.xml": `<container><rootfile full-path="book.opf"/></container>`,
			"book.opf":  `<package><metadata/><manifest><item id="a" href="one.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>`,
			"one.xhtml": xml + `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>` + each("<p>%s</p>\n") + `</body></html>`,
		})
	case "xml":
		return []byte(xml + "<notes>" + each("<note>%s</note>\n") + "</notes>")
	case "eml":
		return []byte("From: Ada <ada@example.com>\r\nTo: bob@example.com\r\nSubject: News\r\nDate: Mon, 06 Jul 2026 10:00:00 +0000\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n" +
			strings.Join(paragraphs, "\r\n\r\n") + "\r\n")
	case "pdf":
		return pages(paragraphs)
	case "html":
		return []byte("<!doctype html><title>News</title><body>" + each("<p>%s</p>\n"))
	case "csv":
		for i, p := range paragraphs {
			fmt.Fprintf(&body, "%q,%d\n", p, i)
		}
		return []byte("text,number\n" + body.String())
	}
	return []byte(strings.Join(paragraphs, "\n\n") + "\n")
}

const relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

// office returns a package of Office whose main part this is.
func office(main, kind string, parts map[string]string) []byte {
	parts["[Content_Types].xml"] = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/` + main +
		`" ContentType="application/vnd.openxmlformats-officedocument.` + kind + `+xml"/></Types>`
	parts["_rels/.rels"] = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="` + relations + `/officeDocument" Target="` + main + `"/></Relationships>`
	return packed(parts)
}

func presentation(xml, draw string, paragraphs []string) []byte {
	parts := map[string]string{}
	var ids, links strings.Builder
	for i, p := range paragraphs {
		fmt.Fprintf(&ids, `<p:sldId id="%d" r:id="s%d"/>`, 256+i, i)
		fmt.Fprintf(&links, `<Relationship Id="s%d" Type="%s/slide" Target="slides/slide%d.xml"/>`, i, relations, i)
		parts[fmt.Sprintf("ppt/slides/slide%d.xml", i)] = xml + `<p:sld xmlns:p="p" xmlns:a="` + draw + `"><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>` + html.EscapeString(p) +
			`</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>`
	}
	parts["ppt/presentation.xml"] = xml + `<p:presentation xmlns:p="p" xmlns:r="` + relations + `"><p:sldIdLst>` + ids.String() + `</p:sldIdLst></p:presentation>`
	parts["ppt/_rels/presentation.xml.rels"] = `<Relationships>` + links.String() + `</Relationships>`
	return office("ppt/presentation.xml", "presentationml.presentation.main", parts)
}

// open returns an OpenDocument file.
func open(kind, body string) []byte {
	const space = "urn:oasis:names:tc:opendocument:xmlns:"
	return packed(map[string]string{
		"mimetype": "application/vnd.oasis.opendocument." + kind,
		"content.xml": `<?xml version="1.0"?><office:document-content xmlns:office="` + space + `office:1.0" xmlns:text="` + space + `text:1.0" xmlns:table="` + space +
			`table:1.0"><office:body>` + body + `</office:body></office:document-content>`,
	})
}

// packed returns a compressed archive.
func packed(parts map[string]string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(parts[name]))
		}
		if err != nil {
			panic(err) // impossible: it goes into memory
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// pages returns a PDF file with a paragraph on a line, thirty on a page.
func pages(paragraphs []string) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"}
	escape := strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`)
	var kids strings.Builder
	n := 0
	for page := range slices.Chunk(paragraphs, 30) {
		var text strings.Builder
		for i, p := range page {
			fmt.Fprintf(&text, "BT /F 9 Tf 40 %d Td (%s) Tj ET\n", 780-24*i, escape.Replace(p))
		}
		fmt.Fprintf(&kids, "%d 0 R ", len(objects)+1)
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 820] /Contents %d 0 R /Resources << /Font << /F 3 0 R >> >> >>", len(objects)+2),
			fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", text.Len(), text.String()))
		n++
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), n)
	return pdf(objects)
}

// pdf returns a PDF file of objects, the first of which is the catalog.
func pdf(objects []string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, at)
	return b.Bytes()
}
