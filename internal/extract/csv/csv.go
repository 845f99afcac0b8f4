// Package csv reads records of text (CSV, TSV and their kin) as tables. The delimiter and the quotation mark are those that
// give the records the same number of fields; a first line such as "sep=;" decides. All functions are safe for concurrent use.
package csv

import (
	"cmp"
	"slices"
	"strings"

	"quarry/internal/extract/outline"
	"quarry/internal/extract/plain"
	"quarry/internal/extract/sheet"
)

// maxRecords is the most rows that are read as rows: a document has room for that many parts. A longer file is read as text.
const maxRecords = 100_000

// sampled is the most bytes from the beginning by which the dialect is judged.
const sampled = 64 << 10

// delimiters are those that are tried.
const delimiters = ",;\t|"

// dialect is how records are written.
type dialect struct{ delimiter, quote byte }

// Read parses a file in UTF-8.
func Read(text string) (*outline.Document, error) {
	body, d := detect(text)
	s := new(sheet.Book).Sheet()
	r := reader{dialect: d, rest: body}
	for row := 0; r.rest != ""; row++ {
		for c, field := range r.record() {
			if err := s.Set(row, c, field); err != nil || row == maxRecords {
				return plain.Read(text)
			}
		}
	}
	var b outline.Builder
	s.WriteRows(&b)
	return b.Document(map[string]any{}), nil
}

// detect returns the records, without a line that names the delimiter, and how they are written.
func detect(text string) (body string, d dialect) {
	line, rest, _ := strings.Cut(text, "\n")
	line = strings.TrimSuffix(line, "\r")
	if len(line) == 5 && strings.EqualFold(line[:4], "sep=") && strings.IndexByte(delimiters+":^~#", line[4]) >= 0 {
		return rest, dialect{line[4], quote(rest, line[4])}
	}
	head := text
	if len(head) > sampled { // whole lines only
		head = head[:max(strings.LastIndexByte(head[:sampled], '\n'), 0)]
	}
	best := -1.0
	for _, delimiter := range []byte(delimiters) { // the first of equals
		try := dialect{delimiter, quote(head, delimiter)}
		if score := try.score(head); score > best {
			best, d = score, try
		}
	}
	return text, d
}

// quote returns the mark that more fields begin and end with, of the double and the single one.
func quote(text string, delimiter byte) byte {
	around := func(q string) int {
		d := string(delimiter)
		return strings.Count(text, d+q) + strings.Count(text, q+d) + strings.Count(text, "\n"+q) + strings.Count(text, q+"\n")
	}
	if around("'") > 2*around(`"`)+2 {
		return '\''
	}
	return '"'
}

// score returns how well the records of text have the same number of fields, which counts only where it is more than one.
func (d dialect) score(text string) float64 {
	counts, n := map[int]int{}, 0
	for r := (reader{dialect: d, rest: text}); r.rest != ""; {
		if fields := r.record(); len(fields) > 1 || strings.TrimSpace(fields[0]) != "" {
			counts[len(fields)]++
			n++
		}
	}
	usual, times := 1, 0
	for fields, found := range counts {
		if c := cmp.Compare(found, times); fields > 1 && (c > 0 || c == 0 && fields > usual) {
			usual, times = fields, found
		}
	}
	if usual == 1 || n == 0 {
		return 0
	}
	// One field more or less is a better sign than none; many fields are hardly better than a few.
	return float64(times)/float64(n) + 0.01*float64(min(usual, 20))/20
}

// reader reads records.
type reader struct {
	dialect
	rest   string
	broken bool // a quotation does not end, so that no later one does
}

// record reads the next record, which has one field at least.
func (r *reader) record() (fields []string) {
	for {
		field, end := r.field()
		fields = append(fields, field)
		if end {
			return fields
		}
	}
}

// field reads the next field; end reports whether it is the last one of its record.
func (r *reader) field() (field string, end bool) {
	start := strings.TrimLeft(r.rest, " ")
	if !r.broken && start != "" && start[0] == r.quote {
		if field, n, ok := r.quoted(start); ok {
			r.rest = start[n:]
			return field, r.next()
		}
		r.broken = true
	}
	n := strings.IndexAny(r.rest, string(r.delimiter)+"\n\r")
	if n < 0 {
		n = len(r.rest)
	}
	field, r.rest = r.rest[:n], r.rest[n:]
	return field, r.next()
}

// next goes past what ends a field; it reports whether that ends the record.
func (r *reader) next() bool {
	if r.rest != "" && r.rest[0] == r.delimiter {
		r.rest = r.rest[1:]
		return false
	}
	r.rest = strings.TrimPrefix(r.rest, "\r")
	r.rest = strings.TrimPrefix(r.rest, "\n")
	return true
}

// quoted reads the quotation at the beginning of s and returns what follows its end: its length with the blanks behind it. A mark inside is
// doubled, or stands before no end of a field.
func (r *reader) quoted(s string) (field string, n int, ok bool) {
	var parts []string
	for at := 1; ; {
		i := strings.IndexByte(s[at:], r.quote)
		if i < 0 {
			return "", 0, false
		}
		parts = append(parts, s[at:at+i])
		at += i + 1
		if at < len(s) && s[at] == r.quote {
			parts = append(parts, string(r.quote))
			at++
			continue
		}
		behind := at + len(s[at:]) - len(strings.TrimLeft(s[at:], " "))
		if behind == len(s) || slices.Contains([]byte{r.delimiter, '\n', '\r'}, s[behind]) {
			return strings.Join(parts, ""), behind, true
		}
		parts = append(parts, string(r.quote))
	}
}
