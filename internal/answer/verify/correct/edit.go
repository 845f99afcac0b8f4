package correct

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"quarry/internal/answer/verify/markup"
)

// apply applies the edits; neighbours overlap at most in white space. A text of which no word remains becomes empty: marks of
// citations alone state nothing.
func apply(text string, edits []Edit, by string) Corrected {
	slices.SortFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	var b strings.Builder
	at := 0
	kept := edits[:0]
	for _, e := range edits {
		if e.Start < at && e.End > at { // both drops would take the space between two sentences
			e.Start, e.Original = at, text[at:e.End]
		}
		if e.Start < at || e.Original == e.Corrected {
			continue
		}
		b.WriteString(text[at:e.Start])
		b.WriteString(e.Corrected)
		at = e.End
		kept = append(kept, e)
	}
	b.WriteString(text[at:])
	out := b.String()
	if len(kept) > 0 && !strings.ContainsFunc(markup.Strip(out), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		out = ""
	}
	return Corrected{Text: out, Edits: kept, By: by}
}

// replace returns the edit that puts other words in the place of text[start:end].
func replace(text string, start, end int, with, why string) Edit {
	return Edit{Start: start, End: end, Original: text[start:end], Corrected: with, Explanation: why}
}

// drop returns the edit that removes a sentence with the marks of citations after it, the bullet of a list item that holds
// nothing else, and the space before the next sentence.
func drop(text, clean string, start, end int, why string) Edit {
	for end < len(text) && clean[end] == ' ' {
		end++
	}
	line := strings.LastIndexByte(text[:start], '\n') + 1
	before := strings.TrimLeft(clean[line:start], " \t")
	whole := end >= len(text) || text[end] == '\n'
	if strings.TrimSpace(before[len(markup.Bullet(before)):]) == "" {
		if whole {
			start = line
			if end < len(text) {
				end++
			}
		}
	} else if whole {
		for start > line && text[start-1] == ' ' {
			start--
		}
	}
	return replace(text, start, end, "", why)
}
