package fuzzy

// distances computes Damerau-Levenshtein distances; it keeps its table between calls. It is for one goroutine.
type distances struct{ cells []int }

// within gives the distance of a and b: how many characters have to be inserted, removed, replaced or swapped with
// their neighbour to make one of the other, where what stood between two swapped characters may be edited too. A
// distance above most is given as some number above most.
func (t *distances) within(a, b []rune, most int) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 {
		return len(a) + len(b)
	}
	width := len(b) + 1
	if need := (len(a) + 1) * width; cap(t.cells) < need {
		t.cells = make([]int, need)
	}
	d := t.cells[:(len(a)+1)*width]
	for j := range width {
		d[j] = j
	}
	for i := 1; i <= len(a); i++ {
		d[i*width] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			n := min(d[(i-1)*width+j]+1, d[i*width+j-1]+1, d[(i-1)*width+j-1]+cost)
			if cost == 1 {
				n = min(n, swapped(d, width, a[:i], b[:j]))
			}
			d[i*width+j] = n
			least = min(least, n)
		}
		// Later rows hold nothing smaller: a swap that skips rows costs what they could have grown by.
		if least > most {
			return most + 1
		}
	}
	return d[len(a)*width+len(b)]
}

// swapped gives the distance of a and b when their last characters are swapped with earlier ones: of a before its last
// the same as the last of b, and the other way round. It is large when there are none.
func swapped(d []int, width int, a, b []rune) int {
	i, j := len(a), len(b)
	k := i - 1
	for k > 0 && a[k-1] != b[j-1] {
		k--
	}
	l := j - 1
	for l > 0 && b[l-1] != a[i-1] {
		l--
	}
	if k == 0 || l == 0 {
		return i + j
	}
	return d[(k-1)*width+l-1] + (i - k - 1) + 1 + (j - l - 1)
}
