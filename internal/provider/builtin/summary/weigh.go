package summary

import (
	"math"
	"regexp"
	"strings"

	"quarry/internal/llm"
)

// The share of vectors in the centrality of a sentence, beside that of terms. The embedded encoder was trained on English.
const (
	vectorShare  = 0.5
	foreignShare = 0.3
)

// What else counts: that a sentence opens a section or the document, since authors say there what it is about; that it takes up
// something which a summary leaves out, or begins with a label such as "Note:"; and that it is very short or very long.
const (
	openingBonus  = 0.15
	firstBonus    = 0.3
	danglingCost  = 0.25
	labelCost     = 0.2
	lengthCost    = 0.2
	shortSentence = 8  // words
	longSentence  = 45 // words
)

// weigh sets the value of each candidate.
func (d *reading) weigh(document []llm.Evidence, language string) {
	d.weighTerms()
	byTerms, byVectors := d.termCentrality(), d.vectorCentrality(document)
	share := 0.0
	if byVectors != nil {
		if share = foreignShare; language == "eng" {
			share = vectorShare
		}
	}
	for i, c := range d.pool {
		c.value = (1 - share) * byTerms[i]
		if share > 0 {
			c.value += share * byVectors[i]
		}
		if c.first {
			c.value += openingBonus
		}
		if i == 0 {
			c.value += firstBonus
		}
		if dangles(c.Text) {
			c.value -= danglingCost
		}
		if labelled.MatchString(c.Text) {
			c.value -= labelCost
		}
		if n := words(c.Text); n < shortSentence || n > longSentence {
			c.value -= lengthCost
		}
	}
}

// weighTerms turns the counts of terms into weights.
func (d *reading) weighTerms() {
	n := float64(len(d.pool))
	for i, holders := range d.rarity {
		d.rarity[i] = math.Log(1 + n/holders)
	}
	for _, c := range d.pool {
		sum := 0.0
		for _, t := range c.terms {
			sum += d.rarity[t] * d.rarity[t]
		}
		c.length = math.Sqrt(sum)
	}
}

// termCentrality returns how similar the candidates are to all others by their terms, from 0 to 1.
func (d *reading) termCentrality() []float64 {
	centroid := make([]float64, len(d.rarity))
	for _, c := range d.pool {
		for _, t := range c.terms {
			centroid[t] += d.rarity[t] / c.length
		}
	}
	out := make([]float64, len(d.pool))
	for i, c := range d.pool {
		for _, t := range c.terms {
			out[i] += centroid[t] * d.rarity[t] / c.length
		}
	}
	return scaled(out)
}

// vectorCentrality is termCentrality by the vectors of the passages; nil if most have none.
func (d *reading) vectorCentrality(document []llm.Evidence) []float64 {
	var centroid []float64
	known := 0
	for _, c := range d.pool {
		v := document[c.Passage].Vector
		if centroid == nil && len(v) > 0 {
			centroid = make([]float64, len(v))
		}
		if len(v) != len(centroid) {
			continue
		}
		for j, x := range v {
			centroid[j] += float64(x)
		}
		known++
	}
	if len(centroid) == 0 || 2*known <= len(d.pool) {
		return nil
	}
	out := make([]float64, len(d.pool))
	for i, c := range d.pool {
		if v := document[c.Passage].Vector; len(v) == len(centroid) {
			for j, x := range v {
				out[i] += centroid[j] * float64(x)
			}
		}
	}
	return scaled(out)
}

// scaled returns values from 0 for the lowest to 1 for the highest.
func scaled(values []float64) []float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	for i, v := range values {
		values[i] = 1
		if high > low {
			values[i] = (v - low) / (high - low)
		}
	}
	return values
}

// similarity returns how much two candidates say the same, from 0 to 1.
func (d *reading) similarity(document []llm.Evidence, a, b *candidate) float64 {
	shared := 0.0
	if a.length > 0 && b.length > 0 {
		for i, j := 0, 0; i < len(a.terms) && j < len(b.terms); {
			switch {
			case a.terms[i] < b.terms[j]:
				i++
			case a.terms[i] > b.terms[j]:
				j++
			default:
				shared += d.rarity[a.terms[i]] * d.rarity[a.terms[i]]
				i++
				j++
			}
		}
		shared /= a.length * b.length
	}
	v, w := document[a.Passage].Vector, document[b.Passage].Vector
	if a.Passage == b.Passage || len(v) != len(w) {
		return shared
	}
	sum := float32(0)
	for i := range v {
		sum += v[i] * w[i]
	}
	return max(shared, float64(sum))
}

// labelled matches a sentence that begins with a label of up to three words.
var labelled = regexp.MustCompile(`^\S+(?: \S+){0,2}:\s`)

// dangles reports whether a sentence begins with a word that takes up what was said before it. One that says what the document is
// about, as "This page covers ...", does not.
func dangles(text string) bool {
	first, rest, _ := strings.Cut(text, " ")
	second, _, _ := strings.Cut(rest, " ")
	return takesUp[plain(first)] && !works[plain(second)]
}

func plain(word string) string { return strings.ToLower(strings.Trim(word, ",;:")) }

// works are what documents call themselves.
var works = set("page document guide paper article report chapter study book manual note seite dokument anleitung bericht artikel")

// takesUp are such words of English, German, French and Spanish.
var takesUp = set("this these that those it its they their them he she his her such then thus hence so but and or also " +
	"however therefore moreover furthermore nevertheless otherwise instead similarly consequently meanwhile finally here there " +
	"dies diese dieser dieses diesem diesen er sie es ihr ihre daher deshalb dann also auch aber und jedoch dadurch damit hierbei dabei " +
	"ce cette ces cet il elle ils elles cela donc mais et aussi ainsi cependant " +
	"este esta estos estas esto ese esa él ella ellos ellas pero y también además así")

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}
