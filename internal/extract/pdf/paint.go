package pdf

import (
	"math"
	"slices"
	"strings"

	"quarry/internal/extract/pdf/font"
	"quarry/internal/extract/pdf/info"
	"quarry/internal/extract/pdf/path"
	"quarry/internal/extract/pdf/scan"
	"quarry/internal/extract/pdf/syntax"
)

// Limits of the content of a page.
const (
	maxForms    = 12     // nested form XObjects
	maxDrawn    = 20_000 // form XObjects drawn in all, as nested ones can multiply; images
	maxStates   = 512    // saved graphics states
	maxOperands = 64     // of an operator
)

// glyph is a piece of text and its position on the page, in points, in coordinates that are rotated so that it reads from
// left to right. y is that of the baseline and grows upwards.
type glyph struct {
	text      string
	x0, x1, y float32
	size      float32 // of the font
	space     float32 // the width of the font's space
	bold      bool
	direction uint8 // the rotation of the coordinates, in quarter turns
	artifact  bool  // marked by the file as header, footer or watermark
}

// matrix maps (x, y) to (a·x + c·y + e, b·x + d·y + f), as in ISO 32000-1, 8.3.3.
type matrix struct{ a, b, c, d, e, f float64 }

var unit = matrix{a: 1, d: 1}

// times returns the mapping that applies m first and n second.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d, m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

func (m matrix) apply(x, y float64) (float64, float64) {
	return m.a*x + m.c*y + m.e, m.b*x + m.d*y + m.f
}

// state is the part of the graphics state that matters for text (ISO 32000-1, 9.3.1). The operator q saves it.
type state struct {
	ctm                             matrix // the current transformation matrix
	font                            *font.Font
	size, char, word, rise, leading float64
	stretch                         float64 // horizontal scaling, 1 for 100 %
	pen                             path.Pen
}

// painter interprets the content of a page and collects its glyphs.
type painter struct {
	file   *syntax.File
	fonts  map[syntax.Ref]*font.Font
	glyphs []glyph
	ruler  *path.Ruler // nil where no lines are wanted
	images []scan.Image
	inside []syntax.Object // the forms that are being drawn, outermost first
	drawn  int             // forms drawn on the page so far

	state
	saved    []state
	tm, line matrix // the text matrix and the text line matrix
	marks    []mark // open marked content, outermost first
}

// mark is an open marked-content sequence (ISO 32000-1, 14.6).
type mark struct {
	text     string // its ActualText, which replaces its glyphs
	replaced bool   // whether it has ActualText
	artifact bool
	from     int // index of its first glyph
}

// resources resolve the names in a content stream.
type resources struct {
	dict  syntax.Dict
	fonts map[syntax.Name]*font.Font // cache of fonts that are direct objects
}

// run interprets a content stream.
func (p *painter) run(data []byte, r *resources) {
	l := syntax.NewLexer(data, p.file.Budget)
	var args []syntax.Object
	floor := len(p.saved)
	for !l.End() {
		o := l.Next()
		op, ok := o.(syntax.Keyword)
		if !ok {
			if len(args) == maxOperands {
				args = args[1:]
			}
			args = append(args, o)
			continue
		}
		if op == "BI" {
			l.InlineImage()
			p.image(nil)
		} else {
			p.operator(string(op), args, r, floor)
		}
		args = args[:0]
	}
	if len(p.saved) > floor {
		p.state, p.saved = p.saved[floor], p.saved[:floor]
	}
}

// number returns the i-th operand from the end, or 0 if it is missing or not a number.
func number(args []syntax.Object, i int) float64 {
	if i >= len(args) {
		return 0
	}
	v, _ := syntax.Number(args[len(args)-1-i])
	return v
}

// matrixOf returns the matrix in the last six operands.
func matrixOf(args []syntax.Object) matrix {
	return matrix{number(args, 5), number(args, 4), number(args, 3), number(args, 2), number(args, 1), number(args, 0)}
}

func (p *painter) operator(op string, args []syntax.Object, r *resources, floor int) {
	switch op {
	case "q":
		if len(p.saved) < maxStates {
			p.saved = append(p.saved, p.state)
		}
	case "Q":
		if n := len(p.saved); n > floor {
			p.state, p.saved = p.saved[n-1], p.saved[:n-1]
		}
	case "cm":
		p.ctm = matrixOf(args).times(p.ctm)
	case "Do":
		if len(args) > 0 {
			name, _ := args[len(args)-1].(syntax.Name)
			p.object(name, r)
		}
	case "BMC", "BDC":
		p.open(op, args, r)
	case "EMC":
		p.close()
	default:
		if p.ruler != nil {
			p.ruler.Do(op, args, &p.pen, p.ctm.apply)
		}
		p.textOperator(op, args, r)
	}
}

