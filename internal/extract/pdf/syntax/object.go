package syntax

import "strings"

// Object is nil, bool, int, float64, String, Name, Array, Dict, *Stream, Ref or, in content streams, Keyword.
type Object any

// The kinds of objects.
type (
	String  string
	Name    string
	Array   []Object
	Dict    map[Name]Object
	Keyword string
	// Ref refers to an indirect object of the file.
	Ref struct{ Num, Gen int }
	// Stream is a dictionary with data, which is decrypted but not decoded.
	Stream struct {
		Dict
		Raw []byte
	}
)

// Number returns the value of an int or float64; ok is false for any other object.
func Number(o Object) (float64, bool) {
	switch v := o.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// Lexer reads objects. It reports no errors: malformed input is read as some other object.
type Lexer struct {
	data    []byte
	pos     int
	refs    bool // "1 0 R" is a reference, as outside of content streams
	budget  *Budget
	decrypt func([]byte) []byte // for strings; nil if they are not encrypted
}

// NewLexer returns a lexer of a content stream or a CMap.
func NewLexer(data []byte, b *Budget) *Lexer { return &Lexer{data: data, budget: b} }

// End reports whether the input or the budget is used up.
func (l *Lexer) End() bool {
	l.space()
	return l.pos >= len(l.data) || l.budget.Err() != nil
}

func white(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func delimiter(c byte) bool {
	switch c {
	case '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}
	return false
}

func (l *Lexer) space() {
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		switch {
		case white(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.data) && l.data[l.pos] != '\n' && l.data[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

// Next reads an object. It returns nil for null and at the end.
func (l *Lexer) Next() Object { return l.object(0) }

// object reads an object inside depth others.
func (l *Lexer) object(depth int) Object {
	if l.End() || !l.budget.Step() {
		return nil
	}
	switch c := l.data[l.pos]; {
	case c == '/':
		l.pos++
		return l.name()
	case c == '(':
		return l.str(l.literal())
	case c == '<':
		if l.pos+1 < len(l.data) && l.data[l.pos+1] == '<' {
			l.pos += 2
			return l.dict(depth)
		}
		return l.str(l.hex())
	case c == '[':
		l.pos++
		return l.array(depth)
	case c == '+' || c == '-' || c == '.' || c >= '0' && c <= '9':
		return l.number()
	case delimiter(c):
		l.pos++
		if c == '>' && l.pos < len(l.data) && l.data[l.pos] == '>' {
			l.pos++
			return Keyword(">>")
		}
		return Keyword(string(c))
	}
	switch w := l.word(); w {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	default:
		return Keyword(w)
	}
}

// str returns the bytes of a string as an object, decrypted.
func (l *Lexer) str(s []byte) Object {
	if l.decrypt != nil {
		s = l.decrypt(s)
	}
	return String(s)
}

func (l *Lexer) word() string {
	from := l.pos
	for l.pos < len(l.data) && !white(l.data[l.pos]) && !delimiter(l.data[l.pos]) {
		l.pos++
	}
	return string(l.data[from:l.pos])
}

func (l *Lexer) name() Name {
	w := l.word()
	var out []byte
	for i := 0; i < len(w); i++ {
		if w[i] == '#' && i+2 < len(w) && digit16(w[i+1]) >= 0 && digit16(w[i+2]) >= 0 {
			out = append(out, byte(digit16(w[i+1])<<4|digit16(w[i+2])))
			i += 2
			continue
		}
		out = append(out, w[i])
	}
	return Name(out)
}

func digit16(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func (l *Lexer) hex() []byte {
	l.pos++
	var out []byte
	high := -1
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		l.pos++
		if c == '>' {
			break
		}
		d := digit16(c)
		switch {
		case d < 0:
		case high < 0:
			high = d
		default:
			out = append(out, byte(high<<4|d))
			high = -1
		}
	}
	if high >= 0 {
		out = append(out, byte(high<<4))
	}
	return out
}

func (l *Lexer) literal() []byte {
	l.pos++
	var out []byte
	for open := 1; l.pos < len(l.data); {
		c := l.data[l.pos]
		l.pos++
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return out
			}
		case '\\':
			out = l.escape(out)
			continue
		case '\r':
			if l.pos < len(l.data) && l.data[l.pos] == '\n' {
				l.pos++
			}
			c = '\n'
		}
		out = append(out, c)
	}
	return out
}

// escape reads the part of an escape sequence after the backslash, and appends the byte that it denotes.
func (l *Lexer) escape(out []byte) []byte {
	if l.pos >= len(l.data) {
		return out
	}
	c := l.data[l.pos]
	l.pos++
	if i := strings.IndexByte("nrtbf", c); i >= 0 {
		return append(out, "\n\r\t\b\f"[i])
	}
	switch c {
	case '\r':
		if l.pos < len(l.data) && l.data[l.pos] == '\n' {
			l.pos++
		}
		return out
	case '\n':
		return out
	}
	if c < '0' || c > '7' {
		return append(out, c)
	}
	n := int(c - '0')
	for i := 0; i < 2 && l.pos < len(l.data) && l.data[l.pos] >= '0' && l.data[l.pos] <= '7'; i++ {
		n = n<<3 | int(l.data[l.pos]-'0')
		l.pos++
	}
	return append(out, byte(n))
}

// number reads an int, a float64, or a reference, which begins with a number.
func (l *Lexer) number() Object {
	v, whole := l.digits()
	if !whole || !l.refs || v < 0 {
		if whole {
			return int(v)
		}
		return v
	}
	back := l.pos
	l.space()
	if l.pos < len(l.data) && l.data[l.pos] >= '0' && l.data[l.pos] <= '9' {
		gen, whole := l.digits()
		l.space()
		if whole && l.pos < len(l.data) && l.data[l.pos] == 'R' && (l.pos+1 == len(l.data) || white(l.data[l.pos+1]) || delimiter(l.data[l.pos+1])) {
			l.pos++
			return Ref{int(v), int(gen)}
		}
	}
	l.pos = back
	return int(v)
}

// digits reads a number; whole reports whether it is an integer below 2^40.
func (l *Lexer) digits() (v float64, whole bool) {
	from := l.pos
	sign, scale, frac := 1.0, 1.0, false
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		switch {
		case c == '-':
			if l.pos > from && v != 0 { // some writers produce "12-34" for 12
				l.word()
				return sign * v, false
			}
			sign = -1
		case c == '+':
		case c == '.' && !frac:
			frac = true
		case c >= '0' && c <= '9':
			if frac {
				scale /= 10
				v += float64(c-'0') * scale
			} else {
				v = v*10 + float64(c-'0')
			}
		default:
			if !white(c) && !delimiter(c) && l.pos == from {
				l.pos++
			}
			return sign * v, !frac && v < 1<<40
		}
		l.pos++
	}
	return sign * v, !frac && v < 1<<40
}

// array reads the elements of an array up to its bracket, or up to a keyword that shows that the bracket is missing.
func (l *Lexer) array(depth int) Object {
	var out Array
	if depth >= maxNesting {
		l.budget.Refuse("its objects are nested more than %d deep", maxNesting)
	}
	for !l.End() {
		if l.data[l.pos] == ']' {
			l.pos++
			break
		}
		at := l.pos
		o := l.object(depth + 1)
		if k, ok := o.(Keyword); ok && l.refs && (k == "endobj" || k == ">>") {
			l.pos = at
			break
		}
		if !l.budget.Keep(16) {
			break
		}
		out = append(out, o)
	}
	return out
}

// dict reads the entries of a dictionary. Of entries with the same key the first is kept.
func (l *Lexer) dict(depth int) Object {
	out := Dict{}
	if depth >= maxNesting {
		l.budget.Refuse("its objects are nested more than %d deep", maxNesting)
	}
	for !l.End() {
		at := l.pos
		key := l.object(depth + 1)
		switch k := key.(type) {
		case Name:
			v := l.object(depth + 1)
			if w, ok := v.(Keyword); ok {
				if w == ">>" {
					return out
				}
				continue
			}
			if !l.budget.Keep(64) {
				return out
			}
			if _, duplicate := out[k]; !duplicate {
				out[k] = v
			}
		case Keyword:
			if k == ">>" {
				return out
			}
			if k == "endobj" || k == "stream" {
				l.pos = at
				return out
			}
		}
	}
	return out
}

// InlineImage skips an inline image (ISO 32000-1, 8.9.7) after its keyword BI.
func (l *Lexer) InlineImage() {
	for !l.End() {
		if k, ok := l.Next().(Keyword); ok && k == "ID" {
			break
		}
	}
	l.pos++
	// The data ends with EI between white space. Binary data may contain that by chance, but hardly followed by text.
	for ; l.pos+2 < len(l.data); l.pos++ {
		d := l.data
		if d[l.pos] == 'E' && d[l.pos+1] == 'I' && white(d[l.pos-1]) && (white(d[l.pos+2]) || l.pos+2 == len(d)) && printable(d[l.pos+2:min(l.pos+12, len(d))]) {
			l.pos += 2
			return
		}
	}
	l.pos = len(l.data)
}

func printable(s []byte) bool {
	for _, c := range s {
		if !white(c) && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}
