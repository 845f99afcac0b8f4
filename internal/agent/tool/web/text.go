package web

import (
	"bytes"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// textTypes are the media types of texts beside text/* and those that end in +json, +xml or +yaml.
var textTypes = map[string]bool{
	"application/json": true, "application/jsonl": true, "application/x-ndjson": true, "application/ndjson": true, "application/json-seq": true,
	"application/xml": true, "application/javascript": true, "application/x-javascript": true, "application/ecmascript": true,
	"application/yaml": true, "application/x-yaml": true, "application/toml": true, "application/graphql": true, "application/sql": true,
	"application/x-www-form-urlencoded": true, "application/x-sh": true, "application/xhtml+xml": true, "application/typescript": true,
}

// isText reports whether content of a media type is a text.
func isText(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind, _, _ = strings.Cut(strings.ToLower(contentType), ";")
		kind = strings.TrimSpace(kind)
	}
	if strings.HasPrefix(kind, "text/") || textTypes[kind] {
		return true
	}
	_, suffix, ok := strings.Cut(kind, "+")
	return ok && (suffix == "json" || suffix == "xml" || suffix == "yaml")
}

// declaration is the encoding that an XML document declares.
var declaration = regexp.MustCompile(`^\s*<\?xml[^>]{0,200}?encoding=["']([A-Za-z0-9._:-]+)["']`)

// decode returns content as UTF-8: by its byte order mark, the charset of its media type, as UTF-8 if it is that, by what it
// declares itself, else as Windows-1252. ok is false if it is no text. The end of a content that was cut may lack bytes.
func decode(content []byte, contentType string, cut bool) (text string, ok bool) {
	enc, name, certain := charset.DetermineEncoding(content, contentType)
	whole := content
	if cut {
		whole = withoutPart(content)
	}
	switch m := declaration.FindSubmatch(content[:min(len(content), 1024)]); {
	case certain:
	case utf8.Valid(whole):
		name = "utf-8"
	case m != nil:
		if declared, its := charset.Lookup(string(m[1])); declared != nil {
			enc, name = declared, its
		}
	}
	if name == "utf-8" || name == "replacement" {
		text = strings.ToValidUTF8(string(bytes.TrimPrefix(whole, []byte("\uFEFF"))), "\uFFFD")
	} else {
		text = transcode(enc, content, cut)
	}
	return text, !strings.ContainsRune(text, 0)
}

// transcode returns content in another encoding as UTF-8.
func transcode(enc encoding.Encoding, content []byte, cut bool) string {
	out, _ := enc.NewDecoder().Bytes(content) // what can't be read becomes U+FFFD
	if cut {
		out = bytes.TrimSuffix(out, []byte("\uFFFD"))
	}
	return strings.TrimPrefix(string(out), "\uFEFF")
}

// withoutPart returns content without the beginning of a character at its end.
func withoutPart(content []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(content); i++ {
		if at := len(content) - i; utf8.RuneStart(content[at]) {
			if !utf8.FullRune(content[at:]) {
				return content[:at]
			}
			break
		}
	}
	return content
}

// lines returns the first head and the last tail lines of a text, each once; 0 and 0 mean all of them.
func lines(text string, head, tail int) string {
	if head <= 0 && tail <= 0 {
		return text
	}
	all := strings.SplitAfter(text, "\n")
	if n := len(all); all[n-1] == "" {
		all = all[:n-1]
	}
	head, tail = max(head, 0), max(tail, 0)
	if head >= len(all) || tail >= len(all)-head {
		return text
	}
	return strings.Join(all[:head], "") + strings.Join(all[len(all)-tail:], "")
}
