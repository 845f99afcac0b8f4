package command

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// Width returns how many columns a terminal has, 80 if it does not say; 0 for anything else, where nothing is cut or wrapped.
func Width(w io.Writer) int {
	if !IsTerminal(w) {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if n, _, err := term.GetSize(int(file(w).Fd())); err == nil && n > 0 {
		return n
	}
	return 80
}

// Bold returns s in bold type if w is a terminal that shows it and the user wants it (https://no-color.org).
func Bold(w io.Writer, s string) string { return styled(w, "\x1b[1m", s) }

// Dim returns s in faint type where Bold returns bold type.
func Dim(w io.Writer, s string) string { return styled(w, "\x1b[2m", s) }

func styled(w io.Writer, style, s string) string {
	if s == "" || !IsTerminal(w) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return s
	}
	return style + s + "\x1b[22m"
}

// Faint returns what begins faint type, or ends it, where Bold returns bold type; elsewhere nothing.
func Faint(w io.Writer, on bool) string {
	begin, end, _ := strings.Cut(Dim(w, " "), " ")
	if on {
		return begin
	}
	return end
}

// columns returns how many columns of a terminal s takes. Marks and our own escape sequences take none, wide characters two.
func columns(s string) int {
	n, escape := 0, false
	for _, r := range s {
		switch {
		case escape:
			escape = r != 'm'
		case r == '\x1b':
			escape = true
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		default:
			n += runeColumns(r)
		}
	}
	return n
}

func runeColumns(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cut shortens s to n columns.
func cut(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	taken := 0
	for i, r := range s {
		if taken += columns(string(r)); taken > n-1 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// longestLine is how many columns a line of prose takes at most.
const longestLine = 120

// Wrapper breaks lines between words so that they fit a terminal. Elsewhere it leaves them as they are.
type Wrapper struct {
	to     io.Writer
	width  int // 0: no limit
	indent string
	word   strings.Builder // not yet written
	at     int             // columns taken of the line
	spaces int             // before the word
	loose  bool            // the line may break before the word even without a space
}

// NewWrapper returns a Wrapper whose lines begin with indent; Close writes the last word.
func NewWrapper(w io.Writer, indent string) *Wrapper {
	return &Wrapper{to: w, width: min(Width(w), longestLine), indent: indent}
}

// Write implements io.Writer for texts that are cut between characters.
func (w *Wrapper) Write(p []byte) (int, error) {
	for _, r := range string(p) {
		var err error
		switch {
		case r == '\n':
			if err = w.Flush(); err == nil {
				_, err = io.WriteString(w.to, "\n")
			}
			w.at, w.spaces = 0, 0
		case r == ' ' && w.at == 0 && w.word.Len() == 0: // the indentation of the text itself
			_, err = io.WriteString(w.to, w.start()+" ")
			w.at++
		case r == ' ':
			err = w.Flush()
			w.spaces++
		case runeColumns(r) == 2 && !unicode.Is(unicode.Hangul, r): // scripts without spaces break between any two characters
			if err = w.Flush(); err == nil {
				w.loose = true
				w.word.WriteRune(r)
				err = w.Flush()
			}
			w.loose = true
		default:
			w.word.WriteRune(r)
		}
		if err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// start returns the indentation if the line is new.
func (w *Wrapper) start() string {
	if w.at > 0 {
		return ""
	}
	w.at = columns(w.indent)
	return w.indent
}

// Flush writes the word that has come so far.
func (w *Wrapper) Flush() error {
	if w.word.Len() == 0 {
		return nil
	}
	word, need := w.word.String(), columns(w.word.String())
	w.word.Reset()
	before := strings.Repeat(" ", w.spaces)
	if (w.spaces > 0 || w.loose) && w.width > 0 && w.at > columns(w.indent) && w.at+w.spaces+need > w.width {
		before, w.at, w.spaces = "\n", 0, 0
	}
	w.at += w.spaces
	w.spaces, w.loose = 0, false
	if w.at == 0 {
		before += w.start()
	}
	w.at += need
	_, err := io.WriteString(w.to, before+word)
	return err
}

// Wrap prints a text in lines that fit the terminal and begin with indent.
func Wrap(w io.Writer, indent, text string) {
	wrapper := NewWrapper(w, indent)
	_, _ = io.WriteString(wrapper, text+"\n") // w keeps its own failures
}

// WrapAfter prints a text behind a label; lines that follow begin where the text does.
func WrapAfter(w io.Writer, label, text string) {
	wrapper := NewWrapper(w, strings.Repeat(" ", columns(label)))
	_, _ = io.WriteString(w, label) // w keeps its own failures
	wrapper.at = columns(label)
	_, _ = io.WriteString(wrapper, text+"\n")
}
