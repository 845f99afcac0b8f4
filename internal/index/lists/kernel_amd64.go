package lists

//go:noescape
func sums512(table, codes *byte, quads, blocks int, out *uint16)

//go:noescape
func sums256(table, codes *byte, quads, blocks int, out *uint16)

//go:noescape
func reach256(sums *uint16, factors *byte, blocks int, at *bar, mask *uint32)
