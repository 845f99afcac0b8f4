package numfmt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxDecimals bounds the digits behind the point that a code can ask for.
const maxDecimals = 30

// shape is what the placeholders of a section say of its number.
type shape struct {
	whole, decimals int // placeholders before and behind the point
	grouped         bool
	scale           float64
	exponent        int // index of the token, -1 without one
}

func (s *section) shape() shape {
	out := shape{scale: 1, exponent: -1}
	pending, behind := 0, false // commas since the last placeholder; behind the point
	for i, t := range s.tokens {
		switch t.kind {
		case digit:
			switch {
			case out.exponent >= 0:
			case behind:
				out.decimals++
			default:
				out.grouped = out.grouped || pending > 0
				out.whole++
			}
			pending = 0
		case comma:
			if out.whole > 0 {
				pending++
			}
		case point:
			behind = true
			out.scale, pending = out.scale*math.Pow(1000, -float64(pending)), 0
		case percent:
			out.scale *= 100
		case exponent:
			if out.exponent < 0 {
				out.exponent = i
			}
		}
	}
	out.scale *= math.Pow(1000, -float64(pending))
	out.decimals = min(out.decimals, maxDecimals)
	return out
}

// number shows v by the placeholders of the section.
func (s *section) number(v float64) string {
	in := s.shape()
	v *= in.scale
	power := 0
	if in.exponent >= 0 && v != 0 {
		power = int(math.Floor(math.Log10(math.Abs(v))))
		if step := in.whole; step > 1 {
			power = int(math.Floor(float64(power)/float64(step))) * step
		}
		if v /= math.Pow(10, float64(power)); math.Abs(v) >= 9.9999999999999995 && in.whole <= 1 {
			v, power = v/10, power+1
		}
	}
	digits := round(math.Abs(v), in.decimals)
	whole, decimals, _ := strings.Cut(digits, ".")
	if whole == "0" {
		whole = ""
	}
	out := s.fill(in, whole, decimals, power)
	if v < 0 && strings.ContainsAny(digits, "123456789") {
		return "-" + out
	}
	return out
}

// round writes v with so many decimals. Spreadsheets know 15 digits of a number, and round halves up.
func round(v float64, decimals int) string {
	known, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 14, 64), 64)
	if err != nil {
		known = v
	}
	whole, rest, _ := strings.Cut(strconv.FormatFloat(known, 'f', -1, 64), ".")
	if len(rest) <= decimals {
		rest += strings.Repeat("0", decimals-len(rest))
	} else {
		up := rest[decimals] >= '5'
		digits := []byte(whole + rest[:decimals])
		for i := len(digits) - 1; up && i >= 0; i-- {
			if up = digits[i] == '9'; up {
				digits[i] = '0'
			} else {
				digits[i]++
			}
		}
		all := string(digits)
		if up {
			all = "1" + all
		}
		whole, rest = all[:len(all)-decimals], all[len(all)-decimals:]
	}
	if decimals == 0 {
		return whole
	}
	return whole + "." + rest
}

// fill puts digits into the placeholders.
func (s *section) fill(in shape, whole, decimals string, power int) string {
	for len(whole) < in.whole { // a blank for each placeholder without a digit
		whole = " " + whole
	}
	var b strings.Builder
	place := in.whole // placeholders before the point that are left
	behind := false
	show := func(c byte, holder string) {
		switch {
		case c != ' ':
			b.WriteByte(c)
		case holder == "0":
			b.WriteByte('0')
		case holder == "?":
			b.WriteByte(' ')
			return
		default:
			return
		}
		if left := place; in.grouped && !behind && left > 0 && left%3 == 0 {
			b.WriteByte(',')
		}
	}
	for i, t := range s.tokens {
		switch {
		case t.kind == literal || t.kind == percent:
			b.WriteString(t.text)
		case t.kind == exponent && i == in.exponent:
			b.WriteString(s.power(i, power))
			b.WriteString(s.literals(i + 1))
			return b.String()
		case t.kind == point && !behind:
			if behind = true; in.whole == 0 && whole != "" {
				b.WriteString(whole)
			}
			if rest := s.decimals(i+1, decimals); rest != "" {
				b.WriteString("." + rest)
			}
		case t.kind == digit && !behind:
			if place == in.whole { // the first one takes all digits for which there is no placeholder
				for n := len(whole) - in.whole; n > 0; n-- {
					place = in.whole + n - 1
					show(whole[0], "")
					whole = whole[1:]
				}
			}
			place = len(whole) - 1
			show(whole[0], t.text)
			whole = whole[1:]
		}
	}
	return b.String()
}

