package binary

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/internal/extract/samplefile"
	"quarry/internal/testkit"
)

// slowWorkbook is a workbook that is fine and takes a processor more than a second to read.
func slowWorkbook(t *testing.T) file {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	paragraphs := make([]string, 300_000)
	for i := range paragraphs {
		paragraphs[i] = fmt.Sprintf("Valve %d opens at %d bar, and closes at %d.", r.IntN(1e6), r.IntN(1e6), r.IntN(1e6))
	}
	return file{"a workbook of 300,000 rows", "rows.xlsx", samplefile.New("xlsx", paragraphs...)}
}

// TestParseLimits proves that a file which takes too long or too much memory to read is refused with what it was read as, the limit and its
// setting, and that others are read meanwhile, by a service within its own memory.
func TestParseLimits(t *testing.T) {
	t.Parallel()
	slow := slowWorkbook(t)
	body, kind := attach(t, slow)
	for _, tc := range []struct{ setting, want string }{
		// Either limit of parse_seconds, a processor's time or the clock: a busy machine may pass that of the clock first.
		{"QUARRY_PARSE_SECONDS=1", "one file may take (the setting parse_seconds"},
		{"QUARRY_PARSE_MEMORY=67108864", "more than 64 MB of memory, the most that one file may take (the setting parse_memory"},
	} {
		t.Run(tc.setting, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := testkit.StartWith(t, dir, []string{tc.setting, "GOMAXPROCS=2"}, on(dir)...)
			createCorpus(t, p.Client(), "h")
			var others sync.WaitGroup
			others.Go(func() {
				for _, ending := range samplefile.Kinds {
					small, kind := attach(t, file{ending, "a." + ending, samplefile.New(ending, "The mill grinds.")})
					if status, answer := raw(t, p, "POST", "/v2/corpora/h/upload_file", small, map[string]string{"Content-Type": kind}); status != http.StatusCreated {
						t.Errorf("%s: %d %s", ending, status, answer)
					}
				}
			})
			status, answer := raw(t, p, "POST", "/v2/corpora/h/upload_file", body, map[string]string{"Content-Type": kind})
			clear(t, status, answer, http.StatusBadRequest, "body.file")
			if !strings.Contains(string(answer), tc.want) || !strings.Contains(string(answer), "read application/vnd.openxmlformats-officedocument.spreadsheetml.sheet: ") {
				t.Errorf("the answer doesn't say %q: %.600s", tc.want, answer)
			}
			others.Wait()
			if all := listed(t, p.Client(), "h"); len(all) != len(samplefile.Kinds) {
				t.Errorf("documents %v, want the small ones", all)
			}
		})
	}
}

// TestWorkerHasNoEnvironment proves that the processes that read files have no environment, where secrets of the service may stand, and no
// folder of anybody.
func TestWorkerHasNoEnvironment(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		testkit.Skip(t, "this system doesn't show the environment of processes as a file")
	}
	p := testkit.StartBinary(t, t.TempDir())
	createCorpus(t, p.Client(), "h")
	body, kind := attach(t, file{"a letter", "a.docx", samplefile.New("docx", "The mill grinds.")})
	if status, answer := raw(t, p, "POST", "/v2/corpora/h/upload_file", body, map[string]string{"Content-Type": kind}); status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer)
	}
	workers := p.Children() // which wait for the next file
	if len(workers) == 0 {
		t.Fatal("no process has read the file")
	}
	for _, id := range workers {
		environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", id))
		if err != nil || len(environment) > 0 {
			t.Errorf("the environment of %d is %q, %v", id, environment, err)
		}
		if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", id)); err != nil || dir != "/" {
			t.Errorf("%d works in %q, %v", id, dir, err)
		}
	}
}

// TestNoWorkerOutlives proves that the processes that read files end with the service, also in the middle of a file, be it stopped or
// killed.
func TestNoWorkerOutlives(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		testkit.Skip(t, "this system doesn't list processes as files")
	}
	body, kind := attach(t, slowWorkbook(t))
	for _, how := range []string{"killed", "stopped"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := testkit.StartBinary(t, t.TempDir())
			createCorpus(t, p.Client(), "h")
			c := dial(t, p)
			c.begin(t, "POST", "/v2/corpora/h/upload_file", kind, len(body))
			c.send(t, body)
			var workers []int
			for deadline := time.Now().Add(patience); len(workers) == 0; workers = p.Children() {
				if runtime.Gosched(); time.Now().After(deadline) {
					t.Fatal("no process reads the file")
				}
			}
			if how == "killed" {
				p.Kill()
			} else {
				_ = c.Close() // so that nobody waits for the answer
				mustStop(t, p)
			}
			for deadline := time.Now().Add(patience); len(workers) > 0; runtime.Gosched() {
				if !testkit.Runs(workers[0]) {
					workers = workers[1:]
				}
				if time.Now().After(deadline) {
					t.Fatalf("%v outlive the service", workers)
				}
			}
		})
	}
}
