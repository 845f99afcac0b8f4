package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// batchSize is how many documents a call of core_document_index has.
const batchSize = 100

// indexes makes an agent whose model does what it is told, with the tools that change a corpus, and the path of its session's events.
func (b *bench) indexes(corpus string) (string, error) {
	if _, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/corpora", map[string]any{
		"key": corpus, "filter_attributes": []any{map[string]any{"name": "n", "level": "document", "type": "integer"}},
	}); err != nil {
		return "", err
	}
	if _, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/llms", map[string]any{
		"type": "openai-compatible", "name": "told-" + corpus, "model": "told", "uri": b.at, "capabilities": map[string]any{"context_limit": 2_000_000},
	}); err != nil {
		return "", err
	}
	tools := map[string]any{}
	for _, name := range []string{"core_document_index", "delete_documents"} {
		tools[name] = map[string]any{"type": "dynamic_vectara", "tool_id": "tol_vectara_" + name, "argument_override": map[string]any{"corpus_key": corpus}}
	}
	if _, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/agents", map[string]any{
		"key": corpus, "name": corpus, "model": map[string]any{"name": "told-" + corpus}, "tool_configurations": tools,
	}); err != nil {
		return "", err
	}
	return b.session(corpus)
}

// call has the agent of a session call a tool and returns how long the call took: from the event of the call to that of its output.
func (b *bench) call(events, tool string, arguments map[string]any) (time.Duration, error) {
	told, err := json.Marshal([]any{map[string]any{"calls": []any{map[string]any{"name": tool, "arguments": arguments}}}, map[string]any{"text": "Done."}})
	if err != nil {
		return 0, err
	}
	raw, err := b.Must(http.StatusCreated, http.MethodPost, events, map[string]any{"messages": []any{map[string]any{"type": "text", "content": string(told)}}})
	if err != nil {
		return 0, err
	}
	var turn struct {
		Events []struct {
			Type    string
			Created time.Time `json:"created_at"`
			Error   bool
			Output  json.RawMessage `json:"tool_output"`
		}
	}
	if err := json.Unmarshal(raw, &turn); err != nil {
		return 0, err
	}
	for i, e := range turn.Events {
		switch {
		case e.Type != "tool_output":
		case e.Error:
			return 0, fmt.Errorf("%s has failed: %s", tool, e.Output)
		default:
			return e.Created.Sub(turn.Events[i-1].Created), nil
		}
	}
	return 0, fmt.Errorf("%s was not called: %s", tool, raw)
}

// page returns document n of a corpus, as a client sends it: a page of a manual, in so many parts; without parts, its number alone.
func page(n, parts int) map[string]any {
	var all []any
	for i := range parts {
		all = append(all, map[string]any{"text": fmt.Sprintf("Page %d, line %d: ", n, i) + strings.Repeat("the pump runs at three bar and its valve stays shut; ", 3)})
	}
	if parts == 0 {
		all = append(all, map[string]any{"text": fmt.Sprint("Page ", n)})
	}
	return map[string]any{"id": fmt.Sprint("d", n), "metadata": map[string]any{"n": n}, "document_parts": all}
}

// batch returns documents from number from on, as arguments of core_document_index.
func batch(from, size, parts int) map[string]any {
	var all []any
	for i := range size {
		all = append(all, map[string]any{"document": page(from+i, parts)})
	}
	return map[string]any{"documents": all}
}

// index compares core_document_index, a batch at a time, with documents that are created one by one, by one client and by sixteen.
func (b *bench) index() error {
	const parts = 4
	events, err := b.indexes("indexed")
	if err != nil {
		return err
	}
	single := func(from, clients int) (time.Duration, error) {
		began := time.Now()
		var group sync.WaitGroup
		var mu sync.Mutex
		var failed error
		for c := range clients {
			group.Go(func() {
				for i := c; i < batchSize; i += clients {
					d := page(from+i, parts)
					d["type"] = "core"
					if _, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/corpora/indexed/documents", d); err != nil {
						mu.Lock()
						failed = err
						mu.Unlock()
						return
					}
				}
			})
		}
		group.Wait()
		return time.Since(began), failed
	}
	var one, many, tool time.Duration
	n := 0
	for round := range b.batches + 1 {
		var took [3]time.Duration
		for i, clients := range []int{1, 16} {
			if took[i], err = single(n, clients); err != nil {
				return err
			}
			n += batchSize
		}
		if took[2], err = b.call(events, "core_document_index", batch(n, batchSize, parts)); err != nil {
			return err
		}
		if n += batchSize; round > 0 { // before that it warms up
			one, many, tool = one+took[0], many+took[1], tool+took[2]
		}
	}
	rate := func(d time.Duration) float64 { return float64(b.batches*batchSize) / d.Seconds() }
	fmt.Printf("Documents of %d parts a second, %d batches of %d in turns:\n\n| | documents a second |\n|---|---|\n", parts, b.batches, batchSize)
	fmt.Printf("| created one by one, by one client | %.0f |\n| created one by one, by sixteen clients | %.0f |\n| core_document_index | %.0f |\n", rate(one), rate(many), rate(tool))
	fmt.Printf("\ncore_document_index to single creates: **%.2f** (bar: 1)\n\n", rate(tool)/rate(one))
	return nil
}

// delete compares delete_documents with the bulk operation, by a filter, in turns.
func (b *bench) delete() error {
	events, err := b.indexes("deleted")
	if err != nil {
		return err
	}
	var tool, operation time.Duration
	const rounds = 3
	for round := range 2 * rounds {
		for from := 0; from < b.deleted; from += batchSize {
			if _, err := b.call(events, "core_document_index", batch(from, min(batchSize, b.deleted-from), 0)); err != nil {
				return err
			}
		}
		if round%2 == 0 {
			took, err := b.call(events, "delete_documents", map[string]any{"metadata_filter": "doc.n >= 0"})
			if err != nil {
				return err
			}
			tool += took
			continue
		}
		began := time.Now()
		if _, err := b.Must(http.StatusOK, http.MethodDelete, "/v2/corpora/deleted/documents?async=false&metadata_filter="+url.QueryEscape("doc.n >= 0"), nil); err != nil {
			return err
		}
		operation += time.Since(began)
	}
	fmt.Printf("%d documents deleted by a filter, %d times each in turns: by the bulk operation %.2f s, by delete_documents %.2f s, that is **%.2f** (bar: 1.1)\n\n",
		b.deleted, rounds, operation.Seconds()/rounds, tool.Seconds()/rounds, float64(tool)/float64(operation))
	return nil
}
