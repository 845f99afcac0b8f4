package source_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/internal/folder/source"
	"quarry/internal/testkit"
)

// entry is a member of an archive made in a test.
type entry struct {
	name, text string
	kind       byte        // of a tar
	mode       fs.FileMode // of a zip
}

func zipped(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: time.Unix(1e9, 0)}
		h.SetMode(e.mode | 0o600)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(e.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func tarred(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Size: int64(len(e.text)), Mode: 0o600, ModTime: time.Unix(1e9, 0)}
		if e.kind == tar.TypeSymlink || e.kind == tar.TypeLink {
			h.Linkname, h.Size = e.text, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte(e.text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func writeZip(t *testing.T, path string, entries ...entry) { save(t, path, zipped(t, entries...)) }

func writeTar(t *testing.T, path string, entries ...entry) {
	data := tarred(t, entries...)
	if !strings.HasSuffix(path, ".tar") {
		data = gzipped(t, data)
	}
	save(t, path, data)
}

func save(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestArchives proves that archives of every kind are read alike, and that members which cannot be are problems while the
// others go on.
func TestArchives(t *testing.T) {
	t.Parallel()
	entries := []entry{
		{name: "./a.md", text: "a"},
		{name: "sub/b.txt", text: "b"},
		{name: "sub/", kind: tar.TypeDir, mode: fs.ModeDir},
		{name: "c.mp4", text: "c"},
		{name: ".hidden.md", text: "h"},
		{name: "__MACOSX/._a.md", text: "m"},
		{name: "empty.md"},
		{name: "one.json", text: body},
		{name: "two.json", text: `{"x":1}`},
		{name: "in.zip", text: "PK"},
		{name: "../up.md", text: "u"},
		{name: "x/../../up.md", text: "u"},
		{name: "/etc/abs.md", text: "u"},
		{name: `C:\abs.md`, text: "u"},
		{name: `..\up.md`, text: "u"},
		{name: `win\d.md`, text: "d"},
		{name: "a.md", text: "again"},
		{name: "sub//b.txt", text: "again"},
		{name: "new\nline.md", text: "n"},
		{name: "link.md", text: "/etc/passwd", kind: tar.TypeSymlink, mode: fs.ModeSymlink},
		{name: "dev.md", kind: tar.TypeChar, mode: fs.ModeDevice | fs.ModeCharDevice},
		{name: "pipe.md", kind: tar.TypeFifo, mode: fs.ModeNamedPipe},
		{name: "big.md", text: strings.Repeat("x", 2000)},
		{name: "z.md", text: "last"},
	}
	dir := t.TempDir()
	writeZip(t, filepath.Join(dir, "x.zip"), entries...)
	writeTar(t, filepath.Join(dir, "x.tar"), entries...)
	writeTar(t, filepath.Join(dir, "x.tgz"), entries...)
	writeTar(t, filepath.Join(dir, "x.tar.gz"), entries...)
	for _, name := range []string{"x.zip", "x.tar", "x.tgz", "x.tar.gz"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := search(t, dir, source.Options{MaxFile: 1000}, name)
			if want := "a.md sub/b.txt one(body) win/d.md z.md"; r.ids() != want {
				t.Errorf("found %s", r.ids())
			}
			if r.texts["a.md"] != "a" || r.texts["z.md"] != "last" || r.texts["one"] != body {
				t.Errorf("the texts are %v", r.texts)
			}
			in := " empty:" + name + "/"
			want := strings.TrimSpace(in+"empty.md format:"+name+"/c.mp4 hidden:"+name+"/.hidden.md hidden:"+name+"/__MACOSX/._a.md nested:") +
				name + "/in.zip no-body:" + name + "/two.json"
			if r.left() != want {
				t.Errorf("left out: %s\nwant      %s", r.left(), want)
			}
			got := strings.ReplaceAll(r.problems(), name, "x")
			for _, line := range []string{
				`x: "../up.md": its name leads out of the archive (..)`, `x: "x/../../up.md": its name leads out`, `x: "/etc/abs.md": its name is an absolute path`,
				`x: "C:\\abs.md": its name is an absolute path`, `x: "..\\up.md": its name leads out`, "x/a.md: the archive has this name twice",
				"x/sub/b.txt: the archive has this name twice", `x: "new\nline.md": the name has a line break`, "x/link.md: it is a link, not a file",
				"x/dev.md: it is a device, not a file", "x/pipe.md: it is a pipe, not a file", "x/big.md: it has 2000 bytes, more than the 1000",
			} {
				if !strings.Contains(got, line) {
					t.Errorf("no problem %s in\n%s", line, got)
				}
			}
			if len(r.Problems) != 12 {
				t.Errorf("%d problems:\n%s", len(r.Problems), got)
			}
			for i := len(r.items) - 1; i >= 0; i-- { // backwards, and after the search
				c, err := r.items[i].Read(t.Context())
				if err != nil || string(c.Data) != r.texts[r.items[i].ID] {
					t.Errorf("%s read later: %q, %v", r.items[i].ID, c.Data, err)
				}
			}
		})
	}
}

// TestDamagedArchives proves that what stands before the fault is read, that the fault is a problem behind which every
// document of the archive may stand, and that nothing that only looks like an archive is read.
func TestDamagedArchives(t *testing.T) {
	t.Parallel()
	noise := func(n int) string { // does not compress
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%x ", uint32(i)*2654435761)
		}
		return b.String()
	}
	some := []entry{{name: "a.md", text: "a"}, {name: "b.md", text: noise(20_000)}, {name: "c.md", text: "c"}}
	cut := func(data []byte) []byte { return data[:len(data)/2] }
	flipped := zipped(t, some...)
	flipped[len(flipped)/2] ^= 0xFF
	secret := zipped(t, some[:2]...)
	for _, at := range [][]byte{[]byte("PK\x03\x04"), []byte("PK\x01\x02")} { // the flag of encryption, in both headers of a.md
		i := bytes.Index(secret, at)
		secret[i+map[byte]int{3: 6, 1: 8}[at[2]]] |= 1
	}
	for name, c := range map[string]struct {
		data           []byte
		want, problems string
		below          bool
	}{
		"empty.zip":     {nil, "", "no zip archive", true},
		"text.zip":      {[]byte("hello"), "", "no zip archive", true},
		"cut.zip":       {cut(zipped(t, some...)), "", "no zip archive", true},
		"encrypted.zip": {secret, "b.md", "it is encrypted", false},
		"text.tar":      {[]byte(strings.Repeat("hello", 500)), "", "damaged", true},
		"cut.tar":       {cut(tarred(t, some...)), "a.md", "ends in the middle", true},
		"cut.tar.gz":    {cut(gzipped(t, tarred(t, some...))), "a.md", "ends in the middle", true},
		"cut.tgz":       {gzipped(t, nil)[:5], "", "ends in the middle", true},
		"text.tgz":      {[]byte(strings.Repeat("hello", 500)), "", "damaged", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			save(t, filepath.Join(dir, name), c.data)
			r := search(t, dir, source.Options{}, name)
			if r.ids() != c.want || len(r.Problems) != 1 || !strings.Contains(r.problems(), c.problems) || r.Problems[0].Below != c.below {
				t.Errorf("found %q, problems %+v", r.ids(), r.Problems)
			}
		})
	}
	dir := t.TempDir()
	save(t, filepath.Join(dir, "flipped.zip"), flipped)
	roots, err := source.Resolve([]string{filepath.Join(dir, "flipped.zip")})
	if err != nil {
		t.Fatal(err)
	}
	f, err := source.New(source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var bad []string
	if _, err := f.Find(t.Context(), roots[0], func(i source.Item) error {
		if _, err := i.Read(context.Background()); err != nil {
			bad = append(bad, err.Error())
		}
		return nil
	}); err != nil || len(bad) != 1 || !strings.Contains(bad[0], "b.md: it is damaged") {
		t.Errorf("%v, %q", err, bad)
	}
}

// TestBombs proves that archives which unpack to far more than their size are refused at a bound, whatever they declare.
func TestBombs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	zeros := strings.Repeat("\x00", 9<<20)
	many := []entry{{name: "small.md", text: "x"}}
	for i := range 8 {
		many = append(many, entry{name: fmt.Sprintf("%d.md", i), text: zeros})
	}
	writeZip(t, filepath.Join(dir, "z.zip"), many[:3]...)
	writeTar(t, filepath.Join(dir, "t.tgz"), many...)
	r := search(t, dir, source.Options{}, "z.zip")
	if r.ids() != "small.md" || len(r.Problems) != 2 || !strings.Contains(r.problems(), "more than 250 times its size") {
		t.Errorf("found %q, problems %s", r.ids(), r.problems())
	}
	r = search(t, dir, source.Options{}, "t.tgz")
	if len(r.items) != 8 || len(r.Problems) != 1 || !strings.Contains(r.problems(), "more than 250 times its size") || !r.Problems[0].Below {
		t.Errorf("found %q, problems %s", r.ids(), r.problems())
	}
}

