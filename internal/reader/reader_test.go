package reader_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus/ingest"
	"quarry/internal/extract"
	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/samplefile"
	"quarry/internal/fault"
	"quarry/internal/reader"
)

// programs are what this program is in processes that the tests start, by its first argument.
var programs = map[string]func(){"worker": func() {
	misbehave()
	if err := reader.Work(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && programs[os.Args[1]] != nil {
		programs[os.Args[1]]()
	}
	os.Exit(m.Run())
}

func executable(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// pool returns a pool of workers that ends with the test.
func pool(t testing.TB, change func(*reader.Config)) *reader.Pool {
	t.Helper()
	c := reader.Config{Command: []string{executable(t), "worker"}, Memory: 512 << 20, Time: time.Minute, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&c)
	}
	p := reader.New(c)
	t.Cleanup(p.Close)
	return p
}

// misbehave has this worker do to some files what no parser may do. A second argument is a folder, in which the first worker
// alone leaves a file before it may no more.
func misbehave() {
	first := false
	if dir, found := strings.CutPrefix(os.Args[2], "dir="); found {
		os.Args = append(os.Args[:2], os.Args[3:]...)
		f, err := os.OpenFile(filepath.Join(dir, "first"), os.O_CREATE|os.O_EXCL, 0o600)
		if first = err == nil; first {
			_ = f.Close() // nothing was written
		}
	}
	reader.SetParse(func(c extract.Choice) (*extract.Document, error) {
		doc, err := c.Read()
		if err != nil || len(doc.Sections) == 0 {
			return doc, err
		}
		switch strings.TrimSpace(doc.Sections[0].Text) {
		case "crash":
			panic("as the file says")
		case "spin":
			// The low priority of a worker is less than a tenth of a processor beside other tests, and the clock would be first.
			runtime.LockOSThread()
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 0) // the administrator alone may
			//lint:ignore SA5002 that it spins is the point
			for {
			}
		case "sleep":
			select {}
		case "eat":
			for all := [][]byte(nil); ; {
				more := make([]byte, 1<<20)
				for i := 0; i < len(more); i += 4096 {
					more[i] = 1
				}
				//lint:ignore SA4010 that it is kept is the point
				all = append(all, more)
			}
		case "fall":
			fall()
		case "fall once":
			if first {
				fall()
			}
		case "lie":
			_, _ = os.Stdout.WriteString("this is no message")
			select {}
		case "leave":
			os.Exit(0)
		}
		return doc, nil
	})
}

// fall ends this process as somebody else would.
func fall() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// document is a file that isn't read in the process of the service, with one paragraph.
func document(t testing.TB, text string) extract.Input {
	t.Helper()
	return extract.Input{Name: "a.odt", Data: extracttest.Zip(t, map[string]string{
		"mimetype": "application/vnd.oasis.opendocument.text",
		"content.xml": `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">` +
			`<office:body><office:text><text:p>` + text + `</text:p></office:text></office:body></office:document-content>`,
	})}
}

// mustRead reads a file with this text as it should be read.
func mustRead(t *testing.T, p ingest.Reader, text string) {
	t.Helper()
	doc, err := p.Read(t.Context(), document(t, text))
	if err != nil || len(doc.Sections) != 1 || doc.Sections[0].Text != text {
		t.Errorf("Read(%q) = %+v, %v", text, doc, err)
	}
}

// TestReadAsInside proves that a worker reads every file that there is as the same program without a worker: the tree, or the
// error, its text and what it is.
func TestReadAsInside(t *testing.T) {
	t.Parallel()
	p := pool(t, nil)
	n := 0
	for _, dir := range []string{"../extract", "../../../shared/data/parse-samples"} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.HasSuffix(path, ".go") {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, in := range []extract.Input{{Name: path, Data: data}, {Name: path, Data: data[:len(data)/2]}} {
				n++
				same(t, p, in)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	for _, in := range []extract.Input{
		document(t, "words"), {Name: "b.pdf", Data: samplefile.Scanned("Letters.", samplefile.Page("A scan."))}, {Name: "a.pdf"}, {Name: "a.pdf", Data: []byte("%PDF-1.7")}, {Name: "a.zip", Data: []byte("PK\x03\x04")},
		{ContentType: "image/png", Data: []byte("\x89PNG\x00")}, {ContentType: "application/pdf; x=\xff", Data: []byte("%PDF-\x00\xff")}, {Name: "a", Data: []byte{0, 1, 2}},
	} {
		n++
		same(t, p, in)
	}
	if n < 50 {
		t.Errorf("%d files were read, want all of them", n)
	}
	if all := p.Processes(); len(all) != 1 {
		t.Errorf("%d workers have read one file after the other, want 1", len(all))
	}
}

func same(t *testing.T, p ingest.Reader, in extract.Input) {
	t.Helper()
	want, wantErr := extract.Read(in)
	got, gotErr := p.Read(t.Context(), in)
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
		t.Errorf("%s: error %v, inside %v", in.Name, gotErr, wantErr)
	}
	for _, cause := range []error{extract.ErrUnparsable, extract.ErrProtected, extract.ErrNoText, extract.ErrUnsupported, extract.ErrEmpty} {
		if errors.Is(gotErr, cause) != errors.Is(wantErr, cause) {
			t.Errorf("%s: error %v is %v: %t", in.Name, gotErr, cause, errors.Is(gotErr, cause))
		}
	}
	if diff := cmp.Diff(written(t, want), written(t, got)); diff != "" {
		t.Errorf("%s (-inside +worker):\n%s", in.Name, diff)
	}
	if want == nil {
		return
	}
	for _, s := range append(want.Scans, extract.Scan{Page: 1000}) {
		want, wantErr := extract.Scanned(in, s)
		got, gotErr := p.Scanned(t.Context(), in, s)
		if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || errors.Is(gotErr, extract.ErrUnparsable) != errors.Is(wantErr, extract.ErrUnparsable) {
			t.Errorf("%s, page %d: error %v, inside %v", in.Name, s.Page, gotErr, wantErr)
		}
		if !cmp.Equal(want, got) {
			t.Errorf("%s, page %d: another picture than inside", in.Name, s.Page)
		}
	}
}

// written returns all of a document.
func written(t *testing.T, doc *extract.Document) string {
	t.Helper()
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(raw), "null", "[]")
}

// TestStopped proves that a file whose parser crashes, passes a limit, answers nonsense or is killed again and again costs that file, with
// the stage and the reason, and no other.
func TestStopped(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text, want string
		change     func(*reader.Config)
	}{
		{"crash", "it has crashed on this file", nil},
		{"spin", "it has worked on the file for 300ms, the most that one file may take (the setting parse_seconds", func(c *reader.Config) { c.Time = 300 * time.Millisecond }},
		{"sleep", "it was not done after 2s, 10 times what one file may take (the setting parse_seconds", func(c *reader.Config) { c.Time = 200 * time.Millisecond }},
		{"eat", "it needs more than 128 MB of memory, the most that one file may take (the setting parse_memory", func(c *reader.Config) { c.Memory = 128 << 20 }},
		{"eat", "it needs more than 128 MB of memory", func(c *reader.Config) { c.Memory, c.Blind = 128<<20, true }},
		{"lie", "it has crashed on this file", nil},
		{"fall", "its process was ended twice from outside", nil},
		{"leave", "its process was ended twice from outside", nil},
	} {
		t.Run(tc.text, func(t *testing.T) {
			t.Parallel()
			p := pool(t, tc.change)
			mustRead(t, p, "before")
			_, err := p.Read(t.Context(), document(t, tc.text))
			if !errors.Is(err, extract.ErrStopped) || !strings.Contains(fmt.Sprint(err), tc.want) || !strings.HasPrefix(fmt.Sprint(err), "read application/vnd.oasis.opendocument.text: ") {
				t.Errorf("error %v, want the stage and %q", err, tc.want)
			}
			mustRead(t, p, "after")
		})
	}
}

