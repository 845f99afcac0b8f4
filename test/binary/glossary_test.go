package binary

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/testkit"
)

// TestGlossaryOnFullDisk proves that on a full disk terms are refused with 503 and nothing of them is stored, that they are still read,
// that terms and whole glossaries can be deleted, and that writes go on when there is space.
func TestGlossaryOnFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 24<<20)
	p := testkit.StartBinary(t, filepath.Join(disk, "data"))
	c := p.Client()
	createFull(t, c)
	entries := func(from int) any {
		all := map[string]string{}
		for i := range 1000 {
			all[fmt.Sprintf("term %04d", from+i)] = strings.Repeat("x", 1000)
		}
		return map[string]any{"entries": all}
	}
	c.Must(t, http.StatusCreated, "POST", "/v2/glossaries", map[string]any{"key": "full", "name": "full"})
	c.Must(t, http.StatusCreated, "POST", "/v2/glossaries", map[string]any{"key": "other", "name": "other"})
	c.Must(t, http.StatusNoContent, "POST", "/v2/glossaries/full/entries", entries(0))
	filler := filepath.Join(disk, "filler")
	exhaust(t, c, filler)
	for _, body := range []any{entries(1000), map[string]any{"entries": map[string]string{"term 0001": "y"}}} {
		c.Must(t, http.StatusServiceUnavailable, "POST", "/v2/glossaries/full/entries", body)
	}
	c.Must(t, http.StatusServiceUnavailable, "POST", "/v2/glossaries", map[string]any{"key": "late", "name": "late"})
	c.Must(t, http.StatusServiceUnavailable, "PATCH", "/v2/glossaries/full", map[string]any{"name": "late"})
	read := c.Must(t, http.StatusOK, "GET", "/v2/glossaries/full/entries?limit=1000", nil)["entries"].([]any)
	if n := len(read); n != 1000 || strings.Contains(fmt.Sprint(read), "y") {
		t.Errorf("%d terms are read", n)
	}
	c.Must(t, http.StatusNoContent, "DELETE", "/v2/glossaries/full/entries", map[string]any{"terms": []string{"term 0001", "term 0002"}})
	c.Must(t, http.StatusNoContent, "DELETE", "/v2/glossaries/other", nil)
	if g := c.Must(t, http.StatusOK, "GET", "/v2/glossaries/full", nil); g["num_entries"] != 998.0 {
		t.Errorf("behind a deletion the glossary is %v", g)
	}
	remove(t, filler)
	for i := 0; ; i++ { // the service finds out by itself that there is space
		status, answer, err := c.Do("POST", "/v2/glossaries/full/entries", map[string]any{"entries": map[string]string{"term 0001": "z"}})
		if err == nil && status == http.StatusNoContent {
			break
		}
		if err != nil || status != http.StatusServiceUnavailable || i == 10_000 {
			t.Fatalf("with space again a term is answered %d (%v): %v", status, err, answer)
		}
	}
	if g := c.Must(t, http.StatusOK, "GET", "/v2/glossaries/full", nil); g["num_entries"] != 999.0 {
		t.Errorf("with space again the glossary is %v", g)
	}
}
