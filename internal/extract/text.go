package extract

import (
	"bytes"
	"fmt"
	"mime"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	htmlset "golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"quarry/internal/extract/charset"
)

// marked reports whether data begins with the byte order mark of UTF-16 or UTF-32.
func marked(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\x00\x00\xFE\xFF")) || bytes.HasPrefix(data, []byte("\xFF\xFE")) || bytes.HasPrefix(data, []byte("\xFE\xFF"))
}

// signatures are the first bytes of formats that are sometimes sent as text.
var signatures = [][]byte{
	[]byte("%PDF-"), []byte("PK\x03\x04"), []byte("\x89PNG"), []byte("\xFF\xD8\xFF"), []byte("GIF8"), []byte("\x1F\x8B"),
	[]byte("\xD0\xCF\x11\xE0"), []byte("{\\rtf"), []byte("\x7FELF"),
}

// known reports whether data begins with one of the signatures.
func known(data []byte) bool {
	return slices.ContainsFunc(signatures, func(s []byte) bool { return bytes.HasPrefix(data, s) })
}

// binary reports whether data is not text: it has a NUL, a known signature, or more than 8 control characters that make up
// more than 2 % of it.
func binary(data []byte) bool {
	if known(data) {
		return true
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
// if it is valid, else the one that package charset finds.
func decode(in Input, f *format) (string, error) {
	data, enc := in.Data, encoding.Encoding(nil)
	var set encoding.Encoding
	if !marked(data) {
		set = declaredSet(in, f)
	}
	switch {
	case bytes.HasPrefix(data, []byte("\xFF\xFE\x00\x00")) || bytes.HasPrefix(data, []byte("\x00\x00\xFE\xFF")):
		enc = utf32.UTF32(utf32.LittleEndian, utf32.ExpectBOM)
	case marked(data):
		enc = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
	case set != nil && wide(set):
		enc = set
	case binary(data):
		if enc = unmarked(data); enc == nil {
			return "", fmt.Errorf("%w: the content is not %s", ErrUnparsable, f.mediaType())
		}
	case bytes.HasPrefix(data, []byte("\xEF\xBB\xBF")):
		data = data[3:]
	case set != nil:
		enc = set
	case !utf8.Valid(data), charset.Escaped(data):
		enc = charset.Detect(data)
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
	return string(bytes.TrimPrefix(out, []byte("\uFEFF"))), nil
}

// wide reports whether characters of ASCII have more than a byte in an encoding.
func wide(enc encoding.Encoding) bool {
	out, err := enc.NewEncoder().Bytes([]byte("a"))
	return err == nil && len(out) > 1
}

// unmarked returns the encoding of a text in UTF-16 or UTF-32 without a mark, or nil for what is none.
func unmarked(data []byte) encoding.Encoding {
	if known(data) {
		return nil
	}
	return charset.Wide(data)
}

// declaredSet returns the encoding that the media type declares, or the head of a page or the declaration of XML, or nil for UTF-8 or none. Valid
// UTF-8 takes precedence over what the content declares.
func declaredSet(in Input, f *format) encoding.Encoding {
	if _, params, err := mime.ParseMediaType(in.ContentType); err == nil && params["charset"] != "" {
		return lookup(params["charset"])
	}
	if utf8.Valid(in.Data) {
		return nil
	}
	head := in.Data[:min(len(in.Data), 1024)]
	switch f.mediaType() {
	case htmlPage:
		if enc, name, certain := htmlset.DetermineEncoding(head, ""); certain {
			return usable(enc, name)
		}
	case xmlFile:
		if m := xmlEncoding.FindSubmatch(head); m != nil {
			return lookup(string(m[1]))
		}
	}
	return nil
}

// xmlEncoding matches the declaration of an encoding in XML.
var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)["']`)

// lookup returns the encoding of this name, nil for UTF-8 or a name that is not known.
func lookup(name string) encoding.Encoding {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "utf-32", "utf-32be", "ucs-4":
		return utf32.UTF32(utf32.BigEndian, utf32.UseBOM)
	case "utf-32le":
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)
	}
	return usable(htmlset.Lookup(name))
}

// usable returns an encoding, unless it is UTF-8 or one that browsers refuse.
func usable(enc encoding.Encoding, name string) encoding.Encoding {
	if name == "utf-8" || name == "replacement" {
		return nil
	}
	return enc
}
