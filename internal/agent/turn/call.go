package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/skill"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/agent/tool/line"
	"quarry/internal/agent/tool/offload"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/transcript"
	"quarry/internal/agent/turn/failure"
	"quarry/internal/agent/turn/reply"
	"quarry/internal/agent/turn/spans"
	"quarry/internal/clock"
	"quarry/internal/id"
	"quarry/internal/llm"
)

// maxParallel is how many calls of one reply are made at once.
const maxParallel = 8

// bind prepares the tools of the turn.
func (t *turn) bind(ctx context.Context) (err error) {
	t.scene = tool.Scene{Sender: t.run.Caller.Rights, Payers: t.payers(), AgentNo: t.agent.No, SessionNo: t.run.Session, Scene: reference.Scene{
		Agent:   reference.Subject{Key: t.agent.Key, Name: t.agent.Name, Description: t.agent.Description, Metadata: object(t.agent.Metadata)},
		Session: reference.Subject{Key: t.session.Key, Name: t.session.Name, Description: t.session.Description, Metadata: object(t.session.Metadata)},
		Outputs: map[string]reference.Latest{}, Now: t.run.Began,
	}}
	if of := t.engine.Identities; of != nil {
		t.scene.Identity = func(ctx context.Context) (permit.Identity, error) { return of.Acting(ctx, t.run.AgentNo) }
	}
	if len(t.agent.Tools) > 0 {
		if t.scene.Secrets, err = t.engine.Sessions.Secrets(ctx, t.run.Session); err != nil {
			return err
		}
		if t.scene.AgentSecrets, err = t.engine.Agents.Secrets(ctx, t.agent.No, t.run.Secrets); err != nil {
			return err
		}
	}
	if len(t.agent.Tools) > 0 || len(t.agent.Steps) > 1 { // conditions read outputs, too
		latest, err := t.engine.Sessions.Latest(ctx, t.run.Session)
		if err != nil {
			return err
		}
		for name, output := range latest {
			t.scene.Outputs[name] = reference.Latest{Output: output}
		}
	}
	if r := &t.run.Resolved; r.Secret && r.Text == "" {
		if r.Text, err = t.engine.Log.Resolved(ctx, t.run.Session); err != nil {
			return err
		}
	}
	var resolved tool.Kept
	of := configuration.Agent{No: t.agent.No, Revision: t.agent.Revision, Entries: t.agent.Tools}
	if t.tools, resolved, err = t.engine.sets.Bind(ctx, of, t.scene, t.run.Resolved.Text); err != nil {
		return err
	}
	t.policy = offload.New(t.agent.Offloading, t.tools.All)
	if resolved.Text != t.run.Resolved.Text {
		t.resolved = &resolved
	}
	return nil
}

// commit writes c, and with it what was resolved for the turn.
func (t *turn) commit(c session.Commit) (session.Committed, error) {
	c.Resolved, c.Rendered = t.resolved, t.rendered
	t.trace.Add(&c)
	done, err := t.work.commit(c)
	if err == nil {
		t.trace.Committed(&done)
	}
	if err == nil && c.Usage != nil && len(done.Events) > 0 {
		t.session.Usage, t.session.Measured = c.Usage, session.Measured{Ord: done.Events[len(done.Events)-1].Ord, Edits: done.Edits}
	}
	if err == nil && t.resolved != nil {
		t.run.Resolved, t.resolved = *t.resolved, nil
	}
	if err == nil {
		t.rendered = nil
	}
	return done, err
}

func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// now returns the scene of a call that is made now.
func (t *turn) now() tool.Scene {
	scene := t.scene
	scene.Now, scene.Outputs = clock.Now(), maps.Clone(t.scene.Outputs)
	return scene
}

// act writes a reply that holds calls, makes them and takes inputs that were sent to steer.
func (t *turn) act(ctx context.Context, s *reply.Reply) error {
	calls := t.named(s.Answer.Calls)
	planned := t.tools.Plan(calls, t.step.AllowedTools, t.now())
	c := session.Commit{Events: s.Events(true), Progress: t.progress(), Usage: s.Usage()}
	events := map[string]id.Event{}
	for i := range planned {
		p := &planned[i]
		p.Event = id.NewEvent()
		events[p.CallID] = p.Event
		c.Events = append(c.Events, session.Event{ID: p.Event, Type: session.ToolInput, State: calls[i].State, Body: session.Body{
			CallID: p.CallID, Tool: p.Tool, ToolName: p.ToolName, Arguments: p.Input, Pinned: p.Pinned,
		}})
	}
	loaded, left := transcript.Loads(calls, skill.Allowed(t.agent.Skills, t.step.AllowedSkills))
	if len(loaded) > 0 {
		c.Events, c.Steer = append(c.Events, loaded...), len(left) == 0
		planned = t.tools.Plan(left, t.step.AllowedTools, t.now())
		for i := range planned {
			planned[i].Event = events[planned[i].CallID]
		}
	}
	if _, err := t.commit(c); err != nil {
		return err
	}
	t.tell(feed.Note{Kind: feed.Consumed, Usage: c.Usage})
	return t.call(ctx, planned)
}

