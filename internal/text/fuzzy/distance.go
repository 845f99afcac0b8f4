package fuzzy

import "strings"

// Distance returns the least number of insertions, deletions, substitutions and transpositions of adjacent characters that
// turn a into b, or some number above most.
func Distance(a, b string, most int) int {
	var t distances
	return t.within([]rune(a), []rune(b), most)
}

// Nearest returns which of the names was probably meant by a mistyped one: at most a third of its characters differ, and three.
// It returns "" if there is none.
func Nearest(mistyped string, names []string) string {
	best, most := "", min(3, len([]rune(mistyped))/3)
	for _, name := range names {
		if d := Distance(strings.ToLower(mistyped), strings.ToLower(name), most); d <= most && name != mistyped {
			best, most = name, d-1
		}
	}
	return best
}

// distances computes unrestricted Damerau-Levenshtein distances with the dynamic programme of Lowrance and Wagner, "An
// Extension of the String-to-String Correction Problem" (JACM 1975). It keeps its table between calls and is not safe for
// concurrent use.
type distances struct{ cells []int }

// within returns the distance of a and b: the least number of insertions, deletions, substitutions and transpositions of
// adjacent characters that turn one into the other, where the characters between two transposed ones may be edited, too.
// If the distance is above most, the result is some number above most.
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
				n = min(n, transposition(d, width, a[:i], b[:j]))
			}
			d[i*width+j] = n
			least = min(least, n)
		}
		// No later row holds less than the least of this one: a transposition that skips rows costs at least one for
		// each of them, and the least of a row exceeds that of the row before by at most one.
		if least > most {
			return most + 1
		}
	}
	return d[len(a)*width+len(b)]
}

// transposition returns the distance of a and b if the last character of b, at its last place in a before the end, is
// transposed with the last character of a, at its last place in b before the end. Without such places it returns a number
// no less than the distance. d holds the distances of the shorter prefixes.
func transposition(d []int, width int, a, b []rune) int {
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
