package turn

import (
	"context"

	"quarry/internal/agent/compact"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/transcript"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/usage"
)

// sumUp is a run that sums the session up.
func (t *turn) sumUp(ctx context.Context) error {
	t.bare = true
	if t.run.Recovered >= maxRecovered {
		return broken("the compaction was taken over %d times and came to no end", t.run.Recovered)
	}
	if err := t.open(ctx); err != nil {
		return err
	}
	wish, how := t.run.Compaction, t.session.Compaction
	gone, keep := []session.Event(nil), 0
	var err error
	if wish.UpTo != "" {
		gone, err = compact.UpTo(t.events, wish.UpTo)
	} else {
		keep = how.KeepInputs
		gone = compact.Old(t.events, keep)
	}
	switch {
	case err != nil:
		return err
	case len(gone) == 0:
		return compact.Nothing(keep)
	}
	if wish.Message != "" {
		how.Message = wish.Message
	}
	model, err := t.engine.Models.Model(ctx, t.agent.Model.Name)
	if err != nil {
		return unusable(err)
	}
	ctx = usage.Charged(ctx, t.agent.Account())
	if err := t.admit(ctx, model); err != nil {
		return err
	}
	t.tell(feed.Note{Kind: feed.CompactionStarted})
	t.claim.hear()
	text, err := compact.Write(ctx, model, t.agent.Model.Retry, &how, gone)
	if err != nil {
		return err
	}
	c := session.Commit{Events: []session.Event{compact.Event(wish.Event, text, gone)}, Hide: compact.Spans(gone)}
	return t.end(c, session.End{Step: t.run.Step, Stop: true})
}

// compact sums up the turns that are not kept if the next call of the model would fill its context, and reports whether it has. A
// summary that fails changes nothing.
func (t *turn) compact(ctx context.Context, model *llm.Model, next *llm.Request) (bool, error) {
	how := t.session.Compaction
	if t.tired || !compact.Due(&how, t.tokens(next), model.Can.Context) {
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
	_, err = t.commit(session.Commit{Events: []session.Event{compact.Event(id.NewEvent(), text, gone)}, Hide: compact.Spans(gone)})
	return err == nil, err
}

// tokens returns about how many tokens the next call of the model takes: what the last one has, and what came since, unless the
// session was changed behind it.
func (t *turn) tokens(next *llm.Request) int {
	u, at := t.session.Usage, t.session.Measured
	if u == nil || u.Input == 0 || at.Edits != t.edits {
		return next.Tokens() * 3 / 4
	}
	return int(u.Input+u.Output) + llm.MessageTokens(transcript.Since(t.events, at.Ord)...)*3/4
}
