package picture

import (
	"image"
	"image/color"

	"quarry/internal/extract/outline"
)

// Grey returns a picture in grey; what is transparent is white, as paper is.
func Grey(img image.Image) *outline.Raster {
	b := img.Bounds()
	r := &outline.Raster{Width: b.Dx(), Height: b.Dy(), Grey: make([]byte, b.Dx()*b.Dy())}
	for y := range r.Height {
		row := r.Grey[y*r.Width : (y+1)*r.Width]
		switch m := img.(type) {
		case *image.Gray:
			copy(row, m.Pix[m.PixOffset(b.Min.X, b.Min.Y+y):])
		case *image.YCbCr:
			copy(row, m.Y[m.YOffset(b.Min.X, b.Min.Y+y):])
		case *image.Paletted:
			greyPaletted(row, m, b.Min.Y+y)
		case *image.RGBA:
			greyRGB(row, m.Pix[m.PixOffset(b.Min.X, b.Min.Y+y):], false)
		case *image.NRGBA:
			greyRGB(row, m.Pix[m.PixOffset(b.Min.X, b.Min.Y+y):], true)
		default:
			for x := range row {
				row[x] = shade(img.At(b.Min.X+x, b.Min.Y+y))
			}
		}
	}
	return r
}

// greyRGB reads pixels of four bytes. Colours that are not straight have been multiplied by their opacity already.
func greyRGB(row, pix []byte, straight bool) {
	for x := range row {
		p := pix[4*x : 4*x+4]
		grey, clear := Luminance(p[0], p[1], p[2]), 255-int(p[3])
		if straight {
			grey = byte(int(grey) * int(p[3]) / 255)
		}
		row[x] = byte(min(255, int(grey)+clear))
	}
}

// Luminance returns how bright a colour is (ITU-R BT.601).
func Luminance(r, g, b byte) byte {
	return byte((19_595*int(r) + 38_470*int(g) + 7_471*int(b) + 1<<15) >> 16)
}

// greyPaletted reads a row of indexes; one that the palette does not have is black.
func greyPaletted(row []byte, m *image.Paletted, y int) {
	var shades [256]byte
	for i, c := range m.Palette {
		shades[i&255] = shade(c)
	}
	for x := range row {
		row[x] = shades[m.ColorIndexAt(m.Rect.Min.X+x, y)]
	}
}

// shade returns a colour as it is on white paper.
func shade(c color.Color) byte {
	r, g, b, a := c.RGBA()
	return byte(min(255, int(Luminance(byte(r>>8), byte(g>>8), byte(b>>8)))+255-int(a>>8)))
}

// upright turns and mirrors a picture as its orientation says (EXIF and TIFF, tag 274): which sides of what people see the first row and the
// first column of the stored one are.
func upright(r *outline.Raster, orientation int) *outline.Raster {
	if orientation < 2 || orientation > 8 {
		return r
	}
	w, h := r.Width, r.Height
	out := &outline.Raster{Width: w, Height: h, Grey: make([]byte, len(r.Grey))}
	if orientation >= 5 {
		out.Width, out.Height = h, w
	}
	for y := range h {
		for x := range w {
			var tx, ty int
			switch orientation {
			case 2: // mirrored
				tx, ty = w-1-x, y
			case 3: // upside down
				tx, ty = w-1-x, h-1-y
			case 4: // upside down, mirrored
				tx, ty = x, h-1-y
			case 5: // along the diagonal
				tx, ty = y, x
			case 6: // to be turned clockwise
				tx, ty = h-1-y, x
			case 7:
				tx, ty = h-1-y, w-1-x
			case 8: // to be turned counterclockwise
				tx, ty = y, w-1-x
			}
			out.Grey[ty*out.Width+tx] = r.Grey[y*w+x]
		}
	}
	return out
}
