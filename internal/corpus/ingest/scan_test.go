package ingest_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"runtime"
	"strings"
	"sync"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/ingest"
	"quarry/internal/extract"
	"quarry/internal/extract/samplefile"
	"quarry/internal/fault"
)

// sizes stands for the program that recognises text: it reads how large a picture is. It fails on those of some heights.
type sizes struct {
	mu    sync.Mutex
	seen  int           // guarded by mu
	fails map[int]error // by height
}

func (s *sizes) Recognise(ctx context.Context, r *extract.Raster) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen++
	if err := s.fails[r.Height]; err != nil {
		return "", err
	}
	if r.Height == 999 { // a sheet that nobody has written on
		return " \n", ctx.Err()
	}
	return fmt.Sprintf("The sheet is %d high.\n", r.Height), ctx.Err()
}

func sheet(height int) *image.Gray { return image.NewGray(image.Rect(0, 0, 200, height)) }

func pngOf(t *testing.T, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestScans proves what becomes of files with pages that are pictures: their text is recognised as far as it can be and stands where the page
// does, and the document says which pages were not read.
func TestScans(t *testing.T) {
	t.Parallel()
	stopped := fmt.Errorf("%w: it took too long", extract.ErrStopped)
	mixed := samplefile.Scanned("The first page.", sheet(300), "The third page.", sheet(310), sheet(320))
	pure := samplefile.Scanned(sheet(300), sheet(310))
	mail := "Subject: A scan\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nSee below.\r\n" +
		"--x\r\nContent-Type: text/plain; name=a.txt\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nA text.\r\n" +
		"--x\r\nContent-Type: application/pdf; name=b.pdf\r\nContent-Disposition: attachment; filename=b.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n" + base64.StdEncoding.EncodeToString(pure) + "\r\n--x--\r\n"
	for name, c := range map[string]struct {
		file, data string
		ocr        ingest.OCR
		want       string // the parts with their pages, the pages without text, or the refusal
		pages      int    // that were looked at
	}{
		"a picture":                   {"a.png", pngOf(t, sheet(300)), ingest.OCR{Recogniser: &sizes{}, Pages: 9}, "The sheet is 300 high. [1 ocr]", 1},
		"a picture, nothing reads it": {"a.png", pngOf(t, sheet(300)), ingest.OCR{Absent: "Install tesseract"}, "needs OCR|Install tesseract", 0},
		"a picture of nothing":        {"a.png", pngOf(t, sheet(999)), ingest.OCR{Recogniser: &sizes{}, Pages: 9}, "holds no text", 1},
		"a picture that is too much":  {"a.png", pngOf(t, sheet(300)), ingest.OCR{Recogniser: &sizes{fails: map[int]error{300: stopped}}, Pages: 9}, "recognise text of page 1: |it took too long", 1},
		"a damaged picture":           {"a.png", pngOf(t, sheet(300))[:60], ingest.OCR{Recogniser: &sizes{}, Pages: 9}, "read image/png|could not be parsed", 0},
		"a PDF of pictures":           {"a.pdf", string(pure), ingest.OCR{Recogniser: &sizes{}, Pages: 9}, "The sheet is 300 high. [1 ocr]; The sheet is 310 high. [2 ocr]", 2},
		"the same, nothing reads it":  {"a.pdf", string(pure), ingest.OCR{Absent: "Install tesseract"}, "needs OCR|Install tesseract", 0},
		"a PDF with pictures": {"a.pdf", string(mixed), ingest.OCR{Recogniser: &sizes{}, Pages: 9},
			"The first page. [1]; The sheet is 300 high. [2 ocr]; The third page. [3]; The sheet is 310 high. [4 ocr]; The sheet is 320 high. [5 ocr]", 3},
		"the same, nothing reads them":      {"a.pdf", string(mixed), ingest.OCR{Absent: "Install tesseract"}, "The first page. [1]; The third page. [3] without [2,4,5]", 0},
		"more than may be read":             {"a.pdf", string(mixed), ingest.OCR{Recogniser: &sizes{}, Pages: 1}, "The first page. [1]; The sheet is 300 high. [2 ocr]; The third page. [3] without [4,5]", 1},
		"one of them is too much":           {"a.pdf", string(mixed), ingest.OCR{Recogniser: &sizes{fails: map[int]error{310: stopped}}, Pages: 9}, "The first page. [1]; The sheet is 300 high. [2 ocr]; The third page. [3]; The sheet is 320 high. [5 ocr] without [4]", 3},
		"the first of nothing else is":      {"a.pdf", string(pure), ingest.OCR{Recogniser: &sizes{fails: map[int]error{300: stopped}}, Pages: 9}, "The sheet is 310 high. [2 ocr] without [1]", 2},
		"a scan in a mail":                  {"a.eml", mail, ingest.OCR{Recogniser: &sizes{}, Pages: 9}, "A scan; See below.; a.txt; A text.; b.pdf; The sheet is 300 high. [1 ocr]; The sheet is 310 high. [2 ocr]", 2},
		"the same, nothing reads it either": {"a.eml", mail, ingest.OCR{Absent: "Install tesseract"}, "A scan; See below.; a.txt; A text.; b.pdf; This attachment was not read: the file needs OCR", 0},
		"a program that can't be started":   {"a.pdf", string(mixed), ingest.OCR{Recogniser: &sizes{fails: map[int]error{310: fault.Unavailable("ocr", "no program")}}, Pages: 9}, "503", -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBenchOf(corpus.Corpus{Enabled: true}, c.ocr)
			_, err := b.Upload(t.Context(), "manuals", upload(c.file, c.data))
			if r, ok := c.ocr.Recogniser.(*sizes); ok && c.pages >= 0 && r.seen != c.pages {
				t.Errorf("%d pages were looked at, want %d", r.seen, c.pages)
			}
			if err != nil {
				f, _ := fault.As(err)
				text := fmt.Sprint(f.Fields)
				if f.Kind == fault.KindUnavailable {
					text = "503"
				} else if _, ok := f.Fields["file"]; !ok {
					t.Errorf("the refusal is not about the file: %v", f.Fields)
				}
				for _, want := range strings.Split(c.want, "|") {
					if !strings.Contains(text, want) {
						t.Errorf("refused: %s, want %q", text, want)
					}
				}
				if b.store.Corpus.Seq != 10 {
					t.Error("something was stored")
				}
				return
			}
			stored, _ := b.store.Document(c.file)
			if got := outlined(stored.Metadata, stored.Parts); !strings.HasPrefix(got, c.want) {
				t.Errorf("the document is\n%s, want\n%s", got, c.want)
			}
		})
	}
}

