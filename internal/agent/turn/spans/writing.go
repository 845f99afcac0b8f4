package spans

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/agent/tool/mask"
	"quarry/internal/agent/turn/failure"
	"quarry/internal/id"
	"quarry/internal/trace"
)

// Restarted is what a span has failed with whose process is gone.
const Restarted = "interrupted by restart"

// writing is one commit, of which spans are made. It changes nothing of the recording, since a transaction may be made again.
type writing struct {
	*recording
	turn  Turn
	at    time.Time // of the commit
	end   *session.End
	done  *session.Committed
	chats []chat
	story story
	mask  *mask.Mask
	out   []trace.Span
}

// spans returns them in the order in which they began, as far as they follow one another.
func (w *writing) spans() []trace.Span {
	if w.lost {
		w.leftBehind()
	}
	if !w.thread.Told {
		for _, p := range w.story.outputs {
			w.called(p.call, &p.output, interval{p.output.Created, p.output.Created})
		}
	}
	summed := slices.ContainsFunc(w.done.Events, func(e session.Event) bool { return e.Type == session.Compaction })
	if !summed {
		w.chatted(w.root)
	}
	for i := range w.done.Events {
		w.event(&w.done.Events[i])
		w.story.add(&w.done.Events[i])
	}
	if w.done.Parked {
		w.handedOver()
	}
	if w.done.Ended {
		w.ended()
	}
	return w.out
}

// add appends a span of the turn itself, which began and ended then, as far as that lies within the turn.
func (w *writing) add(s trace.Span, when interval) {
	from := when.from
	if from.Before(w.began) {
		from = w.began
	}
	to := when.to
	if to.IsZero() || to.After(w.at) {
		to = w.at
	}
	if to.Before(from) {
		to = from
	}
	s.Trace, s.Started, s.Ended = w.id, micros(from), micros(to)
	s.ID, s.Parent = cmp.Or(s.ID, trace.NewSpanID()), cmp.Or(s.Parent, w.root)
	s.Agent.No, s.Session.No = w.run.AgentNo, w.run.Session
	if w.turn.Agent != nil {
		s.Agent.Key = w.turn.Agent.Key
	}
	if w.turn.Session != nil {
		s.Session.Key = w.turn.Session.Key
	}
	if s.Operation != trace.InvokeAgent && s.Step == "" {
		s.Step = w.turn.Step
	}
	s.Message = w.mask.Text(s.Message)
	if s.Content = w.content(s.Content); s.Failed && s.Class == "" {
		s.Class = trace.Internal
	}
	w.out = append(w.out, s)
}

func micros(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// content returns texts as they are kept.
func (w *writing) content(c *trace.Content) *trace.Content {
	if !w.Content || c == nil {
		return nil
	}
	masked := *c
	for _, s := range []*string{&masked.Input, &masked.Output, &masked.Thinking, &masked.Instructions, &masked.Arguments, &masked.Result, &masked.Text} {
		*s = w.mask.Text(*s)
	}
	return masked.Bound()
}

// leftBehind ends what another process was at: the calls that have no output with this commit, or else the call of the model.
func (w *writing) leftBehind() {
	last := w.thread.Last
	if last.IsZero() {
		last = w.began
	}
	if len(w.story.open) == 0 {
		a := &trace.ChatAttributes{}
		if w.turn.Agent != nil {
			a.Model = w.turn.Agent.Model.Name
		}
		if asked := w.thread.Asked; asked != nil && asked.Model == a.Model {
			a.Provider = asked.Provider
		}
		w.add(trace.Span{ID: trace.SpanOf(w.id, "left", w.root, w.thread.Attempt), Operation: trace.Chat, Failed: true, Class: trace.Internal, Message: Restarted, Chat: a}, interval{from: last})
		return
	}
	for _, call := range byPlace(w.story.open) {
		ends := func(e session.Event) bool { return e.Type == session.ToolOutput && e.CallID == call.CallID }
		if !slices.ContainsFunc(w.done.Events, ends) {
			s := w.call(&call)
			s.Failed, s.Class, s.Message = true, trace.ExecutionError, Restarted
			w.add(s, interval{from: w.thread.Called})
		}
	}
}

// byPlace returns calls in the order of the log.
func byPlace(open map[string]session.Event) []session.Event {
	out := make([]session.Event, 0, len(open))
	for _, e := range open {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b session.Event) int { return cmp.Compare(a.Ord, b.Ord) })
	return out
}

// chatted adds the calls of models.
func (w *writing) chatted(parent string) {
	for i := range w.chats {
		c := &w.chats[i]
		s := trace.Span{ID: c.id, Parent: parent, Operation: trace.Chat, Chat: &c.attributes}
		s.Failed, s.Class, s.Message = failed(c.err)
		w.add(s, c.interval)
	}
}