// decimals returns the digits behind the point, without those that the placeholders from token i on leave out.
func (s *section) decimals(i int, digits string) string {
	var holders string
	for _, t := range s.tokens[i:] {
		if t.kind == exponent {
			break
		}
		if t.kind == digit {
			holders += t.text
		}
	}
	n := min(len(digits), len(holders))
	for n > 0 && digits[n-1] == '0' && holders[n-1] != '0' {
		n--
	}
	return digits[:n]
}

// power writes the exponent by the placeholders behind token i.
func (s *section) power(i, power int) string {
	width := 0
	for _, t := range s.tokens[i+1:] {
		if t.kind == digit {
			width++
		}
	}
	sign := ""
	if power < 0 {
		sign = "-"
	} else if s.tokens[i].text == "+" {
		sign = "+"
	}
	return fmt.Sprintf("E%s%0*d", sign, min(width, 9), max(power, -power))
}

// literals returns the literals from token i on.
func (s *section) literals(i int) string {
	var b strings.Builder
	for _, t := range s.tokens[i:] {
		if t.kind == literal || t.kind == percent {
			b.WriteString(t.text)
		}
	}
	return b.String()
}

// fraction shows v as a whole number and a fraction, such as "2 1/3".
func (s *section) fraction(v float64) string {
	before, behind := 0, "" // placeholders in a row before the slash, and what stands behind it
	groups, last := 0, false
	at := 0
	for i, t := range s.tokens {
		if t.kind == slash {
			at = i
			break
		}
		if t.kind == digit {
			if !last {
				groups, before = groups+1, 0
			}
			before++
		}
		last = t.kind == digit
	}
	for _, t := range s.tokens[at+1:] {
		if t.kind == digit || t.kind == literal && t.text >= "0" && t.text <= "9" {
			behind += t.text
		}
	}
	sign := ""
	if v < 0 {
		sign = "-"
	}
	v = math.Abs(v)
	whole := math.Trunc(v)
	if groups < 2 { // no place for a whole number
		whole = 0
	}
	n, d := nearest(v-whole, max(before, 1))
	if fixed, err := strconv.Atoi(strings.TrimLeft(behind, "0#?")); err == nil && fixed > 0 {
		if full, err := strconv.Atoi(strings.TrimLeft(behind, "#?")); err == nil {
			fixed = full
		}
		n, d = math.Round((v-whole)*float64(fixed)), float64(fixed)
	}
	if n == d && groups > 1 {
		whole, n = whole+1, 0
	}
	switch {
	case n == 0:
		return sign + strconv.FormatFloat(whole, 'f', 0, 64)
	case whole == 0:
		return fmt.Sprintf("%s%.0f/%.0f", sign, n, d)
	}
	return fmt.Sprintf("%s%.0f %.0f/%.0f", sign, whole, n, d)
}

// nearest returns the fraction n/d next to v whose denominator has at most so many digits.
func nearest(v float64, digits int) (n, d float64) {
	most := math.Pow(10, float64(min(digits, 3))) - 1
	best := math.Inf(1)
	for try := 1.0; try <= most; try++ {
		at := math.Round(v * try)
		if off := math.Abs(v - at/try); off < best-1e-12 {
			n, d, best = at, try, off
		}
	}
	return n, d
}
