package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/provider/scripted"
	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

const (
	batchSize = 100 // documents that the agent indexes in one call
	kinds     = 4   // of turns: documents indexed, replaced, sent again, deleted
)

// indexer is an agent that indexes and deletes in one corpus, and what the corpus holds after each of its turns.
type indexer struct {
	t     *testing.T
	dir   string
	args  []string
	p     *testkit.Process
	c     *testkit.Client
	turn  int
	holds map[string]string // document → its text
}

// TestKillIndexing proves that a turn that indexes or deletes many documents, killed at any moment, ends with the log and the corpus
// of one that was never killed: each document is told as what its call has made of it, whether before the kill or after, and each
// deletion is begun once.
func TestKillIndexing(t *testing.T) {
	t.Parallel()
	killIndexing(t, max(8, *rounds/2), false)
}

// TestKillIndexingPostgres proves the same where the lease of the dead process has to run out first, which takes half a minute: of
// turns that index and of those that delete.
func TestKillIndexingPostgres(t *testing.T) {
	t.Parallel()
	killIndexing(t, max(4, *rounds/30), true, "--database", storetest.Postgres(t))
}

func killIndexing(t *testing.T, turns int, rare bool, args ...string) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 18))
	x := &indexer{t: t, dir: t.TempDir(), args: args, holds: map[string]string{}}
	x.start()
	x.furnish(scripted.Start(t))
	var took [kinds]time.Duration // of turns that nobody kills, which come first
	killed := 0
	for x.turn = range kinds + turns {
		question, want := x.next()
		events := fmt.Sprintf("/v2/agents/i/sessions/s%d/events", x.turn)
		x.c.Must(t, http.StatusCreated, "POST", "/v2/agents/i/sessions", map[string]any{"key": fmt.Sprint("s", x.turn)})
		answered := make(chan bool, 1)
		go func() {
			status, _, err := x.c.Do("POST", events, map[string]any{"messages": []any{map[string]any{"type": "text", "content": question}}})
			answered <- err == nil && status == http.StatusCreated
		}()
		kind := x.turn % kinds
		if began := time.Now(); x.turn < kinds || rare && (kind == 1 || kind == 2) {
			<-answered
			took[kind] = time.Since(began)
		} else {
			time.Sleep(time.Duration(r.Int64N(int64(took[kind])))) // wherever the turn is by then
			x.p.Kill()
			if !<-answered {
				killed++
			}
			x.start()
		}
		log := x.await(events)
		if len(log) == 0 { // killed before the input was there
			x.c.Must(t, http.StatusCreated, "POST", events, map[string]any{"messages": []any{map[string]any{"type": "text", "content": question}}})
			log = x.await(events)
		}
		if diff := cmp.Diff(want, log); diff != "" {
			t.Errorf("turn %d: log (-unkilled +killed):\n%s", x.turn, diff)
		}
		if diff := cmp.Diff(x.holds, x.stored()); diff != "" {
			t.Errorf("turn %d: corpus (-unkilled +killed):\n%s", x.turn, diff)
		}
		if t.Failed() {
			t.Log(x.p.Log())
			return
		}
	}
	t.Logf("%d of %d turns were killed before their answer", killed, turns)
}

func (x *indexer) start() {
	x.p = testkit.StartBinary(x.t, x.dir, x.args...)
	x.c = x.p.Client()
}

// furnish makes the corpus, the model and the agent.
func (x *indexer) furnish(provider *scripted.Server) {
	x.c.Must(x.t, http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": "i", "filter_attributes": []any{
		map[string]any{"name": "half", "level": "document", "type": "integer"},
	}})
	x.c.Must(x.t, http.StatusCreated, "POST", "/v2/llms", map[string]any{
		"type": "openai-compatible", "name": "told", "model": "told", "uri": provider.URL + "/v1/chat/completions",
		"capabilities": map[string]any{"tool_calling": true, "context_limit": 2_000_000},
	})
	tools := map[string]any{}
	for _, name := range []string{"core_document_index", "delete_documents"} {
		tools[name] = map[string]any{"type": "dynamic_vectara", "tool_id": "tol_vectara_" + name, "argument_override": map[string]any{"corpus_key": "i"}}
	}
	x.c.Must(x.t, http.StatusCreated, "POST", "/v2/agents", map[string]any{
		"key": "i", "name": "I", "model": map[string]any{"name": "told"}, "tool_configurations": tools, "tool_output_offloading": map[string]any{"enabled": false},
	})
}

