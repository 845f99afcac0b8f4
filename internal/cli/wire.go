package cli

import (
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// wireTag is the tag of a flag or argument that names the fields of requests which it sets, between commas, such as
// search.limit, wherever in a request they stand; [] stands for any index.
const wireTag = "wire"

var position = regexp.MustCompile(`\[\d+\]`)

// flagOf returns the flag or argument of a command that sets a field of its request, with the rest of the field's path if it sets
// more than that field; "" if there is none.
func flagOf(n *kong.Node, field string) string {
	if n == nil {
		return ""
	}
	_, general, _ := strings.Cut(position.ReplaceAllString(field, "[]"), ".") // without the part of the request
	name, most := "", ""
	for _, v := range settable(n) {
		for wire := range strings.SplitSeq(v.Tag.Get(wireTag), ",") {
			if wire != "" && len(wire) > len(most) && under(general, wire) {
				name, most = "<"+v.Name+">", wire
				if v.Flag != nil {
					name = "--" + v.Name
				}
			}
		}
	}
	if rest := strings.TrimPrefix(general[len(most):], "."); name != "" && rest != "" && rest != "[]" {
		name += " (" + rest + ")"
	}
	return name
}

// under reports whether a field is the one that wire names, or inside it.
func under(field, wire string) bool {
	rest, ok := strings.CutPrefix(field, wire)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func settable(n *kong.Node) []*kong.Value {
	all := append([]*kong.Value{}, n.Positional...)
	for _, f := range n.Flags {
		all = append(all, f.Value)
	}
	return all
}