// named returns calls with ids that no other call of the session has.
func (t *turn) named(calls []llm.ToolCall) []llm.ToolCall {
	taken := map[string]bool{"": true}
	for _, e := range t.events {
		if e.Type == session.ToolInput {
			taken[e.CallID] = true
		}
	}
	out := slices.Clone(calls)
	for i := range out {
		if taken[out[i].ID] {
			out[i].ID = "call_" + id.Text(24)
		}
		taken[out[i].ID] = true
	}
	return out
}

// finished is a call that has its output, or that is ready for the client.
type finished struct {
	n     int
	out   tool.Output
	ready *tool.Delivered     // nil for one that has its output
	files *artifact.Workspace // to be released
}

// teller returns what a call tells of itself with.
func (t *turn) teller(p *tool.Planned) tool.Activity {
	return func(said tool.Progress) {
		acted := &feed.Acted{CallID: p.CallID, Tool: p.Tool, ToolName: p.ToolName}
		if inner, ok := said.Event.(*feed.Inner); ok {
			acted.Event = inner
		}
		t.live.Note(feed.Note{Kind: feed.Activity, At: clock.Now(), Turn: t.number, Text: said.Message, Acted: acted})
	}
}

// make returns what came of a call: its output, or that it is ready for the client.
func (t *turn) make(ctx context.Context, p tool.Planned, scene tool.Scene) (f finished) {
	if f.files = scene.Files; p.Client {
		f.ready, f.out = t.tools.Prepare(ctx, p, scene)
	} else {
		f.out = t.tools.Run(ctx, p, scene)
	}
	scene.Trace.End()
	return f
}

// call runs calls, each once those before it are done, and writes every output as it comes. Those that the client makes are
// prepared, and the turn is parked when no other can run.
func (t *turn) call(ctx context.Context, planned []tool.Planned) error {
	done := make(chan finished)
	started, ended, running := make([]bool, len(planned)), make([]bool, len(planned)), 0
	ready, inLine := map[int]*tool.Delivered{}, line.Line{}
	for left := len(planned); left > 0; {
		for i := range planned {
			p := planned[i]
			if started[i] || running == maxParallel || ctx.Err() != nil || slices.ContainsFunc(p.After, func(j int) bool { return !ended[j] }) {
				continue
			}
			started[i], running = true, running+1
			scene := t.now()
			scene.Most, scene.Files = t.policy.Bound(p.Tool), t.workspace(p.CallID)
			scene.Trace = t.trace.Call(&p)
			if scene.Tell = t.teller(&p); p.InLine {
				scene.Place = inLine.Join()
			}
			go func() {
				f := t.make(ctx, p, scene)
				f.n = i
				scene.Place.Leave()
				done <- f
			}()
		}
		if running == 0 {
			break // interrupted, or all that is left waits for the client
		}
		f := <-done
		ended[f.n], running, left = f.ready == nil, running-1, left-1
		if f.ready != nil {
			ready[f.n] = f.ready
			continue
		}
		if ctx.Err() != nil && f.out.Failed {
			f.files.Release(ctx)
			continue // it was cut off
		}
		err := t.keep(ctx, &planned[f.n], f, left == 0 && len(ready) == 0)
		f.files.Release(ctx)
		if err != nil {
			for range running {
				(<-done).files.Release(ctx)
			}
			return err
		}
	}
	if err := context.Cause(ctx); err != nil || len(ready) == 0 {
		return err
	}
	return t.park(ctx, planned, ready)
}

