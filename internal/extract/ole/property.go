package ole

import (
	"encoding/binary"
	"strings"
	"time"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"quarry/internal/extract/outline"
)

// The properties that become metadata, by their ids in the two property sets of documents (MS-OLEPS, 2.25), with the keys that
// they have in every format.
var (
	summary         = map[uint32]string{2: "title", 3: "subject", 4: "Author", 5: "keywords", 6: "description", 8: "Last-Author", 12: "date", 13: "modified", 14: "Page-Count", 15: "Word-Count"}
	documentSummary = map[uint32]string{2: "category", 7: "Page-Count"} // slides
)

// Types of properties.
const (
	typeInt16, typeInt32, typeBytes, typeWide, typeTime = 2, 3, 30, 31, 64
)

// Properties returns the metadata of a document. Property sets that are damaged count as far as they can be read: they are not
// what the file was uploaded for.
func (s *Storage) Properties() map[string]any {
	out := map[string]any{}
	for _, set := range []struct {
		stream string
		keys   map[uint32]string
	}{{"\x05SummaryInformation", summary}, {"\x05DocumentSummaryInformation", documentSummary}} {
		if data, err := s.Read(set.stream); err == nil {
			properties(data, set.keys, out)
		}
	}
	return out
}

// maxProperties is how many properties of a set are looked at.
const maxProperties = 200

// properties reads the first section of a property set.
func properties(data []byte, keys map[uint32]string, out map[string]any) {
	const header = 48 // with the place of the first section
	if len(data) < header {
		return
	}
	at := binary.LittleEndian.Uint32(data[44:])
	if uint64(at)+8 > uint64(len(data)) {
		return
	}
	section := data[at:]
	value := func(i int) (id uint32, kind uint16, v []byte) {
		if len(section) < 16+8*i {
			return 0, 0, nil
		}
		id, at := binary.LittleEndian.Uint32(section[8+8*i:]), binary.LittleEndian.Uint32(section[12+8*i:])
		if uint64(at)+8 > uint64(len(section)) {
			return id, 0, nil
		}
		return id, binary.LittleEndian.Uint16(section[at:]), section[at+4:]
	}
	count := int(min(binary.LittleEndian.Uint32(section[4:]), maxProperties))
	page := Codepage(1252)
	for i := range count {
		if id, kind, v := value(i); id == 1 && kind == typeInt16 {
			page = Codepage(int(binary.LittleEndian.Uint16(v)))
		}
	}
	for i := range count {
		id, kind, v := value(i)
		key := keys[id]
		if key == "" || v == nil {
			continue
		}
		switch n := binary.LittleEndian.Uint32(v); {
		case kind == typeInt32 && n > 0 && n < 1<<31:
			out[key] = int(n)
		case kind == typeTime && len(v) >= 8:
			if t := Filetime(v); !t.IsZero() {
				out[key] = t.Format(time.RFC3339)
			}
		case kind == typeBytes && uint64(n) <= uint64(len(v)-4):
			text(out, key, Decode(v[4:4+n], page))
		case kind == typeWide && uint64(n)*2 <= uint64(len(v)-4):
			text(out, key, UTF16(v[4:4+2*n]))
		}
	}
}

// text sets a value of metadata, unless it is empty.
func text(out map[string]any, key, value string) {
	value, _, _ = strings.Cut(value, "\x00")
	if value = outline.OneLine(value); value != "" {
		out[key] = value
	}
}

// Filetime reads a time, which is counted in steps of 100 ns from the year 1601; what no program writes is the zero time.
func Filetime(b []byte) time.Time {
	const toUnix, second = 11_644_473_600, 10_000_000
	if len(b) < 8 {
		return time.Time{}
	}
	n := binary.LittleEndian.Uint64(b)
	t := time.Unix(int64(n/second)-toUnix, 0).UTC()
	if n == 0 || t.Year() < 1900 || t.Year() > 2200 { // durations, too, are written so
		return time.Time{}
	}
	return t
}

// names are the code pages of Windows that are not named windows-N.
var names = map[int]string{
	932: "shift_jis", 936: "gb18030", 949: "euc-kr", 950: "big5", 10000: "macintosh", 10007: "x-mac-cyrillic", 20866: "koi8-r", 21866: "koi8-u",
	28591: "iso-8859-1", 28592: "iso-8859-2", 28595: "iso-8859-5", 28597: "iso-8859-7", 28605: "iso-8859-15", 50220: "iso-2022-jp", 51932: "euc-jp",
	51949: "euc-kr", 54936: "gb18030", 65001: "utf-8", 874: "windows-874", 866: "ibm866", 1200: "utf-16le", 1201: "utf-16be",
	1250: "windows-1250", 1251: "windows-1251", 1253: "windows-1253", 1254: "windows-1254", 1255: "windows-1255", 1256: "windows-1256",
	1257: "windows-1257", 1258: "windows-1258", 20936: "gb18030", 20932: "euc-jp", 38598: "iso-8859-8",
}

// Codepage returns the encoding of a code page of Windows: Windows-1252, of Western Europe, for unknown ones.
func Codepage(n int) encoding.Encoding {
	switch n {
	case 437:
		return charmap.CodePage437
	case 850:
		return charmap.CodePage850
	case 852:
		return charmap.CodePage852
	}
	if name := names[n&0xFFFF]; name != "" {
		if e, _ := charset.Lookup(name); e != nil {
			return e
		}
	}
	return charmap.Windows1252
}

// Decode returns the text of bytes in an encoding.
func Decode(b []byte, page encoding.Encoding) string {
	out, err := page.NewDecoder().Bytes(b)
	if err != nil {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return string(out)
}
