package page_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/page"
)

// TestPosition proves that a position survives the round trip through a page key, that there is no key for no position,
// and that other keys are refused.
func TestPosition(t *testing.T) {
	t.Parallel()
	s := page.Scope{Operation: "listJobs"}
	want := page.At(time.UnixMicro(-17), "job_ü")
	key := cursors.Next(s, want)
	got, err := cursors.After(&s, *key)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got): %s", err, diff)
	}
	if none := cursors.Next(s, nil); none != nil {
		t.Errorf("the last page has the token %q", *none)
	}
	if first, err := cursors.After(&s, ""); first != nil || err != nil {
		t.Errorf("no token is %v, %v", first, err)
	}
	for _, parts := range [][]string{{}, {"17"}, {"17", "a", "b"}, {"x", "a"}} {
		if got, err := cursors.After(&s, cursors.Encode(s, parts...)); err == nil {
			t.Errorf("%q is the position %v", parts, got)
		}
	}
}

// TestOrder proves that newer items come first, of the same time those with greater ids, and that a nil position is the
// beginning.
func TestOrder(t *testing.T) {
	t.Parallel()
	order := []*page.Position{{9, "a"}, {5, "c"}, {5, "b"}, {-1, "z"}}
	for i, p := range order {
		for j, o := range order {
			if got := p.Precedes(o); got != (i < j) {
				t.Errorf("%v precedes %v: %v", p, o, got)
			}
		}
		if first := (*page.Position)(nil); !first.Precedes(p) {
			t.Errorf("%v does not come after the beginning", p)
		}
	}
}
