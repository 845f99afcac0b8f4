package xlsx

import (
	"encoding/xml"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/ooxml"
	"quarry/internal/extract/sheet"
	"quarry/internal/extract/sheet/numfmt"
)

// styles is the number format of each style of cells.
type styles []*numfmt.Format

// readStyles reads the formats of a workbook.
func readStyles(p *ooxml.Package, part string) (styles, error) {
	var out styles
	codes, parsed := map[int]string{}, map[string]*numfmt.Format{}
	err := p.Each(part, func(x *archive.XML, e xml.StartElement) {
		switch e.Name.Local {
		case "numFmt":
			codes[number(archive.Attr(e, "numFmtId"))] = archive.Attr(e, "formatCode")
		case "cellXfs":
			x.Each(func(e xml.StartElement) {
				if e.Name.Local != "xf" {
					return
				}
				id := max(number(archive.Attr(e, "numFmtId")), 0)
				code, own := codes[id]
				if !own {
					code = numfmt.Builtin(id)
				}
				if parsed[code] == nil {
					parsed[code] = numfmt.Parse(code)
				}
				out = append(out, parsed[code])
			})
		}
	})
	return out, err
}

// format returns the format of a style.
func (s styles) format(id string) *numfmt.Format {
	if at := number(id); at >= 0 && at < len(s) {
		return s[at]
	}
	return general
}

var general = numfmt.Parse("General")

// readCells reads the cells of a worksheet.
func (b *book) readCells(part string, s *sheet.Sheet) (err error) {
	r, c := -1, -1 // places are those after the last ones where they are not given
	unread := b.pack.Stream(part, func(x *archive.XML) {
		x.Each(func(e xml.StartElement) {
			switch e.Name.Local {
			case "row":
				if r, c = r+1, -1; archive.Attr(e, "r") != "" {
					r = number(archive.Attr(e, "r")) - 1
				}
			case "c":
				if c++; archive.Attr(e, "r") != "" {
					if at, column, ok := place(archive.Attr(e, "r")); ok {
						r, c = at, column
					}
				}
				text := b.value(x, archive.Attr(e, "t"), archive.Attr(e, "s"))
				if err == nil {
					err = s.Set(r, c, text)
				}
			case "mergeCell":
				from, to, _ := strings.Cut(archive.Attr(e, "ref"), ":")
				top, left, ok := place(from)
				if bottom, right, ok2 := place(to); ok && ok2 {
					s.Merge(top, left, bottom, right)
				}
			case "extLst", "conditionalFormatting", "dataValidations":
				x.Skip()
			}
			if err != nil {
				x.Stop()
			}
		})
	})
	if err != nil {
		return err
	}
	return unread
}

// value returns the text of the cell that was started last: the stored value, as its style shows it.
func (b *book) value(x *archive.XML, kind, style string) string {
	var v string
	x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "v":
			v = x.Text()
		case "is":
			v = rich(x)
		case "f":
			x.Skip()
		}
	})
	switch kind {
	case "s":
		at := number(strings.TrimSpace(v))
		if at < 0 || at >= len(b.strings) {
			return ""
		}
		return b.styles.format(style).Text(b.strings[at])
	case "str", "inlineStr":
		return b.styles.format(style).Text(unescape(v))
	case "b":
		if truth(v) {
			return "TRUE"
		}
		return "FALSE"
	case "e", "d":
		return v
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil {
		return v
	}
	return b.styles.format(style).Number(f, b.epoch1904)
}

// place reads a reference such as "$B5" as a row and a column from 0.
func place(ref string) (r, c int, ok bool) {
	ref = strings.ReplaceAll(ref, "$", "")
	n := 0
	for n < len(ref) && n < 4 && ref[n]|0x20 >= 'a' && ref[n]|0x20 <= 'z' {
		c = c*26 + int(ref[n]|0x20-'a') + 1
		n++
	}
	r = number(ref[n:])
	return r - 1, c - 1, n > 0 && r > 0
}

// number reads an integer, -1 for what is none.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

func truth(s string) bool { return s == "1" || s == "true" || s == "on" }

// unescape replaces "_x000D_" and its like, which stand for characters that XML has no place for.
func unescape(s string) string {
	at := strings.Index(s, "_x")
	if at < 0 {
		return s
	}
	var b strings.Builder
	for ; at >= 0; at = strings.Index(s, "_x") {
		b.WriteString(s[:at])
		s = s[at:]
		if code, err := strconv.ParseUint(s[2:min(6, len(s))], 16, 16); err == nil && len(s) > 6 && s[6] == '_' && utf8.ValidRune(rune(code)) {
			b.WriteRune(rune(code))
			s = s[7:]
		} else {
			b.WriteString(s[:2])
			s = s[2:]
		}
	}
	b.WriteString(s)
	return b.String()
}
