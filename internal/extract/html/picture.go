package html

import (
	"strings"

	"golang.org/x/net/html"

	"quarry/internal/extract/bitmap"
	"quarry/internal/extract/outline"
)

// picture takes a picture whose bytes are at hand, in its address or by the builder's File, and reports whether it has: it is added behind the open
// block, and so is what is said of it.
func (w *walker) picture(n *html.Node) bool {
	if !w.out.Options.Pictures {
		return false
	}
	source := attr(n, "src")
	data := bitmap.FromURI(source)
	if data == nil && w.out.File != nil {
		data = w.out.File(source)
	}
	if data == nil {
		return false
	}
	line := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	w.pictures = append(w.pictures, outline.Picture{Title: line(attr(n, "title")), Description: line(attr(n, "alt")), Data: data})
	return true
}
