package extract_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"quarry/internal/extract"
	"quarry/internal/extract/extracttest"
	"quarry/internal/testkit"
)

// TestReadRefusesCutSamples proves that each sample that is cut off, at every tenth, is refused as unparsable, unless it is of plain characters, where nobody can tell.
func TestReadRefusesCutSamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../shared/data/parse-samples/*/sources/*")
	if err != nil || len(files) == 0 {
		testkit.Skip(t, "sample files are not on this machine")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for tenth := range 10 {
			in := extract.Input{Name: file, Data: data[:len(data)*tenth/10]}
			doc, err := extract.Read(in)
			if err == nil && len(doc.Scans) > 0 { // which is looked at when its text is wanted
				_, err = extract.Scanned(in, doc.Scans[0])
			}
			switch {
			case tenth == 0 && errors.Is(err, extract.ErrEmpty), errors.Is(err, extract.ErrUnparsable), errors.Is(err, extract.ErrUnsupported):
			case err == nil && (extract.Plain(in) || lasting[filepath.Ext(file)]):
			default:
				t.Errorf("%s cut after %d tenths: %v", filepath.Base(file), tenth, err)
			}
		}
	}
}

// lasting are the endings of files that may be whole wherever they end.
var lasting = map[string]bool{".eml": true, ".asciidoc": true}

func TestReadFindsWhatAnotherParserFinds(t *testing.T) {
	t.Parallel() // Proves that the words another parser finds in sample files are found here, too.
	const dir = "../../../shared/data/parse-samples"
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		testkit.Skip(t, "sample files are not on this machine")
	}
	const floor, mean = 0.80, 0.95
	sum, n := 0.0, 0
	for _, kind := range []string{"md", "html", "docx", "xls", "doc", "ppt", "pdf"} {
		files, err := filepath.Glob(filepath.Join(dir, kind, "sources", "*."+kind))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s samples: %v", kind, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if others[filepath.Base(file)] {
				continue
			}
			want, err := os.ReadFile(filepath.Join(dir, kind, "expected", filepath.Base(file)+".md"))
			if errors.Is(err, fs.ErrNotExist) {
				want, err = os.ReadFile(filepath.Join(dir, kind, "expected", strings.TrimSuffix(filepath.Base(file), "."+kind)+".md"))
			}
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			doc, err := extract.Read(extract.Input{Name: file, Data: data})
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			got, missing := recall(string(want), extracttest.Dump(t, doc))
			t.Logf("%.3f %s missing %.8q", got, filepath.Base(file), missing)
			if got < floor {
				t.Errorf("%s: %.3f of the words found, want ≥ %.2f", file, got, floor)
			}
			sum += got
			n++
		}
	}
	if sum/float64(n) < mean {
		t.Errorf("mean recall of %d files %.3f, want ≥ %.2f", n, sum/float64(n), mean)
	}
	t.Logf("mean recall of %d files %.4f", n, sum/float64(n))
}

func TestReadPicturesOfSample(t *testing.T) {
	t.Parallel() // Proves that the picture of a document that Word has saved is found, with its caption and what is said of it.
	data, err := os.ReadFile("../../../shared/data/parse-samples/doc/sources/legacy_sample.doc")
	if errors.Is(err, fs.ErrNotExist) {
		testkit.Skip(t, "sample files are not on this machine")
	}
	if err != nil {
		t.Fatal(err)
	}
	doc, err := extract.Read(extract.Input{Name: "a.doc", Data: data, Options: extract.Options{Pictures: true}})
	if err != nil {
		t.Fatal(err)
	}
	var got []extract.Picture
	var collect func([]extract.Section)
	collect = func(all []extract.Section) {
		for _, s := range all {
			got = append(got, s.Pictures...)
			collect(s.Sections)
		}
	}
	collect(doc.Sections)
	if len(got) != 1 || got[0].MIME != "image/png" || got[0].Caption != "Figure 1: This is a cute duckling" ||
		got[0].Description != "A cartoon duck holding a paper Description automatically generated" {
		t.Errorf("%d pictures: %.300v", len(got), got)
	}
}

// others are files whose expected words are in another notation: LaTeX, and the data of a chart.
var others = map[string]bool{"equations.docx": true, "drawingml.docx": true}

// target matches what our tree leaves out on purpose: the targets of links and the markup of images.
var target = regexp.MustCompile(`\]\([^)]*\)|<!--.*?-->`)

// recall returns the share of the words of want, counted with repetition, that are in got, and those that are missing.
func recall(want, got string) (float64, []string) {
	have := map[string]int{}
	for _, w := range words(got) {
		have[w]++
	}
	all, found := 0, 0
	var missing []string
	for _, w := range words(target.ReplaceAllString(want, " ")) {
		all++
		if have[w] > 0 {
			have[w]--
			found++
		} else {
			missing = append(missing, w)
		}
	}
	if all == 0 {
		return 1, nil
	}
	return float64(found) / float64(all), missing
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