// TestScansEndWithTheirClient proves that nothing more is recognised for a client that has gone.
func TestScansEndWithTheirClient(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var pages []any
	for range 50 {
		pages = append(pages, sheet(300))
	}
	r := &leaving{cancel: cancel}
	b := newBenchOf(corpus.Corpus{Enabled: true}, ingest.OCR{Recogniser: r, Pages: 99})
	if _, err := b.Upload(ctx, "manuals", upload("a.pdf", string(samplefile.Scanned(pages...)))); err == nil || b.store.Corpus.Seq != 10 {
		t.Errorf("the upload of a client that has gone: %v", err)
	}
	if r.seen > runtime.GOMAXPROCS(0) {
		t.Errorf("%d pages were recognised for nobody", r.seen)
	}
}

// leaving is a client that goes while the first page is recognised.
type leaving struct {
	sizes
	cancel func()
}

func (l *leaving) Recognise(ctx context.Context, r *extract.Raster) (string, error) {
	l.cancel()
	return l.sizes.Recognise(ctx, r)
}

// outlined returns the texts of parts with their pages, and the pages without text.
func outlined(metadata json.RawMessage, parts []document.Part) string {
	var all []string
	for i := range parts {
		var m struct {
			Page int
			OCR  bool
		}
		_ = json.Unmarshal(parts[i].Metadata, &m) // what is missing is seen
		text := parts[i].Text
		if m.OCR {
			text += fmt.Sprintf(" [%d ocr]", m.Page)
		} else if m.Page > 0 {
			text += fmt.Sprintf(" [%d]", m.Page)
		}
		all = append(all, text)
	}
	out := strings.Join(all, "; ")
	var d struct {
		Without json.RawMessage `json:"Pages-Without-Text"`
	}
	if _ = json.Unmarshal(metadata, &d); d.Without != nil {
		out += " without " + string(d.Without)
	}
	return out
}
