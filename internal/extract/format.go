package extract

import (
	"bytes"
	"fmt"
	"mime"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"quarry/internal/extract/docx"
)

// format is one that Read has a parser for.
type format int

const (
	formatText format = iota + 1
	formatMarkdown
	formatHTML
	formatDOCX
	formatPDF
)

func (f format) mediaType() string {
	switch f {
	case formatMarkdown:
		return "text/markdown"
	case formatHTML:
		return "text/html"
	case formatDOCX:
		return wordType
	case formatPDF:
		return "application/pdf"
	}
	return "text/plain"
}

const wordType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

var byType = map[string]format{
	"text/plain":            formatText,
	"text/markdown":         formatMarkdown,
	"text/x-markdown":       formatMarkdown,
	"text/html":             formatHTML,
	"application/xhtml+xml": formatHTML,
	wordType:                formatDOCX,
	"application/pdf":       formatPDF,
	"application/x-pdf":     formatPDF,
	"application/vnd.openxmlformats-officedocument.wordprocessingml.template": formatDOCX,
	"application/vnd.ms-word.document.macroenabled.12":                        formatDOCX,
}

var byExtension = map[string]format{
	".txt": formatText, ".text": formatText, ".log": formatText,
	".md": formatMarkdown, ".markdown": formatMarkdown, ".mdown": formatMarkdown,
	".html": formatHTML, ".htm": formatHTML, ".xhtml": formatHTML, ".lxml": formatHTML,
	".docx": formatDOCX, ".docm": formatDOCX, ".dotx": formatDOCX,
	".pdf": formatPDF,
}

// refused are extensions of formats that are not text or have a parser only
// later; their bytes are not worth a guess.
var refused = map[string]bool{
	".doc": true, ".ppt": true, ".pptx": true, ".odt": true, ".rtf": true, ".epub": true,
	".xls": true, ".xlsx": true, ".ods": true, ".odp": true, ".eml": true, ".msg": true, ".zip": true, ".gz": true,
	".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".webp": true, ".mp3": true, ".mp4": true, ".exe": true,
}

// choose finds the format: the declared type first, then the extension, then
// the bytes. A file declared as plain text may be more by its extension.
func choose(in Input) (format, error) {
	declared, _, err := mime.ParseMediaType(in.ContentType)
	if err != nil {
		declared = strings.ToLower(strings.TrimSpace(strings.SplitN(in.ContentType, ";", 2)[0]))
	}
	ext := strings.ToLower(path.Ext(in.Name))
	switch f, known := byType[declared]; {
	case known && f == formatText && byExtension[ext] != 0:
		return byExtension[ext], nil
	case known:
		return f, nil
	case declared == "application/msword" && byExtension[ext] == formatDOCX: // what older clients call both
		return formatDOCX, nil
	case declared != "" && declared != "application/octet-stream" && declared != "binary/octet-stream":
		return 0, fmt.Errorf("%w: %s", ErrUnsupported, declared)
	}
	if f := byExtension[ext]; f != 0 {
		return f, nil
	}
	if refused[ext] {
		return 0, fmt.Errorf("%w: %s", ErrUnsupported, ext)
	}
	if len(in.Data) == 0 {
		return formatText, nil
	}
	if bytes.Contains(in.Data[:min(len(in.Data), 1024)], []byte("%PDF-")) {
		return formatPDF, nil
	}
	if bytes.HasPrefix(in.Data, []byte("PK\x03\x04")) && docx.Is(in.Data) {
		return formatDOCX, nil
	}
	if binary(in.Data) && !marked(in.Data) {
		return 0, fmt.Errorf("%w: the content is not text", ErrUnsupported)
	}
	if pageStart(in.Data) {
		return formatHTML, nil
	}
	return formatText, nil
}

// pageStart reports whether data begins as an HTML page does.
func pageStart(data []byte) bool {
	data = bytes.TrimLeft(bytes.TrimPrefix(data[:min(len(data), 512)], []byte("\xEF\xBB\xBF")), " \t\r\n")
	data = bytes.ToLower(data)
	return bytes.HasPrefix(data, []byte("<!doctype html")) || bytes.HasPrefix(data, []byte("<html"))
}

// marked reports whether data begins with the byte order mark of UTF-16.
func marked(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\xFF\xFE")) || bytes.HasPrefix(data, []byte("\xFE\xFF"))
}

// signatures begin formats that are sometimes sent under the name of text.
var signatures = [][]byte{
	[]byte("%PDF-"), []byte("PK\x03\x04"), []byte("\x89PNG"), []byte("\xFF\xD8\xFF"), []byte("GIF8"), []byte("\x1F\x8B"),
	[]byte("\xD0\xCF\x11\xE0"), []byte("{\\rtf"), []byte("\x7FELF"),
}

// binary reports whether data is no text: it has a NUL, a known signature, or
// many control characters.
func binary(data []byte) bool {
	for _, s := range signatures {
		if bytes.HasPrefix(data, s) {
			return true
		}
	}
	controls := 0
	for _, c := range data {
		switch {
		case c == 0:
			return true
		case c < ' ' && (c < '\t' || c > '\r') && c != 0x1B || c == 0x7F:
			controls++
		}
	}
	return controls > 8 && controls*50 > len(data)
}

// decode returns the text of a file in UTF-8: by its byte order mark, else the
// declared character set, else UTF-8 if it is that, else Windows-1252, which
// holds Latin-1.
func decode(in Input, f format) (string, error) {
	data := in.Data
	var enc encoding.Encoding
	switch {
	case marked(data):
		enc = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
	case binary(data):
		return "", fmt.Errorf("%w: the content is not %s", ErrUnparsable, f.mediaType())
	case bytes.HasPrefix(data, []byte("\xEF\xBB\xBF")):
		data = data[3:]
	default:
		if enc = declaredSet(in, f); enc == nil && !utf8.Valid(data) {
			enc = charmap.Windows1252
		}
	}
	if enc == nil {
		return strings.ToValidUTF8(string(data), "\uFFFD"), nil
	}
	out, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnparsable, err)
	}
	if bytes.IndexByte(out, 0) >= 0 {
		return "", fmt.Errorf("%w: the content is not %s", ErrUnparsable, f.mediaType())
	}
	return string(out), nil
}

// declaredSet returns the encoding that the media type or the head of a page
// names, nil for UTF-8 and for none. Valid UTF-8 beyond ASCII is believed
// before a page's own word.
func declaredSet(in Input, f format) encoding.Encoding {
	if _, params, err := mime.ParseMediaType(in.ContentType); err == nil && params["charset"] != "" {
		if enc, name := charset.Lookup(params["charset"]); enc != nil && name != "utf-8" && name != "replacement" {
			return enc
		}
		return nil
	}
	if f != formatHTML || utf8.Valid(in.Data) {
		return nil
	}
	enc, name, _ := charset.DetermineEncoding(in.Data[:min(len(in.Data), 1024)], "")
	if name == "utf-8" || name == "replacement" {
		return nil
	}
	return enc
}
