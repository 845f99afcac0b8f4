package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Summary returns what was left out in a few lines, one for each cause, such as "7 .pptx, 6 .xlsx: not read".
func (f Found) Summary() []string {
	var all []string
	for _, c := range []struct {
		cause Cause
		text  string
	}{
		{CauseFormat, "not read"},
		{CauseNoBody, "not a document's body"},
		{CauseNested, "with documents of their own: name them on the command line"},
		{CauseEmpty, "empty"},
		{CauseLink, "links are not followed"},
		{CauseSpecial, "sockets, pipes or devices"},
		{CauseIgnored, "left out by .quarryignore"},
		{CauseExcluded, "left out by --include or --exclude"},
		{CauseHidden, "hidden"},
	} {
		if list := endings(f.LeftOut, c.cause); list != "" {
			all = append(all, list+": "+c.text)
		}
	}
	return all
}

// endings counts what is left out for a cause, the most frequent ending first.
func endings(left []LeftOut, cause Cause) string {
	count := map[string]int{}
	for _, l := range left {
		switch {
		case l.Cause != cause:
		case l.Ending != "":
			count[l.Ending]++
		case strings.HasSuffix(l.Place, "/"), strings.HasSuffix(l.Place, `\`):
			count["folder"]++
		default:
			count["without ending"]++
		}
	}
	kinds := make([]string, 0, len(count))
	for kind := range count {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	for i, kind := range kinds {
		if n := count[kind]; kind == "folder" && n > 1 {
			kinds[i] = fmt.Sprintf("%d folders", n)
		} else {
			kinds[i] = fmt.Sprintf("%d %s", n, kind)
		}
	}
	return strings.Join(kinds, ", ")
}
