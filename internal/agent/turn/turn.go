// Package turn is the loop that answers an input: it calls the model with what the session holds, runs the tools that the
// model asks for, and goes from step to step until one ends the turn. What it does is in docs/design/agent-turn.md.
package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"quarry/internal/agent"
	"quarry/internal/agent/instruction"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/offload"
	"quarry/internal/agent/transcript"
	"quarry/internal/agent/turn/claim"
	"quarry/internal/agent/turn/failure"
	"quarry/internal/agent/turn/guide"
	"quarry/internal/agent/turn/prompt"
	"quarry/internal/agent/turn/spans"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/usage"
)

// turn is the turn in progress.
type turn struct {
	*work
	trace   spans.Recording
	agent   agent.Agent
	session session.Session
	found   instruction.Found // the instructions that steps refer to
	step    agent.Step
	name    string        // of the step
	asking  []llm.Message // the instructions of the step, none or one
	ready   string        // the step that the instructions are of
	tired   bool          // a summary has failed, and none is tried again in this turn

	tools    *tool.Bound
	policy   *offload.Policy // for what the tools return
	scene    tool.Scene
	resolved *tool.Kept // of the turn that is not yet written

	words    *guide.Vocabulary // of reminders, as it is when the turn begins
	texts    map[string]string // of reminders, by their keys
	rendered map[string]string // those, if they are not yet written; else nil
}

// maxRecovered is how often a turn is taken over without a new event before it ends.
const maxRecovered = 3

// play answers the input, from where the log stands. Its error ends the work of this process; nil goes on with the next turn.
func (t *turn) play(ctx context.Context) error {
	err := t.attempt(ctx)
	for errors.Is(err, errAhead) && t.number == t.run.Turn {
		err = t.attempt(ctx)
	}
	if errors.Is(err, errAhead) {
		return nil // the write had ended the turn
	}
	return err
}

// attempt is play until a write was made that seemed to fail.
func (t *turn) attempt(ctx context.Context) error {
	t.trace = t.engine.Trace.Begin(&t.run, t.lost, t.stands)
	play := t.answer
	if t.run.Compaction != nil {
		play = t.sumUp
	}
	err := play(ctx)
	switch cause := context.Cause(ctx); {
	case errors.Is(err, errOver), errors.Is(err, session.ErrLost), errors.Is(err, errAhead):
		return err
	case errors.Is(err, errNext):
		return nil
	case errors.Is(cause, failure.ErrInterrupted):
		return t.interrupted()
	case cause != nil:
		return errOver
	}
	return t.fail(err)
}

// errNext ends a turn behind which another begins.
var errNext = errors.New("the next turn begins")

// answer calls model and tools until the turn is over.
func (t *turn) answer(ctx context.Context) error {
	if err := t.load(ctx); err != nil {
		return err
	}
	ctx = usage.Charged(ctx, t.payers()...)
	if t.taken {
		if err := t.resume(ctx); err != nil {
			return err
		}
	}
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if t.run.Calls >= t.engine.MaxCalls {
			return failure.TooMany(t.run.Calls)
		}
		if err := t.iterate(ctx); err != nil {
			return err
		}
	}
}

// payers returns whom the turn is charged to: the agents whose calls have led to it, and its own.
func (t *turn) payers() []usage.Account {
	return append(slices.Clone(t.run.Caller.Payers), t.agent.Account())
}

// open reads agent, session and events.
func (t *turn) open(ctx context.Context) (err error) {
	if t.agent, err = t.engine.Agents.Revision(ctx, t.run.AgentNo, t.run.Revision); err != nil {
		return err
	}
	if t.session, err = t.engine.Sessions.Load(ctx, t.run.Session); err != nil {
		return err
	}
	if t.events == nil {
		err = t.read(ctx)
	}
	if t.run.Compaction == nil {
		t.trace.Recall(session.OfTurn(t.events, t.run.Turn))
	}
	return err
}

