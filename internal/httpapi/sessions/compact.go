package sessions

import (
	"context"
	"net/http"
	"unicode/utf8"

	"quarry/internal/agent/compact"
	"quarry/internal/agent/session"
	"quarry/internal/agent/turn"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/opt"
)

// compactBody is CreateCompactRequest.
type compactBody struct {
	Stream  bool    `json:"stream_response"`
	UpTo    *string `json:"compact_up_to_event_id"`
	Message string  `json:"compaction_message"`
}

// compact sums a session up and answers with the event of it.
func (a *Turns) compact(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var body compactBody
	if err := httpapi.Decode(c.Body, &body); err != nil {
		return err
	}
	p := placed(c)
	if err := a.compactable(r.Context(), p.session.No, &body); err != nil {
		return fault.Under(err, "body")
	}
	leave, full := c.Turn(r.Context())
	if full != nil && !fault.Is(full, fault.KindLimited) {
		return full
	}
	in := turn.Input{Whole: !body.Stream, Leave: leave, Input: session.Input{
		Session: p.session.No, Event: id.NewEvent(), Compaction: &session.Wish{UpTo: id.Event(opt.Deref(body.UpTo, "")), Message: body.Message}, Full: full,
	}}
	in.Caller = caller(c)
	sent, err := a.engine.Send(r.Context(), in)
	if err != nil {
		return err
	}
	defer sent.Close()
	c.Named = map[string]string{"event_id": string(in.Event)}
	if body.Stream {
		return fault.Under(a.stream(w, r, c, sent), "body")
	}
	events, err := whole(r.Context(), p.session.Key, sent)
	if err != nil {
		return fault.Under(err, "body")
	}
	return httpapi.WriteJSON(w, http.StatusCreated, answerBody{events, p.session.Key})
}

// compactable checks what need not wait for a turn that runs.
func (a *Turns) compactable(ctx context.Context, no int64, body *compactBody) error {
	bad := fault.Invalid()
	if utf8.RuneCountInString(body.Message) > compact.MaxMessage {
		bad.Field(compact.MessageField, "must have at most %d characters", compact.MaxMessage)
	}
	if body.UpTo != nil {
		e, err := a.sessions.Event(ctx, no, id.Event(*body.UpTo))
		switch {
		case *body.UpTo == "":
			bad.Field(compact.AnchorField, "must not be empty; leave it out to sum up the turns before the last ones")
		case fault.Is(err, fault.KindNotFound), err == nil && e.Hidden != "":
			bad.Gather(compact.NoAnchor(id.Event(*body.UpTo)))
		case err != nil:
			return err
		}
	}
	return bad.Err()
}
