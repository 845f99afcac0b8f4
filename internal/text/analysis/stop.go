package analysis

import "strings"

// englishStops are the English stop words: articles, pronouns, prepositions, conjunctions, auxiliaries, question words
// and a few adverbs of degree and place. They occur in nearly every passage and tell nothing about its subject.
var englishStops = wordSet(strings.Fields(`
	a an the
	i me my we us our you your he him his she her it its they them their
	this that these those who whom whose which what when where why how
	of in on at by for with from to into onto about as than
	between through during within without against among upon over under
	and or but nor if then so because while until
	am is are was were be been being have has had having
	do does did doing will would shall should can could may might must
	not no there here also both each such some any all other another
	only very too just more most same again
	however therefore
`))

func wordSet(words []string) map[string]struct{} {
	set := make(map[string]struct{}, len(words))
	for _, w := range words {
		set[w] = struct{}{}
	}
	return set
}
