package userfn

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// datetimeValue returns t as a value, or null if ok is false.
func datetimeValue(t time.Time, ok bool) value {
	if !ok {
		return nothing
	}
	return value{kind: datetime, num: float64(t.Unix()) + float64(t.Nanosecond())/1e9}
}

// The formats of ISO 8601 that are accepted. A time without a zone is in UTC. time.Parse accepts a fraction after the
// seconds in any of them.
var (
	isoDates = []string{"2006-01-02", "20060102", "2006-01", "2006"}
	isoTimes = []string{"T15:04:05", "T15:04", "T15", "T150405", "T1504", " 15:04:05", " 15:04"}
	isoZones = []string{"", "Z07:00", "Z0700", "Z07"}
)

var isoLayouts = func() []string {
	layouts := append([]string(nil), isoDates...)
	for _, d := range isoDates[:2] {
		for _, t := range isoTimes {
			for _, z := range isoZones {
				layouts = append(layouts, d+t+z)
			}
		}
	}
	return layouts
}()

// parseISO parses a date or a date and time in one of isoLayouts.
func parseISO(s string) (time.Time, bool) {
	if len(s) > 64 {
		return time.Time{}, false
	}
	for _, l := range isoLayouts {
		if t, err := time.Parse(l, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// pattern is a date pattern with the letters of java.time.format.DateTimeFormatter, split into its fields.
type pattern []field

// field is a run of one pattern letter, or literal text.
type field struct {
	letter  byte // 0 for text
	count   int
	text    string
	exactly bool // has as many digits as letters, because another number follows without a separator
}

const (
	patternLetters = "yuMdHhmsSaEXZz"
	numeric        = "yuMdHhmsS"
)

func parsePattern(s string) (pattern, error) {
	if s == "" {
		return nil, errors.New("the pattern of datetime_parse is empty")
	}
	var out pattern
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\'':
			literal, size, ok := quotedText(s[i:])
			if !ok {
				return nil, errors.New("the pattern of datetime_parse has a quote without its end")
			}
			out, i = append(out, field{text: literal}), i+size
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			n := len(s[i:]) - len(strings.TrimLeft(s[i:], string(c)))
			if !strings.Contains(patternLetters, string(c)) || n > 9 {
				return nil, fmt.Errorf("the pattern of datetime_parse has %s, which is not one of its letters, %s; other letters must be in quotes", s[i:i+min(n, 9)], patternLetters)
			}
			out, i = append(out, field{letter: c, count: n}), i+n
		default:
			out, i = append(out, field{text: s[i : i+1]}), i+1
		}
	}
	for i := range len(out) - 1 {
		out[i].exactly = out[i].number() && out[i+1].number()
	}
	return out, nil
}

// quotedText parses the text in single quotes at the start of s, where two quotes mean one, and returns its size with the
// quotes.
func quotedText(s string) (literal string, size int, ok bool) {
	if strings.HasPrefix(s, "''") {
		return "'", 2, true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != '\'':
			b.WriteByte(s[i])
		case i+1 < len(s) && s[i+1] == '\'':
			b.WriteByte('\'')
			i++
		default:
			return b.String(), i + 1, true
		}
	}
	return "", 0, false
}

func (f field) number() bool {
	return f.letter != 0 && strings.Contains(numeric, string(f.letter)) && !(f.letter == 'M' && f.count > 2)
}

// clock holds the fields of a date and time as they are parsed.
type clock struct {
	year, month, day, hour, minute, second, nano int
	hour12                                       int // 1 to 12, of letter h; -1 if there is none
	half                                         int // of the day: 1 for AM, 2 for PM, 0 if there is none
	zone                                         int // seconds east of UTC
}

// parse parses all of s according to the pattern. Fields that the pattern does not have are those of 1970-01-01T00:00Z.
func (p pattern) parse(s string) (time.Time, bool) {
	c := clock{year: 1970, month: 1, day: 1, hour12: -1}
	for _, f := range p {
		size := f.read(s, &c)
		if size < 0 {
			return time.Time{}, false
		}
		s = s[size:]
	}
	if s != "" {
		return time.Time{}, false
	}
	return c.time()
}

