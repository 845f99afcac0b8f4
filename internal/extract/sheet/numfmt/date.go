package numfmt

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// date shows a number of days; ok is false for days that no calendar has.
func (s *section) date(v float64, epoch1904 bool) (out string, ok bool) {
	if v < 0 || v >= 2_958_466 { // to the end of 9999
		return "", false
	}
	decimals := 0 // of seconds
	for i, t := range s.tokens {
		if t.kind == point {
			for _, t := range s.tokens[i+1:] {
				if t.kind != digit {
					break
				}
				decimals++
			}
			break
		}
	}
	decimals = min(decimals, 3)
	step := time.Second / time.Duration(math.Pow10(decimals))
	ticks := int64(math.Round(v * 86400 * math.Pow10(decimals)))
	days, rest := ticks/(86400*int64(math.Pow10(decimals))), ticks%(86400*int64(math.Pow10(decimals)))
	t := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case epoch1904:
		t = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days < 60: // the calendar of spreadsheets has a 29 February 1900
		t = time.Date(1899, 12, 31, 0, 0, 0, 0, time.UTC)
	}
	t = t.AddDate(0, 0, int(days)).Add(time.Duration(rest) * step)
	var b strings.Builder
	for i, k := range s.tokens {
		switch k.kind {
		case literal, comma, slash, percent:
			b.WriteString(k.text)
		case point:
			if decimals > 0 {
				fmt.Fprintf(&b, ".%0*d", decimals, int64(t.Nanosecond())/int64(step))
			} else {
				b.WriteByte('.')
			}
		case half:
			word := "AM"
			if t.Hour() >= 12 {
				word = "PM"
			}
			b.WriteString(word[:len(k.text)/2])
		case unit:
			b.WriteString(s.unit(i, t, float64(ticks)*step.Seconds()))
		}
	}
	return b.String(), true
}

// unit shows one part of a time; total is the seconds since day 0.
func (s *section) unit(i int, t time.Time, total float64) string {
	name := s.tokens[i].text
	if name[0] == 'm' && s.minutes(i) {
		name = strings.Repeat("n", len(name))
	}
	hour := t.Hour()
	if s.has(half) {
		hour = (hour+11)%12 + 1
	}
	long := len(name) > 1
	switch name {
	case "[h]":
		return fmt.Sprintf("%.0f", math.Floor(total/3600))
	case "[m]":
		return fmt.Sprintf("%.0f", math.Floor(total/60))
	case "[s]":
		return fmt.Sprintf("%.0f", math.Floor(total))
	case "y", "yy":
		return t.Format("06")
	case "m", "d", "h", "n", "s", "mm", "dd", "hh", "nn", "ss":
		n := map[byte]int{'m': int(t.Month()), 'd': t.Day(), 'h': hour, 'n': t.Minute(), 's': t.Second()}[name[0]]
		if long {
			return fmt.Sprintf("%02d", n)
		}
		return fmt.Sprint(n)
	case "mmm":
		return t.Format("Jan")
	case "mmmmm":
		return t.Format("Jan")[:1]
	case "ddd", "aaa":
		return t.Format("Mon")
	}
	switch name[0] {
	case 'y', 'e':
		return fmt.Sprint(t.Year())
	case 'm':
		return t.Format("January")
	case 'd', 'a':
		return t.Format("Monday")
	}
	return ""
}

// minutes reports whether the m at token i follows hours or stands before seconds.
func (s *section) minutes(i int) bool {
	if len(s.tokens[i].text) > 2 {
		return false
	}
	for j := i - 1; j >= 0; j-- {
		if t := s.tokens[j]; t.kind == unit {
			if strings.ContainsAny(t.text, "h") {
				return true
			}
			break
		}
	}
	for _, t := range s.tokens[i+1:] {
		if t.kind == unit {
			return strings.ContainsAny(t.text, "s")
		}
	}
	return false
}