// textOperator executes the operators of ISO 32000-1, 9.3 and 9.4.
func (p *painter) textOperator(op string, args []syntax.Object, r *resources) {
	switch op {
	case "BT":
		p.tm, p.line = unit, unit
	case "Tf":
		if len(args) >= 2 {
			name, _ := args[len(args)-2].(syntax.Name)
			p.font, p.size = p.fontOf(name, r), number(args, 0)
		}
	case "Tc":
		p.char = number(args, 0)
	case "Tw":
		p.word = number(args, 0)
	case "Tz":
		p.stretch = number(args, 0) / 100
	case "TL":
		p.leading = number(args, 0)
	case "Ts":
		p.rise = number(args, 0)
	case "Td":
		p.move(number(args, 1), number(args, 0))
	case "TD":
		p.leading = -number(args, 0)
		p.move(number(args, 1), number(args, 0))
	case "Tm":
		p.tm = matrixOf(args)
		p.line = p.tm
	case "T*":
		p.move(0, -p.leading)
	case "Tj":
		p.show(args)
	case "'":
		p.move(0, -p.leading)
		p.show(args)
	case "\"":
		p.word, p.char = number(args, 2), number(args, 1)
		p.move(0, -p.leading)
		p.show(args)
	case "TJ":
		if len(args) > 0 {
			all, _ := args[len(args)-1].(syntax.Array)
			p.show(all)
		}
	}
}

func (p *painter) move(x, y float64) {
	p.line = matrix{1, 0, 0, 1, x, y}.times(p.line)
	p.tm = p.line
}

// show draws strings and moves by the numbers between them, which are in thousandths of the font size.
func (p *painter) show(all []syntax.Object) {
	for _, o := range all {
		if v, ok := syntax.Number(o); ok {
			p.tm = matrix{1, 0, 0, 1, -v / 1000 * p.size * p.stretch, 0}.times(p.tm)
			continue
		}
		s, ok := o.(syntax.String)
		if !ok || p.font == nil {
			continue
		}
		p.font.Glyphs(string(s), func(g font.Glyph) bool {
			advance := g.Width*p.size + p.char
			if g.Space {
				advance += p.word
			}
			p.draw(g.Text, g.Width*p.size*p.stretch)
			p.tm = matrix{1, 0, 0, 1, advance * p.stretch, 0}.times(p.tm)
			return p.file.Budget.Step()
		})
	}
}

// draw records a glyph at the current position; width is in text space.
func (p *painter) draw(text string, width float64) {
	if text == "" {
		return
	}
	m := p.tm.times(p.ctm)
	x0, y0 := m.c*p.rise+m.e, m.d*p.rise+m.f
	x1, y1 := x0+m.a*width, y0+m.b*width
	size := math.Abs(p.size) * math.Hypot(m.c, m.d)
	g := glyph{text: text, size: float32(size), bold: p.font.Bold}
	g.space = float32(p.font.SpaceWidth * size)
	right, up := m.a*p.size, m.b*p.size
	switch {
	case math.Abs(right) >= math.Abs(up) && right >= 0:
	case math.Abs(right) >= math.Abs(up):
		g.direction = 2
	case up > 0:
		g.direction = 1
	default:
		g.direction = 3
	}
	x0, y0 = turn(x0, y0, g.direction)
	x1, _ = turn(x1, y1, g.direction)
	g.x0, g.x1, g.y = float32(min(x0, x1)), float32(max(x0, x1)), float32(y0)
	for _, k := range p.marks {
		g.artifact = g.artifact || k.artifact
	}
	ok := func(v float32) bool { return v > -1e6 && v < 1e6 } // false for NaN, too
	if ok(g.x0) && ok(g.x1) && ok(g.y) && ok(g.size) && g.size > 0 && p.file.Budget.Keep(112+len(text)) {
		p.glyphs = append(p.glyphs, g)
	}
}

// turn rotates a point clockwise by quarter turns.
func turn(x, y float64, quarters uint8) (float64, float64) {
	switch quarters {
	case 1:
		return y, -x
	case 2:
		return -x, -y
	case 3:
		return -y, x
	}
	return x, y
}

