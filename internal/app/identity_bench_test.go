package app_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/identity"
	"quarry/internal/agent/permit"
	"quarry/internal/clock"
	"quarry/internal/corpus"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/identity/authz"
	"quarry/internal/opt"
	"quarry/internal/store"
	"quarry/internal/store/agents"
	"quarry/internal/store/corpora"
	"quarry/internal/store/storetest"
)

// BenchmarkIdentity measures the decision about a call of a tool in both modes, from the row on, for an agent with five corpora.
func BenchmarkIdentity(b *testing.B) {
	db := storetest.Open(b, store.Config{Dir: b.TempDir()})
	rows := agents.New(db).Naming(func(all map[string]json.RawMessage) (out []permit.Need) {
		for name := range all {
			out = append(out, permit.Need{Corpus: name})
		}
		return out
	})
	tools := map[string]json.RawMessage{}
	for i := range 5 {
		key := fmt.Sprint("corpus-", i)
		tools[key] = json.RawMessage(`{}`)
		if _, err := corpora.New(db).Create(b.Context(), corpus.Corpus{ID: id.NewCorpus(), Key: key, Name: key, Enabled: true, Created: clock.Now()}); err != nil {
			b.Fatal(err)
		}
	}
	a, err := rows.Create(b.Context(), agent.Agent{Key: "a", Created: clock.Now(), Updated: clock.Now(), Definition: agent.Definition{Tools: tools}})
	if err != nil {
		b.Fatal(err)
	}
	selves := identity.New(rows, httpapi.Rights)
	for _, mode := range []string{"auto", "manual"} {
		if _, err := selves.Update(b.Context(), authz.Principal{APIRoles: []string{"owner"}}, a.No, identity.Change{Manual: opt.Some(mode == "manual")}); err != nil {
			b.Fatal(err)
		}
		b.Run(mode, func(b *testing.B) {
			n, took := permit.Need{Corpus: "corpus-3"}, make([]time.Duration, 0, b.N)
			for b.Loop() {
				begun := time.Now()
				self, err := selves.Acting(b.Context(), a.No)
				if err == nil {
					err = permit.Call([]permit.Need{n}, &self, permit.Rights{}, n)
				}
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begun))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-p50")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
		})
	}
}
