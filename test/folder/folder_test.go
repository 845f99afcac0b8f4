// Package folder keeps a corpus in step with a tree that changes at random, by the real command and the real service, kills both
// at random moments, and compares the corpus with a model of the tree. It holds tests alone.
package folder

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

// rounds is few for a run of every test; make soak asks for more.
var rounds = flag.Int("rounds", 3, "how often the tree is changed and brought into step, mostly with kills in between")

const (
	size      = 500 // files of the tree, about
	watched   = 150 // files of the tree that is watched
	corpusKey = "tree"
	corpus    = "/v2/corpora/" + corpusKey
	strangers = 10 // documents of others
	patience  = 2 * time.Minute
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// onBoth runs a test on both databases.
func onBoth(t *testing.T, test func(t *testing.T, args ...string)) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, "--database", storetest.Postgres(t))
	})
}

// TestInStep proves that after quarry index --sync the corpus is the tree, each document there once and those of others
// untouched, whatever changed before and however often command and service were killed meanwhile; and that what a killed run
// leaves is whole.
func TestInStep(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, args ...string) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		w := newWorld(t, r, size, args...)
		for round := range *rounds {
			t.Logf("round %d: %d files", round, len(w.tree.texts))
			changes := len(w.tree.texts)
			if round > 0 {
				changes = 1 + r.IntN(40)
				w.tree.change(t, changes)
			}
			for range r.IntN(3) {
				w.disturbed(t, 1+r.IntN(changes))
				w.whole(t)
				if r.IntN(2) == 0 {
					w.tree.change(t, 1+r.IntN(changes))
				}
			}
			w.undisturbed(t)
			w.equal(t)
		}
	})
}

// TestWatch proves the same while quarry index --watch runs: without another command the corpus becomes the tree.
func TestWatch(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, args ...string) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		w := newWorld(t, r, watched, args...)
		watch := w.index("--watch").start(t)
		for round := range *rounds {
			w.becomes(t, watch)
			switch r.IntN(4) {
			case 0:
				watch.kill()
				<-watch.done
				w.tree.change(t, 1+r.IntN(20))
				watch = w.index("--watch").start(t)
			case 1:
				w.service.process().Kill()
				w.tree.change(t, 1+r.IntN(20))
				w.service.start()
			}
			for range 1 + round%3 { // changes that come while a pass runs
				w.tree.change(t, 1+r.IntN(15))
			}
		}
		w.becomes(t, watch)
		must(t, watch.cmd.Process.Signal(syscall.SIGINT))
		<-watch.done
		if code := watch.cmd.ProcessState.ExitCode(); code != 130 {
			t.Errorf("an interrupted watch exits with %d\n%s", code, watch.out.String())
		}
	})
}

// world is a tree, the service and the command between them.
type world struct {
	r       *rand.Rand
	tree    *tree
	service *service
	cache   string
	places  []string // that are indexed
	gone    []string // texts that were seen and must not be found any more
}

