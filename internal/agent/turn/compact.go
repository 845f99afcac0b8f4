package turn

import (
	"context"

	"quarry/internal/agent/compact"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/turn/failure"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/usage"
)

// sumUp is a run that sums the session up.
func (t *turn) sumUp(ctx context.Context) error {
	t.bare = true
	if t.run.Recovered >= maxRecovered {
		return failure.Stuck("the compaction was taken over %d times and came to no end", t.run.Recovered)
	}
	if err := t.open(ctx); err != nil {
		return err
	}
	if t.lost {
		if _, err := t.commit(session.Commit{}); err != nil { // see resume
			return err
		}
	}
	wish, how := t.run.Compaction, t.session.Compaction
	gone, err := compact.Wanted(t.events, &wish.Wish, &how)
	if err != nil {
		return err
	}
	model, err := t.model(ctx)
	if err != nil {
		return err
	}
	ctx = usage.Charged(ctx, t.payers()...)
	if err := t.admit(ctx, model); err != nil {
		return err
	}
	t.tell(feed.Note{Kind: feed.CompactionStarted})
	t.claim.Hear()
	text, err := compact.Write(ctx, model, t.agent.Model.Retry, &how, gone)
	if err != nil {
		return err
	}
	return t.end(compact.Commit(wish.Event, text, gone), session.End{Step: t.run.Step, Stop: true})
}

// compact sums up the turns that are not kept if the next call of the model would fill its context, and reports whether it has. A
// summary that fails changes nothing.
func (t *turn) compact(ctx context.Context, model *llm.Model, next *llm.Request) (bool, error) {
	how := t.session.Compaction
	if t.tired || !compact.Due(&how, compact.Tokens(&t.session, t.events, t.edits, next, model.Can.Context), model.Can.Context) {
		return false, nil
	}
	gone := compact.Old(t.events, how.KeepInputs)
	if len(gone) == 0 {
		return false, nil
	}
	t.tell(feed.Note{Kind: feed.CompactionStarted})
	text, err := compact.Write(ctx, model, t.agent.Model.Retry, &how, gone)
	if cause := context.Cause(ctx); cause != nil {
		return false, cause
	}
	if err != nil {
		t.tired = true
		t.engine.Logger.Warn("a session is not summed up", "agent", t.agent.Key, "session", t.session.Key, "error", err)
		return false, nil
	}
	_, err = t.commit(compact.Commit(id.NewEvent(), text, gone))
	return err == nil, err
}
