// Package scan makes one picture of the images on a page of a PDF file: of a scan as it is stored, of strips and layers put together.
package scan

import (
	"errors"
	"math"

	"quarry/internal/extract/outline"
	"quarry/internal/extract/pdf/syntax"
	"quarry/internal/extract/picture"
)

// Image is an image that a page draws.
type Image struct {
	Stream *syntax.Stream // nil for one that stands in the content of the page
	// At maps the unit square, in which images are, to the page, in points: (x, y) to (a·x + c·y + e, b·x + d·y + f).
	At [6]float64
}

// leastPixels is what images must have together for text to be in them.
const leastPixels = 10_000

// Worth reports whether images may hold text: some pages have nothing but an ornament.
func Worth(f *syntax.File, all []Image) bool {
	n := 0
	for _, i := range all {
		if i.Stream == nil {
			return true
		}
		w, h := size(f, i.Stream.Dict)
		if n += min(w, leastPixels) * min(h, leastPixels); n >= leastPixels {
			return true
		}
	}
	return false
}

// size returns the declared width and height of an image, 0 for none.
func size(f *syntax.File, d syntax.Dict) (width, height int) {
	return max(0, f.Int(d["Width"], f.Int(d["W"], 0))), max(0, f.Int(d["Height"], f.Int(d["H"], 0)))
}

// errForeign is returned for images in formats that nothing here decodes.
var errForeign = errors.New("not decoded here")

// Bounds of the resolution, in dots per inch: scans have 100 to 600.
const (
	minDPI = 50
	maxDPI = 1200
)

// Raster returns the picture of a page, or one without pixels where there is no image, or one that is not decoded here. Errors wrap
// outline.ErrUnparsable.
func Raster(f *syntax.File, all []Image) (*outline.Raster, error) {
	if len(all) == 0 {
		return &outline.Raster{}, nil
	}
	out := frame(f, all)
	var tiles []*tile
	for _, i := range all {
		t, err := decode(f, i.Stream)
		if failed := f.Budget.Err(); failed != nil {
			return nil, failed
		}
		if errors.Is(err, errForeign) {
			return drawn(f, all), nil
		}
		if err != nil {
			return nil, err
		}
		if t != nil && t.place(i.At, out) {
			tiles = append(tiles, t)
		}
	}
	for i := range out.Grey {
		out.Grey[i] = 0xFF
	}
	for _, t := range tiles {
		for y := range out.Height {
			if !f.Budget.Step() {
				return nil, f.Budget.Err()
			}
			t.row(out.Raster, y)
		}
	}
	return out.Raster, nil
}

// drawn returns what is asked of somebody else who draws the page.
func drawn(f *syntax.File, all []Image) *outline.Raster {
	r := &outline.Raster{}
	for _, i := range all {
		if i.Stream != nil {
			w, h := size(f, i.Stream.Dict)
			r.Width, r.Height = max(r.Width, w), max(r.Height, h)
		}
	}
	return r
}

// canvas is the part of a page that has images.
type canvas struct {
	*outline.Raster
	left, top, scale float64 // points, and pixels of a point
}

// frame returns an empty canvas around images with the resolution of the finest of them.
func frame(f *syntax.File, all []Image) canvas {
	left, top, right, bottom := math.Inf(1), math.Inf(-1), math.Inf(-1), math.Inf(1)
	dpi := 0.0
	for _, i := range all {
		m := i.At
		for _, corner := range [4][2]float64{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
			x, y := m[0]*corner[0]+m[2]*corner[1]+m[4], m[1]*corner[0]+m[3]*corner[1]+m[5]
			left, right, bottom, top = min(left, x), max(right, x), min(bottom, y), max(top, y)
		}
		if i.Stream != nil {
			w, h := size(f, i.Stream.Dict)
			dpi = max(dpi, 72*float64(w)/math.Hypot(m[0], m[1]), 72*float64(h)/math.Hypot(m[2], m[3]))
		}
	}
	width, height := right-left, top-bottom
	if !(width > 0.01 && height > 0.01 && width < 1e6 && height < 1e6) { // nor where they are no numbers
		return canvas{Raster: &outline.Raster{Width: 1, Height: 1, Grey: make([]byte, 1)}, scale: 1}
	}
	scale := min(max(dpi, minDPI), maxDPI) / 72
	scale = min(scale, math.Sqrt(picture.MaxPixels/(width*height)), picture.MaxSide/max(width, height))
	c := canvas{Raster: &outline.Raster{DPI: int(math.Round(scale * 72))}, left: left, top: top, scale: scale}
	c.Width, c.Height = max(1, int(math.Round(width*scale))), max(1, int(math.Round(height*scale)))
	for c.Width*c.Height > picture.MaxPixels {
		c.Height--
	}
	c.Grey = make([]byte, c.Width*c.Height)
	return c
}

// tile is a decoded image.
type tile struct {
	width, height int
	grey          []byte // row by row from the top
	opacity       []byte // of each pixel; nil where all are opaque

	fromX, fromY [3]float64 // the column and the row of the tile are x·[0] + y·[1] + [2] of the canvas
}

// place finds where on a canvas the tile is, and reports whether it covers anything.
func (t *tile) place(m [6]float64, c canvas) bool {
	det := m[0]*m[3] - m[1]*m[2]
	if math.Abs(det) < 1e-9 || math.IsNaN(det) || math.IsInf(det, 0) {
		return false
	}
	// From pixels of the canvas to points, to the unit square, to pixels of the tile, whose first row is at the top.
	w, h, step := float64(t.width), float64(t.height), 1/c.scale
	u := [3]float64{m[3] / det * step, m[2] / det * step, (m[3]*(c.left-m[4]) - m[2]*(c.top-m[5])) / det}
	v := [3]float64{-m[1] / det * step, -m[0] / det * step, (m[0]*(c.top-m[5]) - m[1]*(c.left-m[4])) / det}
	t.fromX = [3]float64{u[0] * w, u[1] * w, u[2] * w}
	t.fromY = [3]float64{-v[0] * h, -v[1] * h, (1 - v[2]) * h}
	return true
}

// row draws the tile on one row of a picture.
func (t *tile) row(out *outline.Raster, y int) {
	row := out.Grey[y*out.Width : (y+1)*out.Width]
	tx := t.fromX[0]/2 + t.fromX[1]*(float64(y)+0.5) + t.fromX[2]
	ty := t.fromY[0]/2 + t.fromY[1]*(float64(y)+0.5) + t.fromY[2]
	for x := range row {
		if tx >= 0 && ty >= 0 && tx < float64(t.width) && ty < float64(t.height) {
			at := int(ty)*t.width + int(tx)
			if t.opacity == nil {
				row[x] = t.grey[at]
			} else if a := int(t.opacity[at]); a > 0 {
				row[x] = byte((int(t.grey[at])*a + int(row[x])*(255-a)) / 255)
			}
		}
		tx += t.fromX[0]
		ty += t.fromY[0]
	}
}
