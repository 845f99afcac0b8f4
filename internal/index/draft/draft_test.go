package draft_test

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"quarry/internal/index/draft"
	"quarry/internal/index/layer"
	"quarry/internal/index/rows"
	"quarry/internal/index/view"
	"quarry/internal/search"
)

// Proves that a draft does not keep in memory what it has merged: filling an index builds every row several times over.
func TestMergedIsForgotten(t *testing.T) {
	t.Parallel()
	d := &draft.Draft{Shape: rows.Shape{}, Of: layer.NewSchema(nil, 1)}
	var built []weak.Pointer[view.View]
	for no := range int64(64) {
		err := d.Load([]search.Document{{No: no + 1, ID: fmt.Sprint(no), Parts: []search.Part{{Stems: []string{"a"}}}}})
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Views) == 0 || d.NewRows() != int(no)+1 {
			t.Fatalf("%d rows in %d segments after %d documents", d.NewRows(), len(d.Views), no+1)
		}
		for _, v := range d.Views {
			built = append(built, weak.Make(v))
		}
	}
	runtime.GC()
	left := map[*view.View]bool{}
	for _, p := range built {
		if v := p.Value(); v != nil {
			left[v] = true
		}
	}
	if len(d.Views) != 1 || len(left) != len(d.Views) {
		t.Errorf("%d segments, %d in memory", len(d.Views), len(left))
	}
	runtime.KeepAlive(d)
}
