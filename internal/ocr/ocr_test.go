package ocr_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry/internal/extract"
	"quarry/internal/extract/samplefile"
	"quarry/internal/fault"
	"quarry/internal/ocr"
	"quarry/internal/testkit"
)

// script returns a program that calls itself tesseract, knows eng, and with a picture on its input does as a line of sh says.
func script(t *testing.T, does string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		testkit.Skip(t, "this system has no sh")
	}
	name := filepath.Join(t.TempDir(), "tesseract")
	text := "#!/bin/sh\ncase $1 in\n--version) echo tesseract 9.9;;\n--list-langs) printf 'List of languages (2):\\neng\\nscript/Latin\\n';;\n*) " + does + ";;\nesac\n"
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

// find returns a Program of a script; a page may take so long.
func find(t *testing.T, does string, limit time.Duration) *ocr.Program {
	t.Helper()
	p, err := ocr.Find(t.Context(), ocr.Config{Tesseract: script(t, does), Languages: []string{"eng"}, Time: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

var small = &extract.Raster{Width: 3, Height: 2, DPI: 200, Grey: []byte("abcdef")}

// TestRecognise proves what a program gets, and what is made of its answer.
func TestRecognise(t *testing.T) {
	t.Parallel()
	p := find(t, `echo "$@"; env | sort; cat; printf '\f\377'`, time.Minute)
	got, err := p.Recognise(t.Context(), small)
	want := "stdin stdout -l eng --dpi 200\n"
	if err != nil || !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "P5\n3 2\n255\nabcdef\n\n\uFFFD") {
		t.Errorf("%q %v", got, err)
	}
	for _, secret := range []string{"HOME=", "PATH=/root", "QUARRY"} {
		if strings.Contains(got, secret) {
			t.Errorf("the program's environment has %s: %s", secret, got)
		}
	}
}

// TestFind proves what is said of programs that are not there or don't work.
func TestFind(t *testing.T) {
	t.Parallel()
	broken := script(t, "true")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho no library >&2\nexit 127\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	other := script(t, "true")
	if err := os.WriteFile(other, []byte("#!/bin/sh\necho cat 9\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		program, language, setting, want string
	}{
		{filepath.Join(t.TempDir(), "none"), "eng", "tesseract", "there is no such file"},
		{"no-such-program-anywhere", "eng", "tesseract", "apt-get install tesseract-ocr"},
		{broken, "eng", "tesseract", "does not work: exit status 127: no library"},
		{other, "eng", "tesseract", `it calls itself "cat 9"`},
		{script(t, "true"), "deu", "ocr_languages", `no data for the language "deu" of the setting ocr_languages, only for eng, script/Latin; install them (Debian and Ubuntu: apt-get install tesseract-ocr-deu)`},
	} {
		_, err := ocr.Find(t.Context(), ocr.Config{Tesseract: c.program, Languages: []string{c.language}, Time: time.Second})
		var absent *ocr.Absent
		if !errors.As(err, &absent) || absent.Setting != c.setting || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %q", c.program, c.language, err, c.want)
		}
	}
	p := find(t, "true", time.Second)
	if s := p.String(); !strings.HasPrefix(s, "tesseract 9.9, languages eng") {
		t.Errorf("it is called %q", s)
	}
}

// TestLimits proves that a program that does not end, says too much or fails costs its page, with the reason, and no more.
func TestLimits(t *testing.T) {
	t.Parallel()
	for does, want := range map[string]string{
		"exec sleep 60":                      "has worked on it for 100ms, the most that one page may take (the setting parse_seconds of the service)",
		"exec cat /dev/zero":                 "has answered more than 4 MB",
		"echo 'no such picture' >&2; exit 3": "has failed on it (exit status 3): no such picture",
		"kill -9 $$":                         "was killed twice from outside",
		"kill -11 $$":                        "has failed on it (signal: segmentation fault",
	} {
		limit := time.Minute
		if strings.Contains(does, "sleep") {
			limit = 100 * time.Millisecond
		}
		_, err := find(t, does, limit).Recognise(t.Context(), small)
		if !errors.Is(err, extract.ErrStopped) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", does, err, want)
		}
	}
}

// TestKilledOnce proves that a page whose program was killed from outside is read once more.
func TestKilledOnce(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	p := find(t, "if [ -d "+mark+" ]; then cat; else mkdir "+mark+"; kill -9 $$; fi", time.Minute)
	if got, err := p.Recognise(t.Context(), small); err != nil || got != "P5\n3 2\n255\nabcdef" {
		t.Errorf("%q %v", got, err)
	}
}

// TestEnds proves that a process ends with the request that it works for, and with the Program.
func TestEnds(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"gone", "closed"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			pipe := filepath.Join(t.TempDir(), "begun")
			p := find(t, "mkdir "+pipe+"; exec sleep 600", time.Hour)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() {
				_, err := p.Recognise(ctx, small)
				done <- err
			}()
			for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
				if _, err := os.Stat(pipe); err == nil {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the program was not started")
				}
			}
			if how == "gone" {
				cancel()
			} else {
				p.Close()
			}
			err := <-done
			if f, ok := fault.As(err); how == "gone" && !errors.Is(err, context.Canceled) || how == "closed" && (!ok || f.Kind != fault.KindUnavailable) {
				t.Errorf("%v", err)
			}
		})
	}
	p := find(t, "cat", time.Minute)
	p.Close()
	if _, err := p.Recognise(t.Context(), small); !fault.Is(err, fault.KindUnavailable) {
		t.Errorf("behind the end: %v", err)
	}
}

