package msg

import "encoding/binary"

// preset is what the window holds at the beginning (MS-OXRTFCP, 2.1.2.1).
const preset = `{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0` +
	"\r\n" + `\par \pard\plain\f0\fs20\b\i\u\tab\tx`

const (
	compressed   = 0x75465A4C // LZFu
	uncompressed = 0x414C454D // MELA
	window       = 4096       // bytes
)

// decompress returns the RTF in a stream (MS-OXRTFCP). Two bytes stand for 17 at most, so that it is never much longer than what it is made of. Its error wraps
// outline.ErrUnparsable.
func decompress(in []byte) ([]byte, error) {
	const header = 16
	if len(in) < header {
		return nil, bad("its text is damaged: it has no header")
	}
	size := uint64(binary.LittleEndian.Uint32(in[4:]))
	kind, in := binary.LittleEndian.Uint32(in[8:]), in[header:]
	switch {
	case kind == uncompressed && size <= uint64(len(in)):
		return in[:size], nil
	case kind != compressed && kind != uncompressed:
		return nil, bad("its text is damaged: it is compressed in no known way")
	}
	d := unpacker{in: in, most: size}
	d.at = copy(d.ring[:], preset)
	for kind == compressed && d.run() {
	}
	if uint64(len(d.out)) < size {
		return nil, bad("its text is damaged: it ends in the middle")
	}
	return d.out[:size], nil
}

// unpacker reads runs of eight bytes or places in a window of what was read last.
type unpacker struct {
	in, out []byte
	most    uint64
	ring    [window]byte
	at      int // of the next byte in ring
}

func (d *unpacker) put(b byte) {
	d.out = append(d.out, b)
	d.ring[d.at] = b
	d.at = (d.at + 1) % window
}

// run reads a run and reports whether another one may follow.
func (d *unpacker) run() bool {
	if len(d.in) == 0 || uint64(len(d.out)) >= d.most {
		return false
	}
	flags := d.in[0]
	d.in = d.in[1:]
	for i := range 8 {
		switch {
		case flags>>i&1 == 0 && len(d.in) > 0:
			d.put(d.in[0])
			d.in = d.in[1:]
		case flags>>i&1 == 0 || len(d.in) < 2:
			return false
		default:
			ref := int(binary.BigEndian.Uint16(d.in))
			d.in = d.in[2:]
			from, n := ref>>4, ref&15+2
			if from == d.at { // the end
				return false
			}
			for j := range n {
				d.put(d.ring[(from+j)%window])
			}
		}
	}
	return true
}
