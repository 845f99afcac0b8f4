package provider

import "strconv"

// squeezed is a text reduced to its letters and digits, in lower case and with escapes decoded, so that an echo is found
// whatever separates its characters and whichever of them are escaped.
type squeezed struct {
	text     []byte
	from, to []int // where each byte stands in the original
}

func squeeze(s string) squeezed {
	var q squeezed
	for i := 0; i < len(s); {
		b, n := unescaped(s[i:])
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if 'a' <= b && b <= 'z' || '0' <= b && b <= '9' {
			q.text, q.from, q.to = append(q.text, b), append(q.from, i), append(q.to, i+n)
		}
		i += n
	}
	return q
}

// unescaped returns the byte that s begins with, plain or escaped as in addresses (%41), in JSON and other languages
// (\u0041, \x41) or in pages (&#65; &#x41;), and the length of its written form. An escape of another character than an
// ASCII one is the byte 0.
func unescaped(s string) (b byte, n int) {
	number := func(from, to, base int) (byte, int) {
		if to > len(s) {
			return s[0], 1
		}
		v, err := strconv.ParseUint(s[from:to], base, 32)
		if err != nil || s[from] == '+' {
			return s[0], 1
		}
		if v > 0x7f {
			v = 0
		}
		return byte(v), to
	}
	switch {
	case s[0] == '%':
		return number(1, 3, 16)
	case s[0] == '\\' && len(s) > 1 && s[1] == 'x':
		return number(2, 4, 16)
	case s[0] == '\\' && len(s) > 1 && (s[1] == 'u' || s[1] == 'U'):
		return number(2, 6, 16)
	case s[0] == '&' && len(s) > 3 && s[1] == '#':
		from, base := 2, 10
		if s[2] == 'x' || s[2] == 'X' {
			from, base = 3, 16
		}
		for to := from + 1; to < len(s) && to < from+8; to++ {
			if s[to] == ';' {
				b, n = number(from, to, base)
				if n > 1 {
					n++ // the semicolon
				}
				return b, n
			}
		}
	}
	return s[0], 1
}
