package pptx

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/ooxml"
	"quarry/internal/extract/outline"
)

// Limits of a table: PowerPoint has 75 rows and columns.
const (
	maxColumns = 500
	maxCells   = 200_000
)

// shape is one thing on a slide.
type shape struct {
	kind        string // of its placeholder, such as "body"; "" for none
	title       bool
	paragraphs  []paragraph
	description string // of a picture
	picture     string // its part
	table       outline.Table
	chart       string // its part
	diagram     string // the part with its texts
}

// paragraph is a paragraph of a shape; bullet is empty for those that are no item of a list.
type paragraph struct {
	text, bullet string
	level        int
}

// text returns the texts of all paragraphs.
func (s *shape) text() string {
	var b strings.Builder
	for _, p := range s.paragraphs {
		b.WriteString(p.text + " ")
	}
	return b.String()
}

// shapes reads what is on a slide; hidden reports whether it is not shown.
func (s *show) shapes(part string) (all []shape, hidden bool, err error) {
	relations, err := s.pack.Relations(part)
	if err != nil {
		return nil, false, err
	}
	targets := map[string]string{}
	for _, r := range relations {
		targets[r.ID] = r.Target
	}
	found := false
	err = s.pack.Each(part, func(x *archive.XML, e xml.StartElement) {
		switch e.Name.Local {
		case "sld":
			show := archive.Attr(e, "show")
			hidden, found = show == "0" || show == "false", true
		case "notes":
			found = true
		case "sp", "pic", "graphicFrame", "cxnSp":
			if in, shown := readShape(x, targets); shown {
				all = append(all, in)
			}
		case "Fallback":
			x.Skip()
		} // grpSp: the shapes inside are visited
	})
	if err == nil && !found {
		err = fmt.Errorf("%w: the slide %s is missing", outline.ErrUnparsable, part)
	}
	return all, hidden, err
}

// readShape reads the shape that was started last; shown is false for hidden ones, footers, dates and numbers.
func readShape(x *archive.XML, targets map[string]string) (out shape, shown bool) {
	shown = true
	listed := false
	numbers := map[int]int{}
	x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "cNvPr":
			shown = shown && !truth(archive.Attr(e, "hidden"))
			out.description = outline.OneLine(archive.Attr(e, "descr"))
		case "ph":
			out.kind = archive.Attr(e, "type")
			switch out.kind {
			case "title", "ctrTitle":
				out.title = true
			case "dt", "ftr", "hdr", "sldNum", "sldImg":
				shown = false
			case "", "body", "obj":
				listed = true // by the layout
			}
		case "p":
			if p := readParagraph(x, listed, numbers); p.text != "" {
				out.paragraphs = append(out.paragraphs, p)
			}
		case "tbl":
			out.table = readTable(x)
		case "chart":
			out.chart = targets[ooxml.RelationID(e)]
		case "blip":
			out.picture = cmp.Or(out.picture, targets[ooxml.EmbeddedID(e)])
		case "relIds":
			out.diagram = targets[archive.Attr(e, "dm")]
		case "Fallback", "extLst":
			x.Skip()
		}
	})
	if listed && len(out.paragraphs) == 1 && out.paragraphs[0].bullet == "-" { // one item is no list
		out.paragraphs[0].bullet = ""
	}
	return out, shown
}

func truth(s string) bool { return s == "1" || s == "true" }

// readParagraph reads the paragraph that was started last; listed says that it is an item unless it says otherwise, and numbers counts the
// numbered items of each level so far.
func readParagraph(x *archive.XML, listed bool, numbers map[int]int) (p paragraph) {
	var b strings.Builder
	number := 0
	if listed {
		p.bullet = "-"
	}
	x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "pPr":
			p.level, _ = strconv.Atoi(archive.Attr(e, "lvl")) // 0 where it is missing
		case "buNone":
			p.bullet = ""
		case "buChar", "buBlip":
			p.bullet = "-"
		case "buAutoNum":
			if number, _ = strconv.Atoi(archive.Attr(e, "startAt")); number < 1 {
				number = 1
			}
		case "t":
			b.WriteString(x.Text())
		case "br":
			b.WriteByte('\n')
		case "Fallback":
			x.Skip()
		}
	})
	p.text, p.level = strings.TrimSpace(b.String()), max(p.level, 0)
	if number > 0 && p.text != "" {
		numbers[p.level] = max(numbers[p.level]+1, number)
		p.bullet = strconv.Itoa(numbers[p.level]) + "."
	} else {
		delete(numbers, p.level)
	}
	return p
}

// readTable reads the table that was started last. A merged cell is repeated in every place that it covers.
func readTable(x *archive.XML) (t outline.Table) {
	header, cells := false, 0
	var rows [][]string
	x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "tblPr":
			header = truth(archive.Attr(e, "firstRow"))
		case "tr":
			rows = append(rows, nil)
		case "tc":
			if len(rows) == 0 {
				return
			}
			row := &rows[len(rows)-1]
			text := cellText(x)
			if at := len(*row); truth(archive.Attr(e, "vMerge")) && len(rows) > 1 && at < len(rows[len(rows)-2]) {
				text = rows[len(rows)-2][at]
			} else if truth(archive.Attr(e, "hMerge")) && at > 0 {
				text = (*row)[at-1]
			}
			if cells++; cells <= maxCells && len(*row) < maxColumns {
				*row = append(*row, text)
			}
		}
	})
	if header && len(rows) > 1 {
		t.Headers, rows = rows[:1], rows[1:]
	}
	t.Rows = rows
	return t
}

// cellText returns the text of the cell that was started last, on one line.
func cellText(x *archive.XML) string {
	var words []string
	x.Each(func(e xml.StartElement) {
		if e.Name.Local == "p" {
			words = append(words, strings.Fields(ooxml.Paragraph(x))...)
		}
	})
	return strings.Join(words, " ")
}
