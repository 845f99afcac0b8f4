package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/turn"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/stream"
	"quarry/internal/id"
)

// patience is how long the head of a stream waits for the first event of the model, so that a failure before it is a status.
const patience = 15 * time.Second

// maxExternalID bounds an external_id, in characters.
const maxExternalID = 255

// Turns answers the operations that send input and follow what becomes of it.
type Turns struct {
	engine   *turn.Engine
	sessions *session.Service
	files    *artifact.Service
}

// NewTurns returns the area.
func NewTurns(e *turn.Engine, s *session.Service, f *artifact.Service) *Turns { return &Turns{e, s, f} }

// Handlers implements httpapi.Area.
func (a *Turns) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{"createAgentInput": a.input, "listOutstandingClientToolCalls": a.outstanding}
}

// inputBody is CreateInputRequest.
type inputBody struct {
	Type     string       `json:"type"`
	Stream   bool         `json:"stream_response"`
	Messages []partBody   `json:"messages"`
	Since    string       `json:"since"`
	Behavior string       `json:"behavior"`
	Outputs  []outputBody `json:"tool_outputs"`
}

// partBody is AgentInput.
type partBody struct {
	Type       string `json:"type"`
	Content    string `json:"content"`
	Skill      string `json:"skill_name"`
	ExternalID string `json:"external_id"`
}

func (a *Turns) input(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	if c.Body == nil { // a form
		body, sent, err := a.readForm(r, c)
		if err != nil {
			sent.release(r.Context())
			return err
		}
		return a.message(w, r, c, body, sent)
	}
	var body inputBody
	if err := httpapi.Decode(c.Body, &body); err != nil {
		return err
	}
	switch body.Type {
	case "", "input_message":
		return a.message(w, r, c, &body, &files{kept: a.files})
	case "interrupt":
		return a.interrupt(w, r, c, body.Stream)
	case "tool_output":
		return a.outputs(w, r, c, &body)
	case "compact":
		return a.compact(w, r, c)
	}
	return fault.InvalidField("body.type", "is %q; inputs are input_message, tool_output, interrupt and compact", body.Type)
}

// skillPart is the type of parts that load a skill.
const skillPart = "skill"

// parts returns the parts of an input; one with files may have none.
func (b *inputBody) parts(files bool) ([]session.Part, error) {
	bad := fault.Invalid()
	if len(b.Messages) == 0 && (!files || b.Messages != nil) {
		bad.Field("messages", "must have at least one part")
	}
	out := make([]session.Part, len(b.Messages))
	for i, p := range b.Messages {
		at := fmt.Sprintf("messages[%d]", i)
		switch {
		case p.Type == skillPart && p.Skill == "":
			bad.Field(at+".skill_name", "must not be empty")
		case p.Type != skillPart && strings.TrimSpace(p.Content) == "":
			bad.Field(at+".content", "must not be empty")
		case utf8.RuneCountInString(p.ExternalID) > maxExternalID:
			bad.Field(at+".external_id", "must have at most %d characters", maxExternalID)
		}
		out[i] = session.Part{Text: p.Content, ExternalID: p.ExternalID}
		if p.Type == skillPart {
			out[i] = session.Part{Skill: p.Skill, ExternalID: p.ExternalID}
		}
	}
	return out, bad.Err()
}

// after returns the ord behind which to read, nil where no place is named.
func (a *Turns) after(ctx context.Context, no int64, since, field string) (*int64, error) {
	ord := int64(0)
	switch since {
	case "":
		return nil, nil
	case "start":
		return &ord, nil
	}
	e, err := a.sessions.Event(ctx, no, id.Event(since))
	if fault.Is(err, fault.KindNotFound) {
		return nil, fault.InvalidField(field, "is %s, which this session does not have; name one of its events, or start", since)
	}
	return &e.Ord, err
}

// message sends an input and answers with what becomes of it.
func (a *Turns) message(w http.ResponseWriter, r *http.Request, c *httpapi.Call, body *inputBody, with *files) error {
	release := sync.OnceFunc(func() { with.release(r.Context()) })
	defer release()
	parts, err := body.parts(len(with.all) > 0)
	if err != nil {
		return fault.Under(err, "body")
	}
	p := placed(c)
	if err := session.Load(parts, p.agent.Skills); err != nil {
		return fault.Under(err, "body")
	}
	since, err := a.after(r.Context(), p.session.No, body.Since, "body.since")
	if err != nil {
		return err
	}
	leave, full := c.Turn(r.Context())
	if full != nil && !fault.Is(full, fault.KindLimited) {
		return full
	}
	in := turn.Input{Since: since, Whole: !body.Stream, Leave: leave, Input: session.Input{
		Session: p.session.No, Event: id.NewEvent(), Parts: parts, Queue: since != nil, Steer: body.Behavior == "steer", Full: full,
		Files: with.all, Upload: id.NewEvent(),
	}}
	in.Caller = caller(c)
	sent, err := a.engine.Send(r.Context(), in)
	release() // the turn may take long
	if err != nil {
		return err
	}
	c.Named = map[string]string{"event_id": string(in.Event)}
	if sent != nil {
		defer sent.Close()
	}
	return a.reply(w, r, c, body.Stream, sent)
}

// reply answers with what becomes of an input.
func (a *Turns) reply(w http.ResponseWriter, r *http.Request, c *httpapi.Call, streamed bool, sent *turn.Sent) error {
	if streamed {
		return a.stream(w, r, c, sent)
	}
	key := placed(c).session.Key
	events, err := whole(r.Context(), key, sent)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusCreated, answerBody{events, key})
}