// stands returns what the trace says of the turn.
func (t *turn) stands() spans.Turn {
	out := spans.Turn{Agent: &t.agent, Session: &t.session, Step: t.name}
	if len(t.asking) > 0 {
		out.Instructions = t.asking[0].Plain()
	}
	if t.tools != nil {
		out.Tools = t.tools
	}
	return out
}

// load reads what the turn works with.
func (t *turn) load(ctx context.Context) (err error) {
	if err := t.open(ctx); err != nil {
		return err
	}
	if refs := t.agent.References(); len(refs) > 0 { // all at once, so that the turn has one state of them
		if t.found, err = t.engine.Instructions.Refer(ctx, refs); err != nil {
			return err
		}
	}
	if err := t.bind(ctx); err != nil {
		return err
	}
	if t.words, err = guide.Open(ctx, &t.agent, t.engine.Glossaries); err != nil {
		return err
	}
	var fresh bool
	t.rendered = nil
	if t.texts, fresh, err = t.guide().Reminders(ctx, t.engine.Sessions); fresh {
		t.rendered = t.texts
	}
	return err
}

func (t *turn) guide() *guide.Guide {
	return &guide.Guide{Agent: &t.agent, Session: &t.session, Found: t.found, Tools: t.tools, Began: t.run.Began}
}

// enter goes to the step that the run is on. One that the agent has no more is its first.
func (t *turn) enter() error {
	name := t.run.Step
	if _, ok := t.agent.Steps[name]; !ok {
		name = t.agent.Entry
	}
	t.name, t.step = name, t.agent.Steps[name]
	if t.ready == name && t.asking != nil {
		return nil
	}
	system, err := t.guide().Instructions(name, &t.step)
	if err != nil {
		return err
	}
	t.ready, t.asking = name, []llm.Message{}
	if system != "" {
		t.asking = append(t.asking, llm.Text(llm.System, system))
	}
	return nil
}

// iterate calls the model once and does what follows from its reply.
func (t *turn) iterate(ctx context.Context) error {
	if err := t.enter(); err != nil {
		return err
	}
	if t.events == nil {
		if err := t.read(ctx); err != nil {
			return err
		}
	}
	model, err := t.model(ctx)
	if err != nil {
		return err
	}
	t.scene.Images = model.Can.Images
	next := prompt.Prompt{Agent: &t.agent, Name: t.name, Step: &t.step, Instructions: t.asking, Texts: t.texts, Words: t.words, Tools: t.tools, Events: t.events}
	request := next.Request(model)
	if done, err := t.compact(ctx, model, &request); err != nil || done {
		return err
	}
	if over := prompt.Overflows(model, &request); over != nil {
		return t.end(session.Commit{}, session.End{Step: t.after()}, *over)
	}
	if err := t.admit(ctx, model); err != nil {
		return err
	}
	images := transcript.Images{Files: t.workspace(""), Read: model.Can.Images}
	if request.Messages, err = images.Fill(ctx, request.Messages); err != nil {
		return err
	}
	said, err := t.ask(ctx, model, request)
	if err != nil {
		return t.partly(said, err)
	}
	if len(said.Answer.Calls) > 0 {
		return t.act(ctx, said)
	}
	return t.conclude(said)
}

// admit takes a place for a call of the model. The first call of a turn is refused if there is none, as long as its input can be
// sent back with that; else it waits, since an input that was accepted is answered.
func (t *turn) admit(ctx context.Context, model *llm.Model) error {
	if t.run.Calls == 0 && t.bare && t.claim.Undecided() {
		ctx = usage.AtOnce(ctx)
	}
	return model.Admit(ctx)
}

// after is where the next turn begins if this one ends with the step.
func (t *turn) after() string {
	if t.step.Reentry != "" {
		return t.step.Reentry
	}
	return t.name
}