// event adds what ends with an event.
func (w *writing) event(e *session.Event) {
	s := trace.Span{ID: trace.SpanOf(w.id, w.root, e.ID), Event: e.ID}
	now := interval{w.at, w.at}
	var last chat
	if n := len(w.chats); n > 0 {
		last = w.chats[n-1]
	}
	switch e.Type {
	case session.Thinking:
		s.Operation, s.Content = trace.Thinking, &trace.Content{Thinking: e.Text}
		if w.story.output != "" && w.wrote(w.story.output) {
			last.thought = last.later
		}
		w.add(s, last.during(last.thought))
	case session.AgentOutput, session.StructuredOutput:
		s.Operation, s.Content = trace.Output, &trace.Content{Text: e.Text}
		if e.Type == session.StructuredOutput {
			s.Content.Text = string(e.Content)
		}
		w.add(s, last.during(last.text))
	case session.StepTransition:
		s.Operation, s.Transition = trace.StepTransition, &trace.TransitionAttributes{From: e.From, To: e.To}
		w.add(s, now)
	case session.ImageRead:
		s.Operation, s.Image = trace.ImageRead, &trace.ImageAttributes{Artifact: e.Image.Artifact, Detail: e.Image.Detail}
		w.add(s, now)
	case session.Compaction:
		s.Operation = trace.Compaction
		s.Compaction = &trace.CompactionAttributes{Turns: int64(e.Summed.Turns), Events: int64(e.Summed.Events), Summary: e.Summed.Key}
		if len(w.chats) > 0 {
			now.from = w.chats[0].from
		}
		w.add(s, now)
		w.chatted(s.ID)
	case session.ToolOutput, session.SkillLoad:
		if call, ok := w.story.open[e.CallID]; ok {
			w.called(call, e, interval{from: w.thread.Called})
		}
	}
}

// wrote reports whether this commit has written an event.
func (w *writing) wrote(which id.Event) bool {
	return slices.ContainsFunc(w.done.Events, func(e session.Event) bool { return e.ID == which })
}

// during returns when a part of an answer came, or else the whole.
func (c *chat) during(part interval) interval {
	switch {
	case !part.from.IsZero():
		return part
	case !c.to.IsZero():
		return interval{c.to, c.to}
	}
	return interval{}
}

// call returns the span of a call that this process makes, or an earlier one has.
func (w *writing) call(call *session.Event) trace.Span {
	a := &trace.CallAttributes{Tool: call.ToolName, Key: call.Tool, CallID: call.CallID, InputEvent: call.ID}
	if w.turn.Tools != nil {
		a.Type = w.turn.Tools.Type(call.Tool)
	}
	return trace.Span{ID: w.callSpan(call.ID), Operation: trace.ExecuteTool, Call: a, Content: &trace.Content{Arguments: string(call.Arguments)}}
}

// called adds a call that has ended with an event. when holds where this process has not begun it.
func (w *writing) called(call session.Event, e *session.Event, when interval) {
	s := w.call(&call)
	s.Call.OutputEvent = e.ID
	if s.Content.Result = string(e.Output); e.Type == session.SkillLoad {
		s.Content.Result, when = e.Text, interval{w.at, w.at}
	}
	if e.Failed {
		s.Failed, s.Class, s.Message = true, cmp.Or(trace.Class(e.Class), trace.ExecutionError), reason(e.Output)
	}
	made := w.calls[call.ID]
	if made == nil {
		w.add(s, when)
		return
	}
	s.Call.Corpora = made.Corpora()
	when.from, when.to = made.Times()
	w.add(s, when)
	for _, inner := range made.Inner() {
		w.add(inner, interval{inner.Started, inner.Ended})
	}
}

// reason returns what the output of a call says of its failure.
func reason(output json.RawMessage) string {
	var said struct {
		Error json.RawMessage `json:"error"`
	}
	var text string
	if json.Unmarshal(output, &said) != nil || len(said.Error) == 0 {
		return "the call has failed; its output says in what"
	}
	if json.Unmarshal(said.Error, &text) == nil {
		return text
	}
	return string(said.Error)
}

// handedOver ends the calls that the client makes, or that wait for these: they go on in the trace of what follows.
func (w *writing) handedOver() {
	for _, call := range byPlace(w.story.open) {
		w.add(w.call(&call), interval{from: w.thread.Called})
	}
}

// ended adds the span of the turn.
func (w *writing) ended() {
	sums := &w.next
	a := &trace.InvocationAttributes{
		OutputType: "text", InputEvent: w.story.input, OutputEvent: w.story.output, Files: w.story.files,
		ChatAttributes: trace.ChatAttributes{InputTokens: sums.Input, OutputTokens: sums.Output, CachedTokens: sums.Cached},
	}
	if w.story.json {
		a.OutputType = "json"
	}
	if w.turn.Agent != nil {
		a.AgentName, a.AgentDescription, a.Model = w.turn.Agent.Name, w.turn.Agent.Description, w.turn.Agent.Model.Name
	}
	if last := sums.Asked; last != nil {
		a.Model, a.Provider, a.Temperature, a.MaxTokens = last.Model, last.Provider, last.Temperature, last.MaxTokens
	}
	s := trace.Span{ID: w.root, Operation: trace.InvokeAgent, Invocation: a, Content: &trace.Content{
		Input: messages(w.story.inputs), Output: messages(w.story.said), Thinking: w.story.thinking(), Instructions: w.turn.Instructions,
	}}
	if w.end != nil && w.end.Failure.Class != "" {
		s.Failed, s.Class, s.Message = true, w.end.Failure.Class, w.end.Failure.Text
	}
	w.add(s, interval{from: w.began})
	root := &w.out[len(w.out)-1]
	if root.Parent = ""; w.parent != nil {
		root.Parent, a.ParentAgent, a.ParentSession, a.Depth = w.parent.Span, w.parent.Agent, w.parent.Session, w.parent.Depth
	}
}

// failed returns how a call of a model has failed.
func failed(err error) (bool, trace.Class, string) {
	if err == nil {
		return false, "", ""
	}
	f := failure.Of(err)
	return true, f.Class, f.Text
}