// keep writes the output of a call, and the images that it has shown the model.
func (t *turn) keep(ctx context.Context, p *tool.Planned, f finished, last bool) error {
	out, files := t.fit(ctx, p, f.out)
	defer files.Release(ctx)
	e := session.Event{ID: id.NewEvent(), Type: session.ToolOutput, Body: session.Body{
		CallID: p.CallID, Tool: p.Tool, ToolName: p.ToolName, Output: out.Output, Failed: out.Failed, Class: string(out.Class), Overrides: out.Overrides,
	}}
	events := []session.Event{e}
	if !out.Failed {
		events = append(events, session.Looks(f.files.Shown())...)
	}
	_, err := t.commit(session.Commit{Events: events, Artifacts: out.Artifacts, Steer: last})
	t.scene.Outputs[p.Tool] = reference.Latest{Output: out.Output, Failed: out.Failed}
	return err
}

// resume finishes the calls that another process has left without an output: those that may be made again are.
func (t *turn) resume(ctx context.Context) error {
	all, err := t.stored()
	if err != nil {
		return err
	}
	t.bare = !slices.ContainsFunc(all, func(e session.Event) bool { return !e.Input() })
	for _, e := range all {
		if e.Type == session.ToolOutput && e.Hidden == "" { // those that failed, too, which bind leaves out
			t.scene.Outputs[e.Tool] = reference.Latest{Output: e.Output, Failed: e.Failed}
		}
	}
	if t.run.Recovered >= maxRecovered {
		return failure.Stuck("the turn was taken over %d times and came no further", t.run.Recovered)
	}
	left, err := t.unanswered()
	if err != nil || len(left) == 0 && !t.lost {
		return err
	}
	if err := t.enter(); err != nil {
		return err
	}
	if model, err := t.engine.Models.Model(ctx, t.agent.Model.Name); err == nil { // else its next call fails
		t.scene.Images = model.Can.Images
	}
	var again []tool.Planned
	var lost []session.Event
	places := map[int]int{} // of the calls that are made again, by where they were
	for i, p := range t.tools.Plan(asked(left), t.step.AllowedTools, t.now()) {
		p.Event, p.Again, p.Made = left[i].ID, !t.answered, left[i].Created
		if p.Repeat != tool.Never || t.answered {
			places[i] = len(again)
			again = append(again, p)
			continue
		}
		lost = append(lost, left[i])
		t.scene.Outputs[p.Tool] = reference.Latest{Failed: true}
	}
	for i := range again {
		var after []int
		for _, before := range again[i].After {
			if place, ok := places[before]; ok { // else it was lost
				after = append(after, place)
			}
		}
		again[i].After = after
	}
	if len(lost) > 0 || t.lost { // the trace says what was left behind before anything is done again
		if _, err := t.commit(session.Commit{Events: session.CutOff(lost, spans.Restarted)}); err != nil {
			return err
		}
	}
	return t.call(ctx, again)
}

// asked returns calls as the model has made them.
func asked(calls []session.Event) []llm.ToolCall {
	out := make([]llm.ToolCall, len(calls))
	for i, e := range calls {
		out[i] = llm.ToolCall{ID: e.CallID, Name: e.Tool, Arguments: e.Arguments}
	}
	return out
}

// abandon ends what an earlier process has begun for calls that are not made again.
func (t *turn) abandon(open []session.Event) {
	if !t.taken || len(open) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), commitFor)
	defer cancel()
	if t.tools == nil && (t.open(ctx) != nil || t.bind(ctx) != nil) {
		return // there are no tools any more
	}
	for i, p := range t.tools.Plan(asked(open), nil, t.now()) {
		p.Event, p.Again = open[i].ID, true
		t.tools.Stop(ctx, p, t.now())
	}
}

// stored returns the events of the turn, hidden ones too.
func (t *turn) stored() ([]session.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commitFor)
	defer cancel()
	var all []session.Event
	for after, more := t.run.First-1, true; more; {
		var page []session.Event
		var err error
		page, more, err = t.engine.Sessions.Events(ctx, session.Page{Session: t.run.Session, After: after, Limit: readSize, Hidden: true})
		if err != nil {
			return nil, fmt.Errorf("read the events of the turn: %w", err)
		}
		if all = append(all, page...); len(page) > 0 {
			after = page[len(page)-1].Ord
		}
	}
	if n := len(all); n > 0 {
		t.last = max(t.last, all[n-1].Ord)
		t.live.Stored(t.last)
	}
	if t.run.Compaction == nil {
		t.trace.Recall(all)
	}
	return all, nil
}

// unanswered returns the calls of the turn that have no output.
func (t *turn) unanswered() ([]session.Event, error) {
	if t.bare {
		return nil, nil
	}
	all, err := t.stored()
	return session.Unanswered(all), err
}
