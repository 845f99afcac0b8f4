package docx

import (
	"encoding/xml"
	"strconv"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/numeral"
)

// maxLevels is the number of levels that a list in Word has.
const maxLevels = 9

// level is the numbering of one level of a list.
type level struct {
	format string // numFmt: decimal, bullet, lowerLetter, …
	text   string // lvlText, such as "%1.%2)"
	start  int
}

// list is a numbering instance (ECMA-376 part 1, section 17.9): an abstract list with overrides.
type list struct {
	abstract string
	levels   map[int]level // overrides of the abstract list's levels
}

// numbering holds the lists of a document.
type numbering struct {
	lists    map[string]list          // by numId
	abstract map[string]map[int]level // by abstractNumId
}

// counter holds the current numbers of one list.
type counter struct {
	at   [maxLevels]int
	seen [maxLevels]bool // whether the level has had an item since the last item of a higher level
}

func readNumbering(a *archive.Archive, name string) (*numbering, error) {
	n := &numbering{lists: map[string]list{}, abstract: map[string]map[int]level{}}
	return n, a.Each(name, func(x *archive.XML, e xml.StartElement) {
		switch e.Name.Local {
		case "abstractNum":
			n.abstract[archive.Attr(e, "abstractNumId")] = readLevels(x).levels
		case "num":
			n.lists[archive.Attr(e, "numId")] = readLevels(x)
		}
	})
}

// readLevels reads the levels inside the element that was started last, and the id of the abstract list that it refers to.
func readLevels(x *archive.XML) list {
	levels := map[int]level{}
	abstract := ""
	at, override := -1, -1
	x.Each(func(e xml.StartElement) {
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
	})
	return list{abstract, levels}
}

// level returns the numbering of one level of a list, from 0; ok is false if the list or the level is not declared.
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

// mark counts an item of a list and returns its bullet or number, or "" if it has none.
func (r *reader) mark(numID string, at int) string {
	at = min(at, maxLevels-1)
	l, ok := r.numbering.level(numID, at)
	if !ok {
		return "-"
	}
	// Instances of the same abstract list share one count, unless they have overrides.
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

// numberText returns the pattern of a level with the current numbers filled in: %1 is that of the first level.
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

// spell returns n in one of Word's formats (ST_NumberFormat). Rare formats are written in digits.
func spell(n int, format string) string {
	switch format {
	case "lowerLetter":
		return strings.ToLower(numeral.Letters(n))
	case "upperLetter":
		return numeral.Letters(n)
	case "lowerRoman":
		return strings.ToLower(numeral.Roman(n))
	case "upperRoman":
		return numeral.Roman(n)
	case "decimalZero":
		if n < 10 {
			return "0" + strconv.Itoa(n)
		}
	case "none", "bullet":
		return ""
	}
	return strconv.Itoa(n)
}
