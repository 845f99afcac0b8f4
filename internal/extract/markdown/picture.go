package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"

	"quarry/internal/extract/bitmap"
	"quarry/internal/extract/outline"
)

// picture takes a picture whose address is its bytes, and reports whether it has: it is added behind its block, and so is what is said of it.
func (w *walker) picture(n *ast.Image) bool {
	if !w.out.Options.Pictures {
		return false
	}
	data := bitmap.FromURI(string(n.Destination))
	if data == nil {
		return false
	}
	var alt strings.Builder
	w.inlines(&alt, n)
	w.pictures = append(w.pictures, outline.Picture{Title: outline.OneLine(string(n.Title)), Description: outline.OneLine(plainText(alt.String())), Data: data})
	return true
}

// flush adds the pictures of a block.
func (w *walker) flush() {
	for _, p := range w.pictures {
		if !w.out.Picture(p) {
			w.paragraph(p.Words())
		}
	}
	w.pictures = nil
}
