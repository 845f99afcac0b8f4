package ole_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/extract/ole"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/samplefile"
)

// streams are those of a file with short and long streams in folders.
var streams = map[string]string{
	"short": "a few words", "Long": strings.Repeat("0123456789", 900), "limit": strings.Repeat("x", 4096), "empty": "",
	"folder/inside": "text", "folder/deeper/still": strings.Repeat("y", 130),
}

// TestOpen proves that streams of every size are read as they were written, wherever they stand.
func TestOpen(t *testing.T) {
	t.Parallel()
	root, err := ole.Open(samplefile.Compound(streams))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range streams {
		in := root
		path := strings.Split(name, "/")
		for _, folder := range path[:len(path)-1] {
			in = in.Storage(folder)
		}
		got, err := in.Read(strings.ToUpper(path[len(path)-1]))
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	if got, err := root.Read("absent"); got != nil || err != nil || root.Has("absent") || root.Storage("absent") != nil {
		t.Errorf("what is not there: %v, %v", got, err)
	}
	if !ole.Is(samplefile.Compound(streams), "other", "SHORT") || ole.Is(samplefile.Compound(streams), "other") || ole.Is([]byte("text"), "short") {
		t.Error("Is judges wrongly")
	}
}

// TestOpenRefusals proves that files that are none, run in circles, overlap or lie about lengths are refused with the reason.
func TestOpenRefusals(t *testing.T) {
	t.Parallel()
	whole := samplefile.Compound(streams)
	const sector = 512
	fat := int(binary.LittleEndian.Uint32(whole[76:])+1) * sector
	directory := int(binary.LittleEndian.Uint32(whole[48:])+1) * sector
	change := func(at int, to uint32) []byte {
		out := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(out[at:], to)
		return out
	}
	long := 0 // the entry of the stream
	for at := directory; at < len(whole); at += 128 {
		if whole[at] == 'L' {
			long = at
		}
	}
	start := int(binary.LittleEndian.Uint32(whole[long+116:]))
	for name, tt := range map[string]struct {
		data []byte
		want string
	}{
		"empty":                        {nil, "compound file"},
		"a page":                       {[]byte(strings.Repeat(" <html>", 100)), "seems to be a page"},
		"RTF":                          {[]byte(`{\rtf1 x}`), "seems to be RTF"},
		"a zip":                        {[]byte("PK\x03\x04"), "a newer one"},
		"the header alone":             {whole[:sector], "table of sectors"},
		"sectors of 64 KB":             {change(30, 16), "impossible size"},
		"a chain that is a circle":     {change(fat+4*start, uint32(start)), "circle"},
		"a chain that leaves the file": {change(fat+4*start, 1<<20), "leads out"},
		"a chain that ends too soon":   {change(fat+4*start, 0xFFFFFFFE), "shorter"},
		"a size that lies":             {change(long+120, 1<<31), ""},
		"a circle of entries":          {change(directory+76, 0), "directory"},
		"an entry out of the table":    {change(directory+76, 1<<30), "directory"},
		"a circle of tables":           {change(68, 0), "table of sectors"},
		"no directory":                 {change(48, 0xFFFFFFFE), "directory"},
	} {
		root, err := ole.Open(tt.data)
		if err == nil {
			_, err = root.Read("long")
		}
		if !errors.Is(err, outline.ErrUnparsable) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if _, err := ole.Open(samplefile.Compound(map[string]string{"EncryptedPackage": "x"})); !errors.Is(err, outline.ErrProtected) {
		t.Errorf("an encrypted document: %v", err)
	}
}

// TestReadOnce proves that streams that share their sectors are not read again and again.
func TestReadOnce(t *testing.T) {
	t.Parallel()
	root, err := ole.Open(samplefile.Compound(map[string]string{"a": strings.Repeat("x", 1<<20)}))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		if _, err = root.Read("a"); err != nil {
			if n < 2 {
				t.Errorf("refused at the reading number %d: %v", n+1, err)
			}
			return
		}
	}
	t.Error("ten times the size of the file was read")
}

// TestProperties proves what property sets become, in each type of values and with characters of other scripts.
func TestProperties(t *testing.T) {
	t.Parallel()
	u32 := func(n uint32) string { return string(binary.LittleEndian.AppendUint32(nil, n)) }
	bytes1251 := func(s string) string { return u32(30) + u32(uint32(len(s)+1)) + s + "\x00" }
	set := func(values map[uint32]string) string {
		head, body := "", ""
		for _, id := range []uint32{1, 2, 4, 5, 7, 12, 13, 14, 99} {
			if v, ok := values[id]; ok {
				head += u32(id) + u32(uint32(8+8*len(values)+len(body)))
				body += v
			}
		}
		return strings.Repeat("\x00", 24) + u32(1) + strings.Repeat("\x00", 16) + u32(48) + u32(0) + u32(uint32(len(values))) + head + body
	}
	for name, tt := range map[string]struct {
		streams map[string]string
		want    string
	}{
		"all types": {map[string]string{
			"\x05SummaryInformation": set(map[uint32]string{
				1: u32(2) + u32(1251), 2: bytes1251("\xcd\xe0\xf1\xee\xf1  1"), 4: u32(31) + u32(4) + "A\x00d\x00a\x00\x00\x00", 5: bytes1251(""),
				12: u32(64) + "\x00\x80\x3e\xd5\xde\xb1\x9d\x01", 13: u32(64) + u32(600000000) + u32(0), 14: u32(3) + u32(7), 99: u32(3) + u32(1),
			}),
			"\x05DocumentSummaryInformation": set(map[uint32]string{7: u32(3) + u32(9)}),
		}, "map[Author:Ada Page-Count:9 date:1970-01-01T00:00:00Z title:Насос 1]"},
		"none":        {map[string]string{"a": "b"}, "map[]"},
		"cut off":     {map[string]string{"\x05SummaryInformation": set(map[uint32]string{2: u32(30) + u32(1<<31) + "abcd"})[:70]}, "map[]"},
		"a lie":       {map[string]string{"\x05SummaryInformation": set(map[uint32]string{2: u32(31) + u32(1<<31) + "abcd"})}, "map[]"},
		"no section":  {map[string]string{"\x05SummaryInformation": strings.Repeat("\xFF", 60)}, "map[]"},
		"only a head": {map[string]string{"\x05SummaryInformation": "x"}, "map[]"},
	} {
		root, err := ole.Open(samplefile.Compound(tt.streams))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(root.Properties()); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestCodepage proves that bytes are read in the code page that a file names, and unknown ones as Windows-1252.
func TestCodepage(t *testing.T) {
	t.Parallel()
	for page, tt := range map[int][2]string{
		1252: {"\x93x\x94", "“x”"}, 1251: {"\xc4\xe0", "Да"}, 932: {"\x8a\xbf", "漢"}, 65001: {"漢", "漢"}, 1200: {"\x22\x6f", "漢"}, 437: {"\x84", "ä"},
		850: {"\x84", "ä"}, 852: {"\x84", "ä"}, 10000: {"\x8a", "ä"}, 0: {"\xe4", "ä"}, -1: {"\xe4", "ä"},
	} {
		if got := ole.Decode([]byte(tt[0]), ole.Codepage(page)); got != tt[1] {
			t.Errorf("code page %d: %q, want %q", page, got, tt[1])
		}
	}
}

func FuzzOpen(f *testing.F) {
	// Proves that no file makes reading all of its streams panic, and that each ends in bytes or a refusal.
	f.Add(samplefile.Compound(streams))
	f.Add(samplefile.Compound(map[string]string{"\x05SummaryInformation": strings.Repeat("\x01", 80)}))
	f.Fuzz(func(t *testing.T, data []byte) {
		root, err := ole.Open(data)
		if err != nil {
			if !errors.Is(err, outline.ErrUnparsable) && !errors.Is(err, outline.ErrProtected) {
				t.Fatal(err)
			}
			return
		}
		root.Properties()
		for name := range streams {
			if _, err := root.Read(name); err != nil && !errors.Is(err, outline.ErrUnparsable) {
				t.Fatal(err)
			}
		}
	})
}
