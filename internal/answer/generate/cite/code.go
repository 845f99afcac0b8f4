package cite

import "strings"

// maxSpan is up to how many bytes a span of code, or the opening line of a block of code, is held back.
const maxSpan = 512

// backticks decides what a run of backticks begins: a block of code, a span of code, or nothing.
func (w *Writer) backticks(over bool) int {
	n := run(w.rest[:min(len(w.rest), maxSpan)], '`')
	if n == maxSpan {
		w.write(w.rest[:n], inLine)
		return n
	}
	if n == len(w.rest) && !over {
		return 0
	}
	end := strings.IndexByte(w.rest[n:min(len(w.rest), maxSpan)], '\n')
	if end < 0 && !over && len(w.rest) < maxSpan {
		if w.at == lineStart && n >= 3 {
			return 0 // backticks further on would make it a span
		}
		if size := codeSpan(w.rest, n); size > 0 && size < len(w.rest) { // the closing run is over
			w.write(w.rest[:size], inLine)
			return size
		}
		return 0
	}
	line := w.rest[:min(len(w.rest), maxSpan)]
	if end >= 0 {
		line = w.rest[:n+end]
	}
	switch size := codeSpan(line, n); {
	case size > 0:
		w.write(line[:size], inLine)
		return size
	case w.at == lineStart && n >= 3:
		w.enter(line[:n])
	default:
		w.write(line[:n], inLine)
	}
	return n
}

// tildes decides whether tildes at the start of a line begin a block of code.
func (w *Writer) tildes(over bool) int {
	n := run(w.rest[:min(len(w.rest), maxSpan)], '~')
	if n == len(w.rest) && !over && n < maxSpan {
		return 0
	}
	if n >= 3 && n < maxSpan {
		w.enter(w.rest[:n])
	} else {
		w.write(w.rest[:n], inLine)
	}
	return n
}

// enter begins a block of code.
func (w *Writer) enter(fence string) {
	w.write(fence, inLine)
	w.fence, w.line = fence, "x" // the first line can't close it
}

// code emits a piece of a block of code, up to the end of its line.
func (w *Writer) code() int {
	piece, _, whole := strings.Cut(w.rest, "\n")
	w.out.WriteString(piece)
	w.line += piece[:min(len(piece), maxSpan-min(len(w.line), maxSpan))]
	if !whole {
		return len(piece)
	}
	w.out.WriteByte('\n')
	line := strings.Trim(w.line, " \t\r")
	if len(line) >= len(w.fence) && run(line, rune(w.fence[0])) == len(line) {
		w.fence, w.at = "", lineStart
	}
	w.line = ""
	return len(piece) + 1
}

// codeSpan returns the length of the span of code that begins s with n backticks; 0 if it is not closed by as many.
func codeSpan(s string, n int) int {
	for i := n; i < len(s); {
		next := strings.IndexByte(s[i:], '`')
		if next < 0 {
			return 0
		}
		i += next
		size := run(s[i:], '`')
		i += size
		if size == n {
			return i
		}
	}
	return 0
}

// run returns how many c s begins with.
func run(s string, c rune) int {
	return len(s) - len(strings.TrimLeft(s, string(c)))
}
