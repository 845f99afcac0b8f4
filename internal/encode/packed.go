package encode

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"unsafe"

	"quarry/internal/encode/kernel"
)

// A packed file holds an int8 encoder in its in-memory layout, so that opening it needs no conversion:
//
//	8 bytes   magic
//	4 bytes   length n of the header
//	4 bytes   CRC-32C of everything after this field
//	n bytes   JSON: header
//	padding to 64, then each section at its offset, itself padded to 64
//
// All numbers and arrays are little endian. A big-endian machine refuses the file.
const (
	magic  = "QUARENC1"
	prefix = len(magic) + 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is the header of a packed file.
type header struct {
	identity
	Fingerprint string `json:"fingerprint"` // of the identity and every section
	Meta        Meta   `json:"meta"`
}

// identity holds everything that a vector depends on besides the content of the sections.
type identity struct {
	Config    Config    `json:"config"`
	Pooling   string    `json:"pooling"`
	MaxTokens int       `json:"max_tokens"`
	Sections  []section `json:"sections"`
}

type section struct {
	Name string `json:"name"`
	Off  int    `json:"off"` // from the end of the padded header
	Len  int    `json:"len"` // bytes
}

// array is a section and the variable that holds it.
type array struct {
	name string
	p    any // *[]int8, *[]float32 or *string
	n    int // elements; -1 means any number
}

// arrays returns all arrays of an int8 encoder in file order.
func (e *Encoder) arrays() []array {
	m := e.model
	c, h := m.config, m.config.Hidden
	a := []array{
		{"word.q", &m.wordQ, c.Vocab * h}, {"word.scale", &m.wordScale, c.Vocab},
		{"pos", &m.pos, c.Positions * h}, {"norm.gain", &m.norm.Gain, h}, {"norm.shift", &m.norm.Shift, h},
	}
	for i := range m.layers {
		l, p := &m.layers[i], fmt.Sprintf("%d.", i)
		for _, d := range []struct {
			name string
			q    *kernel.MatI8
		}{{"qkv", l.qkv.q}, {"out", l.out.q}, {"up", l.up.q}, {"down", l.down.q}} {
			q := p + d.name
			a = append(a, array{q + ".weight", &d.q.Panels, d.q.N * d.q.K}, array{q + ".scale", &d.q.Scale, d.q.N},
				array{q + ".sum", &d.q.Sum, d.q.N}, array{q + ".bias", &d.q.Bias, d.q.N})
		}
		a = append(a, array{p + "norm1.gain", &l.norm1.Gain, h}, array{p + "norm1.shift", &l.norm1.Shift, h},
			array{p + "norm2.gain", &l.norm2.Gain, h}, array{p + "norm2.shift", &l.norm2.Shift, h})
	}
	return append(a, array{"vocabulary", &e.vocabulary, -1})
}

func pad64(n int) int { return (n + 63) &^ 63 }

// parts returns the content of every section.
func (e *Encoder) parts() [][]byte {
	var parts [][]byte
	for _, a := range e.arrays() {
		parts = append(parts, a.bytes())
	}
	return parts
}

func (e *Encoder) identity() identity {
	id := identity{Config: e.model.config, Pooling: "mean", MaxTokens: e.maxTokens}
	off := 0
	for _, a := range e.arrays() {
		n := len(a.bytes())
		id.Sections = append(id.Sections, section{a.name, off, n})
		off += pad64(n)
	}
	return id
}

func (id identity) fingerprint(parts [][]byte) string {
	js, err := json.Marshal(id)
	if err != nil {
		panic(err) // impossible: an identity holds only plain values
	}
	sum := sha256.New()
	sum.Write(js)
	for _, p := range parts {
		sum.Write(p)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// pack returns the packed file of an int8 encoder. It is deterministic.
func (e *Encoder) pack(meta Meta) ([]byte, error) {
	if e.model.wordQ == nil {
		return nil, errors.New("pack: only int8 models can be packed")
	}
	if err := littleEndian(); err != nil {
		return nil, err
	}
	parts, id := e.parts(), e.identity()
	js, err := json.Marshal(header{id, id.fingerprint(parts), meta})
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	out := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(js)))
	out = append(binary.LittleEndian.AppendUint32(out, 0), js...)
	for _, p := range parts {
		out = append(pad(out), p...)
	}
	out = pad(out)
	binary.LittleEndian.PutUint32(out[prefix-4:], crc32.Checksum(out[prefix:], castagnoli))
	return out, nil
}

func pad(b []byte) []byte { return append(b, make([]byte, pad64(len(b))-len(b))...) }

func littleEndian() error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return errors.New("packed encoders are little endian and cannot be used on this big-endian machine")
	}
	return nil
}

