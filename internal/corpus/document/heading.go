package document

import (
	"reflect"
	"strings"
)

// Leading reports which parts of a document are headings of sections that have text: they lead to it and need not be
// found themselves. The text may stand in a section inside; tables, and images that have words, are text. metadata is that of the
// parts, decoded.
//
// Parts of structured documents and of files carry their place in it: how many titles are above them, and the number of
// their section. Other parts with the key is_title head what follows them, up to the next such part.
func Leading(parts []Part, metadata []map[string]any) []bool {
	out := make([]bool, len(parts))
	var open []int // the titles whose sections may go on, outermost first
	for i := range parts {
		if parts[i].IsTitle {
			for len(open) > 0 && depth(metadata[i]) <= depth(metadata[open[len(open)-1]]) {
				open = open[:len(open)-1]
			}
			open = append(open, i)
			continue
		}
		for len(open) > 0 && !inside(metadata[i], metadata[open[len(open)-1]]) {
			open = open[:len(open)-1]
		}
		if strings.TrimSpace(parts[i].Text) == "" {
			continue
		}
		for k := len(open) - 1; k >= 0 && !out[open[k]]; k-- {
			out[open[k]] = true
		}
	}
	return out
}

// depth returns how many titles of sections are above or at a part.
func depth(metadata map[string]any) int {
	above, _ := metadata["breadcrumb"].([]any)
	if metadata["title"] == nil {
		return len(above)
	}
	return len(above) + 1
}

// inside reports whether a part that is no title, behind a title and without another section between, is in the title's section.
func inside(part, title map[string]any) bool {
	section := part["section"]
	return section == nil || depth(part) >= depth(title) || reflect.DeepEqual(section, title["section"])
}
