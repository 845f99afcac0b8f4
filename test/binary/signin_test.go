package binary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quarry/internal/testkit"
)

// guess is one attempt to sign in: as whom, and from where.
type guess struct{ username, address string }

// strangers is the number of guesses that only the limit of hashes holds. Each costs a hash of some 30 ms.
const strangers = 200

// guesses are ten thousand: one address that tries names, names that are tried from everywhere, and pairs that never
// come again, so that no limit but that of the hashes holds them.
func guesses() []guess {
	all := make([]guess, 0, 10_000)
	for i := range 10_000 - strangers {
		switch i % 3 {
		case 0:
			all = append(all, guess{fmt.Sprintf("user%d@guess.test", i), "198.51.100.1"})
		case 1:
			all = append(all, guess{"owner", fmt.Sprintf("203.0.%d.%d", i>>8, i&255)})
		default:
			all = append(all, guess{"owner", "198.51.100.1"})
		}
	}
	for i := range strangers {
		all = append(all, guess{fmt.Sprintf("other%d@guess.test", i), fmt.Sprintf("2001:db8:%x::1", i)})
	}
	return all
}

// try sends one guess and returns the status and the seconds of Retry-After, 0 without one.
func try(p *testkit.Process, client *http.Client, g guess) (status, after int, err error) {
	body, err := json.Marshal(map[string]string{"username": g.username, "password": "is it this one?"})
	if err != nil {
		return 0, 0, err
	}
	req, err := http.NewRequest(http.MethodPost, p.URL+"/v2/sign_in", bytes.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Forwarded-For", g.address)
	res, err := client.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	after, _ = strconv.Atoi(res.Header.Get("Retry-After")) // 0 is told by the caller
	return res.StatusCode, after, err
}

// TestTenThousandFailedLogins proves that ten thousand failed logins at once are refused, all but a few of them without
// a hash, that every call with a key is answered meanwhile, that neither memory nor data folder grow by more than a
// bound, and that a user with a password can sign in right after. Times are printed and never fail the test.
func TestTenThousandFailedLogins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := testkit.StartWith(t, dir, []string{"QUARRY_TRUSTED_PROXIES=127.0.0.1"}, "--data", dir, "--listen", "127.0.0.1:0")
	c := p.Client()
	createCorpus(t, c, "calm")
	code := c.Must(t, http.StatusCreated, "POST", "/v2/users", map[string]any{"email": "ann@guess.test"})["one_time_code"]
	credentials := map[string]any{"username": "ann@guess.test", "one_time_code": code, "password": "correct horse battery"}
	c.Must(t, http.StatusNoContent, "POST", "/v2/set_password", credentials)
	quiet := calls(t, c, func(done int) bool { return done < 200 })
	memory, disk := peakMemory(t, p), folderSize(t, dir)

	var refused, limited atomic.Int64
	var over atomic.Bool
	var busy []time.Duration
	var all sync.WaitGroup
	todo := make(chan guess)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	began := time.Now()
	for range 32 {
		all.Go(func() {
			for g := range todo {
				switch status, after, err := try(p, client, g); {
				case err != nil:
					t.Errorf("%v: no answer: %v", g, err)
				case status == http.StatusUnauthorized:
					refused.Add(1)
				case status == http.StatusTooManyRequests && after > 0:
					limited.Add(1)
				default:
					t.Errorf("%v: status %d, Retry-After %d", g, status, after)
				}
			}
		})
	}
	var others sync.WaitGroup
	others.Go(func() { busy = calls(t, c, func(int) bool { return !over.Load() }) })
	for _, g := range guesses() {
		todo <- g
	}
	close(todo)
	all.Wait()
	over.Store(true)
	others.Wait()
	took := time.Since(began)

	more, grown := peakMemory(t, p)-memory, folderSize(t, dir)-disk
	t.Logf("%d refused after a hash, %d at once, in %v; memory +%d kB, data folder +%d kB", refused.Load(), limited.Load(),
		took.Round(time.Millisecond), more, grown>>10)
	t.Logf("a call with a key: median %v of %d before, %v of %d meanwhile, slowest %v", quiet[len(quiet)/2], len(quiet),
		busy[len(busy)/2], len(busy), busy[len(busy)-1])
	// Names and addresses that come again have their bursts and what they regain; the others are hashed or turned away.
	if regained := int64(took/(6*time.Second)) + 1; refused.Load() > 50+10+regained+strangers {
		t.Errorf("%d were tried", refused.Load())
	}
	if more > 200<<10 {
		t.Errorf("memory grew by %d kB", more)
	}
	if grown > 16<<20 {
		t.Errorf("the data folder grew by %d bytes", grown)
	}
	delete(credentials, "one_time_code")
	c.Must(t, http.StatusOK, "POST", "/v2/sign_in", credentials)
	mustStop(t, p)
}

// calls reads a corpus as long as more returns true, and returns how long each read took, the shortest first.
func calls(t *testing.T, c *testkit.Client, more func(done int) bool) []time.Duration {
	var all []time.Duration
	for len(all) == 0 || more(len(all)) {
		began := time.Now()
		if status, answer, err := c.Do("GET", "/v2/corpora/calm", nil); err != nil || status != http.StatusOK {
			t.Errorf("another caller gets %d, %v: %v", status, err, answer)
			break
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	return all
}

// folderSize returns the bytes of all files of a folder.
func folderSize(t *testing.T, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}
