// Package path reads from the paths of a page's content (ISO 32000-1, 8.5) the horizontal and vertical lines that are drawn, and the
// edges of the rectangles that are filled: what may be the rules of tables.
package path

import (
	"math"

	"quarry/internal/extract/pdf/syntax"
	"quarry/internal/extract/pdf/table"
)

// Limits of the lines of a page, beyond which it is a drawing without tables.
const (
	maxLinesDrawn = 30_000 // horizontal and vertical ones
	maxPath       = 20_000 // points of a path
	thick         = 4      // points, from which a line is an area
	straight      = 0.6    // points by which a line may lean
)

// Ruler collects the lines that paths draw.
type Ruler struct {
	Rules  []table.Rule
	paths  [][]point // of the path that is being made
	size   int       // its points
	budget *syntax.Budget
}

// New returns a ruler that pays for what it keeps.
func New(b *syntax.Budget) *Ruler { return &Ruler{budget: b} }

type point struct{ x, y float64 }

// Pen is the part of the graphics state that matters for lines.
type Pen struct {
	Width        float64
	Lines, Areas bool // whether their colour is white, so that nobody sees them
}

// Mapping takes a point of the content to the page.
type Mapping func(x, y float64) (float64, float64)

// Do executes an operator that makes or draws a path, or chooses a colour or the width of lines; others do nothing.
func (r *Ruler) Do(op string, args []syntax.Object, p *Pen, m Mapping) {
	at := func(x, y float64) point {
		x, y = m(x, y)
		return point{x, y}
	}
	end := func() point { return at(number(args, 1), number(args, 0)) }
	switch op {
	case "m":
		r.begin(end())
	case "l":
		r.to(end())
	case "c", "v", "y": // only where they end matters for what follows; a curve is no rule
		r.begin(end())
	case "h":
		r.close()
	case "re":
		x, y, w, h := number(args, 3), number(args, 2), number(args, 1), number(args, 0)
		r.begin(at(x, y))
		r.to(at(x+w, y))
		r.to(at(x+w, y+h))
		r.to(at(x, y+h))
		r.close()
	case "s", "b", "b*":
		r.close()
		r.draw(p, m, true, op != "s")
	case "S":
		r.draw(p, m, true, false)
	case "B", "B*":
		r.draw(p, m, true, true)
	case "f", "F", "f*":
		r.draw(p, m, false, true)
	case "n":
		r.paths, r.size = r.paths[:0], 0
	case "w":
		p.Width = number(args, 0)
	case "g", "rg", "k", "sc", "scn": // one operand of the last two is an amount of some ink
		p.Areas = white(args) && (op == "g" || len(args) > 1)
	case "G", "RG", "K", "SC", "SCN":
		p.Lines = white(args) && (op == "G" || len(args) > 1)
	}
}

// white reports whether operands of a colour are white: as grey, as red, green and blue, or as four inks.
func white(args []syntax.Object) bool {
	sum := 0.0
	for _, a := range args {
		v, ok := syntax.Number(a)
		if !ok {
			return false
		}
		sum += v
	}
	return (len(args) == 1 || len(args) == 3) && sum >= 0.99*float64(len(args)) || len(args) == 4 && sum <= 0.01
}

// number returns the i-th operand from the end, or 0 if it is missing or not a number.
func number(args []syntax.Object, i int) float64 {
	if i >= len(args) {
		return 0
	}
	v, _ := syntax.Number(args[len(args)-1-i])
	return v
}

func (r *Ruler) begin(to point) {
	if r.size < maxPath {
		r.paths = append(r.paths, []point{to})
		r.size++
	}
}

func (r *Ruler) to(to point) {
	if n := len(r.paths) - 1; n >= 0 && r.size < maxPath {
		r.paths[n] = append(r.paths[n], to)
		r.size++
	}
}

func (r *Ruler) close() {
	if n := len(r.paths) - 1; n >= 0 && len(r.paths[n]) > 1 {
		start := r.paths[n][0]
		r.to(start)
		r.begin(start)
	}
}

// draw ends a path, drawing its lines or filling it.
func (r *Ruler) draw(p *Pen, m Mapping, lines, area bool) {
	x0, y0 := m(0, 0)
	ax, ay := m(1, 0)
	bx, by := m(0, 1)
	width := p.Width * math.Sqrt(math.Abs((ax-x0)*(by-y0)-(ay-y0)*(bx-x0)))
	for _, path := range r.paths {
		if area && !p.Areas {
			r.area(path)
		}
		for i := 1; i < len(path) && lines && !p.Lines; i++ {
			r.stroke(path[i-1], path[i], width)
		}
	}
	r.paths, r.size = r.paths[:0], 0
}

// area records the edges of a filled rectangle. One that is thin is a line.
func (r *Ruler) area(path []point) {
	if len(path) < 4 || len(path) > 6 {
		return
	}
	low, high := path[0], path[0]
	for i, q := range path {
		low = point{min(low.x, q.x), min(low.y, q.y)}
		high = point{max(high.x, q.x), max(high.y, q.y)}
		if i > 0 && math.Abs(q.x-path[i-1].x) > straight && math.Abs(q.y-path[i-1].y) > straight {
			return
		}
	}
	switch w, h := high.x-low.x, high.y-low.y; {
	case h < thick && w > 2*h:
		r.rule(low.x, (low.y+high.y)/2, high.x, (low.y+high.y)/2)
	case w < thick && h > 2*w:
		r.rule((low.x+high.x)/2, low.y, (low.x+high.x)/2, high.y)
	case w >= thick && h >= thick:
		r.rule(low.x, low.y, high.x, low.y)
		r.rule(low.x, high.y, high.x, high.y)
		r.rule(low.x, low.y, low.x, high.y)
		r.rule(high.x, low.y, high.x, high.y)
	}
}

// stroke records a line if it is horizontal or vertical.
func (r *Ruler) stroke(a, b point, width float64) {
	across, down := math.Abs(a.y-b.y) <= straight, math.Abs(a.x-b.x) <= straight
	x0, x1, y0, y1 := min(a.x, b.x), max(a.x, b.x), min(a.y, b.y), max(a.y, b.y)
	switch half := width / 2; {
	case across == down: // leaning, or a dot
	case width >= thick && across:
		r.area([]point{{x0, y0 - half}, {x1, y0 - half}, {x1, y0 + half}, {x0, y0 + half}})
	case width >= thick:
		r.area([]point{{x0 - half, y0}, {x0 + half, y0}, {x0 + half, y1}, {x0 - half, y1}})
	case across:
		r.rule(x0, (y0+y1)/2, x1, (y0+y1)/2)
	default:
		r.rule((x0+x1)/2, y0, (x0+x1)/2, y1)
	}
}

func (r *Ruler) rule(x0, y0, x1, y1 float64) {
	for _, v := range []float64{x0, y0, x1, y1} {
		if !(v > -1e6 && v < 1e6) { // NaN is neither
			return
		}
	}
	if len(r.Rules) <= maxLinesDrawn && r.budget.Keep(16) && r.budget.Step() {
		r.Rules = append(r.Rules, table.Rule{X0: float32(x0), Y0: float32(y0), X1: float32(x1), Y1: float32(y1)})
	}
}

// Drawing reports whether there are more lines than a page of tables has.
func (r *Ruler) Drawing() bool { return len(r.Rules) > maxLinesDrawn }
