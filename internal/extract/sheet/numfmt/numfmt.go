// Package numfmt shows the numbers of spreadsheets as they are displayed, by format codes such as "#,##0.00" and "d mmm yyyy"
// (ECMA-376 part 1, 18.8.31). Colours, widths and fill characters are left out. Formats that follow the reader's
// locale show dates as ISO 8601 does, and everything else as in English. All functions are safe for concurrent use.
package numfmt

import (
	"math"
	"strconv"
	"strings"
)

// Format is a parsed format code.
type Format struct {
	sections []section
	text     *section // how texts are shown, nil for as they are
}

// section is one of the parts between semicolons.
type section struct {
	tokens []token
	kind   kind
	test   func(float64) bool // its condition, nil if it has none
}

type kind int

const (
	number kind = iota
	general
	date
	fraction
	text
)

// builtin has the codes of the ids that files need not declare; 14 to 22 and the ids of other scripts follow the locale.
var builtin = map[int]string{
	1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
	14: isoDate, 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
	22: isoDate + " h:mm", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)",
	41: "#,##0;(#,##0);-", 42: "$#,##0;($#,##0);-", 43: "#,##0.00;(#,##0.00);-", 44: "$#,##0.00;($#,##0.00);-",
	45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}

const isoDate = "yyyy-mm-dd"

// Builtin returns the code of a built-in format, "General" for ids that have none.
func Builtin(id int) string {
	if id >= 27 && id <= 36 || id >= 50 && id <= 58 { // dates in Chinese, Japanese, Korean
		return isoDate
	}
	if code, ok := builtin[id]; ok {
		return code
	}
	return "General"
}

// maxCode is the most bytes of a code, of which programs write up to 255 characters.
const maxCode = 1024

// Parse reads a format code; what it does not know it takes literally.
func Parse(code string) *Format {
	f := &Format{}
	if code == "" || len(code) > maxCode {
		code = "General"
	}
	for _, part := range split(code) {
		s := scan(part)
		if s.kind == text || len(f.sections) == 3 && s.test == nil {
			f.text = &s
			continue
		}
		f.sections = append(f.sections, s)
	}
	return f
}

// Number shows a number; epoch1904 says that day 0 is 1 January 1904 instead of 30 December 1899.
func (f *Format) Number(v float64, epoch1904 bool) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return General(v)
	}
	s, bare := f.section(v)
	if s == nil {
		return General(v)
	}
	if bare { // the section is for negative numbers, and shows its own sign
		v = math.Abs(v)
	}
	switch s.kind {
	case general:
		return s.around(General(v))
	case date:
		if out, ok := s.date(v, epoch1904); ok {
			return strings.TrimSpace(out)
		}
		return General(v)
	case fraction:
		return strings.TrimSpace(s.fraction(v))
	}
	return strings.TrimSpace(s.number(v))
}

// Text shows a text.
func (f *Format) Text(t string) string {
	if f.text == nil {
		return t
	}
	return f.text.around(t)
}

// section returns the section for a number, nil if none fits, and whether the number is shown without its sign.
func (f *Format) section(v float64) (s *section, bare bool) {
	n := len(f.sections)
	if n == 0 {
		return nil, false
	}
	for i := range f.sections {
		if s := &f.sections[i]; s.test != nil && s.test(v) {
			return s, v < 0 && i > 0
		}
	}
	at := 0
	switch {
	case f.sections[0].test != nil: // the last one is for all others
		if at = n - 1; at == 0 {
			return nil, false
		}
	case v < 0 && n > 1:
		at, bare = 1, true
	case v == 0 && n > 2:
		at = 2
	}
	return &f.sections[at], bare
}

// General shows a number as the format of that name does: whole up to 15 digits, else with at most 10 digits.
func General(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v+0, 'f', 0, 64)
	}
	if a := math.Abs(v); a >= 1e-4 && a < 1e15 {
		digits := 9
		if whole := len(strconv.FormatFloat(math.Trunc(a), 'f', 0, 64)); a >= 1 {
			digits = max(10-whole, 0)
		}
		out := strconv.FormatFloat(v, 'f', digits, 64)
		if strings.Contains(out, ".") {
			out = strings.TrimSuffix(strings.TrimRight(out, "0"), ".")
		}
		return out
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'E', 5, 64), "E")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimSuffix(strings.TrimRight(mantissa, "0"), ".")
	}
	return mantissa + "E" + exponent
}

// around returns the section's literals with v in place of what stands for the value.
func (s *section) around(v string) string {
	var b strings.Builder
	for _, t := range s.tokens {
		switch t.kind {
		case literal:
			b.WriteString(t.text)
		case value:
			b.WriteString(v)
		}
	}
	return strings.TrimSpace(b.String())
}