// time returns the time of the fields; ok is false if there is none, such as on 30 February.
func (c *clock) time() (t time.Time, ok bool) {
	if c.hour12 >= 0 {
		if c.hour12 < 1 || c.hour12 > 12 {
			return time.Time{}, false
		}
		c.hour = c.hour12 % 12
		if c.half == 2 {
			c.hour += 12
		}
	}
	if c.hour > 23 || c.minute > 59 || c.second > 59 {
		return time.Time{}, false
	}
	t = time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second, c.nano, time.FixedZone("", c.zone))
	if t.Day() != c.day || int(t.Month()) != c.month { // time.Date has normalised 30 February to March
		return time.Time{}, false
	}
	return t, true
}

// read parses the field at the start of s and returns its size in bytes, or -1 if it is not there.
func (f field) read(s string, c *clock) int {
	switch {
	case f.letter == 0:
		if !strings.HasPrefix(s, f.text) {
			return -1
		}
		return len(f.text)
	case f.number():
		return f.readNumber(s, c)
	}
	switch f.letter {
	case 'M':
		i, size := oneOf(s, monthNames, f.count == 3)
		c.month = i + 1
		return size
	case 'E':
		_, size := oneOf(s, dayNames, f.count <= 3)
		return size
	case 'a':
		i, size := oneOf(s, []string{"AM", "PM"}, false)
		c.half = i + 1
		return size
	}
	return readZone(s, &c.zone)
}

// readNumber is read for a numeric field. Numbers may have more digits than the field has letters, unless another number
// follows directly; fractions of a second have exactly as many.
func (f field) readNumber(s string, c *clock) int {
	most := 9
	switch {
	case f.exactly || f.letter == 'S':
		most = f.count
	case f.letter != 'y' && f.letter != 'u':
		most = 2
	}
	n, v := 0, 0
	for n < len(s) && n < most && s[n] >= '0' && s[n] <= '9' {
		v = 10*v + int(s[n]-'0')
		n++
	}
	if n == 0 || f.count == 2 && n < 2 || (f.exactly || f.letter == 'S') && n < f.count {
		return -1
	}
	switch f.letter {
	case 'y', 'u':
		if f.count == 2 && n == 2 {
			v += 2000 // as Java does
		}
		c.year = v
	case 'M':
		c.month = v
	case 'd':
		c.day = v
	case 'H':
		c.hour = v
	case 'h':
		c.hour12 = v
	case 'm':
		c.minute = v
	case 's':
		c.second = v
	case 'S':
		for range 9 - n {
			v *= 10
		}
		c.nano = v
	}
	return n
}

var (
	monthNames = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	dayNames   = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
)

// oneOf parses one of the names, or if short the first three letters of one, in any case. It returns the name's index and
// the size in bytes, which is -1 if s begins with none of them.
func oneOf(s string, names []string, short bool) (which, size int) {
	for i, n := range names {
		if short {
			n = n[:3]
		}
		if len(s) >= len(n) && strings.EqualFold(s[:len(n)], n) {
			return i, len(n)
		}
	}
	return 0, -1
}

// zones are the accepted abbreviations of time zones, in minutes east of UTC. Ambiguous ones have their most common
// meaning.
var zones = map[string]int{
	"Z": 0, "UTC": 0, "GMT": 0, "UT": 0, "WET": 0, "WEST": 60, "BST": 60, "CET": 60, "CEST": 120, "EET": 120, "EEST": 180,
	"MSK": 180, "IST": 330, "JST": 540, "KST": 540, "AEST": 600, "AEDT": 660,
	"EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420,
}

// readZone parses an abbreviation, an offset such as +02, +0200 or +02:00, or an abbreviation of UTC followed by such an
// offset (GMT+02, but not GMT+2). It returns the size in bytes, or -1 if there is none.
func readZone(s string, seconds *int) int {
	letters := 0
	for letters < len(s) && s[letters] >= 'A' && s[letters] <= 'Z' {
		letters++
	}
	if letters > 0 {
		minutes, ok := zones[s[:letters]]
		if !ok {
			return -1
		}
		*seconds = 60 * minutes
		if minutes != 0 || letters == len(s) || s[letters] != '+' && s[letters] != '-' {
			return letters
		}
	}
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if size := letters + len(layout); len(s) >= size {
			if t, err := time.Parse(layout, s[letters:size]); err == nil {
				_, *seconds = t.Zone()
				return size
			}
		}
	}
	if letters > 0 {
		return letters
	}
	return -1
}
