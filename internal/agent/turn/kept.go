package turn

import (
	"context"

	"quarry/internal/agent/session"
	"quarry/internal/agent/session/recent"
)

// readSize is how many events are read at once.
const readSize = 500

// read reads the visible events of the session: those behind what is kept of an earlier turn, unless events were hidden,
// shown or deleted since.
func (t *turn) read(ctx context.Context) error {
	standing, err := t.engine.Log.Standing(ctx, t.run.Session)
	if err != nil {
		return err
	}
	events, after := []session.Event{}, int64(0)
	if kept := t.engine.kept.Take(t.run.Session); kept != nil && kept.Edits == standing.Edits && len(kept.Events) > 0 {
		events, after = kept.Events, kept.Events[len(kept.Events)-1].Ord
	}
	for more := true; more; {
		var page []session.Event
		page, more, err = t.engine.Sessions.Events(ctx, session.Page{Session: t.run.Session, After: after, Limit: readSize})
		if err != nil {
			return err
		}
		if events = append(events, page...); len(page) > 0 {
			after = page[len(page)-1].Ord
		}
	}
	t.events, t.edits = events, standing.Edits
	return nil
}

// remember keeps the history for the next run.
func (w *work) remember() {
	if len(w.events) > 0 {
		w.engine.kept.Put(&recent.History{Session: w.run.Session, Events: w.events, Edits: w.edits})
	}
}
