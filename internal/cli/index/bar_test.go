package index

import (
	"strings"
	"testing"
	"time"

	"quarry/internal/folder"
)

// TestText proves what the line of progress says, that it moves while one large file is in hand, and that it never says that
// a file is done before it is.
func TestText(t *testing.T) {
	t.Parallel()
	p := folder.Progress{
		Files: 3, Sent: 1, Passages: 100, Total: 1000,
		Hand: []folder.Hand{{Place: "manual/" + strings.Repeat("x", 40) + "/big.pdf", Passages: 500, Since: time.Now().Add(-time.Minute)}},
	}
	for _, tc := range []struct {
		since time.Duration
		want  []string
	}{
		{0, []string{"█░░", "1/3 files, 100/~1000 passages, 10/s, 1m30s left: …x", "/big.pdf (1m0s)"}},
		{10 * time.Second, []string{"██░░", "200/~1000 passages, 10/s, 1m20s left"}},
		{time.Hour, []string{"█████░░", "550/~1000 passages, 10/s, 45s left"}},
	} {
		got := text(&p, 10*time.Second, tc.since)
		for _, want := range tc.want {
			if !strings.Contains(got, want) {
				t.Errorf("after %s: %q, want %q in it", tc.since, got, want)
			}
		}
	}
	if got := text(&folder.Progress{Files: 2, Total: 50}, 0, time.Second); !strings.Contains(got, "0/2 files, 0/~50 passages") {
		t.Error(got)
	}
	first := folder.Progress{Files: 1, Total: 1000, Hand: []folder.Hand{{Place: "big.md", Passages: 1000, Since: time.Now()}}}
	if got := text(&first, 0, 4*time.Second); !strings.Contains(got, "██░░░░░░░░ 0/1 files, 200/~1000 passages: big.md") {
		t.Errorf("a first file does not move: %q", got)
	}
}