// fontOf returns the font with this name in r.
func (p *painter) fontOf(name syntax.Name, r *resources) *font.Font {
	o := p.file.Dict(r.dict["Font"])[name]
	if ref, ok := o.(syntax.Ref); ok {
		if f, known := p.fonts[ref]; known {
			return f
		}
		f := font.Load(p.file, p.file.Dict(ref))
		p.fonts[ref] = f
		return f
	}
	d, ok := o.(syntax.Dict)
	if !ok {
		d = syntax.Dict{} // text in a missing font is still text
	}
	if f := r.fonts[name]; f != nil {
		return f
	}
	f := font.Load(p.file, d)
	if r.fonts == nil {
		r.fonts = map[syntax.Name]*font.Font{}
	}
	r.fonts[name] = f
	return f
}

// image records an image XObject, or with nil an image that stands in the content.
func (p *painter) image(s *syntax.Stream) {
	if len(p.images) < maxDrawn {
		m := p.ctm
		p.images = append(p.images, scan.Image{Stream: s, At: [6]float64{m.a, m.b, m.c, m.d, m.e, m.f}})
	}
}

// object draws an XObject.
func (p *painter) object(name syntax.Name, r *resources) {
	entry := p.file.Dict(r.dict["XObject"])[name]
	s, ok := p.file.Get(entry).(*syntax.Stream)
	if !ok {
		return
	}
	switch p.file.Name(s.Dict["Subtype"]) {
	case "Form":
		p.form(entry, s, r)
	case "Image":
		p.image(s)
	}
}

// form draws a form XObject, which is a content stream of its own.
func (p *painter) form(entry syntax.Object, s *syntax.Stream, r *resources) {
	if len(p.inside) == maxForms || p.drawn == maxDrawn {
		return
	}
	if slices.Contains(p.inside, entry) { // a form that draws itself would not end
		return
	}
	data, err := p.file.Decode(s)
	if err != nil {
		return
	}
	inner := *r
	if d := p.file.Dict(s.Dict["Resources"]); d != nil {
		inner = resources{dict: d}
	}
	kept, tm, line, marks := p.state, p.tm, p.line, len(p.marks)
	if m := p.file.Array(s.Dict["Matrix"]); len(m) == 6 {
		for i := range m {
			m[i] = p.file.Get(m[i])
		}
		p.ctm = matrixOf(m).times(p.ctm)
	}
	p.drawn++
	p.inside = append(p.inside, entry)
	p.run(data, &inner)
	p.inside = p.inside[:len(p.inside)-1]
	p.state, p.tm, p.line, p.marks = kept, tm, line, p.marks[:min(marks, len(p.marks))]
}

// open begins a marked-content sequence: BMC with a tag, or BDC with a tag and properties.
func (p *painter) open(op string, args []syntax.Object, r *resources) {
	k := mark{from: len(p.glyphs)}
	if op == "BDC" && len(args) >= 2 {
		tag, _ := args[len(args)-2].(syntax.Name)
		d := p.file.Dict(args[len(args)-1])
		if name, ok := args[len(args)-1].(syntax.Name); ok {
			d = p.file.Dict(p.file.Dict(r.dict["Properties"])[name])
		}
		if s, ok := p.file.Get(d["ActualText"]).(syntax.String); ok {
			k.text, k.replaced = info.Text(s), true
		}
		if tag == "Artifact" {
			switch p.file.Name(d["Subtype"]) {
			case "Header", "Footer", "Watermark":
				k.artifact = true
			default:
				k.artifact = p.file.Name(d["Type"]) == "Pagination"
			}
		}
	}
	if len(p.marks) < maxStates {
		p.marks = append(p.marks, k)
	}
}

// close ends a marked-content sequence. Its ActualText replaces its glyphs if these are on one line.
func (p *painter) close() {
	n := len(p.marks) - 1
	if n < 0 {
		return
	}
	k := p.marks[n]
	p.marks = p.marks[:n]
	if !k.replaced || k.from >= len(p.glyphs) {
		return
	}
	one := p.glyphs[k.from]
	for _, g := range p.glyphs[k.from:] {
		if g.direction != one.direction || g.y-one.y > one.size || one.y-g.y > one.size {
			return
		}
		one.x0, one.x1 = min(one.x0, g.x0), max(one.x1, g.x1)
	}
	p.glyphs = p.glyphs[:k.from]
	if one.text = strings.TrimRight(k.text, "\n\r"); one.text != "" {
		p.glyphs = append(p.glyphs, one)
	}
}
