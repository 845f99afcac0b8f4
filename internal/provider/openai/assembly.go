package openai

import (
	"encoding/json"
	"strings"

	"quarry/internal/provider"
)

// assembly joins calls from their pieces.
type assembly struct {
	slots   []*slot
	byIndex map[int]*slot
}

type slot struct {
	id, name  string
	arguments strings.Builder
	extra     json.RawMessage
}

// add adds a piece to its call. The call is found by the index, unless the server sends the same index for every call and
// distinguishes them by id, else by the id. A piece with neither continues the last call, or begins another if it has a name.
func (a *assembly) add(d callDelta) {
	var s *slot
	switch {
	case d.Index != nil:
		s = a.byIndex[*d.Index]
		if s != nil && d.ID != "" && s.id != "" && d.ID != s.id && d.Function.Name != "" {
			s = nil
		}
	case d.ID != "":
		for _, known := range a.slots {
			if known.id == d.ID {
				s = known
			}
		}
	case d.Function.Name == "" && len(a.slots) > 0:
		s = a.slots[len(a.slots)-1]
	}
	if s == nil {
		s = &slot{}
		a.slots = append(a.slots, s)
	}
	if d.Index != nil {
		if a.byIndex == nil {
			a.byIndex = map[int]*slot{}
		}
		a.byIndex[*d.Index] = s
	}
	if s.id == "" {
		s.id = d.ID
	}
	if s.name == "" {
		s.name = d.Function.Name
	}
	if provider.Present(d.Extra) {
		s.extra = d.Extra
	}
	var piece provider.Text
	if !provider.Present(d.Function.Arguments) {
		return
	}
	if json.Unmarshal(d.Function.Arguments, &piece) != nil {
		piece = provider.Text(d.Function.Arguments) // an object where its text should be
	}
	s.arguments.WriteString(string(piece))
}
