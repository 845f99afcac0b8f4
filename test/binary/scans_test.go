package binary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry/internal/extract/samplefile"
	"quarry/internal/testkit"
)

// photo is a PNG of lines of text.
func photo(t *testing.T, lines ...string) file {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, samplefile.Page(lines...)); err != nil {
		t.Fatal(err)
	}
	return file{"a picture of a text", "photo.png", b.Bytes()}
}

// TestScans proves that text in pictures and in scanned pages is found where tesseract is installed, with its page, and that the start
// says so.
func TestScans(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tesseract"); err != nil {
		testkit.Skip(t, "tesseract is not installed")
	}
	p := testkit.StartBinary(t, t.TempDir())
	if log := p.Log(); !strings.Contains(log, "  ocr    tesseract ") || !strings.Contains(log, "languages eng") {
		t.Errorf("the start does not say what recognises text:\n%s", log)
	}
	createCorpus(t, p.Client(), "h")
	for _, f := range []file{
		photo(t, "The miller grinds rye on Monday."),
		{"a PDF", "mixed.pdf", samplefile.Scanned("A page of letters.", samplefile.Page("The baker bakes bread on Tuesday."))},
	} {
		body, kind := attach(t, f)
		if status, answer := raw(t, p, "POST", "/v2/corpora/h/upload_file", body, map[string]string{"Content-Type": kind}); status != http.StatusCreated || strings.Contains(answer, "Pages-Without-Text") {
			t.Errorf("%s: %d %s", f.name, status, answer)
		}
	}
	for query, want := range map[string]string{
		"what does the miller do": `The miller grinds rye on Monday. {"ocr":true,"page":1}`, "what does the baker do": `The baker bakes bread on Tuesday. {"ocr":true,"page":2}`,
		"a page of letters": `A page of letters. {"page":1}`,
	} {
		found := p.Client().Must(t, http.StatusOK, "POST", "/v2/corpora/h/query", map[string]any{"query": query, "search": map[string]any{"limit": 1, "lexical_interpolation": 0.5}})
		first := found["search_results"].([]any)[0].(map[string]any)
		about := first["part_metadata"].(map[string]any)
		for key := range about {
			if key != "ocr" && key != "page" {
				delete(about, key)
			}
		}
		meta, err := json.Marshal(about)
		if got := fmt.Sprint(first["text"], " ", string(meta)); err != nil || got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestNoRecognition proves what it costs that there is no tesseract, and that a setting that names none stops the start.
func TestNoRecognition(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := testkit.StartWith(t, dir, []string{"PATH=" + dir}, on(dir)...)
	if log := p.Log(); !strings.Contains(log, "  ocr    none, so that pictures and scanned PDF are refused: tesseract, the program that recognises text, was not found (it is not in PATH)") {
		t.Errorf("the start does not say what is missing:\n%s", log)
	}
	createCorpus(t, p.Client(), "h")
	body, kind := attach(t, photo(t, "words"))
	status, answer := raw(t, p, "POST", "/v2/corpora/h/upload_file", body, map[string]string{"Content-Type": kind})
	clear(t, status, answer, http.StatusBadRequest, "body.file")
	for _, want := range []string{"needs OCR", "apt-get install tesseract-ocr"} {
		if !strings.Contains(answer, want) {
			t.Errorf("the refusal does not say %q: %s", want, answer)
		}
	}
	for setting, want := range map[string]string{
		"QUARRY_TESSERACT=" + filepath.Join(dir, "none"): "there is no such file",
		"QUARRY_OCR_LANGUAGES=e n g":                     "setting ocr_languages",
		"QUARRY_OCR_PAGES=-1":                            "setting ocr_pages",
	} {
		cmd := exec.Command(testkit.Binary(t), append([]string{"serve"}, on(t.TempDir())...)...)
		cmd.Env = append(os.Environ(), setting)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v %s, want %q", setting, err, out, want)
		}
	}
}

// TestNoRecognitionOutlives proves that the program that recognises text ends with the service, also when that is killed.
func TestNoRecognitionOutlives(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		testkit.Skip(t, "this system doesn't list processes as files")
	}
	body, kind := attach(t, photo(t, "words"))
	for _, how := range []string{"killed", "stopped"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			program := filepath.Join(dir, "reads")
			const script = "#!/bin/sh\ncase $1 in\n--version) echo tesseract 9;;\n--list-langs) echo eng;;\n*) mkdir %s; exec sleep 600;;\nesac\n"
			begun := filepath.Join(dir, "begun")
			if err := os.WriteFile(program, fmt.Appendf(nil, script, begun), 0o755); err != nil {
				t.Fatal(err)
			}
			p := testkit.StartWith(t, dir, []string{"QUARRY_TESSERACT=" + program}, on(dir)...)
			createCorpus(t, p.Client(), "h")
			c := dial(t, p)
			c.begin(t, "POST", "/v2/corpora/h/upload_file", kind, len(body))
			c.send(t, body)
			for deadline := time.Now().Add(patience); ; runtime.Gosched() {
				if _, err := os.Stat(begun); err == nil {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("no process recognises the text")
				}
			}
			all := p.Children()
			if how == "killed" {
				p.Kill()
			} else {
				_ = c.Close() // so that nobody waits for the answer
				mustStop(t, p)
			}
			for deadline := time.Now().Add(patience); len(all) > 0; runtime.Gosched() {
				if !testkit.Runs(all[0]) {
					all = all[1:]
				}
				if time.Now().After(deadline) {
					t.Fatalf("%v outlive the service", all)
				}
			}
		})
	}
}
