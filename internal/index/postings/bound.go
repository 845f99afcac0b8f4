package postings

import (
	"math"
	"slices"
)

// Pair is a frequency and the byte of a length.
type Pair struct {
	Freq   byte // Unbounded = any
	Length byte
}

// Unbounded is the frequency of a pair that stands for every one from 255 on.
const Unbounded = 255

// Bound is a set of pairs such that every posting that it is of has at most the frequency and at least the length of one
// of them. A score that rises with the frequency and falls with the length is therefore at most the highest of the pairs',
// whatever its other numbers are by then. Unused pairs are zero.
type Bound [pairs]Pair

const (
	pairs     = 4
	boundSize = 2 * pairs
)

// Highest is the bound of postings of which nothing is known.
var Highest = Bound{{Freq: Unbounded}}

// ListBound returns the bound of all postings of a term.
func (f *Field) ListBound(term int) Bound { return f.bound(term) }

// BlockBound returns the bound of the postings of a block.
func (f *Field) BlockBound(block int) Bound { return f.bound(f.Len() + block) }

func (f *Field) bound(i int) (b Bound) {
	if len(f.Bounds) == 0 {
		return Highest
	}
	for p, at := range f.Bounds[i*boundSize:][:boundSize] {
		if p%2 == 0 {
			b[p/2].Freq = at
		} else {
			b[p/2].Length = at
		}
	}
	return b
}

// BoundsFit reports whether the section of bounds has the size that the lists want, or is not there.
func (f *Field) BoundsFit() bool {
	return len(f.Bounds) == 0 || len(f.Bounds) == boundSize*(f.Len()+len(f.Heads)/headSize)
}

// frontier is the pairs that no other pair has both a higher frequency and a shorter length than, the highest frequency first
// (a Pareto set).
type frontier []Pair

// add adds a posting.
func (s *frontier) add(freq uint32, length byte) { s.insert(Pair{byte(min(freq, Unbounded)), length}) }

func (s *frontier) insert(p Pair) {
	at, _ := slices.BinarySearchFunc(*s, p, func(a, b Pair) int { return int(b.Freq) - int(a.Freq) })
	if at > 0 && (*s)[at-1].Length <= p.Length || at < len(*s) && (*s)[at].Freq == p.Freq && (*s)[at].Length <= p.Length {
		return
	}
	end := at
	for end < len(*s) && (*s)[end].Length >= p.Length {
		end++
	}
	*s = slices.Replace(*s, at, end, p)
}

// bound returns a bound of all that was added. Where there are more pairs than it has room for, two neighbours become the
// higher frequency with the shorter length of both, again and again those that are raised least by it.
func (s frontier) bound() (b Bound) {
	s = slices.Clone(s)
	for len(s) > pairs {
		best, least := 0, math.Inf(1)
		for i := range s[:len(s)-1] {
			joined := weight(Pair{s[i].Freq, s[i+1].Length})
			if raised := joined - max(weight(s[i]), weight(s[i+1])); raised < least {
				best, least = i, raised
			}
		}
		s[best+1].Freq = s[best].Freq
		s = slices.Delete(s, best, best+1)
	}
	copy(b[:], s)
	return b
}

// weight is what a pair counts in the choice of those that are joined: its BM25, were the mean length 32. Any choice
// bounds; this one does so closely for texts as long as passages are.
func weight(p Pair) float64 {
	f := float64(p.Freq)
	return f / (f + 0.3 + 0.9*float64(ByteLength(p.Length))/32)
}

// append appends b as it is written.
func (b Bound) append(to []byte) []byte {
	for _, p := range b {
		to = append(to, p.Freq, p.Length)
	}
	return to
}
