package extract

import (
	"bytes"
	"mime"
	"path"
	"slices"
	"strings"

	"quarry/internal/extract/asciidoc"
	"quarry/internal/extract/csv"
	"quarry/internal/extract/doc"
	"quarry/internal/extract/docx"
	"quarry/internal/extract/epub"
	"quarry/internal/extract/html"
	"quarry/internal/extract/mail"
	"quarry/internal/extract/mail/msg"
	"quarry/internal/extract/markdown"
	"quarry/internal/extract/odf"
	"quarry/internal/extract/pdf"
	imaging "quarry/internal/extract/picture"
	"quarry/internal/extract/plain"
	"quarry/internal/extract/ppt"
	"quarry/internal/extract/pptx"
	"quarry/internal/extract/rtf"
	"quarry/internal/extract/xls"
	"quarry/internal/extract/xlsx"
	"quarry/internal/extract/xml"
)

// format is a file format that Read has a parser for.
type format struct {
	// name is what people call it, in messages and in the documentation.
	name string
	// types are its media types; documents record the first one as their Content-Type.
	types []string
	// loose are media types that stand for it only beside one of its endings: clients send them for other formats too.
	loose []string
	// endings are those of file names, in lower case; rare ones are read, but not looked for in folders.
	endings, rare []string
	// plain is set for formats of plain characters whose parsers are simple enough to run inside the service.
	plain bool
	// textual has it read the kinds of files in textual.go, too; those that are code by readCode.
	textual  bool
	readCode func(text string) (*Document, error)
	// is recognises the format by its first bytes; nil where they tell nothing.
	is func(data []byte) bool
	// read parses the bytes of a file. Formats of plain characters have readText instead, those with something to choose readWith or
	// textWith, and mail, which has files inside, readMail.
	read     func(data []byte) (*Document, error)
	readWith func(data []byte, o Options) (*Document, error)
	readText func(text string) (*Document, error)
	textWith func(text string, o Options) (*Document, error)
	readMail func(data []byte, files mail.Files) (*Document, error)
	// raster returns a page that is a picture; nil where pages can't be.
	raster func(data []byte, page int) (*Raster, error)
}

