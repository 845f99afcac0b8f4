package binary

import (
	"strings"
	"testing"
)

// workbooks are Excel files, and a presentation.
func workbooks(t *testing.T) []file {
	t.Helper()
	const (
		main  = `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" r:id="a"/></sheets></workbook>`
		links = `<Relationships><Relationship Id="a" Type="x/worksheet" Target="sheet.xml"/><Relationship Id="b" Type="x/sharedStrings" Target="strings.xml"/></Relationships>`
		head  = `<worksheet><sheetData>`
		tail  = `</sheetData></worksheet>`
	)
	with := func(more ...entry) []byte {
		return zipped(t, append([]entry{{name: "xl/workbook.xml", before: main}, {name: "xl/_rels/workbook.xml.rels", before: links}}, more...)...)
	}
	sheet := func(e entry) []byte {
		e.name, e.before, e.after = "xl/sheet.xml", head+e.before, e.after+tail
		return with(e)
	}
	cells := "<row>" + strings.Repeat(`<c t="str"><v>x</v></c>`, 40) + "</row>"
	return []file{
		{"zip bomb: 1 GB of spaces in a sheet", "bomb.xlsx", sheet(entry{fill: " ", size: 1 << 30})},
		{"zip bomb: 200 MB of cells", "cells.xlsx", sheet(entry{fill: cells, size: 200 << 20 / len(cells) * len(cells)})},
		{"zip bomb: 1 GB of texts", "texts.xlsx", with(entry{name: "xl/sheet.xml", before: head + cells + tail}, entry{name: "xl/strings.xml", before: "<sst>", fill: "<si><t>x</t></si>", size: 1 << 30, after: "</sst>"})},
		{"all cells of a sheet merged", "merged.xlsx", sheet(entry{before: `<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>`, after: `</sheetData><mergeCell ref="A1:XFD1048576"/><sheetData>`})},
		{"elements nested 600,000 deep", "deep.xlsx", sheet(entry{before: strings.Repeat("<c>", 600_000) + strings.Repeat("</c>", 600_000)})},
		{"entities", "entities.xlsx", with(entry{name: "xl/sheet.xml", before: `<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]>` + head + `<row><c t="str"><v>&a;</v></c></row>` + tail})},
		{"zip bomb: 300 MB of paragraphs on a slide", "paragraphs.pptx", zipped(t,
			entry{name: "ppt/presentation.xml", before: strings.ReplaceAll(main, "sheet", "sldId")}, entry{name: "ppt/_rels/presentation.xml.rels", before: strings.ReplaceAll(links, "sheet.xml", "slide.xml")},
			entry{name: "ppt/slide.xml", before: "<sld>", fill: "<sp><p><t>The mill grinds. </t></p></sp>", size: 300 << 20, after: "</sld>"})},
		{"a folder above", "above.xlsx", with(entry{name: "../../etc/sheet.xml", before: head + cells + tail})},
	}
}
