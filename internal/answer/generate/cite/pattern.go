package cite

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Source is a passage that can be cited.
type Source struct {
	DocumentID       string
	Title            string          // of the document, if its metadata has none
	DocumentMetadata json.RawMessage // a JSON object, or nil
	PartMetadata     json.RawMessage
}

// citation writes the citation of a source.
func (o *Options) citation(n int, s *Source) string {
	number := strconv.Itoa(n)
	switch o.Style {
	case Markdown:
		return "[" + o.text(number, s, markdownText) + "](" + o.address(s, markdownURL) + ")"
	case HTML:
		return `<a href="` + o.address(s, escaper.Replace) + `">` + o.text(number, s, escaper.Replace) + "</a>"
	}
	return "[" + number + "]"
}

// text returns the filled pattern of the text, or the number if that is blank.
func (o *Options) text(number string, s *Source, escape func(string) string) string {
	if out := fill(o.Text, s, func(v string) string { return escape(oneLine(v)) }); strings.TrimSpace(out) != "" {
		return out
	}
	return number
}

// address returns the filled pattern of the address. One that would run a program in the reader's browser is left out: its
// scheme comes from metadata, which the author of the document controls.
func (o *Options) address(s *Source, escape func(string) string) string {
	plain := fill(o.URL, s, oneLine)
	if scheme, _, found := strings.Cut(strings.TrimSpace(plain), ":"); found {
		switch strings.ToLower(scheme) {
		case "javascript", "vbscript", "data":
			return ""
		}
	}
	return fill(o.URL, s, func(v string) string { return escape(percent(v)) })
}

// fill returns a pattern with the values of its placeholders. Braces around anything else stay.
func fill(pattern string, s *Source, escape func(string) string) string {
	var b strings.Builder
	for pattern != "" {
		before, rest, _ := strings.Cut(pattern, "{")
		b.WriteString(before)
		if len(before) == len(pattern) {
			break
		}
		name, after, found := strings.Cut(rest, "}")
		level, key, dotted := strings.Cut(name, ".")
		if !found || !dotted || key == "" || level != "doc" && level != "part" || strings.Contains(name, "{") {
			b.WriteByte('{')
			pattern = rest
			continue
		}
		b.WriteString(escape(s.value(level, key)))
		pattern = after
	}
	return b.String()
}

// value returns the value of a placeholder; "" where there is none.
func (s *Source) value(level, key string) string {
	if level == "part" {
		return field(s.PartMetadata, key)
	}
	if key == "id" {
		return s.DocumentID
	}
	if v := field(s.DocumentMetadata, key); v != "" || key != "title" {
		return v
	}
	return s.Title
}

// field returns a member of a JSON object; a key with dots may also name a member of a member. Numbers, booleans, lists and
// objects are returned as JSON.
func field(raw json.RawMessage, key string) string {
	var object map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &object) != nil {
		return ""
	}
	v, ok := object[key]
	if !ok {
		if first, rest, dotted := strings.Cut(key, "."); dotted {
			return field(object[first], rest)
		}
		return ""
	}
	var text string
	if json.Unmarshal(v, &text) == nil { // null gives ""
		return text
	}
	return string(v)
}

// oneLine returns a text that fits into a link: each run of blanks, line breaks and control characters becomes a blank.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
}

// legal are the characters that a URL may hold unencoded, beside letters and digits (RFC 3986). Brackets are legal only in
// addresses of hosts.
const legal = "-._~:/?#@!$&'()*+,;="

// percent encodes only what is illegal in a URL. A percent sign is legal where it encodes a byte.
func percent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9', strings.IndexByte(legal, c) >= 0,
			c == '%' && i+2 < len(s) && hex(s[i+1]) && hex(s[i+2]):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func hex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// markdownURL hides parentheses that would end the address.
func markdownURL(s string) string {
	if balanced(s, '(', ')') {
		return s
	}
	return strings.NewReplacer("(", "%28", ")", "%29").Replace(s)
}

// markdownText hides brackets that would end the text.
func markdownText(s string) string {
	if balanced(s, '[', ']') && !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(s)
}

func balanced(s string, opens, closes byte) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case opens:
			depth++
		case closes:
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}