// next returns what is asked in a turn and the log that it leads to, and sets what the corpus holds then.
func (x *indexer) next() (question string, log []string) {
	batch, round := x.turn/kinds, x.turn%kinds
	name := func(i int) string { return fmt.Sprintf("d%d-%d", batch, i) }
	var calls []any
	call := func(tool string, arguments, output map[string]any) {
		calls = append(calls, map[string]any{"name": tool, "arguments": arguments})
		log = append(log, tool+" "+canonical(output))
	}
	if round == 3 {
		var ids, skipped []any
		for i := range batchSize {
			if i%2 == 0 {
				ids = append(ids, name(i))
			}
			delete(x.holds, name(i))
		}
		ids, skipped = append(ids, "none"), []any{"none"}
		call("delete_documents", map[string]any{"document_ids": ids}, map[string]any{"deleted": batchSize / 2, "skipped": skipped, "failed": []any{}})
		call("delete_documents", map[string]any{"metadata_filter": "doc.half = 1"}, map[string]any{"deleted": batchSize / 2, "skipped": []any{}, "failed": []any{}})
	} else {
		status := []string{"indexed", "replaced", "unchanged"}[round]
		var documents, out []any
		for i := range batchSize {
			text := fmt.Sprintf("Pump %d of batch %d runs at %d bar.", i, batch, min(round, 1)*(1+i%2))
			x.holds[name(i)] = text
			documents = append(documents, map[string]any{"document": map[string]any{
				"id": name(i), "metadata": map[string]any{"half": i % 2}, "document_parts": []any{map[string]any{"text": text}},
			}})
			out = append(out, map[string]any{"document_id": name(i), "status": status})
		}
		call("core_document_index", map[string]any{"documents": documents, "reindex": round == 1}, map[string]any{"documents": out, "retryable": false})
	}
	slices.Sort(log) // outputs of one reply end in any order
	raw, err := json.Marshal([]any{map[string]any{"calls": calls}, map[string]any{"text": "Done."}})
	if err != nil {
		x.t.Fatal(err)
	}
	return string(raw), append(log, "Done.")
}

// canonical returns a value as JSON with sorted members.
func canonical(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// await returns the outputs and the answer of a turn once it has one; nothing if there is no input.
func (x *indexer) await(events string) (log []string) {
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		all := x.c.Must(x.t, http.StatusOK, "GET", events+"?limit=100", nil)["events"].([]any)
		log = nil
		for _, one := range all {
			switch e := one.(map[string]any); e["type"] {
			case "tool_output":
				line := fmt.Sprint(e["tool_name"], " ", canonical(e["tool_output"]))
				if e["error"] != false {
					line += " failed"
				}
				log = append(log, line)
			case "agent_output":
				slices.Sort(log)
				return append(log, strings.TrimSpace(e["content"].(string)))
			}
		}
		if len(all) == 0 {
			return nil
		}
	}
	x.t.Fatalf("the turn has no end: %q\n%s", log, x.p.Log())
	return nil
}

// stored returns the documents of the corpus with their texts.
func (x *indexer) stored() map[string]string {
	out := map[string]string{}
	for page := ""; ; {
		list := x.c.Must(x.t, http.StatusOK, "GET", "/v2/corpora/i/documents?limit=1000"+page, nil)
		for _, one := range list["documents"].([]any) {
			id := one.(map[string]any)["id"].(string)
			whole := x.c.Must(x.t, http.StatusOK, "GET", "/v2/corpora/i/documents/"+id, nil)
			for _, part := range whole["parts"].([]any) {
				out[id] += part.(map[string]any)["text"].(string)
			}
		}
		metadata, _ := list["metadata"].(map[string]any)
		key, _ := metadata["page_key"].(string)
		if key == "" {
			return out
		}
		page = "&page_key=" + key
	}
}
