package crash

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

// TestKillMetrics proves that a kill takes no count that a series has shown, and counts nothing twice; and that a stop takes
// nothing at all. That what no series has shown is written within a second is proved in package metric.
func TestKillMetrics(t *testing.T) {
	t.Parallel()
	killMetrics(t, *rounds)
}

// TestKillMetricsPostgres proves the same on PostgreSQL.
func TestKillMetricsPostgres(t *testing.T) {
	t.Parallel()
	killMetrics(t, max(2, *rounds/3), "--database", storetest.Postgres(t))
}

func killMetrics(t *testing.T, kills int, args ...string) {
	t.Helper()
	dir, seed := t.TempDir(), rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	now := time.Now()
	series := "/v2/metrics/query.count?" + url.Values{
		"start": {now.Add(-time.Hour).Format(time.RFC3339)}, "end": {now.Add(10 * time.Hour).Format(time.RFC3339)}, "max_bins": {"1"},
	}.Encode()
	counted := func(c *testkit.Client) (int64, error) {
		status, answer, err := c.Do("GET", series, nil)
		if err != nil || status != http.StatusOK {
			return 0, fmt.Errorf("%d %v: %w", status, answer, err)
		}
		return int64(answer["points"].([]any)[0].(map[string]any)["value"].(float64)), nil
	}
	var asked, shown atomic.Int64 // asked: sent or under way
	for round := range kills {
		p := testkit.StartBinary(t, dir, args...)
		c := p.Client()
		if round == 0 {
			c.Must(t, http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": "crash"})
		}
		found, err := counted(c)
		if err != nil || found < shown.Load() || found > asked.Load() {
			t.Fatalf("round %d: %d queries are counted, %v; %d were shown before the kill and %d asked", round, found, err, shown.Load(), asked.Load())
		}
		asked.Store(found)
		shown.Store(found)
		left := atomic.Int64{}
		left.Store(3 + r.Int64N(150))
		var group sync.WaitGroup
		for w := range workers {
			group.Go(func() {
				for i := 0; ; i++ {
					asked.Add(1)
					if status, _, err := c.Do("POST", corpus+"/query", query(w, i)); err != nil || status != http.StatusOK {
						return
					}
					if i%7 == w {
						n, err := counted(c)
						if err != nil {
							return
						}
						for old := shown.Load(); n > old && !shown.CompareAndSwap(old, n); old = shown.Load() {
						}
					}
					if left.Add(-1) == 0 {
						p.Kill()
					}
				}
			})
		}
		group.Wait()
	}
	p := testkit.StartBinary(t, dir, args...)
	before, err := counted(p.Client())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		p.Client().Must(t, http.StatusOK, "POST", corpus+"/query", query(0, i))
	}
	if err := p.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, p.Log())
	}
	p = testkit.StartBinary(t, dir, args...)
	if after, err := counted(p.Client()); err != nil || after != before+10 {
		t.Errorf("%d queries are counted behind a stop, %v; want %d", after, err, before+10)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("the last stop: %v\n%s", err, p.Log())
	}
}
