package ooxml

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/sheet/numfmt"
)

// maxPoints bounds the cells of a chart's table.
const maxPoints = 100_000

// Drawing adds what the drawings of a sheet show: the texts of shapes, pictures or their alternative texts, and the data of charts.
func (p *Package) Drawing(part string, out *outline.Builder) error {
	relations, err := p.Relations(part)
	if err != nil {
		return err
	}
	var charts []string
	err = p.Each(part, func(x *archive.XML, e xml.StartElement) {
		switch e.Name.Local {
		case "pic":
			p.drawn(x, relations, out)
		case "cNvPr":
			out.Paragraph(outline.OneLine(archive.Attr(e, "descr")))
		case "p":
			out.Paragraph(Paragraph(x))
		case "chart":
			if target := Target(relations, RelationID(e)); target != "" {
				charts = append(charts, target)
			}
		case "Fallback":
			x.Skip()
		}
	})
	for _, chart := range charts {
		if err := p.Chart(chart, out); err != nil {
			return err
		}
	}
	return err
}

// drawn adds the picture that was started last.
func (p *Package) drawn(x *archive.XML, relations []Relation, out *outline.Builder) {
	var in outline.Picture
	target := ""
	x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "cNvPr":
			in.Title, in.Description = outline.OneLine(archive.Attr(e, "title")), outline.OneLine(archive.Attr(e, "descr"))
		case "blip":
			target = Target(relations, EmbeddedID(e))
		}
	})
	if out.Options.Pictures {
		in.Data = p.Picture(target)
	}
	if !out.Picture(in) {
		out.Paragraph(in.Words())
	}
}

// Paragraph returns the text of the paragraph of DrawingML that was started last, with its line breaks.
func Paragraph(x *archive.XML) string {
	var b strings.Builder
	x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "t":
			b.WriteString(x.Text())
		case "br":
			b.WriteByte('\n')
		case "tab":
			b.WriteByte(' ')
		case "oMath":
			b.WriteString(Math(x))
		case "Fallback":
			x.Skip()
		}
	})
	return strings.TrimSpace(b.String())
}

// series is a row of values of a chart, by the number of their category.
type series struct {
	name       string
	categories map[int]string
	values     map[int]string
}

// chartKinds maps the elements of charts to what people call them.
var chartKinds = map[string]string{
	"barChart": "bar chart", "bar3DChart": "bar chart", "lineChart": "line chart", "line3DChart": "line chart", "pieChart": "pie chart", "pie3DChart": "pie chart",
	"ofPieChart": "pie chart", "doughnutChart": "doughnut chart", "areaChart": "area chart", "area3DChart": "area chart", "scatterChart": "scatter chart",
	"bubbleChart": "bubble chart", "radarChart": "radar chart", "stockChart": "stock chart", "surfaceChart": "surface chart", "surface3DChart": "surface chart",
}

// Chart adds the data that a chart keeps of its source as a table: a row for each category, a column for each series. Its kind is
// part of its title.
func (p *Package) Chart(part string, out *outline.Builder) error {
	var all []series
	title, kind, points := "", "", 0
	err := p.Each(part, func(x *archive.XML, e xml.StartElement) {
		kind = cmp.Or(kind, chartKinds[e.Name.Local])
		switch e.Name.Local {
		case "title":
			if text := outline.OneLine(texts(x)); title == "" && len(all) == 0 {
				title = text
			}
		case "ser":
			s := series{}
			x.Each(func(e xml.StartElement) {
				switch e.Name.Local {
				case "tx":
					s.name = outline.OneLine(join(cached(x, &points)))
				case "cat", "xVal":
					s.categories = cached(x, &points)
				case "val", "yVal":
					s.values = cached(x, &points)
				case "dLbls", "extLst", "trendline", "errBars":
					x.Skip()
				}
			})
			all = append(all, s)
		case "extLst", "Fallback", "dLbls", "legend":
			x.Skip()
		}
	})
	if err != nil || len(all) == 0 || points > maxPoints {
		return err
	}
	places := map[int]string{} // by number, with the name of the category
	for _, s := range all {
		for at := range s.values {
			places[at] = cmp.Or(places[at], s.categories[at])
		}
	}
	if len(places)*(len(all)+1) > maxPoints {
		return nil
	}
	switch {
	case kind != "" && title != "":
		title += " (" + kind + ")"
	case kind != "":
		title = strings.ToUpper(kind[:1]) + kind[1:]
	}
	t := outline.Table{Title: title, Headers: [][]string{{""}}}
	for _, s := range all {
		t.Headers[0] = append(t.Headers[0], s.name)
	}
	for _, at := range sorted(places) {
		row := []string{places[at]}
		for _, s := range all {
			row = append(row, s.values[at])
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) > 0 {
		out.Table(t)
	} else {
		out.Paragraph(title)
	}
	return nil
}

// cached reads the points below the element that was started last, by their numbers, as they are displayed. Names of several levels are
// joined, and those that are no reference stand in v or t.
func cached(x *archive.XML, points *int) map[int]string {
	out := map[int]string{}
	format := numfmt.Parse("")
	x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "formatCode":
			format = numfmt.Parse(x.Text())
		case "pt":
			at, _ := strconv.Atoi(archive.Attr(e, "idx")) // 0 where it is missing
			text := outline.OneLine(value(x))
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				text = format.Number(v, false)
			}
			if *points++; *points > maxPoints || text == "" {
				return
			}
			if out[at] != "" {
				text += " " + out[at]
			}
			out[at] = text
		case "v", "t":
			out[len(out)] = x.Text()
		case "f":
			x.Skip()
		}
	})
	return out
}

// value returns the value of the point that was started last.
func value(x *archive.XML) (out string) {
	x.Each(func(e xml.StartElement) {
		if e.Name.Local == "v" {
			out = x.Text()
		}
	})
	return out
}

// texts returns the texts of all runs below the element that was started last.
func texts(x *archive.XML) string {
	var b strings.Builder
	x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "p":
			b.WriteString(Paragraph(x) + " ")
		case "v":
			b.WriteString(x.Text() + " ")
		}
	})
	return b.String()
}

func join(points map[int]string) string {
	var out []string
	for _, at := range sorted(points) {
		out = append(out, points[at])
	}
	return strings.Join(out, " ")
}

func sorted(m map[int]string) []int {
	keys := make([]int, 0, len(m))
	for at := range m {
		keys = append(keys, at)
	}
	slices.Sort(keys)
	return keys
}
