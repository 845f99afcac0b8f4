package syntax

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"errors"
	"io"
)

// errPicture is returned for a stream with the filter of a picture format.
var errPicture = errors.New("the stream holds a picture")

// Decode returns the decoded data of a stream; if it is damaged, the data before the damage. It fails if the stream has the filter
// of a picture format or the budget is used up.
func (f *File) Decode(s *Stream) ([]byte, error) {
	data, picture, _, err := f.Unwrap(s)
	if err == nil && picture != "" {
		err = errPicture
	}
	return data, err
}

// Unwrap is Decode for streams that may be pictures: it returns their data as they are in the picture format, the filter that
// stands for it, and its parameters. The filter is "" where the data are decoded.
func (f *File) Unwrap(s *Stream) (data []byte, picture Name, parm Dict, err error) {
	data = s.Raw
	filters := f.list(s.Dict["Filter"], s.Dict["F"])
	parms := f.list(s.Dict["DecodeParms"], s.Dict["DP"])
	if len(filters) > 8 {
		f.Budget.Refuse("a stream has more than 8 filters")
	}
	for i, name := range filters {
		if !f.Budget.check() {
			return nil, "", nil, f.Budget.Err()
		}
		parm = nil
		if i < len(parms) {
			parm = f.Dict(parms[i])
		}
		out, err := f.filter(f.Name(name), data, parm)
		if errors.Is(err, errPicture) {
			return data, f.Name(name), parm, nil
		}
		if err != nil {
			return nil, "", nil, err
		}
		if data = out; !f.Budget.decode(len(data)) {
			return nil, "", nil, f.Budget.Err()
		}
	}
	return data, "", nil, nil
}

// list returns the first of the objects that is an array, or a single name or dictionary as an array.
func (f *File) list(all ...Object) Array {
	for _, o := range all {
		switch v := f.Get(o).(type) {
		case nil:
		case Array:
			return v
		case Name, Dict:
			return Array{v}
		}
	}
	return nil
}

// filter decodes data with a filter (ISO 32000-1, 7.4); short names are those of inline images.
func (f *File) filter(name Name, data []byte, parm Dict) ([]byte, error) {
	switch name {
	case "FlateDecode", "Fl":
		return f.predict(f.inflate(data), parm), f.Budget.Err()
	case "LZWDecode", "LZW":
		return f.predict(f.lzw(data, f.Int(parm["EarlyChange"], 1)), parm), f.Budget.Err()
	case "ASCIIHexDecode", "AHx":
		l := &Lexer{data: append([]byte{'<'}, data...), budget: f.Budget}
		return l.hex(), nil
	case "ASCII85Decode", "A85":
		return ascii85(data), nil
	case "RunLengthDecode", "RL":
		return f.runLength(data), f.Budget.Err()
	case "Crypt":
		return data, nil
	}
	return nil, errPicture
}

func (f *File) inflate(data []byte) []byte {
	var r io.Reader
	r, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		r = flate.NewReader(bytes.NewReader(data[min(2, len(data)):])) // skip a damaged header
	}
	out, _ := io.ReadAll(io.LimitReader(r, maxStream+1))
	f.tooLong(len(out))
	return out
}

// tooLong refuses a stream of more than maxStream bytes and reports whether the budget is used up.
func (f *File) tooLong(n int) bool {
	if n > maxStream {
		f.Budget.Refuse("one of its streams decodes to more than %d MB", maxStream>>20)
	}
	return f.Budget.Err() != nil
}

