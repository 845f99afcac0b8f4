package numfmt_test

import (
	"math"
	"testing"
	"unicode/utf8"

	"quarry/internal/extract/sheet/numfmt"
)

// TestNumber proves what numbers look like in each kind of format, by what spreadsheets show.
func TestNumber(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		code string
		v    float64
		want string
	}{
		{"General", 5, "5"}, {"General", -0.5, "-0.5"}, {"General", 0.1 + 0.2, "0.3"}, {"General", 1e20, "1E+20"}, {"General", 12345678901234, "12345678901234"},
		{"General", 3.14159265358979, "3.141592654"}, {"General", 1234567.891, "1234567.891"}, {"General", 0.00001234, "1.234E-05"}, {"general\" kg\"", 7, "7 kg"},
		{"0", 2.5, "3"}, {"0.00", 1.005, "1.01"}, {"0", 99.5, "100"}, {"0", 1e15, "1000000000000000"}, {"0.00", 3, "3.00"}, {"#.##", 0.5, ".5"}, {"0.##", 5, "5"}, {"0.0?", 1.25, "1.25"}, {"000", 7, "007"},
		{"#,##0", 1234567, "1,234,567"}, {"#,##0.00", -1234.5, "-1,234.50"}, {"0,000", 12, "0,012"}, {"#,##0", 0, "0"}, {"#,###", 1000, "1,000"},
		{"0%", 0.125, "13%"}, {"0.0%", 0.125, "12.5%"}, {"0.0,", 12345, "12.3"}, {"0.0,,\" M\"", 2500000, "2.5 M"},
		{"0.00E+00", 12345, "1.23E+04"}, {"0.0E-0", 0.00123, "1.2E-3"}, {"##0.0E+0", 12345, "12.3E+3"}, {"0.00E+00", 0, "0.00E+00"},
		{"$#,##0.00;($#,##0.00)", -5, "($5.00)"}, {"[$€-407] #,##0.00", 5, "€ 5.00"}, {`#,##0\ "€"`, 1500, "1,500 €"},
		{"0;-0;\"none\"", 0, "none"}, {"[Red]0;[Blue]0", -3, "3"}, {"[>=100]\"big\";[<0]\"neg\";0", 150, "big"}, {"[>=100]\"big\";[<0]\"neg\";0", 50, "50"},
		{`_(* #,##0_);_(* \(#,##0\);_(* "-"_);_(@_)`, -1200, "(1,200)"}, {`_(* #,##0_);_(* \(#,##0\);_(* "-"_);_(@_)`, 0, "-"},
		{"000-00-0000", 123456789, "123-45-6789"}, {"(000) 000-0000", 5551234567, "(555) 123-4567"}, {";;;", 5, ""},
		{"# ?/?", 1.5, "1 1/2"}, {"# ??/??", 0.3333333, "1/3"}, {"# ?/8", 2.25, "2 2/8"}, {"?/?", 2.5, "5/2"}, {"# ?/?", 3, "3"},
		{"yyyy-mm-dd", 45292, "2024-01-01"}, {"d.m.yy", 45351, "29.2.24"}, {"dd mmm yyyy", 45292, "01 Jan 2024"}, {"dddd, mmmm d", 45292, "Monday, January 1"},
		{"h:mm", 0.5, "12:00"}, {"h:mm AM/PM", 0.75, "6:00 PM"}, {"hh:mm:ss", 45292.999988426, "23:59:59"}, {"mm:ss.0", 0.000730324, "01:03.1"},
		{"[h]:mm", 1.5, "36:00"}, {"[mm]:ss", 0.0625, "90:00"}, {"yyyy\\-mm\\-dd\\ h:mm:ss", 45292.25, "2024-01-01 6:00:00"}, {"mmmmm", 45292, "J"},
		{"yyyy-mm-dd", 1, "1900-01-01"}, {"yyyy-mm-dd", 61, "1900-03-01"}, {"yyyy-mm-dd", -1, "-1"}, {"yyyy-mm-dd", 3e6, "3000000"},
		{`yyyy"年"m"月"d"日"`, 45292, "2024年1月1日"}, {"[$-409]d-mmm-yy;@", 45292, "1-Jan-24"}, {"@", 5, "5"}, {"", 5, "5"}, {`"`, 5, ""},
	} {
		if got := numfmt.Parse(tt.code).Number(tt.v, false); got != tt.want {
			t.Errorf("%v as %s: %q, want %q", tt.v, tt.code, got, tt.want)
		}
	}
	if got := numfmt.Parse("yyyy-mm-dd").Number(0, true); got != "1904-01-01" {
		t.Errorf("day 0 of 1904: %s", got)
	}
	for id, want := range map[int]string{0: "45292.5", 1: "45293", 14: "2024-01-01", 22: "2024-01-01 12:00", 31: "2024-01-01", 163: "45292.5"} {
		if got := numfmt.Parse(numfmt.Builtin(id)).Number(45292.5, false); got != want {
			t.Errorf("format %d: %s, want %s", id, got, want)
		}
	}
}

// TestText proves that texts are shown as they are but for a section of their own.
func TestText(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{"General": "x", "0;0;0;\"<\"@\">\"": "<x>", "@": "x", "0.00": "x", `"Mr. "@`: "Mr. x"} {
		if got := numfmt.Parse(code).Text("x"); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

func FuzzNumber(f *testing.F) {
	// Proves that no code and number make it panic, or write what is no text.
	for _, code := range []string{"General", "#,##0.00;[Red](0%)", "# ??/??", "[h]:mm:ss.000 AM/PM", "0.0E+0", `"a"\b_c*d[$€-1]@`, "?,?.?,E+", "/", "[", "."} {
		f.Add(code, 1234.5)
	}
	f.Fuzz(func(t *testing.T, code string, v float64) {
		if !utf8.ValidString(code) {
			return
		}
		p := numfmt.Parse(code)
		for _, v := range []float64{v, -v, math.Trunc(v), 0, 1e300} {
			if out := p.Number(v, false); !utf8.ValidString(out) {
				t.Fatalf("%v as %q: %q", v, code, out)
			}
		}
		p.Text("x")
	})
}
