package scan

import (
	"quarry/internal/extract/pdf/syntax"
	"quarry/internal/extract/picture"
)

// colours say how bright the samples of a pixel are.
type colours struct {
	samples int
	inks    bool   // a sample is an amount of ink: the more, the darker
	shades  []byte // of indexes; nil where samples are colours
}

// coloursOf returns the colours of an image, nil for those that are not known here (ISO 32000-1, 8.6).
func coloursOf(f *syntax.File, d syntax.Dict) *colours {
	if boolean(f, d["ImageMask"], d["IM"]) {
		return &colours{samples: 1}
	}
	space := d["ColorSpace"]
	if space == nil {
		space = d["CS"]
	}
	return named(f, space, 0)
}

// named returns the colours of a colour space, which may name others.
func named(f *syntax.File, o syntax.Object, depth int) *colours {
	if depth > 4 {
		return nil
	}
	all := f.Array(o)
	name := f.Name(o)
	if len(all) > 0 {
		name = f.Name(all[0])
	}
	switch name {
	case "DeviceGray", "G", "CalGray":
		return &colours{samples: 1}
	case "DeviceRGB", "RGB", "CalRGB":
		return &colours{samples: 3}
	case "DeviceCMYK", "CMYK":
		return &colours{samples: 4, inks: true}
	case "Separation":
		return &colours{samples: 1, inks: true}
	}
	switch {
	case name == "ICCBased" && len(all) > 1:
		switch n := f.Int(f.Dict(all[1])["N"], 0); n {
		case 1, 3, 4:
			return &colours{samples: n, inks: n == 4}
		}
	case (name == "Indexed" || name == "I") && len(all) > 3:
		return indexed(f, named(f, all[1], depth+1), all[3])
	}
	return nil
}

// indexed returns the colours of a palette.
func indexed(f *syntax.File, base *colours, table syntax.Object) *colours {
	if base == nil || base.shades != nil {
		return nil
	}
	var raw []byte
	switch v := f.Get(table).(type) {
	case syntax.String:
		raw = []byte(v)
	case *syntax.Stream:
		raw, _ = f.Decode(v) // what it lacks is black
	}
	out := &colours{samples: 1, shades: make([]byte, 256)}
	for i := range out.shades {
		if at := i * base.samples; at+base.samples <= len(raw) {
			out.shades[i] = base.shade(raw[at : at+base.samples])
		}
	}
	return out
}

// shade returns how bright samples of 8 bits are.
func (c *colours) shade(s []byte) byte {
	switch {
	case c.shades != nil:
		return c.shades[s[0]]
	case c.samples == 1 && c.inks:
		return ^s[0]
	case c.samples == 1:
		return s[0]
	case c.samples == 3:
		return picture.Luminance(s[0], s[1], s[2])
	}
	light := func(i int) byte { return byte((255 - int(s[i])) * (255 - int(s[3])) / 255) }
	return picture.Luminance(light(0), light(1), light(2))
}

// pixels reads the samples of an image, each of so many bits, in rows that begin with a byte. Pixels that the data lack are white.
func (c *colours) pixels(data []byte, w, h, bits int, invert bool) (*tile, error) {
	switch bits {
	case 1, 2, 4, 8, 16:
	default:
		return nil, errForeign
	}
	t := &tile{width: w, height: h, grey: make([]byte, w*h)}
	size := (w*c.samples*bits + 7) / 8
	samples := make([]byte, c.samples)
	for y := range h {
		out := t.grey[y*w : (y+1)*w]
		if len(data) < size {
			for i := range out {
				out[i] = 0xFF
			}
			continue
		}
		row := data[:size]
		data = data[size:]
		for x := range out {
			for i := range samples {
				samples[i] = c.sample(row, x*c.samples+i, bits, invert)
			}
			out[x] = c.shade(samples)
		}
	}
	return t, nil
}

// sample returns a sample as one of 8 bits; an index stays as it is.
func (c *colours) sample(row []byte, i, bits int, invert bool) byte {
	var v, most byte
	switch bits {
	case 8:
		v, most = row[i], 0xFF
	case 16:
		v, most = row[2*i], 0xFF
	default:
		most = 1<<bits - 1
		v = row[i*bits/8] >> (8 - bits - i*bits%8) & most
	}
	if invert {
		v = most - v
	}
	if c.shades != nil {
		return v
	}
	return byte(int(v) * 255 / int(most))
}
