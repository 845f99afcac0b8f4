package span

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

var (
	figures = regexp.MustCompile(`[-−]?\d+(?:[,.\x{202f} ]\d{3})*(?:[.,]\d+)?`)
	numbers = map[string]float64{
		"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
		"eleven": 11, "twelve": 12, "twenty": 20, "thirty": 30, "hundred": 100, "thousand": 1000, "million": 1e6,
	}
)

// Figures returns the numbers in a text: those in digits in order, then those in words.
func Figures(text string) []float64 {
	var out []float64
	for _, m := range figures.FindAllString(text, -1) {
		if x, ok := parseFigure(m); ok {
			out = append(out, x)
		}
	}
	for w := range strings.FieldsSeq(text) {
		if x, ok := numbers[Plain(w)]; ok {
			out = append(out, x)
		}
	}
	return out
}

// parseFigure reads "1,280", "1.280", "3.7" and "3,7": a separator before three digits groups thousands, unless it is a single
// point, which English uses for fractions.
func parseFigure(m string) (float64, bool) {
	m = strings.NewReplacer("−", "-", " ", "", "\u202f", "").Replace(m)
	if strings.Contains(m, ",") && (strings.Contains(m, ".") || len(m)-strings.LastIndex(m, ",") == 4) {
		m = strings.ReplaceAll(m, ",", "")
	}
	m = strings.Replace(m, ",", ".", 1)
	if strings.Count(m, ".") > 1 {
		m = strings.ReplaceAll(m, ".", "")
	}
	x, err := strconv.ParseFloat(m, 64)
	return x, err == nil
}

// Bounds are the numbers that a schema admits.
type Bounds struct {
	low, high, step float64
	whole           bool
}

// ParseBounds returns the bounds in a schema; whole admits integers only.
func ParseBounds(s map[string]any, whole bool) Bounds {
	b := Bounds{low: math.Inf(-1), high: math.Inf(1), whole: whole}
	if x, ok := s["minimum"].(float64); ok {
		b.low = x
	}
	if x, ok := s["maximum"].(float64); ok {
		b.high = x
	}
	nudge := 1.0
	if !whole {
		nudge = 1e-9
	}
	if x, ok := s["exclusiveMinimum"].(float64); ok {
		b.low = max(b.low, x+nudge*max(1, math.Abs(x)*1e-6))
	}
	if x, ok := s["exclusiveMaximum"].(float64); ok {
		b.high = min(b.high, x-nudge*max(1, math.Abs(x)*1e-6))
	}
	if x, ok := s["multipleOf"].(float64); ok && x > 0 {
		b.step = x
	}
	if whole {
		b.low, b.high = math.Ceil(b.low), math.Floor(b.high)
	}
	return b
}

// Admit reports whether x is within bounds.
func (b Bounds) Admit(x float64) bool {
	if b.whole && x != math.Trunc(x) {
		return false
	}
	if b.step > 0 && math.Mod(x, b.step) != 0 {
		return false
	}
	return x >= b.low && x <= b.high
}

// Nearest returns the admitted number nearest to x.
func (b Bounds) Nearest(x float64) float64 {
	x = min(max(x, b.low), b.high)
	if b.step > 0 {
		up := math.Ceil(x/b.step) * b.step
		if up > b.high {
			up = math.Floor(x/b.step) * b.step
		}
		x = up
	}
	return x
}

// Typed returns x as an int64 if only integers are admitted.
func (b Bounds) Typed(x float64) any {
	if b.whole && math.Abs(x) < 1<<53 {
		return int64(x)
	}
	return x
}
