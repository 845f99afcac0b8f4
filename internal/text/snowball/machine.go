package snowball

import "slices"

// machine is a program at work on a word. Positions are characters of it.
type machine struct {
	text          []rune
	cursor        int
	limit, behind int // the text that commands may look at: from behind to limit
	bra, ket      int // the slice

	booleans []bool
	integers []int
	strings  [][]rune
	found    []int // by substring: 1 + the number of the string found in its among
}

// mode is the direction in which commands read the text. Saved cursors are distances from the end that text is not changed beyond:
// commands that read backward change what lies behind them.
type mode bool

const (
	forward  mode = false
	backward mode = true
)

func (m *machine) save(d mode) int {
	if d == backward {
		return m.limit - m.cursor
	}
	return m.cursor
}

func (m *machine) restore(d mode, saved int) {
	if d == backward {
		saved = m.limit - saved
	}
	m.cursor = saved
}

// atLimit reports whether nothing is left to read.
func (m *machine) atLimit(d mode) bool {
	if d == backward {
		return m.cursor <= m.behind
	}
	return m.cursor >= m.limit
}

// hop moves over n characters, if they are there.
func (m *machine) hop(d mode, n int) bool {
	to := m.cursor + n
	if d == backward {
		to = m.cursor - n
	}
	if n < 0 || to < m.behind || to > m.limit {
		return false
	}
	m.cursor = to
	return true
}

// starts reports whether the text at the cursor begins with s, or ends with it in front of the cursor.
func (m *machine) starts(d mode, s []rune) bool {
	if d == backward {
		return m.cursor-len(s) >= m.behind && slices.Equal(m.text[m.cursor-len(s):m.cursor], s)
	}
	return m.cursor+len(s) <= m.limit && slices.Equal(m.text[m.cursor:m.cursor+len(s)], s)
}

// match moves over s.
func (m *machine) match(d mode, s []rune) bool { return m.starts(d, s) && m.hop(d, len(s)) }

// in moves over a character that is in the set, or is not.
func (m *machine) in(d mode, set map[rune]bool, want bool) bool {
	if m.atLimit(d) {
		return false
	}
	r := m.text[m.cursor-1+toInt(d == forward)]
	return set[r] == want && m.hop(d, 1)
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// replace puts s in the place of the text from a to b and moves what points behind it.
func (m *machine) replace(a, b int, s []rune) {
	more := len(s) - (b - a)
	m.text = slices.Replace(m.text, a, b, s...)
	m.limit += more
	switch {
	case m.cursor >= b:
		m.cursor += more
	case m.cursor > a:
		m.cursor = a
	}
}

// sliceFrom replaces the slice.
func (m *machine) sliceFrom(s []rune) bool {
	if m.bra < 0 || m.bra > m.ket || m.ket > len(m.text) {
		return false
	}
	m.replace(m.bra, m.ket, s)
	m.ket = m.bra + len(s)
	return true
}

// insert puts s at the cursor. stay keeps the cursor where it is.
func (m *machine) insert(s []rune, stay bool) bool {
	at := m.cursor
	m.replace(at, at, s)
	if at <= m.bra {
		m.bra += len(s)
	}
	if at <= m.ket {
		m.ket += len(s)
	}
	if stay {
		m.cursor = at
	}
	return true
}
