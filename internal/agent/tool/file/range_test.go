package file

import (
	"strings"
	"testing"
)

// Proves that a range has the lines of the file between its ends, no more than a call reads, and that it says when some are missing.
func FuzzRange(f *testing.F) {
	f.Add("a\nb\nc", int64(2), int64(3), int64(2), int64(100))
	f.Add("\n\n", int64(1), int64(0), int64(9), int64(1))
	f.Add("ä\nb", int64(1), int64(2), int64(5), int64(1))
	f.Fuzz(func(t *testing.T, content string, first, last, lines, size int64) {
		if first < 1 || last != 0 && last < first || lines < 1 || lines > mostLines || size < 1 || size > mostSize || !text([]byte(content)) {
			return
		}
		var out reading
		r := &reader{size, lines}
		err := r.read(t.Context(), strings.NewReader(content), &out, first, last)
		all := strings.SplitAfter(content, "\n")
		if all[len(all)-1] == "" {
			all = all[:len(all)-1]
		}
		if first > max(int64(len(all)), 1) {
			if err == nil {
				t.Errorf("lines from %d of %d: %+v", first, len(all), out)
			}
			return
		}
		to := int64(len(all))
		if last != 0 {
			to = min(to, last)
		}
		want := strings.Join(all[min(first-1, int64(len(all))):min(to, first+lines-1)], "")
		cut := to > first+lines-1 || int64(len(want)) > size
		if err != nil || out.Total != int64(len(all)) || out.Cut != cut || !strings.HasPrefix(want, out.Content) || int64(len(want)) <= size && out.Content != want ||
			int64(len(out.Content)) > size || int64(len(want)) > size && int64(len(out.Content)) < size-3 {
			t.Errorf("%d to %d of %q by %d lines and %d bytes: %+v, %v", first, last, content, lines, size, out, err)
		}
	})
}
