package rtf

import "bytes"

// kind is what a token is.
type kind int

// The kinds of tokens.
const (
	end    kind = iota
	open        // {
	closed      // }
	word        // \word or \word-12, or a symbol such as \~
	char        // \'ab, a byte of a text
	chars       // bytes of a text as they stand
	binary      // \bin and the bytes behind it, of a picture
)

// token is one of a file.
type token struct {
	kind
	name  string // of a word
	value int    // of a word that has a number, or the byte that a char is
	has   bool   // the word has a number
	text  []byte
}

// off reports whether a word that switches something on switches it off.
func (t *token) off() bool { return t.has && t.value == 0 }

// lexer cuts a file into tokens.
type lexer struct {
	data []byte
	at   int
}

// next returns the next token.
func (l *lexer) next() token {
	for l.at < len(l.data) {
		c := l.data[l.at]
		switch c {
		case '\r', '\n', 0:
			l.at++
		case '{', '}':
			l.at++
			return token{kind: map[byte]kind{'{': open, '}': closed}[c]}
		case '\\':
			l.at++
			return l.control()
		default:
			rest := l.data[l.at:]
			n := bytes.IndexAny(rest, "\\{}\r\n\x00")
			if n < 0 {
				n = len(rest)
			}
			l.at += n
			return token{kind: chars, text: rest[:n]}
		}
	}
	return token{}
}

// control returns what a backslash begins.
func (l *lexer) control() token {
	if l.at == len(l.data) {
		return token{}
	}
	c := l.data[l.at]
	if !letter(c) {
		l.at++
		if c != '\'' {
			return token{kind: word, name: string(rune(c))}
		}
		hex := l.data[l.at:min(l.at+2, len(l.data))]
		if len(hex) < 2 || digit(hex[0]) < 0 || digit(hex[1]) < 0 {
			return token{kind: chars}
		}
		l.at += 2
		return token{kind: char, value: digit(hex[0])<<4 | digit(hex[1])}
	}
	from := l.at
	for l.at < len(l.data) && letter(l.data[l.at]) && l.at-from < 32 {
		l.at++
	}
	t := token{kind: word, name: string(l.data[from:l.at])}
	negative := false
	if l.at+1 < len(l.data) && l.data[l.at] == '-' && decimal(l.data[l.at+1]) {
		negative = true
		l.at++
	}
	for l.at < len(l.data) && decimal(l.data[l.at]) {
		t.has = true
		t.value = min(t.value*10+int(l.data[l.at]-'0'), 1<<31-1)
		l.at++
	}
	if negative {
		t.value = -t.value
	}
	if l.at < len(l.data) && l.data[l.at] == ' ' {
		l.at++
	}
	if t.name == "bin" {
		n := min(max(t.value, 0), len(l.data)-l.at)
		t.kind, t.text = binary, l.data[l.at:l.at+n]
		l.at += n
	}
	return t
}

func letter(c byte) bool  { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func decimal(c byte) bool { return c >= '0' && c <= '9' }

// digit returns the value of a hexadecimal digit, or -1.
func digit(c byte) int {
	switch {
	case decimal(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
