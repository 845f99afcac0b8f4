package table_test

import (
	"encoding/binary"
	"math"
	"testing"

	"quarry/internal/extract/pdf/table"
)

// TestFind proves the places, spans and header of a table with rules and of one without, and that a page beyond the bounds has none.
func TestFind(t *testing.T) {
	t.Parallel()
	always := func() bool { return true }
	word := func(text string, x, y float32, bold bool) table.Word {
		return table.Word{Text: text, X0: x, X1: x + 5*float32(len(text)), Y: y, Size: 10, Bold: bold}
	}
	words := []table.Word{
		word("Part", 10, 100, true), word("Size", 100, 100, true),
		word("pump", 10, 80, false), word("3", 100, 80, false), word("4", 200, 80, false),
		word("valve", 10, 60, false), word("5", 100, 60, false), word("6", 200, 60, false),
		word("meter", 10, 40, false), word("7", 100, 40, false), word("8", 200, 40, false),
	}
	var rules []table.Rule
	for _, y := range []float32{115, 95, 75, 55, 35} {
		rules = append(rules, table.Rule{X0: 0, X1: 260, Y0: y, Y1: y})
	}
	for _, x := range []float32{0, 90, 260} {
		rules = append(rules, table.Rule{X0: x, X1: x, Y0: 35, Y1: 115})
	}
	rules = append(rules, table.Rule{X0: 190, X1: 190, Y0: 35, Y1: 95}) // not through the name of both columns
	for name, p := range map[string]table.Page{"ruled": {Words: words, Rules: rules}, "bare": {Words: words[2:]}} {
		found := table.Find(p, always)
		if len(found) != 1 {
			t.Fatalf("%s: %d tables", name, len(found))
		}
		f := &found[0]
		wide := 0
		for _, c := range f.Cells {
			if len(c.Words) > 1 {
				t.Errorf("%s: a cell of %d words", name, len(c.Words))
			}
			wide += c.Columns - 1
		}
		if rows := map[string]int{"ruled": 4, "bare": 3}[name]; f.Rows != rows || len(f.Columns) != 4 || f.Ruled != (name == "ruled") || (wide == 1) != f.Ruled {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if found := table.Find(table.Page{Words: words, Rules: rules}, func() bool { return false }); len(found) > 0 {
		t.Errorf("found %v without a step", found)
	}
	many := make([]table.Word, 30_000)
	for i := range many {
		many[i] = word("x", float32(i%100)*20, float32(i/100)*20, false)
	}
	if found := table.Find(table.Page{Words: many}, always); found != nil {
		t.Errorf("%d tables on a page of %d words", len(found), len(many))
	}
}

// FuzzFind proves that no places of words and lines make the search fail, and that what it returns is whole.
func FuzzFind(f *testing.F) {
	f.Add([]byte("seed of some places that words may have"), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, kind uint8) {
		var p table.Page
		next := func() float32 {
			if len(data) < 2 {
				return 0
			}
			v := binary.LittleEndian.Uint16(data)
			data = data[2:]
			if kind%5 == 0 {
				return math.Float32frombits(uint32(v) << 16) // every exponent
			}
			return float32(v % 700)
		}
		for len(data) > 1 && len(p.Words) < 300 {
			x, y, w := next(), next(), next()
			if !(x > -1e6 && x < 1e6 && y > -1e6 && y < 1e6 && w > -1e6 && w < 1e6) {
				continue // which the reader keeps away
			}
			p.Words = append(p.Words, table.Word{Text: []string{"x", "•", "1.", "12.5", "word....", "日本"}[len(p.Words)%6], X0: x, X1: x + max(w/10, 0), Y: y, Size: 1 + max(w/50, 0), Region: len(p.Words) % 2})
			switch kind % 3 {
			case 0:
				p.Rules = append(p.Rules, table.Rule{X0: x, X1: x + max(w, 0), Y0: y, Y1: y})
			case 1:
				p.Rules = append(p.Rules, table.Rule{X0: x, X1: x, Y0: y, Y1: y + max(w, 0)}, table.Rule{X0: y, X1: y + max(w, 0), Y0: x, Y1: x})
			}
		}
		steps := 0
		taken := map[int]bool{}
		for _, found := range table.Find(p, func() bool { steps++; return steps < 1_000_000 }) {
			if found.Rows < 1 || found.Header < 1 || found.Header > found.Rows || len(found.Columns) < 2 {
				t.Fatalf("%+v", found)
			}
			for _, c := range found.Cells {
				if c.Row < 0 || c.Column < 0 || c.Rows < 1 || c.Columns < 1 || c.Row+c.Rows > found.Rows || c.Column+c.Columns > len(found.Columns)-1 {
					t.Fatalf("cell %+v of %+v", c, found)
				}
				for _, w := range c.Words {
					if taken[w] {
						t.Fatalf("word %d is in two cells", w)
					}
					taken[w] = true
				}
			}
		}
	})
}
