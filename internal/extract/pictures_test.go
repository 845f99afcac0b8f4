package extract_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/extract"
)

// pictureOf returns a PNG of one colour with sides of so many pixels.
func pictureOf(t *testing.T, side int, shade uint8) string {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, side, side))
	for i := range m.Pix {
		m.Pix[i] = shade
	}
	m.SetGray(0, 0, color.Gray{shade + 1})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// withPictures returns a file of each format that may hold pictures: under the heading Valves the picture large, said to show "a red
// valve", and the picture small, said to be "an icon".
func withPictures(t *testing.T, large, small string) map[string][]byte {
	t.Helper()
	const rels = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	rel := func(id, kind, target string) string {
		return `<Relationship Id="` + id + `" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/` + kind + `" Target="` + target + `"/>`
	}
	const space = ` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" `
	archive := func(parts map[string]string, dir string) []byte {
		parts[dir+"large.png"], parts[dir+"small.png"] = large, small
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
	drawing := func(id, alt string) string {
		return `<w:p><w:r><w:drawing><wp:docPr descr="` + alt + `"/><a:blip r:embed="` + id + `"/></w:drawing></w:r></w:p>`
	}
	shape := func(id, alt string) string {
		return `<p:pic><p:nvPicPr><p:cNvPr id="1" descr="` + alt + `"/></p:nvPicPr><p:blipFill><a:blip r:embed="` + id + `"/></p:blipFill></p:pic>`
	}
	frame := func(name, alt string) string {
		return `<draw:frame><draw:image xlink:href="Pictures/` + name + `.png"/><svg:desc xmlns:svg="svg">` + alt + `</svg:desc></draw:frame>`
	}
	rich := func(data, alt string) string {
		return `{\*\shppict{\pict{\*\picprop{\sp{\sn wzDescription}{\sv ` + alt + `}}}\pngblip\picw1 ` + data + `}}{\nonshppict{\pict\wmetafile8 0102}}`
	}
	const odf = `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:draw="d" xmlns:xlink="x" xmlns:presentation="p"><office:body>`
	uri := func(data string) string {
		return "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(data))
	}
	page := `<html><body><h1>Valves</h1><p>Before <img src="` + uri(large) + `" alt="a red valve"> after.</p><p><img src="` + uri(small) + `" alt="an icon"></p></body></html>`
	return map[string][]byte{
		"a.docx": archive(map[string]string{
			"_rels/.rels": rels + rel("r1", "officeDocument", "word/document.xml") + `</Relationships>`,
			"word/document.xml": `<w:document xmlns:w="w" xmlns:wp="wp" xmlns:a="a"` + space + `><w:body><w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Valves</w:t></w:r></w:p>` +
				drawing("r1", "a red valve") + drawing("r2", "an icon") + drawing("r3", "far away") + drawing("r1", "a red valve") + `</w:body></w:document>`,
			"word/_rels/document.xml.rels": rels + rel("r1", "image", "media/large.png") + rel("r2", "image", "media/small.png") +
				`<Relationship Id="r3" Type="x/image" Target="http://192.0.2.1/x.png" TargetMode="External"/></Relationships>`,
		}, "word/media/"),
		"a.pptx": archive(map[string]string{
			"_rels/.rels":                     rels + rel("r1", "officeDocument", "ppt/presentation.xml") + `</Relationships>`,
			"ppt/presentation.xml":            `<p:presentation xmlns:p="p"` + space + `><p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst></p:presentation>`,
			"ppt/_rels/presentation.xml.rels": rels + rel("r1", "slide", "slides/s.xml") + `</Relationships>`,
			"ppt/slides/s.xml": `<p:sld xmlns:p="p" xmlns:a="a"` + space + `><p:cSld><p:spTree><p:sp><p:nvSpPr><p:cNvPr id="1"/><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>Valves</a:t></a:r></a:p></p:txBody></p:sp>` +
				shape("r1", "a red valve") + shape("r2", "an icon") + `</p:spTree></p:cSld></p:sld>`,
			"ppt/slides/_rels/s.xml.rels": rels + rel("r1", "image", "../media/large.png") + rel("r2", "image", "../media/small.png") + `</Relationships>`,
		}, "ppt/media/"),
		"a.xlsx": archive(map[string]string{
			"_rels/.rels":                rels + rel("r1", "officeDocument", "xl/workbook.xml") + `</Relationships>`,
			"xl/workbook.xml":            `<workbook xmlns="x"` + space + `><sheets><sheet name="Valves" r:id="r1"/></sheets></workbook>`,
			"xl/_rels/workbook.xml.rels": rels + rel("r1", "worksheet", "s.xml") + `</Relationships>`,
			"xl/s.xml":                   `<worksheet/>`,
			"xl/_rels/s.xml.rels":        rels + rel("r1", "drawing", "d.xml") + `</Relationships>`,
			"xl/d.xml":                   `<xdr:wsDr xmlns:xdr="xdr" xmlns:a="a" xmlns:p="xdr"` + space + `>` + shape("r1", "a red valve") + shape("r2", "an icon") + `</xdr:wsDr>`,
			"xl/_rels/d.xml.rels":        rels + rel("r1", "image", "media/large.png") + rel("r2", "image", "media/small.png") + `</Relationships>`,
		}, "xl/media/"),
		"a.odt": archive(map[string]string{
			"mimetype": "application/vnd.oasis.opendocument.text",
			"content.xml": odf + `<office:text><text:h text:outline-level="1">Valves</text:h><text:p>` + frame("large", "a red valve") + `</text:p><text:p>` + frame("small", "an icon") +
				`</text:p></office:text></office:body></office:document-content>`,
		}, "Pictures/"),
		"a.odp": archive(map[string]string{
			"mimetype": "application/vnd.oasis.opendocument.presentation",
			"content.xml": odf + `<office:presentation><draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Valves</text:p></draw:text-box></draw:frame>` + frame("large", "a red valve") + frame("small", "an icon") +
				`</draw:page></office:presentation></office:body></office:document-content>`,
		}, "Pictures/"),
		"a.ods": archive(map[string]string{
			"mimetype": "application/vnd.oasis.opendocument.spreadsheet",
			"content.xml": odf + `<office:spreadsheet xmlns:table="tb"><table:table table:name="Valves"><table:shapes>` + frame("large", "a red valve") + `</table:shapes><table:table-row><table:table-cell><text:p>3 bar</text:p>` +
				frame("small", "an icon") + frame("large", "a red valve") + `</table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`,
		}, "Pictures/"),
		"a.rtf": []byte(`{\rtf1\ansi{\stylesheet{\s1\outlinelevel0 Kop;}}\pard\s1 Valves\par\pard ` + rich(hex.EncodeToString([]byte(large)), "a red valve") + `\par ` +
			rich(fmt.Sprintf(`\bin%d `, len(small))+small, "an icon") + ` \par\trowd\cellx1\cellx2\intbl x\cell ` + rich(hex.EncodeToString([]byte(large)), "a red valve") + `y\cell\row\trowd\cellx1\cellx2\intbl 1\cell 2\cell\row}`),
		"a.html": []byte(page),
		"a.md":   []byte("# Valves\n\nBefore ![a red valve](" + uri(large) + ") after.\n\n![an icon](" + uri(small) + ")\n"),
		"a.epub": archive(map[string]string{
			"mimetype":               "application/epub+zip",
			"META-INF/container.xml": `<container><rootfiles><rootfile full-path="b/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
			"b/book.opf":             `<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata/><manifest><item id="one" href="text/one.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="one"/></spine></package>`,
			"b/text/one.xhtml":       `<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>Valves</h1><p><img src="../img/large.png" alt="a red valve"/></p><p><img src="../img/small.png" alt="an icon"/><img src="../../../etc/passwd" alt=""/></p></body></html>`,
		}, "b/img/"),
	}
}

// TestReadPictures proves, for every format that embeds pictures, that they come with what is said of them where they are wanted, each once
// and icons left out, and that what is said is text where they are not.
func TestReadPictures(t *testing.T) {
	t.Parallel()
	large, small := pictureOf(t, 64, 10), pictureOf(t, 63, 20)
	want := []extract.Picture{{Description: "a red valve", MIME: "image/png", Data: []byte(large)}}
	for name, data := range withPictures(t, large, small) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, wanted := range []bool{true, false} {
				doc, err := extract.Read(extract.Input{Name: name, Data: data, Options: extract.Options{Pictures: wanted}})
				if err != nil {
					t.Fatal(err)
				}
				if len(doc.Sections) != 1 || doc.Sections[0].Title != "Valves" {
					t.Fatalf("sections: %+v", doc.Sections)
				}
				s := doc.Sections[0]
				if !wanted {
					if len(s.Pictures) > 0 || !strings.Contains(s.Text, "a red valve") || !strings.Contains(s.Text, "an icon") {
						t.Errorf("without pictures: %+v", s)
					}
					continue
				}
				if diff := cmp.Diff(want, s.Pictures, cmpopts.IgnoreFields(extract.Picture{}, "Page")); diff != "" {
					t.Errorf("pictures (-want +got):\n%s", diff)
				}
				if strings.Contains(s.Text, "a red valve") || !strings.Contains(s.Text, "an icon") {
					t.Errorf("text beside pictures: %q", s.Text)
				}
			}
		})
	}
}

// TestReadCaptions proves that the caption of a figure goes with its picture.
func TestReadCaptions(t *testing.T) {
	t.Parallel()
	uri := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(pictureOf(t, 70, 1)))
	page := `<figure><img src="` + uri + `" alt="a valve" title="Valve"><figcaption>Figure 1: the <b>valve</b></figcaption></figure><figure><img src="x.png" alt="a pump"><figcaption>Figure 2</figcaption></figure>`
	doc, err := extract.Read(extract.Input{Name: "a.html", Data: []byte(page), Options: extract.Options{Pictures: true}})
	if err != nil {
		t.Fatal(err)
	}
	p := doc.Sections[0].Pictures
	if len(p) != 1 || p[0].Title != "Valve" || p[0].Caption != "Figure 1: the valve" || p[0].Description != "a valve" {
		t.Errorf("%+v", p)
	}
	if got := doc.Sections[0].Text; got != "a pump\n\nFigure 2" {
		t.Errorf("%q", got)
	}
}