func newWorld(t *testing.T, r *rand.Rand, files int, args ...string) *world {
	w := &world{r: r, tree: newTree(t, r, files), service: newService(t, args...), cache: t.TempDir()}
	w.places = []string{w.tree.dir}
	cl := w.service.client()
	cl.Must(t, http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": corpusKey})
	for i := range strangers {
		cl.Must(t, http.StatusCreated, "POST", corpus+"/documents", map[string]any{
			"type": "core", "id": stranger(i), "metadata": map[string]any{"of": "others"},
			"document_parts": []any{map[string]any{"text": strings.TrimSpace(strangerText(i))}},
		})
	}
	return w
}

func stranger(i int) string     { return fmt.Sprintf("f%d/stranger.md", i) }
func strangerText(i int) string { return fmt.Sprintf("Stranger omega%06dq stays.\n", i) }

func (w *world) index(more ...string) *run {
	return w.service.command(w.cache, slices.Concat(w.places, more, []string{"--parallel", fmt.Sprint(1 + w.r.IntN(6))})...)
}

// undisturbed runs the command to its end.
func (w *world) undisturbed(t *testing.T) {
	t.Helper()
	c := w.index().start(t)
	<-c.done
	if c.err != nil {
		t.Fatalf("the command: %v\n%s", c.err, c.out.String())
	}
}

// disturbed runs the command and kills it, or the service, or both, at the given one of the requests that change something. A
// service that was killed runs again afterwards.
func (w *world) disturbed(t *testing.T, at int) {
	t.Helper()
	c := w.index()
	what := w.r.IntN(3)
	sprung := make(chan struct{})
	trap := &trap{left: at, before: w.r.IntN(2) == 0, delay: time.Duration(w.r.IntN(4)) * time.Millisecond, spring: func() {
		if what != 0 {
			w.service.process().Kill()
		}
		if what != 1 {
			c.kill()
		}
		close(sprung)
	}}
	w.service.set(trap)
	c.start(t)
	select {
	case <-sprung:
	case <-c.done:
		if w.service.set(nil) { // it had less to send
			if c.err != nil {
				t.Fatalf("the command: %v\n%s", c.err, c.out.String())
			}
			return
		}
		<-sprung
	}
	if what != 0 {
		w.service.start()
	}
	// With the service back the command may go on or have given up.
	<-c.done
	t.Logf("killed %s: %v", []string{"the command", "the service", "both"}[what], c.err)
}

// stored returns the texts of all documents by id.
func (w *world) stored(t *testing.T) map[string]string {
	t.Helper()
	cl := w.service.client()
	all := map[string]string{}
	list := cl.Must(t, http.StatusOK, "GET", corpus+"/documents?limit=1000", nil)
	for _, d := range list["documents"].([]any) {
		id := d.(map[string]any)["id"].(string)
		if _, twice := all[id]; twice {
			t.Fatalf("%q is listed twice", id)
		}
		status, whole, err := cl.Do("GET", corpus+"/documents/"+url.PathEscape(id), nil)
		if err != nil {
			t.Fatal(err)
		}
		if status == http.StatusNotFound { // deleted since, by a watch
			continue
		}
		var text strings.Builder
		for _, p := range whole["parts"].([]any) {
			text.WriteString(p.(map[string]any)["text"].(string) + "\n")
		}
		all[id] = text.String()
	}
	return all
}

// differences lists where the corpus is not the tree.
func (w *world) differences(t *testing.T) (all []string) {
	t.Helper()
	want := maps.Clone(w.tree.texts)
	for i := range strangers {
		want[stranger(i)] = strangerText(i)
	}
	got := w.stored(t)
	for id, text := range want {
		if got[id] != text {
			all = append(all, fmt.Sprintf("%q has %q, not %q", id, got[id], text))
		}
	}
	for id := range got {
		if _, ok := want[id]; !ok {
			all = append(all, fmt.Sprintf("%q has no file", id))
		}
	}
	slices.Sort(all)
	return all
}

// equal fails unless the corpus is the tree, by its rows and, for some documents, by its index.
func (w *world) equal(t *testing.T) {
	t.Helper()
	if d := w.differences(t); len(d) > 0 {
		t.Fatalf("%d differences:\n%s", len(d), strings.Join(d[:min(len(d), 20)], "\n"))
	}
	w.found(t)
}

// found fails unless a search shows what is there, under its id, and nothing that is not.
func (w *world) found(t *testing.T) {
	t.Helper()
	cl := w.service.client()
	var seen []string
	for range 8 {
		id := w.tree.any()
		seen = append(seen, w.tree.texts[id])
	}
	owners := map[string]string{}
	for id, text := range w.tree.texts {
		owners[text] = id
	}
	for _, text := range append(w.gone, seen...) {
		term := strings.Fields(text)[1]
		answer := cl.Must(t, http.StatusOK, "POST", corpus+"/query", map[string]any{"query": term, "search": map[string]any{
			"lexical_interpolation": 1, "limit": 5, "reranker": map[string]any{"type": "none"},
		}})
		var by []string
		for _, r := range answer["search_results"].([]any) {
			if r := r.(map[string]any); strings.Contains(r["text"].(string), term) {
				by = append(by, r["document_id"].(string))
			}
		}
		if owner, there := owners[text]; there && !slices.Equal(by, []string{owner}) || !there && len(by) > 0 {
			t.Fatalf("%q stands in %q, and a search finds %q", term, owner, by)
		}
	}
	w.gone = seen
}

// whole fails unless every document is a file as it was at some time, or one of others.
func (w *world) whole(t *testing.T) {
	t.Helper()
	got := w.stored(t)
	for i := range strangers {
		if got[stranger(i)] != strangerText(i) {
			t.Fatalf("the document %s of others is %q", stranger(i), got[stranger(i)])
		}
		delete(got, stranger(i))
	}
	for id, text := range got {
		if !w.tree.ever[id][text] {
			t.Fatalf("%q has %q, which no file had", id, text)
		}
	}
}

// becomes waits until the corpus is the tree.
func (w *world) becomes(t *testing.T, watch *run) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		d := w.differences(t)
		if len(d) == 0 {
			w.found(t)
			return
		}
		select {
		case <-watch.done:
			t.Fatalf("the watch ended: %v\n%s", watch.err, watch.out.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v %d differences:\n%s\n%s", patience, len(d), strings.Join(d[:min(len(d), 20)], "\n"), watch.out.String())
		}
		time.Sleep(50 * time.Millisecond) // between looks
	}
}
