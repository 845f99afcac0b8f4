// Package rarity holds the inverse document frequency of English words, so that "insulin" weighs more than "effect" where
// texts are compared outside of an index, which has frequencies of its own. The table (rarity.bin) holds the weights of
// stems and function words, a byte each; the command in gen generates it and documents its sources. There are no tables
// for other languages. All functions are safe for concurrent use.
package rarity

import (
	_ "embed"
	"hash/fnv"
	"sort"
)

//go:generate go run ./gen -data ../../../../shared/data

//go:embed rarity.bin
var table string

// entryBytes is the size of an entry: 4 bytes in the first part of the table, which holds the hashes of all words in
// ascending order (big endian), and 1 byte in the second part, which holds their weights in units of Step.
const entryBytes = 5

// Step is the resolution of the weights.
const Step = 1.0 / 16

// Highest is the weight of words that are not in the table, about that of the rarest in it.
const Highest = 11.0

// Weight returns the inverse document frequency of an English term (Spärck Jones 1972), where a document is a sentence:
// about -ln p for a term in a fraction p of the sentences. That is 0.3 for "the", 6 for "city", 8 for "insulin", and
// Highest for terms that are too rare for the table. term must be a stem as analysis.Analyze returns it for "eng", or a
// function word in lower case.
func Weight(term string) float64 {
	if w, ok := find(term); ok {
		return w
	}
	return Highest
}

// In returns the weight of a term in the language with this ISO 639-3 code. It is 1 for every term of a language other
// than English.
func In(term, lang string) float64 {
	if lang == "eng" {
		return Weight(term)
	}
	return 1
}

// Known reports whether the table holds the English term.
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

// Hash returns the key of a term in the table (FNV-1a, 32 bits). Of terms with the same key the table holds the most
// frequent. With 50,000 entries, a term that is not in the table is mistaken for another with a probability of about 1 in
// 86,000 (50,000 / 2^32).
func Hash(term string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(term)) // never fails
	return h.Sum32()
}
