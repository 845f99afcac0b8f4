// Package info reads what a PDF file says of itself: its metadata, its bookmarks and the texts in which these are written.
package info

import (
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"quarry/internal/extract/outline"
	"quarry/internal/extract/pdf/syntax"
)

// Text decodes a text string (ISO 32000-1, 7.9.2.2): UTF-16 or UTF-8 if it has a byte order mark, else PDFDocEncoding,
// for which Windows-1252 is a close approximation.
func Text(s syntax.String) string {
	switch {
	case strings.HasPrefix(string(s), "\xFE\xFF"), strings.HasPrefix(string(s), "\xFF\xFE"):
		units := make([]uint16, 0, len(s)/2)
		for i := 2; i+1 < len(s); i += 2 {
			u := uint16(s[i])<<8 | uint16(s[i+1])
			if s[0] == 0xFF {
				u = u<<8 | u>>8
			}
			units = append(units, u)
		}
		return string(utf16.Decode(units))
	case strings.HasPrefix(string(s), "\xEF\xBB\xBF"):
		return strings.ToValidUTF8(string(s[3:]), "\uFFFD")
	}
	out, err := charmap.Windows1252.NewDecoder().String(string(s))
	if err != nil || !utf8.ValidString(out) {
		return ""
	}
	return out
}

// infoKeys maps the entries of the information dictionary to keys of metadata, which are the same for every format.
var infoKeys = map[syntax.Name]string{
	"Title": "title", "Author": "Author", "Subject": "subject", "Keywords": "keywords", "Creator": "Creator-Tool",
	"Producer": "Producer", "CreationDate": "date", "ModDate": "modified",
}

// Properties returns the metadata of the file.
func Properties(f *syntax.File) map[string]any {
	m := map[string]any{}
	info := f.Dict(f.Trailer["Info"])
	for name, key := range infoKeys {
		s, ok := f.Get(info[name]).(syntax.String)
		if !ok {
			continue
		}
		value := outline.OneLine(strings.ToValidUTF8(strings.ReplaceAll(Text(s), "\x00", ""), "\uFFFD"))
		if key == "date" || key == "modified" {
			value = date(value)
		}
		if key == "title" && !meaningful(value) {
			value = ""
		}
		if value != "" {
			m[key] = value
		}
	}
	if s, ok := f.Get(f.Root()["Lang"]).(syntax.String); ok && s != "" {
		m["Content-Language"] = Text(s)
	}
	return m
}

// meaningful reports whether a title is likely to come from a person. Programs put in names of files or their own name.
func meaningful(title string) bool {
	low := strings.ToLower(title)
	for _, junk := range []string{"untitled", "microsoft word", "microsoft powerpoint", "powerpoint presentation", "slide 1"} {
		if strings.HasPrefix(low, junk) {
			return false
		}
	}
	for _, end := range []string{".doc", ".docx", ".indd", ".dvi", ".tex", ".pdf", ".qxd", ".ppt", ".pptx", ".odt", ".rtf", ".txt", ".html"} {
		if strings.HasSuffix(low, end) {
			return false
		}
	}
	return true
}

// date converts a date such as "D:20240203040506+01'00'" (ISO 32000-1, 7.9.4) to RFC 3339, or returns "".
func date(s string) string {
	s = strings.ReplaceAll(strings.TrimPrefix(s, "D:"), "'", "")
	for _, layout := range []string{"20060102150405-0700", "20060102150405Z0000", "20060102150405Z", "20060102150405", "200601021504", "20060102"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC().Format(time.RFC3339)
		}
	}
	return ""
}

// Bookmark is an entry of the document outline.
type Bookmark struct {
	Title string
	Level int // from 1
	Page  int // from 1, 0 if unknown
}

// Limits of the document outline.
const (
	maxBookmarks = 5000
	maxLevel     = 6
)

// Bookmarks reads the document outline (ISO 32000-1, 12.3.3). pages maps objects to page numbers.
func Bookmarks(f *syntax.File, pages map[int]int) []Bookmark {
	var out []Bookmark
	seen := map[int]bool{}
	var walk func(o syntax.Object, level int)
	walk = func(o syntax.Object, level int) {
		for o != nil && len(out) < maxBookmarks && f.Budget.Step() {
			ref, ok := o.(syntax.Ref)
			if !ok || seen[ref.Num] {
				return
			}
			seen[ref.Num] = true
			d := f.Dict(o)
			if s, ok := f.Get(d["Title"]).(syntax.String); ok {
				out = append(out, Bookmark{outline.OneLine(Text(s)), level, destination(f, d, pages)})
			}
			if level < maxLevel {
				walk(d["First"], level+1)
			}
			o = d["Next"]
		}
	}
	walk(f.Dict(f.Root()["Outlines"])["First"], 1)
	return out
}

// destination returns the page that a bookmark leads to, or 0 unless the destination is explicit. Named destinations are
// not resolved.
func destination(f *syntax.File, d syntax.Dict, pages map[int]int) int {
	to := f.Get(d["Dest"])
	if to == nil {
		to = f.Get(f.Dict(d["A"])["D"])
	}
	if a, ok := to.(syntax.Array); ok && len(a) > 0 {
		if ref, ok := a[0].(syntax.Ref); ok {
			return pages[ref.Num]
		}
	}
	return 0
}