// formats is the table of the formats that Read understands, from which everything that depends on formats is derived. The
// content of a file is compared with the rows from the last to the first, so that text, which nearly every file could be,
// comes last.
var formats = []*format{
	{
		name: "plain text", types: []string{plainText}, endings: []string{".txt", ".text"}, plain: true, textual: true,
		is: isText, readText: plain.Read, readCode: plain.ReadCode,
	},
	{
		name: "Markdown", types: []string{"text/markdown", "text/x-markdown"}, endings: []string{".md", ".markdown"}, rare: []string{".mdown"},
		plain: true, textWith: markdown.Read,
	},
	{
		name: "HTML", types: []string{htmlPage, "application/xhtml+xml"}, endings: []string{".html", ".htm"}, rare: []string{".xhtml"},
		plain: true, is: isPage, textWith: html.Read,
	},
	{
		name: "XML", types: []string{xmlFile, "text/xml", "application/jats+xml", "application/docbook+xml", "application/tei+xml", "application/rss+xml", "application/atom+xml"},
		endings: []string{".xml", ".nxml", ".lxml"}, rare: []string{".jats", ".dbk", ".tei", ".rss", ".atom"},
		is: xml.Is, readText: xml.Read,
	},
	{
		name: "AsciiDoc", types: []string{"text/asciidoc", "text/x-asciidoc"}, endings: []string{".adoc", ".asciidoc"},
		readText: asciidoc.Read,
	},
	{
		name: "CSV", types: []string{"text/csv", "application/csv", "text/x-csv"}, loose: []string{oldExcel}, endings: []string{".csv"},
		plain: true, readText: csv.Read,
	},
	{
		name: "TSV", types: []string{"text/tab-separated-values"}, endings: []string{".tsv"}, rare: []string{".tab"},
		plain: true, readText: csv.Read,
	},
	{
		name: "Word (docx)",
		types: []string{
			"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
			"application/vnd.openxmlformats-officedocument.wordprocessingml.template",
			"application/vnd.ms-word.document.macroenabled.12",
		},
		loose: []string{oldWord}, endings: []string{".docx"}, rare: []string{".docm", ".dotx"},
		is: docx.Is, readWith: docx.Read,
	},
	{
		name: "Word 97-2003 (doc)", types: []string{oldWord, "application/x-msword"},
		endings: []string{".doc"}, rare: []string{".dot"}, is: doc.Is, readWith: doc.Read,
	},
	{
		name: "Excel (xlsx)",
		types: []string{
			"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
			"application/vnd.openxmlformats-officedocument.spreadsheetml.template",
			"application/vnd.ms-excel.sheet.macroenabled.12",
			"application/vnd.ms-excel.template.macroenabled.12",
		},
		loose: []string{oldExcel}, endings: []string{".xlsx", ".xlsm"}, rare: []string{".xltx", ".xltm"},
		is: xlsx.Is, readWith: xlsx.Read,
	},
	{
		name: "Excel 97-2003 (xls)", types: []string{oldExcel, "application/msexcel", "application/x-msexcel"},
		endings: []string{".xls"}, rare: []string{".xlt"}, is: xls.Is, readWith: xls.Read,
	},
	{
		name: "PowerPoint (pptx)",
		types: []string{
			"application/vnd.openxmlformats-officedocument.presentationml.presentation",
			"application/vnd.openxmlformats-officedocument.presentationml.slideshow",
			"application/vnd.openxmlformats-officedocument.presentationml.template",
			"application/vnd.ms-powerpoint.presentation.macroenabled.12",
			"application/vnd.ms-powerpoint.slideshow.macroenabled.12",
		},
		loose: []string{oldPowerPoint}, endings: []string{".pptx"}, rare: []string{".pptm", ".ppsx", ".ppsm", ".potx"},
		is: pptx.Is, readWith: pptx.Read,
	},
	{
		name: "PowerPoint 97-2003 (ppt)", types: []string{oldPowerPoint, "application/mspowerpoint", "application/x-mspowerpoint"},
		endings: []string{".ppt"}, rare: []string{".pps", ".pot"}, is: ppt.Is, readWith: ppt.Read,
	},
	{
		name: "OpenDocument text (odt)", types: []string{openDocument + "text", openDocument + "text-template"},
		endings: []string{".odt"}, rare: []string{".ott"}, is: odf.IsText, readWith: odf.ReadText,
	},
	{
		name: "OpenDocument spreadsheet (ods)", types: []string{openDocument + "spreadsheet", openDocument + "spreadsheet-template"},
		endings: []string{".ods"}, rare: []string{".ots"}, is: odf.IsSpreadsheet, readWith: odf.ReadSpreadsheet,
	},
	{
		name: "OpenDocument presentation (odp)", types: []string{openDocument + "presentation", openDocument + "presentation-template"},
		endings: []string{".odp"}, rare: []string{".otp"}, is: odf.IsPresentation, readWith: odf.ReadPresentation,
	},
	{
		name: "RTF", types: []string{"application/rtf", "text/rtf", "application/x-rtf", "text/richtext"}, endings: []string{".rtf"},
		is: rtf.Is, readWith: rtf.Read,
	},
	{
		name: "EPUB", types: []string{"application/epub+zip"}, endings: []string{".epub"}, is: epub.Is, readWith: epub.Read,
	},
	{
		name: "mail (eml)", types: []string{"message/rfc822"}, endings: []string{".eml"},
		is: mail.Is, readMail: mail.Read,
	},
	{
		name: "Outlook mail (msg)", types: []string{"application/vnd.ms-outlook", "application/x-msg"}, endings: []string{".msg"}, rare: []string{".oft"},
		is: msg.Is, readMail: msg.Read,
	},
	{
		name: "PDF", types: []string{"application/pdf", "application/x-pdf"}, endings: []string{".pdf"},
		is: isPDF, readWith: pdf.Read, raster: pdf.Raster,
	},
	picture(imaging.PNG, "PNG", []string{"image/png", "image/x-png"}, ".png"),
	picture(imaging.JPEG, "JPEG", []string{"image/jpeg", "image/jpg", "image/pjpeg"}, ".jpg", ".jpeg"),
	picture(imaging.TIFF, "TIFF", []string{"image/tiff", "image/x-tiff"}, ".tif", ".tiff"),
	picture(imaging.GIF, "GIF", []string{"image/gif"}, ".gif"),
	picture(imaging.WebP, "WebP", []string{"image/webp"}, ".webp"),
	picture(imaging.BMP, "BMP", []string{"image/bmp", "image/x-ms-bmp", "image/x-bmp"}, ".bmp"),
}

