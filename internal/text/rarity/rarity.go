// Package rarity says how rare a word is in English, so that "insulin" weighs more than "effect" where words are
// compared outside of an index, which has frequencies of its own. The table (rarity.bin) holds stems and function
// words with a byte each; gen makes it and says of what. Languages without a table have no weights here. Callers are
// provider/builtin and verify. All functions are safe for concurrent use.
package rarity

import (
	_ "embed"
	"hash/fnv"
	"sort"
)

//go:generate go run ./gen -data ../../../../shared/data

//go:embed rarity.bin
var table string

// entryBytes is what an entry takes: the hash of its word, big endian, in the first part of the table, and its weight
// in the second.
const entryBytes = 5

// Step is the resolution of weights.
const Step = 1.0 / 16

// Highest is the weight of words that the table does not hold, which is about that of the rarest in it.
const Highest = 11.0

// Weight is about the natural logarithm of one over the share of sentences that hold the term: 0.3 for "the", 6 for
// "city", 8 for "insulin", 11 for what is rarer than the table can tell. term is a stem as token.Analyze gives for "eng", or a function
// word in lower case.
func Weight(term string) float64 {
	if w, ok := find(term); ok {
		return w
	}
	return Highest
}

// In is Weight for a term of the language with this ISO 639-3 code, and the same number for every term of a language
// without a table.
func In(term, lang string) float64 {
	if lang == "eng" {
		return Weight(term)
	}
	return 1
}

// Known reports whether the table of English holds term.
func Known(term string) bool {
	_, ok := find(term)
	return ok
}

func find(term string) (float64, bool) {
	n, want := len(table)/entryBytes, Hash(term)
	i := sort.Search(n, func(i int) bool { return hashAt(i) >= want })
	if i == n || hashAt(i) != want {
		return 0, false
	}
	return float64(table[4*n+i]) * Step, true
}

func hashAt(i int) uint32 {
	return uint32(table[4*i])<<24 | uint32(table[4*i+1])<<16 | uint32(table[4*i+2])<<8 | uint32(table[4*i+3])
}

// Hash is the key of a term. Of two terms with one key the table holds the more frequent; with 50,000 entries a term
// that is not in the table finds another's weight once in 80,000 times.
func Hash(term string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(term)) // a hash never fails to take bytes
	return h.Sum32()
}
