package extract

import (
	"bytes"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// marked reports whether data begins with the byte order mark of UTF-16.
func marked(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\xFF\xFE")) || bytes.HasPrefix(data, []byte("\xFE\xFF"))
}

// signatures are the first bytes of formats that are sometimes sent as text.
var signatures = [][]byte{
	[]byte("%PDF-"), []byte("PK\x03\x04"), []byte("\x89PNG"), []byte("\xFF\xD8\xFF"), []byte("GIF8"), []byte("\x1F\x8B"),
	[]byte("\xD0\xCF\x11\xE0"), []byte("{\\rtf"), []byte("\x7FELF"),
}

// binary reports whether data is not text: it has a NUL, a known signature, or more than 8 control characters that make up
// more than 2 % of it.
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

// decode returns the text of a file in UTF-8. Its encoding is that of the byte order mark, else the declared one, else UTF-8
// if it is valid, else Windows-1252, of which the printable characters of Latin-1 are a subset.
func decode(in Input, f *format) (string, error) {
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

// declaredSet returns the encoding that the media type or the head of a page declares, or nil for UTF-8 or none. Valid UTF-8
// takes precedence over what the page declares.
func declaredSet(in Input, f *format) encoding.Encoding {
	if _, params, err := mime.ParseMediaType(in.ContentType); err == nil && params["charset"] != "" {
		if enc, name := charset.Lookup(params["charset"]); enc != nil && name != "utf-8" && name != "replacement" {
			return enc
		}
		return nil
	}
	if f.mediaType() != htmlPage || utf8.Valid(in.Data) {
		return nil
	}
	enc, name, _ := charset.DetermineEncoding(in.Data[:min(len(in.Data), 1024)], "")
	if name == "utf-8" || name == "replacement" {
		return nil
	}
	return enc
}
