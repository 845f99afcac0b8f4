package openai

import (
	"bytes"
	"unicode/utf8"
)

// piece reads by far the most frequent event, a chunk whose only choice has a text and nothing else, and returns its model and
// text, which point into data. A stream is a thousand of them, and reading them with encoding/json is a seventh of its cost. ok
// is false for whatever does not have exactly that form, syntax errors included, which is left to encoding/json.
func piece(data []byte) (model, text []byte, ok bool) {
	s := scan{data}
	found := false
	for name := range s.members {
		switch string(name) {
		case "id", "object", "system_fingerprint", "service_tier", "obfuscation", "provider":
			value, given := s.textOrNull()
			if string(name) == "object" && given && string(value) == "error" {
				return nil, nil, false
			}
		case "created":
			s.number()
		case "model":
			if value, given := s.textOrNull(); given {
				model = value
			}
		case "usage", "error":
			s.null()
		case "choices":
			if found {
				return nil, nil, false
			}
			found = true
			text = s.choice()
		default:
			s.fail()
		}
	}
	s.blanks()
	return model, text, found && s.rest != nil && len(s.rest) == 0
}

// choice reads the list of one choice.
func (s *scan) choice() (text []byte) {
	s.take('[')
	found := false
	for name := range s.members {
		switch string(name) {
		case "index":
			if string(s.number()) != "0" {
				s.fail()
			}
		case "finish_reason", "logprobs":
			s.null()
		case "delta":
			if found {
				s.fail()
			}
			found = true
			text = s.delta()
		default:
			s.fail()
		}
	}
	s.take(']')
	return text
}

func (s *scan) delta() (text []byte) {
	found := false
	for name := range s.members {
		switch string(name) {
		case "role":
			s.text()
		case "content":
			if found {
				s.fail()
			}
			found = true
			text = s.text()
		case "refusal", "reasoning_content", "reasoning", "tool_calls":
			s.null()
		default:
			s.fail()
		}
	}
	return text
}

// scan reads JSON of a known form. After a failure rest is nil, and every read returns nothing.
type scan struct{ rest []byte }

func (s *scan) fail() { s.rest = nil }

func (s *scan) blanks() {
	for len(s.rest) > 0 && (s.rest[0] == ' ' || s.rest[0] == '\n' || s.rest[0] == '\r' || s.rest[0] == '\t') {
		s.rest = s.rest[1:]
	}
}

// is reports whether b comes next, and takes it then.
func (s *scan) is(b byte) bool {
	s.blanks()
	if len(s.rest) == 0 || s.rest[0] != b {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func (s *scan) take(b byte) {
	if !s.is(b) {
		s.fail()
	}
}

// members yields the names of an object's members; the loop reads the values.
func (s *scan) members(yield func(name []byte) bool) {
	s.take('{')
	if s.is('}') {
		return
	}
	for s.rest != nil {
		name := s.text()
		s.take(':')
		if s.rest == nil || !yield(name) || s.is('}') {
			return
		}
		s.take(',')
	}
}

// text reads a string without escapes.
func (s *scan) text() []byte {
	if !s.is('"') {
		s.fail()
		return nil
	}
	n := bytes.IndexByte(s.rest, '"')
	if n < 0 {
		s.fail()
		return nil
	}
	text := s.rest[:n]
	ascii := true
	for _, b := range text {
		if b == '\\' || b < ' ' {
			s.fail()
			return nil
		}
		ascii = ascii && b < utf8.RuneSelf
	}
	if !ascii && !utf8.Valid(text) {
		s.fail()
		return nil
	}
	s.rest = s.rest[n+1:]
	return text
}

func (s *scan) textOrNull() (text []byte, given bool) {
	if s.blanks(); len(s.rest) > 0 && s.rest[0] == 'n' {
		s.null()
		return nil, false
	}
	return s.text(), true
}

func (s *scan) null() {
	s.blanks()
	if rest, ok := bytes.CutPrefix(s.rest, []byte("null")); ok {
		s.rest = rest
		return
	}
	s.fail()
}

// number reads a whole number without a sign.
func (s *scan) number() []byte {
	s.blanks()
	n := 0
	for n < len(s.rest) && '0' <= s.rest[n] && s.rest[n] <= '9' {
		n++
	}
	number := s.rest[:n]
	if n == 0 || n > 1 && number[0] == '0' {
		s.fail()
		return nil
	}
	s.rest = s.rest[n:]
	return number
}
