package rows

import (
	"encoding/json"
	"fmt"

	"quarry/internal/index/lists"
	"quarry/internal/index/vector"
)

func (h Shape) listsFrom() int {
	if h.ListsFrom > 0 {
		return h.ListsFrom
	}
	return lists.From
}

// listPart is a section of inverted lists.
type listPart struct {
	name string
	data *[]byte
}

func listParts(p *lists.Parts) []listPart {
	return []listPart{{"list.hi", &p.Hi}, {"list.scale", &p.Scale}, {"list.run", &p.Runs}, {"list.row", &p.Row},
		{"list.factor", &p.Factor}, {"list.code", &p.Code}, {"list.at", &p.At}}
}

// lists adds the inverted lists of vectors.
func (t *table) lists(of *vector.Rows) error {
	l, err := lists.Build(of, t.kept, t.shape.pause)
	if err != nil {
		return err
	}
	head, err := json.Marshal(l.Head)
	if err != nil {
		return fmt.Errorf("write segment: %w", err)
	}
	t.put("list.head", head)
	for _, p := range listParts(&l.Parts) {
		t.put(p.name, *p.data)
	}
	return nil
}

// lists returns the inverted lists of vectors; nil when there are none, or only newer ones.
func (b *binder) lists(of *vector.Rows) *lists.Lists {
	text := b.optional("list.head")
	if text == nil {
		return nil
	}
	var p lists.Parts
	for _, part := range listParts(&p) {
		if b.file.Section(part.name).Version > version(part.name) {
			return nil
		}
		*part.data = b.optional(part.name)
	}
	var h lists.Head
	err := json.Unmarshal(text, &h)
	if err == nil {
		var l *lists.Lists
		if l, err = lists.Bind(of, h, p); err == nil {
			return l
		}
	}
	b.fail("list.head", err.Error())
	return nil
}