// picture is the row of a format of pictures.
func picture(f *imaging.Format, name string, types []string, endings ...string) *format {
	return &format{name: name, types: types, endings: endings, is: f.Is, readWith: f.Read, raster: f.Raster}
}

const (
	plainText     = "text/plain"
	htmlPage      = "text/html"
	xmlFile       = "application/xml"
	openDocument  = "application/vnd.oasis.opendocument."
	oldWord       = "application/msword"
	oldPowerPoint = "application/vnd.ms-powerpoint"
	oldExcel      = "application/vnd.ms-excel" // which browsers on Windows also send for CSV
)

// Formats returns the names of the formats that Read understands.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// Endings returns the usual endings of file names of all formats, each with its dot, in lower case.
func Endings() (all []string) {
	for _, f := range formats {
		all = append(all, f.endings...)
	}
	return all
}

// Ending returns the usual ending of files of a media type that documents record, with its dot; that of plain text for others.
func Ending(mediaType string) string {
	f := first(func(f *format) bool { return slices.Contains(f.types, mediaType) })
	if f == nil {
		f = formats[0]
	}
	return f.endings[0]
}

// mediaType returns the media type that is recorded in the metadata of documents.
func (f *format) mediaType() string { return f.types[0] }

func (f *format) ends(ext string) bool {
	return slices.Contains(f.endings, ext) || slices.Contains(f.rare, ext)
}

// first returns the first format for which f is true, or nil if there is none.
func first(f func(*format) bool) *format {
	if i := slices.IndexFunc(formats, f); i >= 0 {
		return formats[i]
	}
	return nil
}

// mediaTypeOf returns the media type that a client declares, without its parameters.
func mediaTypeOf(in Input) string {
	declared, _, err := mime.ParseMediaType(in.ContentType)
	if err != nil {
		declared = strings.ToLower(strings.TrimSpace(strings.SplitN(in.ContentType, ";", 2)[0]))
	}
	return declared
}

// isCode reports whether a file of plain text is of a kind whose lines stay as they are.
func isCode(in Input) bool {
	of := named(in.Name)
	if of == nil {
		of = declaredKind(mediaTypeOf(in))
	}
	return of != nil && of.Code
}

// choose returns the format of a file, by its declared type, else its ending, else its content. For a file declared as plain
// text the ending may name a more specific format. Where no type is declared, the content of a known format stands above an
// ending that says something else: names are given by hand.
func choose(in Input) (*format, error) {
	declared := mediaTypeOf(in)
	ext := strings.ToLower(path.Ext(in.Name))
	byEnding := first(func(f *format) bool { return f.ends(ext) || f.textual && isTextual(in.Name) })
	unread := unreadName(ext)
	switch byType := first(func(f *format) bool { return slices.Contains(f.types, declared) }); {
	case byEnding != nil && slices.Contains(byEnding.loose, declared):
		return byEnding, nil
	case byType != nil && declared == plainText && unread != nil:
		return nil, unread.error(ext)
	case byType != nil && (declared != plainText || byEnding == nil):
		return byType, nil
	case byType != nil:
		return byEnding, nil
	case declaredKind(declared) != nil:
		return formats[0], nil
	case declared != "" && declared != "application/octet-stream" && declared != "binary/octet-stream":
		return nil, unreadType(declared).error(declared)
	}
	byContent := contentFormat(in.Data)
	switch {
	case byContent != nil && byContent.readText == nil && byContent.textWith == nil && binary(in.Data):
		return byContent, nil
	case byEnding != nil:
		return byEnding, nil
	case unread != nil:
		return nil, unread.error(ext)
	case byContent != nil:
		return byContent, nil
	}
	return nil, unreadContent(in.Data)
}

// contentFormat returns the format that the content of a file shows, or nil.
func contentFormat(data []byte) *format {
	for _, f := range slices.Backward(formats) {
		if f.is != nil && f.is(data) {
			return f
		}
	}
	return nil
}

func isPDF(data []byte) bool {
	return bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-"))
}

// isPage reports whether data begins like an HTML page.
func isPage(data []byte) bool {
	start := bytes.TrimLeft(bytes.TrimPrefix(data[:min(len(data), 512)], []byte("\xEF\xBB\xBF")), " \t\r\n")
	start = bytes.ToLower(start)
	return (bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html"))) && isText(data)
}

func isText(data []byte) bool { return marked(data) || !binary(data) || unmarked(data) != nil }
