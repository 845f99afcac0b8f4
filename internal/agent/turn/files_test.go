package turn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/artifact"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/turn"
	"quarry/internal/blobstore/file"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/store/blobs"
)

// shelf is the files of a bench.
type shelf struct {
	*artifact.Service
	dir string
}

// shelve opens the files of a bench anew, as at the start of a process.
func (b *bench) shelve(t *testing.T, dir string) *shelf {
	t.Helper()
	kept, err := file.Open(t.Context(), dir, blobs.NewRows(b.db))
	if err != nil {
		t.Fatal(err)
	}
	return &shelf{artifact.NewService(artifact.Config{Store: b.rows, Blobs: kept, Most: 1000, Log: slog.New(slog.DiscardHandler)}), dir}
}

// left sweeps, and returns the files of the session and the names of what is kept in the folder.
func (b *bench) left(t *testing.T, s *shelf) (files []string, sums []string) {
	t.Helper()
	if err := s.Sweep(t.Context(), clock.Now()); err != nil {
		t.Fatal(err)
	}
	all, _, err := s.Find(t.Context(), artifact.List{Session: b.no, Oldest: true, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for i := range all {
		files = append(files, all[i].ID)
		want[all[i].Sum] = true
		content, err := s.Open(t.Context(), &all[i])
		if err != nil {
			t.Fatalf("%s has no bytes: %v", all[i].ID, err)
		}
		_ = content.Close()
	}
	err = filepath.WalkDir(s.dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			sums = append(sums, d.Name())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sums) != len(want) || slices.ContainsFunc(sums, func(sum string) bool { return !want[sum] }) {
		t.Errorf("%d contents are kept, of %d files: %v", len(sums), len(all), sums)
	}
	slices.Sort(files)
	return files, sums
}

// makes is a tool that makes a file of its arguments, and one that all calls share.
func makes(_ context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	for _, content := range []string{string(c.Arguments) + c.Session, "the same"} {
		if _, err := c.Files.Create(context.Background(), artifact.New{Filename: "out.txt"}, strings.NewReader(content)); err != nil {
			return nil, err
		}
	}
	return c.Arguments, nil
}

// TestKilledFiles proves that a turn whose tools make files, killed before or after any of its commits, ends in another process with
// the files of one that was never killed, each once, and with no bytes besides.
func TestKilledFiles(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, kill int, after bool) []string {
		dir := t.TempDir()
		killed := &cut{left: kill, after: after, dead: make(chan struct{})}
		var files *shelf
		with := func(cutOff bool) func(*turn.Config, *agent.Agent) {
			return func(c *turn.Config, a *agent.Agent) {
				probes(tool.Reads, makes)(c, a)
				c.Files = files.Service
				if killed.Log = c.Log; cutOff {
					c.Log = killed
				}
			}
		}
		b := prepare(t)
		files = b.shelve(t, dir)
		b.open(t, rounds(3), with(kill > 0))
		s, err := b.Send(t.Context(), b.input("go"))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if kill > 0 {
			<-killed.dead
			b.stop()
			files = b.shelve(t, dir)
			b.open(t, rounds(3), with(false))
		}
		b.idle(t)
		b.stop()
		got, _ := b.left(t, files)
		return got
	}
	want := run(t, 0, false)
	if len(want) != 12 { // of six calls
		t.Fatalf("%d files: %v", len(want), want)
	}
	for n := 1; n <= 10; n++ { // three replies, six outputs, the end
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d after %v", n, after), func(t *testing.T) {
				t.Parallel()
				if diff := cmp.Diff(want, run(t, n, after)); diff != "" { // calls, and so files, have the same names in every run
					t.Errorf("files (-unkilled +killed): %s", diff)
				}
			})
		}
	}
}

// TestFilesOfFailures proves that a call that fails leaves no file, nor does one that makes a file that is too large, or one
// behind its end.
func TestFilesOfFailures(t *testing.T) {
	t.Parallel()
	b := prepare(t)
	files := b.shelve(t, t.TempDir())
	var late atomic.Pointer[artifact.Workspace]
	var tries atomic.Int32
	run := func(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
		switch tries.Add(1) {
		case 1:
			if _, err := c.Files.Create(ctx, artifact.New{Filename: "a.txt"}, strings.NewReader("a")); err != nil {
				t.Error(err)
			}
			return nil, errors.New("it broke")
		case 2:
			_, err := c.Files.Create(ctx, artifact.New{Filename: "a.txt"}, bytes.NewReader(make([]byte, 1001)))
			if !fault.Is(err, fault.KindTooLarge) {
				t.Errorf("a file that is too large: %v", err)
			}
		default:
			late.Store(c.Files)
		}
		return c.Arguments, nil
	}
	b.open(t, rounds(2), func(c *turn.Config, a *agent.Agent) {
		probes(tool.Never, run)(c, a)
		c.Files = files.Service
	})
	if _, err := b.ask(t, b.input("go")); err != nil {
		t.Fatal(err)
	}
	if _, err := late.Load().Create(t.Context(), artifact.New{Filename: "late.txt"}, strings.NewReader("late")); err == nil {
		t.Error("a file was made behind the end of its call")
	}
	if got, _ := b.left(t, files); len(got) > 0 {
		t.Errorf("files are left: %v", got)
	}
}

// TestUpload proves that the model reads what was uploaded as a message of the user before the text, of files alone as the whole
// input, and that a turn of files alone which fails before anything was shown leaves nothing.
func TestUpload(t *testing.T) {
	t.Parallel()
	b := prepare(t)
	files := b.shelve(t, t.TempDir())
	var read [][]string
	fails := false
	m := model(func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		var texts []string
		for _, m := range r.Messages {
			if m.Role == llm.User {
				texts = append(texts, m.Parts[0].Text)
			}
		}
		if read = append(read, texts); fails {
			return llm.Answer{}, fault.Limited("quota", "no more")
		}
		return says("Fine.")(ctx, r, emit)
	})
	b.open(t, m, func(c *turn.Config, _ *agent.Agent) { c.Files = files.Service })
	send := func(parts ...session.Part) ([]string, error) {
		in := turn.Input{Input: session.Input{Session: b.no, Event: id.NewEvent(), Upload: id.NewEvent(), Parts: parts}, Whole: true}
		a, err := files.Put(t.Context(), artifact.New{Filename: "stock.csv"}, strings.NewReader(fmt.Sprint("lamp,", len(read))))
		if err != nil {
			t.Fatal(err)
		}
		in.Files = []artifact.Artifact{a}
		got, err := b.ask(t, in)
		files.Release(t.Context(), a)
		return got, err
	}
	if _, err := send(session.Part{Text: "How many?"}); err != nil {
		t.Fatal(err)
	}
	if _, err := send(); err != nil {
		t.Fatal(err)
	}
	fails = true
	if _, err := send(); err == nil {
		t.Error("the failure is not told")
	}
	kept, _ := b.left(t, files)
	if len(kept) != 2 || len(read) != 3 || len(read[1]) != 3 || read[1][1] != "How many?" {
		t.Fatalf("files %v, the model has read %q", kept, read)
	}
	for i, text := range []string{read[1][0], read[1][2]} {
		if !strings.Contains(text, "stock.csv (text/csv, 6 bytes), artifact_id art_stock_csv_") {
			t.Errorf("upload %d is read as %q", i, text)
		}
	}
}