// TestGoneProgram proves that a program which was removed since the start is no fault of the file.
func TestGoneProgram(t *testing.T) {
	t.Parallel()
	name := script(t, "cat")
	p, err := ocr.Find(t.Context(), ocr.Config{Tesseract: name, Languages: []string{"eng"}, Time: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Recognise(t.Context(), small); !fault.Is(err, fault.KindUnavailable) {
		t.Errorf("without its program: %v", err)
	}
}

// installed returns a Program of the tesseract of this machine.
func installed(t *testing.T, programs ...string) *ocr.Program {
	t.Helper()
	for _, name := range append(programs, "tesseract") {
		if _, err := exec.LookPath(name); err != nil {
			testkit.Skip(t, name+" is not installed")
		}
	}
	p, err := ocr.Find(t.Context(), ocr.Config{Tesseract: "tesseract", Languages: []string{"eng"}, Time: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// TestTesseract proves that the text of a picture is read, in lines and paragraphs.
func TestTesseract(t *testing.T) {
	t.Parallel()
	p := installed(t)
	page := samplefile.Page("The mill grinds from morning to evening.", "It stops at noon.", "", "", "A second paragraph begins here.")
	got, err := p.Recognise(t.Context(), &extract.Raster{Width: page.Rect.Dx(), Height: page.Rect.Dy(), DPI: 300, Grey: page.Pix})
	if want := "The mill grinds from morning to evening.\nIt stops at noon.\n\nA second paragraph begins here."; err != nil || strings.TrimSpace(got) != want {
		t.Errorf("%q %v", got, err)
	}
	if !strings.HasPrefix(p.String(), "tesseract ") {
		t.Errorf("it is called %q", p)
	}
}

// TestDrawn proves that a page of a PDF which nothing here decodes is drawn first, and that one that can't be drawn says so.
func TestDrawn(t *testing.T) {
	t.Parallel()
	p := installed(t, "pdftoppm")
	file := samplefile.Scanned("A first page.", samplefile.Page("The mill grinds from morning to evening."))
	got, err := p.Recognise(t.Context(), &extract.Raster{PDF: file, Page: 2, Width: 100, Height: 100})
	if want := "The mill grinds from morning to evening."; err != nil || strings.TrimSpace(got) != want {
		t.Errorf("%q %v", got, err)
	}
	if _, err := p.Recognise(t.Context(), &extract.Raster{PDF: []byte("%PDF-1.7 nothing"), Page: 1}); !errors.Is(err, extract.ErrStopped) {
		t.Errorf("a PDF that is none: %v", err)
	}
}
