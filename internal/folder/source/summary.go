package source

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Summary returns what was left out in a few lines, one for each cause, such as "7 .pptx, 6 .xlsx: not read".
func (f Found) Summary() []string {
	var all []string
	for _, c := range []struct {
		cause  Cause
		kind   string // "" where the endings matter
		reason string
	}{
		{CauseFormat, "", "not read"},
		{CauseNoBody, "", "not a document's body"},
		{CauseNested, "", "with documents of their own: name them on the command line"},
		{CauseEmpty, "empty file", "not read"},
		{CauseLink, "link", "not followed"},
		{CauseSpecial, "special file", "not read"},
		{CauseIgnored, "file", "left out by .quarryignore"},
		{CauseExcluded, "file", "left out by --include or --exclude"},
		{CauseHidden, "file", "hidden"},
	} {
		if list := counted(f.LeftOut, c.cause, c.kind); list != "" {
			all = append(all, list+": "+c.reason)
		}
	}
	return all
}

// counted counts what is left out for a cause by kinds, the most frequent first: folders, and files of the kind or else by
// their endings.
func counted(left []LeftOut, cause Cause, kind string) string {
	count := map[string]int{}
	for _, l := range left {
		switch {
		case l.Cause != cause:
		case strings.HasSuffix(l.Place, "/"), strings.HasSuffix(l.Place, `\`):
			count["folder"]++
		case kind != "":
			count[kind]++
		case l.Ending != "":
			count[l.Ending]++
		default:
			count["without ending"]++
		}
	}
	kinds := slices.Collect(maps.Keys(count))
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	for i, kind := range kinds {
		n := count[kind]
		if kinds[i] = fmt.Sprintf("%d %s", n, kind); n > 1 && kind != "without ending" && kind[0] != '.' {
			kinds[i] += "s"
		}
	}
	return strings.Join(kinds, ", ")
}
