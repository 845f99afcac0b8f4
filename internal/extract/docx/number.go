package docx

import (
	"encoding/xml"
	"strconv"
	"strings"

	"quarry/internal/extract/archive"
)

// maxLevels is how deep Word numbers lists.
const maxLevels = 9

// level says how one level of a list is numbered.
type level struct {
	format string // numFmt: decimal, bullet, lowerLetter, …
	text   string // lvlText: "%1.%2)"
	start  int
}

type list struct {
	abstract string
	levels   map[int]level // what this list says otherwise than its abstract one
}

// numbering is the lists of a document.
type numbering struct {
	lists    map[string]list          // by numId
	abstract map[string]map[int]level // by abstractNumId
}

// counter is the numbers of one list so far.
type counter struct {
	at   [maxLevels]int
	seen [maxLevels]bool
}

func readNumbering(a *archive.Archive, name string) (*numbering, error) {
	n := &numbering{lists: map[string]list{}, abstract: map[string]map[int]level{}}
	data, err := a.Read(name)
	if err != nil || data == nil {
		return n, err
	}
	x := archive.NewXML(data)
	return n, x.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "abstractNum":
			levels, _, err := readLevels(x)
			n.abstract[archive.Attr(e, "abstractNumId")] = levels
			return err
		case "num":
			levels, abstract, err := readLevels(x)
			n.lists[archive.Attr(e, "numId")] = list{abstract, levels}
			return err
		}
		return nil
	})
}

// readLevels reads the levels inside the element that was started last, and the abstract list that it names.
func readLevels(x *archive.XML) (map[int]level, string, error) {
	levels := map[int]level{}
	abstract := ""
	at, override := -1, -1
	err := x.Each(func(e xml.StartElement) error {
		value := archive.Attr(e, "val")
		l := levels[at]
		switch e.Name.Local {
		case "abstractNumId":
			abstract = value
		case "lvlOverride":
			override = number(archive.Attr(e, "ilvl"), 0)
		case "startOverride":
			levels[override] = level{start: number(value, 1)}
		case "lvl":
			at = number(archive.Attr(e, "ilvl"), 0)
			levels[at] = level{start: 1}
		case "start":
			l.start = number(value, 1)
			levels[at] = l
		case "numFmt":
			if l.format == "" {
				l.format = value
				levels[at] = l
			}
		case "lvlText":
			l.text = value
			levels[at] = l
		}
		return nil
	})
	return levels, abstract, err
}

func (n *numbering) level(numID string, at int) (level, bool) {
	l, ok := n.lists[numID]
	if !ok {
		return level{}, false
	}
	out, ok := n.abstract[l.abstract][at]
	if over, has := l.levels[at]; has {
		if over.format != "" {
			return over, true
		}
		out.start = over.start
	}
	return out, ok || out.start > 0
}

// mark counts one item and gives its bullet or number, "" when nothing is drawn.
func (r *reader) mark(numID string, at int) string {
	at = min(at, maxLevels-1)
	l, ok := r.numbering.level(numID, at)
	if !ok {
		return "-"
	}
	// Lists made from one abstract list count on together, unless they say where to start.
	id := r.numbering.lists[numID].abstract
	if len(r.numbering.lists[numID].levels) > 0 {
		id += "/" + numID
	}
	c := r.counters[id]
	if c == nil {
		c = &counter{}
		r.counters[id] = c
	}
	if c.seen[at] {
		c.at[at]++
	} else {
		c.at[at], c.seen[at] = l.start, true
	}
	for i := at + 1; i < maxLevels; i++ {
		c.seen[i] = false
	}
	switch l.format {
	case "bullet":
		return "-"
	case "none":
		return ""
	}
	return r.numberText(c, numID, l.text)
}

// numberText fills in a pattern like "%1.%2)".
func (r *reader) numberText(c *counter, numID, pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' || i+1 == len(pattern) || pattern[i+1] < '1' || pattern[i+1] > '9' {
			b.WriteByte(pattern[i])
			continue
		}
		i++
		at := int(pattern[i] - '1')
		l, _ := r.numbering.level(numID, at)
		n := c.at[at]
		if !c.seen[at] {
			n = l.start
		}
		b.WriteString(spell(n, l.format))
	}
	return strings.TrimSpace(b.String())
}

// spell writes a number in one of Word's formats; those of few documents are written in digits.
func spell(n int, format string) string {
	switch format {
	case "lowerLetter":
		return strings.ToLower(letters(n))
	case "upperLetter":
		return letters(n)
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "upperRoman":
		return roman(n)
	case "decimalZero":
		if n < 10 {
			return "0" + strconv.Itoa(n)
		}
	case "none", "bullet":
		return ""
	}
	return strconv.Itoa(n)
}

// letters counts A to Z, then AA, BB, as Word does.
func letters(n int) string {
	if n < 1 || n > 26*20 {
		return strconv.Itoa(n)
	}
	return strings.Repeat(string(rune('A'+(n-1)%26)), (n-1)/26+1)
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	for _, d := range []struct {
		value int
		text  string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for n >= d.value {
			b.WriteString(d.text)
			n -= d.value
		}
	}
	return b.String()
}
