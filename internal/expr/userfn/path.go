package userfn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/internal/expr"
)

// path is the parsed path of get: the steps after $.
type path []step

// step selects a member by name or, if index is not negative, an element.
type step struct {
	name  string
	index int // -1 for names
}

// parsePath parses the paths that select one value in JSONPath (compare RFC 9535): $, .name, ['any name'] and [n]. With an
// error it returns its offset in s, in bytes.
func parsePath(s string) (path, int, error) {
	if !strings.HasPrefix(s, "$") {
		return nil, 0, fmt.Errorf("a path begins with $")
	}
	var out path
	for at := 1; at < len(s); {
		next, size, err := parseStep(s[at:])
		if err != nil {
			return nil, at, err
		}
		out = append(out, next)
		at += size
	}
	return out, 0, nil
}

var errStep = fmt.Errorf("a path has .name, ['name'] and [number] after the $, and nothing else")

func parseStep(s string) (step, int, error) {
	if s[0] == '.' {
		end := 1
		for end < len(s) {
			r, n := utf8.DecodeRuneInString(s[end:])
			if !expr.InName(r) && r != '-' {
				break
			}
			end += n
		}
		if end == 1 {
			return step{}, 0, errStep
		}
		return step{s[1:end], -1}, end, nil
	}
	if len(s) < 3 || s[0] != '[' {
		return step{}, 0, errStep
	}
	if q := s[1]; q == '\'' || q == '"' {
		end := strings.Index(s[2:], string(q)+"]")
		if end < 1 {
			return step{}, 0, errStep
		}
		return step{s[2 : 2+end], -1}, end + 4, nil
	}
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return step{}, 0, errStep
	}
	n, err := strconv.ParseUint(s[1:end], 10, 31)
	if err != nil {
		return step{}, 0, errStep
	}
	return step{"", int(n)}, end + 1, nil
}

// readsPassage reports whether the path selects more than scores.
func (p path) readsPassage() bool {
	if len(p) == 0 {
		return false
	}
	switch p[0].name {
	case "text", "document_id", "document_metadata", "part_metadata", "metadata":
		return true
	}
	return false
}

// eval returns the value that the path selects in the result, or in the document of a condition.
func (p path) eval(r *run) value {
	if r.judging {
		return p.walk(r.subject)
	}
	if len(p) == 0 {
		return value{kind: compound}
	}
	rest := p[1:]
	switch p[0].name {
	case "document_metadata":
		return rest.walk(r.document.get(r.result.DocumentMetadata))
	case "part_metadata":
		return rest.walk(r.part.get(r.result.PartMetadata))
	case "metadata":
		if v := rest.walk(r.part.get(r.result.PartMetadata)); v.kind != null {
			return v
		}
		return rest.walk(r.document.get(r.result.DocumentMetadata))
	case "all_scores":
		return allScores(rest, r.scores)
	}
	if len(rest) > 0 {
		return nothing
	}
	switch p[0].name {
	case "score":
		if i := r.result.Index; i >= 0 && i < len(r.scores) {
			return double(r.scores[i])
		}
	case "text":
		return value{kind: text, str: r.result.Text}
	case "document_id":
		return value{kind: text, str: r.result.DocumentID}
	case "index":
		return double(float64(r.result.Index))
	}
	return nothing
}

func allScores(rest path, scores []float64) value {
	switch {
	case len(rest) == 0:
		return value{kind: compound}
	case len(rest) == 1 && rest[0].index >= 0 && rest[0].index < len(scores):
		return double(scores[rest[0].index])
	}
	return nothing
}

// walk returns the value that the path selects in decoded JSON, or null if there is none.
func (p path) walk(v any) value {
	for _, s := range p {
		switch x := v.(type) {
		case map[string]any:
			if s.index >= 0 {
				return nothing
			}
			v = x[s.name]
		case []any:
			if s.index < 0 || s.index >= len(x) {
				return nothing
			}
			v = x[s.index]
		default:
			return nothing
		}
	}
	return fromJSON(v)
}

// get returns raw, decoded once.
func (d *decoded) get(raw json.RawMessage) any {
	if !d.done {
		d.done = true
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		if decoder.Decode(&d.value) != nil { // invalid JSON counts as missing
			d.value = nil
		}
	}
	return d.value
}
