package index

import (
	drafts "quarry/internal/index/draft"
	"quarry/internal/index/segment"
	"quarry/internal/search"
)

// draft is the next state while the writer prepares it.
type draft = drafts.Draft

// draft returns a draft of the current state. It is an error that the columns are not those of the attributes that the
// index is for, or that documents are missing.
func (x *Index) draft() (*draft, error) {
	d, err := x.draftAnyway()
	switch {
	case err != nil:
		return nil, err
	case d.Of != x.of:
		return nil, search.ErrSchema
	case d.Partial:
		return nil, errPartial
	}
	return d, nil
}

// draftAnyway returns a draft of the current state, whatever it lacks.
func (x *Index) draftAnyway() (*draft, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, ErrClosed
	}
	return &draft{Shape: x.shape(), Of: x.cur.of, Seq: x.cur.seq, Views: append([]*view(nil), x.cur.views...), Partial: x.cur.partial}, nil
}

// drop unmaps the segments of a draft that is not published.
func (x *Index) drop(d *draft) { x.discard(d, d.Views) }

// discard unmaps those segments of views that only this draft has seen.
func (x *Index) discard(d *draft, views []*view) {
	var mine []*segment.File
	x.mu.Lock()
	for _, v := range views {
		if d.Owns(v) {
			mine = v.Unheld(mine)
		}
	}
	x.mu.Unlock()
	closeAll(mine)
}