// answerBody is AgentResponse.
type answerBody struct {
	Events []any  `json:"events"`
	Key    string `json:"session_key"`
}

// whole reads to the end. A turn that has failed with nothing but its input is the failure, else that is the last entry.
func whole(ctx context.Context, key string, sent *turn.Sent) ([]any, error) {
	out := []any{}
	if sent == nil {
		return out, nil
	}
	var failed error
	number, further := int64(0), false // the turn that is read, and whether it has more than inputs
	for {
		f, err := sent.Next(ctx)
		switch {
		case errors.Is(err, io.EOF) && failed != nil && !further:
			return nil, failed
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		}
		if f.Shape == feed.Noted && f.Note.Kind == feed.Failed {
			if failed = f.Note.Err; further {
				out = append(out, errorOf(failed))
			}
			continue
		}
		switch input := f.Shape == feed.Stored && f.Event.Input(); {
		case !input:
			further = true
		case f.Event.Turn != number: // one that steers belongs to the turn that it goes on in
			number, further = f.Event.Turn, false
		}
		out = append(out, wireFrame(key, &f))
	}
}

// stream answers in frames.
func (a *Turns) stream(w http.ResponseWriter, r *http.Request, c *httpapi.Call, sent *turn.Sent) error {
	s := c.Stream(w)
	defer s.Close()
	s.Status(http.StatusCreated)
	if sent == nil {
		_ = s.Frame(end) // an error means that the client is gone, here and below
		return nil
	}
	if heard := sent.Heard(); heard != nil {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-heard:
		case <-timer.C:
		case <-r.Context().Done():
			return context.Cause(r.Context())
		}
	}
	if !sent.Show() {
		return refused(r.Context(), s, sent)
	}
	if s.Begin() != nil {
		return nil
	}
	frames(r.Context(), s, placed(c).session.Key, sent)
	return nil
}

// refused answers a stream whose turn has failed before anything was shown: a quota that is used up is a stream with status
// 200, all else the status of the failure.
func refused(ctx context.Context, s *stream.Stream, sent *turn.Sent) error {
	for {
		_, err := sent.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("a turn was refused without a reason")
		case fault.Is(err, fault.KindLimited):
			s.Status(http.StatusOK)
			_ = s.FailFrame(err)
			_ = s.Frame(end)
			return nil
		case err != nil:
			return err
		}
	}
}

// reader is what frames reads: a turn.Sent or, for those who only follow a session, a follower.
type reader interface {
	Next(ctx context.Context) (feed.Frame, error)
}

// follower reads a session for somebody who need not be allowed to answer its calls: their secrets are masked.
type follower struct{ *feed.Reader }

func (r follower) Next(ctx context.Context) (feed.Frame, error) {
	f, err := r.Reader.Next(ctx)
	if f.Shape == feed.Noted && f.Note.Kind == feed.Pending {
		f.Note.Calls = masked(f.Note.Calls)
	}
	return f, err
}

// frames writes what a reader is shown, to its end.
func frames(ctx context.Context, s *stream.Stream, key string, from reader) {
	for {
		f, err := from.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			_ = s.Frame(end)
			return
		case err != nil:
			_ = s.FailFrame(err)
			_ = s.Frame(end)
			return
		case f.Shape == feed.Noted && f.Note.Kind == feed.Failed:
			err = s.FailFrame(f.Note.Err)
		case f.Shape == feed.Text || f.Shape == feed.Thought:
			err = s.FrameSoon(wireFrame(key, &f))
		default:
			err = s.Frame(wireFrame(key, &f))
		}
		if err != nil {
			return // the client is gone
		}
	}
}

func (a *Turns) interrupt(w http.ResponseWriter, r *http.Request, c *httpapi.Call, streamed bool) error {
	p := placed(c)
	which, err := a.engine.Interrupt(r.Context(), p.session.No)
	if err != nil {
		return err
	}
	out := answerBody{Events: []any{}, Key: p.session.Key}
	if which != "" {
		f := feed.Frame{Shape: feed.Noted, Note: feed.Note{Kind: feed.Interrupted, ID: which}, At: clock.Now()}
		out.Events = append(out.Events, wireFrame(p.session.Key, &f))
	}
	return all(w, c, streamed, out)
}

// all answers with events that are all there.
func all(w http.ResponseWriter, c *httpapi.Call, streamed bool, out answerBody) error {
	if !streamed {
		return httpapi.WriteJSON(w, http.StatusCreated, out)
	}
	s := c.Stream(w)
	defer s.Close()
	s.Status(http.StatusCreated)
	for _, e := range append(out.Events, end) {
		_ = s.Frame(e) // an error means that the client is gone
	}
	return nil
}

// follow answers with the events behind a place and with what comes, until the reader leaves or the session ends.
func (a *Turns) follow(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	p := placed(c)
	since, err := a.after(r.Context(), p.session.No, c.Query.Get("since"), "query.since")
	if err != nil {
		return err
	}
	if since == nil {
		since = new(int64)
	}
	from := a.engine.Follow(p.session.No, *since)
	defer from.Close()
	s := c.Stream(w)
	defer s.Close()
	if s.Begin() != nil {
		return nil
	}
	frames(r.Context(), s, p.session.Key, follower{from})
	return nil
}