// TestKilledOnce proves that a file is read again, by another worker, when the first was killed by somebody else; and that a worker
// which was killed while it waited costs nothing.
func TestKilledOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	p := pool(t, func(c *reader.Config) {
		c.Command = append(c.Command, "dir="+t.TempDir())
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	mustRead(t, p, "before")
	before := p.Processes()
	mustRead(t, p, "fall once")
	after := p.Processes()
	if len(before) != 1 || len(after) != 1 || before[0] == after[0] {
		t.Errorf("workers %v, then %v, want another one", before, after)
	}
	if !strings.Contains(log.String(), "read again") {
		t.Errorf("the log doesn't say it: %q", &log)
	}
	idle, err := os.FindProcess(after[0])
	if err == nil {
		err = idle.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	mustRead(t, p, "after")
}

// TestReplaced proves that a worker gets so many files and no more.
func TestReplaced(t *testing.T) {
	t.Parallel()
	p := pool(t, func(c *reader.Config) { c.Files = 3 })
	seen := map[int]int{}
	for range 9 {
		mustRead(t, p, "words")
		for _, pid := range p.Processes() {
			seen[pid]++
		}
	}
	if len(seen) < 3 {
		t.Errorf("9 files were read by %d workers, want 3", len(seen))
	}
}

// TestGone proves that nothing is read on for a client that has gone, and nothing is read by a service that stops.
func TestGone(t *testing.T) {
	t.Parallel()
	p := pool(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	reading.Go(func() {
		if _, err := p.Read(ctx, document(t, "spin")); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that the client has gone", err)
		}
	})
	for len(p.Processes()) == 0 {
		runtime.Gosched()
	}
	leave()
	reading.Wait()
	reading.Go(func() {
		if _, err := p.Read(t.Context(), document(t, "spin")); !fault.Is(err, fault.KindUnavailable) {
			t.Errorf("error %v, want that the service stops", err)
		}
	})
	for len(p.Processes()) == 0 {
		runtime.Gosched()
	}
	p.Close()
	reading.Wait()
	if _, err := p.Read(t.Context(), document(t, "words")); !fault.Is(err, fault.KindUnavailable) {
		t.Errorf("error %v, want that the service stops", err)
	}
	if left := p.Processes(); len(left) > 0 {
		t.Errorf("workers %v are left", left)
	}
}

// TestNoWorker proves that files are not blamed for a worker that can't be started, or that is no worker.
func TestNoWorker(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{filepath.Join(t.TempDir(), "none")}, {executable(t), "-test.run=^$"}} {
		p := pool(t, func(c *reader.Config) { c.Command = command })
		if _, err := p.Read(t.Context(), document(t, "words")); !fault.Is(err, fault.KindUnavailable) {
			t.Errorf("%q: error %v, want 503", command, err)
		}
		doc, err := p.Read(t.Context(), extract.Input{Name: "a.md", Data: []byte("# words")})
		if err != nil || doc.Title != "words" {
			t.Errorf("%q: plain text is read as %v, %v", command, doc, err)
		}
	}
}

// TestEndsWithInput proves that a worker ends when its input does, also in the middle of a file that it would never be done with.
func TestEndsWithInput(t *testing.T) {
	t.Parallel()
	raw, err := reader.File(document(t, "spin"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(executable(t), "worker", "536870912")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(raw); err != nil {
		t.Fatal(err)
	}
	var said []byte
	for !bytes.Contains(said, []byte("read application/vnd.oasis")) { // the stage, after which it spins
		more := make([]byte, 1<<16)
		n, err := out.Read(more)
		if err != nil {
			t.Fatalf("it ends before its input: %v", err)
		}
		said = append(said, more[:n]...)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Errorf("it answers %q (%v), want nothing", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}
