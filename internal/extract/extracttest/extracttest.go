// Package extracttest has what the tests of readers share: archives made from texts, trees as text to compare, and the damage that
// every reader must survive.
package extracttest

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/extract/outline"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// Zip returns an archive of parts by their names.
func Zip(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(parts[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Unzip returns the parts of an archive by their names.
func Unzip(t testing.TB, data []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, f := range z.File {
		part, err := fs.ReadFile(z, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		parts[f.Name] = string(part)
	}
	return parts
}

// Dump returns a document as text: a line for its title and metadata, and what follows for each section, indented by its depth.
func Dump(t testing.TB, doc *outline.Document) string {
	t.Helper()
	meta, err := json.Marshal(doc.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("title: %s\nmeta: %s\n", doc.Title, meta) + sections(doc.Sections, "")
}

func sections(all []outline.Section, indent string) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "%s[%d] %q", indent, s.Level, s.Title)
		if s.Page > 0 {
			fmt.Fprintf(&b, " page %d", s.Page)
		}
		b.WriteByte('\n')
		for line := range strings.SplitSeq(s.Text, "\n") {
			if line != "" {
				line = indent + "  " + line
			}
			if s.Text != "" {
				b.WriteString(line + "\n")
			}
		}
		for _, t := range s.Tables {
			fmt.Fprintf(&b, "%s  table %q %q\n", indent, t.Title, t.Headers)
			for _, row := range t.Rows {
				fmt.Fprintf(&b, "%s    %q\n", indent, row)
			}
		}
		for _, p := range s.Pictures {
			fmt.Fprintf(&b, "%s  picture %s title %q caption %q description %q\n", indent, p.MIME, p.Title, p.Caption, p.Description)
		}
		b.WriteString(sections(s.Sections, indent+"  "))
	}
	return b.String()
}

// Pictures compares the document that read returns with pictures with the file at path, and proves that without it has none.
func Pictures(t testing.TB, path string, read func(pictures bool) (*outline.Document, error)) {
	t.Helper()
	with, err := read(true)
	without, other := read(false)
	if err = errors.Join(err, other); err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	Golden(t, path, with)
	if got := Dump(t, without); strings.Contains(got, "picture ") {
		t.Errorf("%s: pictures that nobody wants:\n%s", path, got)
	}
}

// Golden compares a document with the file at path, which -rewrite writes.
func Golden(t testing.TB, path string, doc *outline.Document) {
	t.Helper()
	got := Dump(t, doc)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// Damage proves that a file cut off at every tenth and one with bytes overwritten are read, or are refused as unparsable.
func Damage(t testing.TB, read func([]byte) (*outline.Document, error), data []byte) {
	t.Helper()
	for tenth := range 10 {
		hurt := bytes.Clone(data)
		for i := len(hurt) * tenth / 10; i < len(hurt)*tenth/10+20 && i < len(hurt); i++ {
			hurt[i] ^= 0x55
		}
		for name, in := range map[string][]byte{"cut at": data[:len(data)*tenth/10], "hurt at": hurt} {
			if _, err := read(in); err != nil && !errors.Is(err, outline.ErrUnparsable) && !errors.Is(err, outline.ErrProtected) {
				t.Errorf("%s tenth %d: %v", name, tenth, err)
			}
		}
	}
}
