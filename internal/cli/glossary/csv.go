package glossary

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"quarry/internal/glossary"
)

// row is an entry of a CSV file.
type row struct {
	glossary.Entry
	line int // where it begins, from 1
}

// The names of the columns, as export writes them. import passes over a first line that has them.
const (
	termColumn      = "term"
	expansionColumn = "expansion"
)

// table is CSV (RFC 4180) that is being read. What stands between quotes is kept byte by byte, line breaks of each kind included,
// which encoding/csv would change.
type table struct {
	rest []byte
	line int
}

// parse reads the entries of a CSV file: a term and an expansion on each line. Space around what has no quotes is no part
// of it. Empty lines are passed over, and so is a byte order mark.
func parse(raw []byte) ([]row, error) {
	t := table{bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), 1}
	var out []row
	seen := map[string]row{}
	for len(t.rest) > 0 {
		line := t.line
		cells, err := t.cells()
		switch {
		case err != nil:
			return nil, err
		case len(cells) == 1 && cells[0] == "":
			continue
		case len(cells) != 2:
			return nil, fmt.Errorf("line %d: must have a term and an expansion, separated by a comma, and has %d columns; put quotes around what has a comma itself", line, len(cells))
		case len(out) == 0 && line == 1 && strings.EqualFold(cells[0], termColumn) && strings.EqualFold(cells[1], expansionColumn):
			continue
		}
		if !utf8.ValidString(cells[0] + cells[1]) {
			return nil, fmt.Errorf("line %d: is not UTF-8; save the file in that encoding", line)
		}
		r := row{glossary.Entry{Term: cells[0], Expansion: cells[1]}, line}
		if reason := glossary.Wrong(r.Entry); reason != "" {
			return nil, fmt.Errorf("line %d: %s", line, reason)
		}
		if before, twice := seen[r.Term]; twice {
			if before.Expansion != r.Expansion {
				return nil, fmt.Errorf("line %d: the term %q stands on line %d with another expansion", line, r.Term, before.line)
			}
			continue
		}
		seen[r.Term] = r
		out = append(out, r)
	}
	return out, nil
}

// cells reads a record.
func (t *table) cells() (out []string, err error) {
	for {
		var cell string
		t.rest = bytes.TrimLeft(t.rest, " \t")
		if len(t.rest) > 0 && t.rest[0] == '"' {
			if cell, err = t.quoted(); err != nil {
				return nil, err
			}
		} else {
			n := bytes.IndexAny(t.rest, ",\n")
			if n < 0 {
				n = len(t.rest)
			}
			cell, t.rest = string(t.rest[:n]), t.rest[n:]
			if len(t.rest) == 0 || t.rest[0] == '\n' {
				cell = strings.TrimSuffix(cell, "\r")
			}
			cell = strings.TrimRight(cell, " \t")
			if strings.Contains(cell, `"`) {
				return nil, fmt.Errorf(`line %d: a quote stands inside a column that has none around it; write "a ""word"" in quotes"`, t.line)
			}
		}
		out = append(out, cell)
		if len(t.rest) == 0 {
			return out, nil
		}
		more := t.rest[0] == ','
		t.rest = t.rest[1:]
		if !more {
			t.line++
			return out, nil
		}
	}
}

// quoted reads a cell between quotes, up to what separates it from the next one.
func (t *table) quoted() (string, error) {
	began := t.line
	var b strings.Builder
	for rest := t.rest[1:]; ; {
		n := bytes.IndexByte(rest, '"')
		if n < 0 {
			return "", fmt.Errorf("line %d: a quote that begins here has no end", began)
		}
		b.Write(rest[:n])
		t.line += bytes.Count(rest[:n], []byte("\n"))
		rest = rest[n+1:]
		if len(rest) > 0 && rest[0] == '"' {
			b.WriteByte('"')
			rest = rest[1:]
			continue
		}
		if bytes.HasPrefix(rest, []byte("\r\n")) || string(rest) == "\r" {
			rest = rest[1:]
		}
		if len(rest) > 0 && rest[0] != ',' && rest[0] != '\n' {
			return "", fmt.Errorf("line %d: behind the end of a quote comes a comma or the end of the line", t.line)
		}
		t.rest = rest
		return b.String(), nil
	}
}

// write writes an entry so that parse reads it back.
func write(w io.Writer, e glossary.Entry) error {
	_, err := fmt.Fprintf(w, "%s,%s\n", cell(e.Term), cell(e.Expansion))
	return err
}

// cell returns a text as a column of CSV, between quotes where it needs them.
func cell(text string) string {
	if text != "" && !strings.ContainsAny(text, ",\"\r\n") && strings.TrimSpace(text) == text {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}
