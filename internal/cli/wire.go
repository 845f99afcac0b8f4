package cli

import (
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// wireTag is the tag of a flag or argument that names the fields of requests which it sets, between commas, such as
// search.limit, wherever in a request they stand; [] stands for any index. See rest, too.
const wireTag = "wire"

var position = regexp.MustCompile(`\[\d+\]`)

// flagOf returns the flag or argument of a command that sets a field of its request, with the rest of the field's path if it sets
// more than that field; "" if there is none.
func flagOf(n *kong.Node, field string) string {
	if n == nil {
		return ""
	}
	part, general, _ := strings.Cut(position.ReplaceAllString(field, "[]"), ".") // without the part of the request
	name, most := "", ""
	for _, v := range settable(n) {
		for wire := range strings.SplitSeq(v.Tag.Get(wireTag), ",") {
			switch {
			case wire == rest && name == "" && part == "body" && general != "":
				name = shown(v)
			case wire != "" && wire != rest && len(wire) > len(most) && under(general, wire):
				name, most = shown(v), wire
			}
		}
	}
	if inner := strings.TrimPrefix(general[len(most):], "."); name != "" && inner != "" && inner != "[]" {
		name += " (" + inner + ")"
	}
	return name
}

// rest is the tag of a flag that holds a body: it sets every field of it that no other flag names.
const rest = "*"

func shown(v *kong.Value) string {
	if v.Flag != nil {
		return "--" + v.Name
	}
	return "<" + v.Name + ">"
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