// lzw decodes the LZW variant of PDF and TIFF (ISO 32000-1, 7.4.4): codes have 9 to 12 bits, most significant bit first, and
// grow one code early if early is 1, the default.
func (f *File) lzw(data []byte, early int) []byte {
	const clear, end = 256, 257
	var out []byte
	type word struct{ at, n int } // a substring of out
	table := make([]word, 258, 4096)
	width, bits, have := 9, 0, 0
	previous := word{n: 0}
	for _, c := range data {
		bits, have = bits<<8|int(c), have+8
		for have >= width {
			code := bits >> (have - width) & (1<<width - 1)
			have -= width
			bits &= 1<<have - 1
			at := len(out)
			switch {
			case code == clear:
				table, width, previous = table[:258], 9, word{}
				continue
			case code == end:
				return out
			case code < 256:
				out = append(out, byte(code))
			case code < len(table):
				w := table[code]
				out = append(out, out[w.at:w.at+w.n]...)
			case code == len(table) && previous.n > 0:
				out = append(out, out[previous.at:previous.at+previous.n]...)
				out = append(out, out[at])
			default:
				return out
			}
			if previous.n > 0 && len(table) < 4096 {
				table = append(table, word{previous.at, previous.n + 1}) // the previous word and the byte after it
			}
			previous = word{at, len(out) - at}
			for width < 12 && len(table)+early >= 1<<width {
				width++
			}
			if f.tooLong(len(out)) {
				return nil
			}
		}
	}
	return out
}

func ascii85(data []byte) []byte {
	var out []byte
	var group [5]byte
	n := 0
	flush := func(n int) {
		v := uint32(0)
		for _, d := range group {
			v = v*85 + uint32(d)
		}
		b := [4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}
		out = append(out, b[:n]...)
	}
	for _, c := range bytes.TrimPrefix(bytes.TrimLeft(data, " \r\n\t"), []byte("<~")) {
		switch {
		case c == 'z' && n == 0:
			out = append(out, 0, 0, 0, 0)
		case c >= '!' && c <= 'u':
			group[n] = c - '!'
			if n++; n == 5 {
				flush(4)
				n = 0
			}
		case c == '~':
			if n > 1 {
				for i := n; i < 5; i++ {
					group[i] = 84
				}
				flush(n - 1)
			}
			return out
		}
	}
	return out
}

func (f *File) runLength(data []byte) []byte {
	var out []byte
	for len(data) > 1 && data[0] != 128 && !f.tooLong(len(out)) {
		n := int(data[0])
		if n < 128 {
			n = min(n+1, len(data)-1)
			out = append(out, data[1:1+n]...)
			data = data[1+n:]
			continue
		}
		out = append(out, bytes.Repeat(data[1:2], 257-n)...)
		data = data[2:]
	}
	return out
}

// predict reverses the predictors of TIFF (2) and PNG (10 to 15) (ISO 32000-1, 7.4.4.4).
func (f *File) predict(data []byte, parm Dict) []byte {
	kind := f.Int(parm["Predictor"], 1)
	if kind < 2 {
		return data
	}
	colors, bits, columns := f.Int(parm["Colors"], 1), f.Int(parm["BitsPerComponent"], 8), f.Int(parm["Columns"], 1)
	if colors < 1 || colors > 32 || bits < 1 || bits > 32 || columns < 1 || columns > 1<<24 {
		return data
	}
	size, step := (colors*bits*columns+7)/8, max(1, colors*bits/8)
	if kind == 2 {
		for row := data; bits == 8 && len(row) >= size; row = row[size:] {
			for i := step; i < size; i++ {
				row[i] += row[i-step]
			}
		}
		return data
	}
	out := make([]byte, 0, len(data))
	above := make([]byte, size)
	for len(data) > 1 && f.Budget.Step() {
		row := make([]byte, size)
		kind := data[0]
		n := copy(row, data[1:])
		data = data[1+n:]
		png(kind, row, above, step)
		out = append(out, row[:n]...)
		above = row
	}
	return out
}

// png reverses the filter of one row (PNG specification, section 9): none, sub, up, average or Paeth. step is the number of
// bytes of a pixel.
func png(kind byte, row, above []byte, step int) {
	for i := range row {
		var left, corner int
		if i >= step {
			left, corner = int(row[i-step]), int(above[i-step])
		}
		up := int(above[i])
		switch kind {
		case 1:
			row[i] += byte(left)
		case 2:
			row[i] += byte(up)
		case 3:
			row[i] += byte((left + up) / 2)
		case 4:
			p := left + up - corner
			a, b, c := abs(p-left), abs(p-up), abs(p-corner)
			switch {
			case a <= b && a <= c:
				row[i] += byte(left)
			case b <= c:
				row[i] += byte(up)
			default:
				row[i] += byte(corner)
			}
		}
	}
}

func abs(n int) int { return max(n, -n) }