// FuzzArchive proves that no bytes make the search of an archive fail, hang or read a member under a name that leads out.
func FuzzArchive(f *testing.F) {
	some := []entry{{name: "a.md", text: "a"}, {name: "../b.md", text: "b"}, {name: "one.json", text: body}}
	f.Add(zipped(f, some...), ".zip")
	f.Add(tarred(f, some...), ".tar")
	f.Add(gzipped(f, tarred(f, some...)), ".tgz")
	f.Fuzz(func(t *testing.T, data []byte, ending string) {
		if ending != ".zip" && ending != ".tar" {
			ending = ".tgz"
		}
		dir := t.TempDir()
		save(t, filepath.Join(dir, "x"+ending), data)
		fuzzed(t, filepath.Join(dir, "x"+ending))
	})
}

// fuzzed searches a file of several documents and reads what it finds.
func fuzzed(t *testing.T, path string) {
	roots, err := source.Resolve([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	f, err := source.New(source.Options{MaxFile: 1 << 16, MaxBody: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ids := map[string]bool{}
	_, err = f.Find(t.Context(), roots[0], func(i source.Item) error {
		if ids[i.ID] || i.ID == "" || i.Form == source.AsFile && !fs.ValidPath(i.ID) {
			t.Errorf("found %q", i.ID)
		}
		ids[i.ID] = true
		c, err := i.Read(t.Context())
		if err == nil && int64(len(c.Data)) != i.Size {
			t.Errorf("%q has %d bytes, not %d", i.ID, len(c.Data), i.Size)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTapeOutOfOrder proves that members of a tar.gz can be read by several goroutines at once and in any order.
func TestTapeOutOfOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var entries []entry
	for i := range 60 {
		entries = append(entries, entry{name: fmt.Sprintf("%02d.md", i), text: fmt.Sprintf("text %d", i)}, entry{name: fmt.Sprintf("%02d.png", i), text: "p"})
	}
	writeTar(t, filepath.Join(dir, "x.tgz"), entries...)
	r := search(t, dir, source.Options{}, "x.tgz")
	order := rand.Perm(len(r.items))
	testkit.AtOnce(t.Context(), len(order), func(ctx context.Context, i int) bool {
		item := r.items[order[i]]
		c, err := item.Read(ctx)
		if err != nil || string(c.Data) != r.texts[item.ID] {
			t.Errorf("%s: %q, %v", item.ID, c.Data, err)
		}
		return true
	})
}
