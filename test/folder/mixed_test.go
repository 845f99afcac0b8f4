package folder

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"quarry/internal/extract/samplefile"
)

// mixed is few for a run of every test; make soak asks for more.
var mixed = flag.Int("files", 500, "files of every kind that are indexed while everything is killed")

// TestMixedKilled proves that of files of every kind each is there exactly once, or named as refused, however often the command, the
// service and the processes that read files were killed while they were indexed.
func TestMixedKilled(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	dir, words := mixedFiles(t, *mixed)
	k := &killer{service: newService(t), r: r, cache: t.TempDir()}
	k.service.client().Must(t, http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": corpusKey})
	kinds := []string{"everything", "workers and service", "command", "service", "workers"}
	for i, what := range kinds {
		k.run(t, dir, what, 1+r.IntN(*mixed/len(kinds)+i))
	}
	failed := k.last(t, dir)
	for id, word := range words {
		if reason, refused := failed[id]; refused != (word == "") {
			t.Errorf("%s is refused: %t (%s)", id, refused, reason)
		}
	}
	there := k.listed(t)
	for id, word := range words {
		if there[id] != (word != "") {
			t.Errorf("%s is there: %t, want %t", id, there[id], word != "")
		}
		if there[id] && !strings.Contains(k.text(t, id), word) {
			t.Errorf("%s has no %s", id, word)
		}
		delete(there, id)
	}
	if len(there) > 0 {
		t.Errorf("documents that no file has: %v", there)
	}
}

// mixedFiles writes n files of all kinds, some of them cut in half so that they can't be read, and returns the word that only one has, by
// the path, "" for those.
func mixedFiles(t *testing.T, n int) (dir string, words map[string]string) {
	t.Helper()
	dir, words = t.TempDir(), map[string]string{}
	for i := range n {
		kind := samplefile.Kinds[i%len(samplefile.Kinds)]
		id, text := fmt.Sprintf("f%d/n%d.%s", i%folders, i, kind), word(i)
		data := samplefile.New(kind, "Valve "+text+" opens at three bar.", fmt.Sprintf("Its seal is number %d.", i))
		if kind == "docx" && i%5 == 0 {
			text, data = "", data[:len(data)/2]
		}
		words[id] = text
		must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(id)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(id)), data, 0o600))
	}
	return dir, words
}

// killer indexes a folder and kills meanwhile.
type killer struct {
	service *service
	r       *rand.Rand
	cache   string
}

// run indexes until the command has ended, and kills at the given one of the requests that change something; workers are killed at every
// twentieth from there on.
func (k *killer) run(t *testing.T, dir, what string, at int) {
	t.Helper()
	c := k.service.command(k.cache, dir, "--parallel", fmt.Sprint(2+k.r.IntN(4)))
	stops := what != "workers" && what != "command"
	gone := make(chan struct{}) // closed when the service is
	var killed atomic.Int64
	var arm func(at int)
	arm = func(at int) {
		k.service.set(&trap{left: at, before: k.r.IntN(2) == 0, delay: time.Duration(k.r.IntN(4)) * time.Millisecond, spring: func() {
			for _, pid := range k.service.process().Children() {
				if what != "service" && what != "command" && syscall.Kill(pid, syscall.SIGKILL) == nil {
					killed.Add(1)
				}
			}
			switch {
			case what == "workers":
				arm(20)
				return
			case what != "service" && what != "workers and service":
				c.kill()
			}
			if stops {
				k.service.process().Kill()
				close(gone)
			}
		}})
	}
	arm(at)
	c.start(t)
	select {
	case <-gone:
	case <-c.done:
	}
	if unsprung := k.service.set(nil); stops && !unsprung {
		<-gone
		k.service.start()
	}
	<-c.done // with the service back it may go on or have given up
	t.Logf("killed %s (%d workers): %v", what, killed.Load(), c.err)
}

// last indexes without a kill and returns the reasons of refusals by path.
func (k *killer) last(t *testing.T, dir string) map[string]string {
	t.Helper()
	c := k.service.command(k.cache, dir, "--json")
	var out output
	c.cmd.Stdout = &out
	c.start(t)
	<-c.done
	var result struct {
		Files []struct{ ID, State, Reason string }
	}
	if err := json.Unmarshal([]byte(out.String()), &result); err != nil {
		t.Fatalf("%v: %s%s", err, out.String(), c.out.String())
	}
	failed := map[string]string{}
	for _, f := range result.Files {
		if f.Reason != "" {
			failed[f.ID] = f.Reason
		}
	}
	return failed
}

// listed returns the documents that are there.
func (k *killer) listed(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for key := ""; ; {
		page := k.service.client().Must(t, http.StatusOK, "GET", corpus+"/documents?limit=1000&page_key="+url.QueryEscape(key), nil)
		for _, d := range page["documents"].([]any) {
			id := d.(map[string]any)["id"].(string)
			if all[id] {
				t.Errorf("%s is there twice", id)
			}
			all[id] = true
		}
		if key, _ = page["metadata"].(map[string]any)["page_key"].(string); key == "" {
			return all
		}
	}
}

// text returns what a document has, tables included.
func (k *killer) text(t *testing.T, id string) string {
	t.Helper()
	whole := k.service.client().Must(t, http.StatusOK, "GET", corpus+"/documents/"+url.PathEscape(id), nil)
	return fmt.Sprint(whole["parts"], whole["tables"])
}
