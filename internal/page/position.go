package page

import (
	"math"
	"strconv"
	"time"

	"quarry/internal/fault"
)

// Position is a place in a list that is ordered by creation time and then id, both descending. A nil *Position is the
// beginning of the list.
type Position struct {
	Created int64 // microseconds since 1970
	ID      string
}

// At returns the position of the item with this id and creation time.
func At[ID ~string](created time.Time, id ID) *Position {
	return &Position{created.UnixMicro(), string(id)}
}

// Precedes reports whether p comes before o in the list; a nil p comes before everything.
func (p *Position) Precedes(o *Position) bool {
	created, id := p.Bound()
	return o.Created < created || o.Created == created && o.ID < id
}

// Bound returns the exclusive upper bound, compared as a pair, of everything after p.
func (p *Position) Bound() (created int64, id string) {
	if p == nil {
		return math.MaxInt64, ""
	}
	return p.Created, p.ID
}

// Next returns the key of the page after last, or nil if last is nil, as it is for the last page.
func (c *Cursors) Next(s Scope, last *Position) *string {
	if last == nil {
		return nil
	}
	key := c.Encode(s, strconv.FormatInt(last.Created, 10), last.ID)
	return &key
}

// After returns the position in a key made by Next; nil is the first page. It is Decode in all other respects.
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

// Foreign returns the fault of a page key that does not belong to this list.
func Foreign() *fault.Fault {
	return fault.InvalidField("page_key", "is not a token of this list; start again without page_key")
}
