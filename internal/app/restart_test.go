package app_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"quarry/internal/app/apptest"
	"quarry/internal/config"
	"quarry/internal/store/storetest"
)

// TestRestarts proves that while PostgreSQL is restarted ten times, half of them as by a crash, requests that come all the time are
// answered as without restarts or with 503 and its code, and that all go on afterwards.
func TestRestarts(t *testing.T) {
	t.Parallel()
	url, restart := storetest.Restartable(t)
	a, key := apptest.Start(t, func(c *config.Config) { c.Database = url })
	if status, said := ask(a, key, "POST", "/v2/corpora", `{"key":"c"}`); status != 201 {
		t.Fatalf("%d %v", status, said)
	}
	var made atomic.Int64
	ways := []func() (int, map[string]any){
		func() (int, map[string]any) {
			return ask(a, key, "POST", "/v2/corpora/c/documents", fmt.Sprintf(`{"id":"d%d","type":"core","document_parts":[{"text":"The pump is dry."}]}`, made.Add(1)))
		},
		func() (int, map[string]any) {
			return ask(a, key, "POST", "/v2/corpora/c/query", `{"query":"Is the pump dry?","search":{}}`)
		},
		func() (int, map[string]any) { return ask(a, key, "GET", "/v2/corpora", "") },
		func() (int, map[string]any) { return ask(a, key, "GET", "/v2/corpora/c/documents", "") },
		func() (int, map[string]any) {
			return ask(a, key, "POST", "/v2/agents", fmt.Sprintf(`{"key":"a%d","name":"A","model":{"name":"extractive-1.0"}}`, made.Add(1)))
		},
	}
	over := make(chan struct{})
	var workers sync.WaitGroup
	var good, refused atomic.Int64
	for i := range 2 * len(ways) {
		workers.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				switch status, said := ways[i%len(ways)](); {
				case status == 200 || status == 201:
					good.Add(1)
				case status == 503:
					refused.Add(1)
				default:
					t.Errorf("way %d: %d %v, want a success or 503", i%len(ways), status, said)
				}
			}
		})
	}
	for round := range 10 {
		restart(round%2 == 1)
		for before := good.Load(); good.Load() == before; { // each restart meets requests that go well
			if status, _ := ways[2](); status == 200 {
				break
			}
		}
	}
	close(over)
	workers.Wait()
	for i, way := range ways {
		var status int
		var said map[string]any
		for range 40 { // the pool may still hold dead connections
			if status, said = way(); status < 300 {
				break
			}
		}
		if status >= 300 {
			t.Errorf("way %d doesn't go on: %d %v", i, status, said)
		}
	}
	t.Logf("%d requests answered, %d refused with 503", good.Load(), refused.Load())
}
