package main

import (
	"fmt"
	"html"
	"strings"
	"time"
)

// film is what a terminal showed over time.
type film struct {
	screen *screen
	rows   int
	at     time.Duration
	frames []frame
}

// frame is the picture from a time on: its lines, drawn.
type frame struct {
	at    time.Duration
	lines []string
}

func newFilm(columns, rows int) *film {
	return &film{screen: &screen{columns: columns}, rows: rows}
}

// shortest is the time that a picture stands at least; what changes faster is drawn once.
const shortest = 60 * time.Millisecond

// show writes text to the screen after a pause.
func (f *film) show(text string, pause time.Duration) {
	f.at += pause
	f.screen.write(text)
	var drawn []string
	for _, line := range f.screen.last(f.rows) {
		drawn = append(drawn, draw(line))
	}
	next := frame{f.at, drawn}
	if n := len(f.frames); n > 1 && f.at-f.frames[n-1].at < shortest {
		next.at = f.frames[n-1].at
		f.frames[n-1] = next
		return
	}
	f.frames = append(f.frames, next)
}

// draw returns a line as the inside of an SVG text: runs of characters that look the same.
func draw(line []cell) string {
	var out strings.Builder
	for from := 0; from < len(line); {
		to := from + 1
		for to < len(line) && line[to].style == line[from].style {
			to++
		}
		var letters strings.Builder
		for _, c := range line[from:to] {
			letters.WriteRune(c.letter)
		}
		out.WriteString(run(letters.String(), line[from].style))
		from = to
	}
	return strings.TrimRight(out.String(), " ")
}

func run(letters string, s style) string {
	text := html.EscapeString(letters)
	if s == (style{}) {
		return text
	}
	attributes := ""
	if s.bold {
		attributes += ` font-weight="bold"`
	}
	if s.faint {
		attributes += ` fill-opacity=".6"`
	}
	if s.colour != "" {
		attributes += ` fill="` + s.colour + `"`
	}
	return "<tspan" + attributes + ">" + text + "</tspan>"
}

// Measures of the picture, in pixels.
const (
	letterWidth = 8.4
	lineHeight  = 19
	margin      = 16
)

// pauseAtEnd is how long the last picture stands before the film begins again.
const pauseAtEnd = 6 * time.Second

// svg returns the film as a picture: all frames side by side, of which a window shows one at a time. Who asked their
// system for less motion sees the last one.
func (f *film) svg() string {
	width := int(letterWidth*float64(f.screen.columns)) + 2*margin
	height := f.rows*lineHeight + 2*margin
	total := f.at + pauseAtEnd
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="A terminal session with Quarry">`, width, height, width, height)
	fmt.Fprintf(&b, "\n<style>\ntext{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d7dee7;white-space:pre}\n#film{animation:film %.2fs step-end infinite}\n@keyframes film{", total.Seconds())
	for i, fr := range f.frames {
		fmt.Fprintf(&b, "%.3f%%{transform:translateX(-%dpx)}", 100*fr.at.Seconds()/total.Seconds(), i*width)
	}
	last := (len(f.frames) - 1) * width
	fmt.Fprintf(&b, "}\n@media (prefers-reduced-motion:reduce){#film{animation:none;transform:translateX(-%dpx)}}\n</style>\n", last)
	names, defs := f.names()
	fmt.Fprintf(&b, "<defs>\n%s</defs>\n<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#161b22\"/>\n<g id=\"film\">\n", defs, width, height)
	for i, fr := range f.frames {
		b.WriteString("<g>")
		for row, line := range fr.lines {
			if line != "" {
				fmt.Fprintf(&b, `<use href="#%s" x="%d" y="%d"/>`, names[line], i*width+margin, margin+row*lineHeight+lineHeight*3/4)
			}
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// names returns a name for every line that occurs, and the definitions of the names: a line is written once, however long
// it stands.
func (f *film) names() (map[string]string, string) {
	names := map[string]string{}
	var defs strings.Builder
	for _, fr := range f.frames {
		for _, line := range fr.lines {
			if line == "" || names[line] != "" {
				continue
			}
			names[line] = fmt.Sprintf("l%d", len(names))
			fmt.Fprintf(&defs, "<text id=\"%s\" xml:space=\"preserve\">%s</text>\n", names[line], line)
		}
	}
	return names, defs.String()
}
