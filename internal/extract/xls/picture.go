package xls

import (
	"cmp"
	"slices"

	"quarry/internal/extract/officeart"
	"quarry/internal/extract/outline"
)

// writePictures adds the pictures of the sheet, row by row as they are anchored; of those that are not kept, what is said.
func (r *reader) writePictures() {
	drawing, _, _ := officeart.First(r.drawing)
	shown := officeart.Pictures(drawing)
	slices.SortStableFunc(shown, func(a, b officeart.Shape) int {
		const column, row = 2, 6 // of the upper left corner (MS-XLS, 2.5.193)
		return cmp.Or(u16(a.Anchor, row)-u16(b.Anchor, row), u16(a.Anchor, column)-u16(b.Anchor, column))
	})
	for _, s := range shown {
		if !r.out.Picture(outline.Picture{Description: s.Description, Data: r.pictures.Picture(s.Picture)}) {
			r.out.Paragraph(s.Description)
		}
	}
}
