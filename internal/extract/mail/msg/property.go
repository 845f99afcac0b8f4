package msg

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/encoding"

	"quarry/internal/extract/ole"
)

// propertyStream is the stream of the properties of a storage; those of any length have one of their own, which is named by id and type.
const propertyStream = "__properties_version1.0"

// Types of properties.
const (
	typeText  = 0x001E // 8-bit
	typeWide  = 0x001F
	typeBytes = 0x0102
)

// properties are those of one storage.
type properties struct {
	storage *ole.Storage
	values  map[int][]byte // 8 bytes each, of properties of fixed length, by id
	page    encoding.Encoding
	err     error // the first one of reading a stream
}

// open reads the properties that a storage has.
func open(s *ole.Storage, header int) (properties, error) {
	p := properties{storage: s, values: map[int][]byte{}, page: ole.Codepage(0)}
	data, err := s.Read(propertyStream)
	if err != nil {
		return p, err
	}
	if len(data) < header {
		return p, bad("it has no properties of a mail")
	}
	const entry = 16 // type, id, flags, value
	for data = data[header:]; len(data) >= entry; data = data[entry:] {
		p.values[int(binary.LittleEndian.Uint16(data[2:]))] = data[8:entry]
	}
	return p, nil
}

// number returns a number of 32 bits, or a truth value; 0 where there is none.
func (p *properties) number(id int) int {
	if v := p.values[id]; v != nil {
		return int(int32(binary.LittleEndian.Uint32(v)))
	}
	return 0
}

// time returns a time, the zero Time where there is none.
func (p *properties) time(id int) time.Time { return ole.Filetime(p.values[id]) }

// stream returns a value of any length, nil where there is none.
func (p *properties) stream(id, kind int) []byte {
	data, err := p.storage.Read(fmt.Sprintf("__substg1.0_%04X%04X", id, kind))
	if p.err == nil {
		p.err = err
	}
	return data
}

// text returns a text, "" where there is none.
func (p *properties) text(id int) string {
	out := ole.UTF16(p.stream(id, typeWide))
	if out == "" {
		out = ole.Decode(p.stream(id, typeText), p.page)
	}
	return strings.TrimRight(strings.ToValidUTF8(out, "\uFFFD"), "\x00")
}
