package check

import "strconv"

// place is the current position in a JSON value. It becomes text only when something is at fault: keeping a path with
// every value would take the depth of the text times its length.
type place struct {
	root  string
	steps []step
}

// step leads to a member, or to an item if index is not negative.
type step struct {
	name  string
	index int
}

func (p *place) member(name string) { p.steps = append(p.steps, step{name, -1}) }

func (p *place) item(i int) { p.steps = append(p.steps, step{"", i}) }

func (p *place) back() { p.steps = p.steps[:len(p.steps)-1] }

// maxPath is the length in bytes at which the text of a place is cut.
const maxPath = 1000

// String returns the place as field_errors spell it: members after dots, items as [n]. Without a root, it is relative.
func (p *place) String() string {
	out := []byte(p.root)
	for _, s := range p.steps {
		if len(out) > maxPath {
			return string(out) + "…"
		}
		if s.index < 0 {
			if len(out) > 0 {
				out = append(out, '.')
			}
			out = append(out, shorten(s.name)...)
			continue
		}
		out = append(strconv.AppendInt(append(out, '['), int64(s.index), 10), ']')
	}
	return string(out)
}