// end ends the turn with what c writes, unless an input that was sent to steer goes on in it, and tells the readers.
func (t *turn) end(c session.Commit, end session.End, notes ...feed.Note) error {
	c.End = &end
	t.sign(c.End, notes)
	done, err := t.commit(c)
	if err != nil {
		return err
	}
	if !done.Ended {
		t.tell(notes...)
		return nil
	}
	t.describe()
	t.tell(append(notes, feed.Note{Kind: feed.Over})...)
	return t.stay(t.next(&done))
}

// sign writes with the end of a turn which of its notes readers in other processes are to be told. Of a compaction it is none, as its
// number may be that of the next turn.
func (t *turn) sign(end *session.End, notes []feed.Note) {
	if t.date(notes); t.run.Compaction == nil {
		end.Cause = feed.Cause(notes)
	}
	for i := range notes {
		if end.Failure.Class == "" {
			end.Failure = failure.Limit(&notes[i])
		}
	}
}

// tell shows notes to the readers.
func (t *turn) tell(notes ...feed.Note) { t.date(notes); t.live.Note(notes...) }

// date sets what all notes have.
func (t *turn) date(notes []feed.Note) {
	for i := range notes {
		notes[i].At, notes[i].ID, notes[i].Turn = clock.Now(), cmp.Or(notes[i].ID, id.NewEvent()), t.number
		if c := t.run.Compaction; c != nil {
			notes[i].Input = c.Event
		}
	}
}

// fail ends the turn with a failure. If nothing was shown to whoever sent its input and still waits, the input is taken back
// and the failure is the answer; else the input stays and may be sent again if nothing stands behind it.
func (t *turn) fail(err error) error {
	shown := failure.Explain(err)
	if _, expected := fault.As(shown); !expected {
		t.engine.Logger.Error("a turn has failed", "session", t.run.Session, "turn", t.run.Turn, "error", err)
	}
	end := session.End{Step: t.run.Step, Failed: true, Failure: failure.Of(err)}
	var events []session.Event
	if !t.bare {
		open, err := t.unanswered()
		if err != nil {
			return err
		}
		t.abandon(open)
		events = session.CutOff(open, "the turn has failed before the tool was done")
	} else if t.claim != nil && t.claim.Take(claim.Refused) {
		end.TakeBack = !t.again
		return t.close(session.Commit{Events: events, End: &end}, feed.Note{Kind: feed.Over, Refused: shown})
	}
	return t.close(session.Commit{Events: events, End: &end}, feed.Note{Kind: feed.Failed, Err: shown}, feed.Note{Kind: feed.Over})
}

// interrupted ends the turn because somebody asked for it.
func (t *turn) interrupted() error {
	open, err := t.unanswered()
	if err != nil {
		return err
	}
	t.abandon(open)
	step := t.run.Step
	if t.name != "" {
		step = t.after()
	}
	c := session.Commit{Events: session.CutOff(open, "interrupted"), End: &session.End{Step: step, Stop: true}}
	return t.close(c, feed.Note{Kind: feed.Interrupted, ID: t.run.Interruption()}, feed.Note{Kind: feed.Over})
}

// close writes the end of a turn that no steering input continues.
func (t *turn) close(c session.Commit, notes ...feed.Note) error {
	c.End.Stop = true
	t.sign(c.End, notes)
	done, err := t.commit(c)
	if err != nil {
		return err
	}
	t.tell(notes...)
	return t.next(&done)
}

// model returns the model of the agent.
func (t *turn) model(ctx context.Context) (*llm.Model, error) {
	m, err := t.engine.Models.Model(ctx, t.agent.Model.Name)
	if err != nil {
		return nil, unusable(err)
	}
	return t.trace.Model(m), nil
}

// unusable returns the failure of a turn whose model can't be used.
func unusable(err error) error {
	if f, ok := fault.As(err); ok && f.Kind == fault.KindInvalid {
		return fault.Unprocessable(failure.Unusable, "%s; change the agent's model.name", f.Text).Because(err)
	}
	return fmt.Errorf("find the language model: %w", err)
}
