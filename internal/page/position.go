package page

import (
	"math"
	"strconv"
	"time"

	"quarry/internal/fault"
)

// Position is a place in a list that shows the newest first, and of one moment the greatest id first.
type Position struct {
	Created int64 // microseconds since 1970
	ID      string
}

// At is the position of what was made then.
func At[ID ~string](created time.Time, id ID) *Position {
	return &Position{created.UnixMicro(), string(id)}
}

// Precedes reports whether o comes after p in lists; everything comes after no position.
func (p *Position) Precedes(o *Position) bool {
	created, id := p.Bound()
	return o.Created < created || o.Created == created && o.ID < id
}

// Bound gives what the time and the id of everything after p are below, together; no position is the beginning.
func (p *Position) Bound() (created int64, id string) {
	if p == nil {
		return math.MaxInt64, ""
	}
	return p.Created, p.ID
}

// Next gives the token for the page after last; nil, which the last page has, is no token.
func (c *Cursors) Next(s Scope, last *Position) *string {
	if last == nil {
		return nil
	}
	key := c.Encode(s, strconv.FormatInt(last.Created, 10), last.ID)
	return &key
}

// After gives the position of a token of Next. Else it does what Decode does.
func (c *Cursors) After(s *Scope, text string) (*Position, error) {
	parts, err := c.Decode(s, text)
	if err != nil || parts == nil {
		return nil, err
	}
	if len(parts) == 2 {
		if created, err := strconv.ParseInt(parts[0], 10, 64); err == nil {
			return &Position{created, parts[1]}, nil
		}
	}
	return nil, Foreign()
}

// Foreign is the fault of a token that is none of this list.
func Foreign() *fault.Fault {
	return fault.InvalidField("query.page_key", "is not a token of this list; start again without page_key")
}
