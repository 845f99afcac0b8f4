package extract

import "slices"

// AllEndings returns the endings of the format at i of Formats, those not looked for in folders last.
func AllEndings(i int) []string { return slices.Concat(formats[i].endings, formats[i].rare) }