// Open opens a packed encoder in an embedded or mapped file. A damaged file is an error. The encoder refers to b, which must
// never change.
func Open(b []byte) (*Encoder, error) {
	hd, body, err := openHeader(b)
	if err != nil {
		return nil, fmt.Errorf("packed encoder: %w", err)
	}
	part := make(map[string][]byte, len(hd.Sections))
	for _, s := range hd.Sections {
		if s.Off < 0 || s.Len < 0 || s.Off > len(body) || s.Len > len(body)-s.Off {
			return nil, fmt.Errorf("packed encoder: section %s exceeds the file", s.Name)
		}
		part[s.Name] = body[s.Off : s.Off+s.Len]
	}
	e := &Encoder{model: emptyInt8(hd.Config)}
	for _, a := range e.arrays() {
		if !a.view(part[a.name]) {
			return nil, fmt.Errorf("packed encoder: section %s is missing or has the wrong size", a.name)
		}
	}
	e, err = newEncoder(e.model, e.vocabulary, hd.MaxTokens)
	if err != nil {
		return nil, fmt.Errorf("packed encoder: %w", err)
	}
	e.fingerprint, e.meta = hd.Fingerprint, hd.Meta
	return e, nil
}

func openHeader(b []byte) (hd header, body []byte, err error) {
	if err := littleEndian(); err != nil {
		return hd, nil, err
	}
	if len(b) < prefix || string(b[:len(magic)]) != magic {
		return hd, nil, errors.New("the file does not begin with " + magic)
	}
	n := int64(binary.LittleEndian.Uint32(b[len(magic):]))
	if n > int64(len(b)-prefix) {
		return hd, nil, errors.New("the header exceeds the file")
	}
	if got, want := crc32.Checksum(b[prefix:], castagnoli), binary.LittleEndian.Uint32(b[len(magic)+4:]); got != want {
		return hd, nil, fmt.Errorf("damaged: checksum %08x, want %08x", got, want)
	}
	if err := json.Unmarshal(b[prefix:prefix+int(n)], &hd); err != nil {
		return hd, nil, fmt.Errorf("read header: %w", err)
	}
	if hd.Pooling != "mean" {
		return hd, nil, fmt.Errorf("pooling %q is not supported, only mean", hd.Pooling)
	}
	return hd, b[min(len(b), pad64(prefix+int(n))):], hd.Config.check()
}

func emptyInt8(c Config) *model {
	h, f := c.Hidden, c.FFN
	m := &model{config: c, norm: kernel.Norm{Eps: c.Eps}, layers: make([]layer, c.Layers)}
	mat := func(n, k int) dense { return dense{q: &kernel.MatI8{N: n, K: k}} }
	for i := range m.layers {
		m.layers[i] = layer{qkv: mat(3*h, h), out: mat(h, h), up: mat(f, h), down: mat(h, f), norm1: m.norm, norm2: m.norm}
	}
	return m
}

// view sets the array to b without copying, or to a copy if the address of b is not a multiple of the element size. It
// reports whether the size is right.
func (a array) view(b []byte) bool {
	at := unsafe.Pointer(unsafe.SliceData(b))
	switch v := a.p.(type) {
	case *string:
		*v = unsafe.String((*byte)(at), len(b))
		return b != nil
	case *[]int8:
		if len(b) != a.n {
			return false
		}
		*v = unsafe.Slice((*int8)(at), a.n)
	case *[]float32:
		if len(b) != 4*a.n {
			return false
		}
		if uintptr(at)%4 == 0 {
			*v = unsafe.Slice((*float32)(at), a.n)
			return true
		}
		*v = make([]float32, a.n)
		copy(a.bytes(), b)
	}
	return true
}

func (a array) bytes() []byte {
	switch v := a.p.(type) {
	case *string:
		return unsafe.Slice(unsafe.StringData(*v), len(*v))
	case *[]int8:
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(*v))), len(*v))
	case *[]float32:
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(*v))), 4*len(*v))
	}
	panic("encode: unknown array type")
}
