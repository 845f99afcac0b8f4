package outline

// Bounds of a table: without them spans in a file of a few bytes could create millions of cells.
const (
	maxColumns = 500
	maxCells   = 200_000
)

// Cell is a cell of a table as files write it: with the number of columns and rows that it covers, of which 0 means 1.
type Cell struct {
	Text          string
	Columns, Rows int
}

// Grid lays out the cells of one table, each in every place that it covers. The zero Grid is ready to use.
type Grid struct {
	down    []covered // by column: cells that extend into the following rows
	cells   int
	widest  int
	tooMany bool
}

// covered is a cell that covers places of the following rows.
type covered struct {
	text string
	rows int
}

// Row returns the texts of the next row.
func (g *Grid) Row(cells []Cell) (row []string) {
	for _, c := range cells {
		row = g.extend(row)
		for range max(c.Columns, 1) {
			if len(row) == maxColumns || g.cells == maxCells {
				g.tooMany = true
				return row
			}
			if c.Rows > 1 {
				for len(g.down) <= len(row) {
					g.down = append(g.down, covered{})
				}
				g.down[len(row)] = covered{c.Text, c.Rows - 1}
			}
			row = append(row, c.Text)
			g.cells++
		}
	}
	row = g.extend(row)
	g.widest = max(g.widest, len(row))
	return row
}

// Columns returns the number of columns of the widest row.
func (g *Grid) Columns() int { return g.widest }

// Full reports whether a bound was reached, so that the table has places without their cell.
func (g *Grid) Full() bool { return g.tooMany }

// extend appends the cells that extend from above into the next columns of row.
func (g *Grid) extend(row []string) []string {
	for len(row) < len(g.down) && g.down[len(row)].rows > 0 {
		s := &g.down[len(row)]
		s.rows--
		row = append(row, s.text)
		g.cells++
	}
	return row
}

// Covered returns how many of the first places of the next row are taken by cells of rows above.
func (g *Grid) Covered(places int) (n int) {
	for i := range min(places, len(g.down)) {
		if g.down[i].rows > 0 {
			n++
		}
	}
	return n
}
