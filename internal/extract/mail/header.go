package mail

import (
	"io"
	"mime"
	netmail "net/mail"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/emersion/go-message/textproto"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/charmap"
)

// words decodes encoded words of headers (RFC 2047) in every character set that browsers know.
var words = mime.WordDecoder{CharsetReader: func(set string, in io.Reader) (io.Reader, error) { return charset.NewReaderLabel(set, in) }}

// decodeWords returns the text that a header field stands for.
func decodeWords(field string) string {
	if !utf8.ValidString(field) { // of programs that write 8-bit characters as they are
		field, _ = charmap.Windows1252.NewDecoder().String(field)
	}
	if out, err := words.DecodeHeader(field); err == nil {
		return strings.ToValidUTF8(out, "\uFFFD")
	}
	return field
}

// addresses returns the addresses in a header field as people write them.
func addresses(header *textproto.Header, key string) string {
	var all []string
	for fields := header.FieldsByKey(key); fields.Next(); {
		parser := netmail.AddressParser{WordDecoder: &words}
		list, err := parser.ParseList(fields.Value())
		if err != nil { // not as RFC 5322 has it, but people can read it
			all = append(all, decodeWords(fields.Value()))
			continue
		}
		for _, a := range list {
			if a.Name == "" {
				all = append(all, a.Address)
				continue
			}
			all = append(all, strings.ToValidUTF8(a.Name, "\uFFFD")+" <"+a.Address+">")
		}
	}
	return strings.Join(all, ", ")
}

// date returns the time in a header field, or the zero Time if it has none.
func date(field string) time.Time {
	t, err := netmail.ParseDate(field)
	if err != nil || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// mediaType is a Content-Type: its name in lower case, its parameters, and as it stands.
type mediaType struct {
	name   string
	params map[string]string
	raw    string
}

// contentType returns the type of a part, text where it has none.
func contentType(header *textproto.Header, digest bool) mediaType {
	raw := header.Get("Content-Type")
	if raw == "" {
		raw = "text/plain"
		if digest {
			raw = "message/rfc822"
		}
	}
	name, params := parameters(raw)
	return mediaType{name, params, raw}
}

// loose matches parameters that are not as RFC 2045 has them: without quotation marks, with spaces.
var loose = regexp.MustCompile(`(?i);\s*([a-z-]+)\s*=\s*(?:"([^"]*)"?|([^;]*))`)

// parameters returns the value of a header field and its parameters.
func parameters(field string) (string, map[string]string) {
	name, params, err := mime.ParseMediaType(field)
	if err == nil {
		return name, params
	}
	name, _, _ = strings.Cut(field, ";")
	params = map[string]string{}
	for _, m := range loose.FindAllStringSubmatch(field, 50) {
		params[strings.ToLower(m[1])] = strings.TrimSpace(m[2] + m[3])
	}
	return strings.ToLower(strings.TrimSpace(name)), params
}

// filename returns the name of a part, or "".
func filename(header *textproto.Header, t mediaType) string {
	_, params := parameters(header.Get("Content-Disposition"))
	name := params["filename"]
	if name == "" {
		name = t.params["name"]
	}
	return decodeWords(name)
}

// contentID returns the name by which other parts refer to a part, or "".
func contentID(header *textproto.Header) string {
	return strings.Trim(header.Get("Content-Id"), "<> \t")
}

// decodeText returns the text of a part in UTF-8: from the character set that it declares, else UTF-8 if it is valid, else what a page
// declares, else Windows-1252.
func decodeText(data []byte, t mediaType) string {
	set := strings.ToLower(t.params["charset"])
	if set == "" || set == "utf-8" || set == "us-ascii" {
		if utf8.Valid(data) {
			return string(data)
		}
		set = "windows-1252"
		if t.name == "text/html" {
			_, set, _ = charset.DetermineEncoding(data[:min(len(data), 1024)], "")
		}
	}
	enc, _ := charset.Lookup(set)
	if enc == nil {
		return strings.ToValidUTF8(string(data), "\uFFFD")
	}
	out, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		out = data
	}
	return strings.ToValidUTF8(string(out), "\uFFFD")
}

// unflow joins the lines of a text in which a space at the end of a line means that it goes on (RFC 3676).
func unflow(text string, t mediaType) string {
	if !strings.EqualFold(t.params["format"], "flowed") {
		return text
	}
	var b strings.Builder
	open := false // the last line goes on
	level := 0    // of the quotation that it stands in
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		rest := strings.TrimLeft(line, ">")
		quoted := len(line) - len(rest)
		rest = strings.TrimPrefix(rest, " ")
		switch {
		case open && quoted == level && rest != "-- ":
		case b.Len() > 0:
			b.WriteByte('\n')
			fallthrough
		default:
			if quoted > 0 {
				b.WriteString(strings.Repeat(">", quoted) + " ")
			}
		}
		open, level = strings.HasSuffix(rest, " ") && rest != "-- ", quoted
		if open && strings.EqualFold(t.params["delsp"], "yes") {
			rest = rest[:len(rest)-1]
		}
		b.WriteString(rest)
	}
	return b.String()
}
