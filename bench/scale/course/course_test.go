package course

import (
	"testing"
	"time"
)

// Proves that a course is cut at tenths of its passages, however unevenly it was looked at, and that rate and cost are of
// the piece between.
func TestCourseIsCutByPassages(t *testing.T) {
	t.Parallel()
	course := []moment{{}, {40, time.Second, time.Second}, {100, 2 * time.Second, 3 * time.Second}, {110, 10 * time.Second, 4 * time.Second}, {200, 12 * time.Second, 5 * time.Second}}
	for share, want := range map[int]moment{
		0: {}, 2: {40, time.Second, time.Second}, 3: {60, time.Second + time.Second/3, time.Second + 2*time.Second/3}, 5: course[2], 10: course[4],
	} {
		if got := at(course, share, 10); got != want {
			t.Errorf("%d tenths are at %v, want %v", share, got, want)
		}
	}
	piece := moment{60, time.Second, 2 * time.Second}
	if piece.rate() != 60 || piece.cost() != 2*time.Second/60 {
		t.Errorf("60 passages in a second: %v a second, %v each", piece.rate(), piece.cost())
	}
}
