package font

import "strings"

// Widths of the characters from space to tilde in Helvetica and Times-Roman, in thousandths of the font size (from
// Adobe's font metrics). Files may omit the widths of the standard 14 fonts (ISO 32000-1, 9.6.2.2).
var (
	sans = [95]uint16{
		278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
		556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
		1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
		667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
		333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
		556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
	}
	serif = [95]uint16{
		250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278,
		500, 500, 500, 500, 500, 500, 500, 500, 500, 500, 278, 278, 564, 564, 564, 444,
		921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889, 722, 722,
		556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469, 500,
		333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500,
		500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541,
	}
)

// standardWidths sets the widths of a font without any, choosing those of a similar standard font by name.
func (o *Font) standardWidths(name string) {
	if strings.Contains(name, "courier") || strings.Contains(name, "mono") {
		o.fallback = 0.6
		o.widths[' '] = 0.6
		return
	}
	table, wider := &sans, 1.0
	if strings.Contains(name, "times") || strings.Contains(name, "serif") || strings.Contains(name, "roman") {
		table = &serif
	}
	if strings.Contains(name, "bold") {
		wider = 1.05
	}
	for i, w := range table {
		o.widths[' '+i] = float64(w) / 1000
		if i > 0 {
			o.widths[' '+i] *= wider
		}
	}
	if o.fallback == 0 {
		o.fallback = 0.55
	}
}
