package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool/mask"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/expr/jq"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/jsonvalue"
	"quarry/internal/llm"
)

// Bounds of an output in bytes: as it is stored, and as a transform takes it.
const (
	MaxOutput = 1 << 20
	MaxRaw    = 16 << 20
)

// Planned is a call of the model that is ready to be stored and run.
type Planned struct {
	CallID   string
	Tool     string          // the name that the model called, a key of the configurations if there is such a one
	ToolName string          // of the tool itself
	Input    json.RawMessage // an object: what the model sent, with secrets masked
	Pinned   []string        // paths of arguments that the configuration pins; never nil
	Repeat   Repeat
	After    []int    // positions of the calls of the same reply that have to end before
	Client   bool     // the client makes the call: Prepare takes the place of Run
	InLine   bool     // see Tool
	Event    id.Event // of the call; whoever stores it sets it
	Again    bool     // a kill has cut the call off; whoever goes on sets it, and Made
	Made     time.Time

	arguments map[string]any
	refused   *Failure
}

// maxName bounds the name of a tool that isn't there, in characters.
const maxName = 128

// Plan returns the calls of a reply, in order. Calls that can't be made are planned, too: Run returns why. scene is for its
// secrets. After a kill, the same calls as they were stored are planned again.
func (b *Bound) Plan(calls []llm.ToolCall, allowed *[]string, scene Scene) []Planned {
	m := b.Mask()
	out := make([]Planned, len(calls))
	for i, call := range calls {
		out[i] = b.plan(call, allowed, m)
	}
	b.order(out)
	return out
}

func (b *Bound) plan(call llm.ToolCall, allowed *[]string, m *mask.Mask) Planned {
	name := call.Name
	if r := []rune(name); len(r) > maxName {
		name = string(r[:maxName])
	}
	p := Planned{CallID: call.ID, Tool: name, ToolName: name, Input: json.RawMessage("{}"), Pinned: []string{}}
	c, ok := b.set.tools[call.Name]
	if ok {
		p.ToolName, p.Pinned, p.Repeat, p.Client = c.Name, c.pinned, c.Repeat, c.Client
		p.InLine = c.InLine
	}
	switch {
	case !ok:
		p.refused = &Failure{NotFound, fmt.Sprintf("there is no tool %q; %s", name, b.choice(allowed))}
	case c.Disabled:
		p.refused = &Failure{InvalidConfiguration, fmt.Sprintf("the tool %q is disabled%s; %s", name, because(c.Why), b.choice(allowed))}
	case !b.offered(name, allowed):
		p.refused = &Failure{InvalidConfiguration, fmt.Sprintf("the tool %q is not allowed in this step; %s", name, b.choice(allowed))}
	}
	if p.arguments, ok = arguments(call.Arguments); ok {
		p.Input = jsonvalue.Encode(m.Value(p.arguments))
	} else if p.refused == nil {
		p.refused = &Failure{InvalidInput, m.Text(fmt.Sprintf("the arguments are no JSON object: %s", excerpt(string(call.Arguments))))}
	}
	return p
}

// because returns a reason as it stands in a sentence.
func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// choice returns a sentence with the tools that the model has.
func (b *Bound) choice(allowed *[]string) string {
	offered := b.Offer(allowed)
	if len(offered) == 0 {
		return "no tools can be called here"
	}
	names := make([]string, len(offered))
	for i, t := range offered {
		names[i] = t.Name
	}
	return "there are: " + strings.Join(names, ", ")
}

// arguments reads what the model has sent; nothing means no arguments.
func arguments(raw json.RawMessage) (map[string]any, bool) {
	if strings.TrimSpace(string(raw)) == "" {
		return map[string]any{}, true
	}
	if !json.Valid(raw) {
		return nil, false
	}
	v, ok := jsonvalue.Decode(raw).(map[string]any)
	return v, ok
}

// excerpt returns the beginning of what a model has sent.
func excerpt(s string) string {
	const most = 200
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// order sets After: a call waits for those of the same reply whose outputs it reads. Where calls wait for one another, one
// waits for those before it alone.
func (b *Bound) order(calls []Planned) {
	needs := func(i int) []string {
		if c := b.set.tools[calls[i].Tool]; c != nil && calls[i].refused == nil {
			return c.needs
		}
		return nil
	}
	var reaches func(from, to int, seen []bool) bool // whether from waits for to, through others, too
	reaches = func(from, to int, seen []bool) bool {
		seen[from] = true
		for j := range calls {
			if slices.Contains(needs(from), calls[j].Tool) && (j == to || !seen[j] && reaches(j, to, seen)) {
				return true
			}
		}
		return false
	}
	for i := range calls {
		for j := range calls {
			if i == j || !slices.Contains(needs(i), calls[j].Tool) {
				continue
			}
			if j < i || !reaches(j, i, make([]bool, len(calls))) {
				calls[i].After = append(calls[i].After, j)
			}
		}
	}
}

// Run runs a call and returns its output. scene is what references read now, so it has the outputs of the calls that this
// one has waited for. Run returns when ctx ends; a tool that reads nothing of ctx is left behind.
func (b *Bound) Run(ctx context.Context, p Planned, scene Scene) Output {
	r := &run{bound: b, planned: p, scene: &scene, mask: b.Mask()}
	out, err := r.call(ctx)
	if err == nil {
		return Output{Output: out, Overrides: r.overrides, Artifacts: scene.Files.Take()}
	}
	var partial *Partial
	if errors.As(err, &partial) {
		return Output{Output: partial.Output, Failed: true, Class: partial.Class, Overrides: r.overrides, Artifacts: scene.Files.Take()}
	}
	scene.Files.Take()
	var broken *panicked
	if errors.Is(ctx.Err(), context.Canceled) && !errors.As(err, &broken) {
		err = context.Canceled // whatever the tool says of it, it was not the tool that has failed
	}
	return r.failed(err)
}

// failed returns the output of a call that has failed.
func (r *run) failed(err error) Output {
	f := r.failure(err)
	text := jsonvalue.Encode(map[string]any{"error": r.mask.Text(f.Text)})
	return Output{Output: text, Failed: true, Overrides: r.overrides, Class: f.Class}
}

// run is one call in progress.
type run struct {
	bound     *Bound
	planned   Planned
	scene     *Scene
	mask      *mask.Mask
	overrides json.RawMessage // once the tool has started
}

// call takes the call its whole way.
func (r *run) call(ctx context.Context) (json.RawMessage, error) {
	c, args, err := r.prepare(ctx)
	if err != nil {
		return nil, err
	}
	tell, quiet := until(r.told())
	defer quiet()
	out, err := guard(ctx, c.limit, c.Ending, func(ctx context.Context) (json.RawMessage, error) {
		return c.Run(ctx, r.request(ctx, c, args), tell)
	})
	var partial *Partial
	if errors.As(err, &partial) {
		if out, err = r.finish(ctx, c, partial.Output); err == nil {
			err = &Partial{out, partial.Class}
		}
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	return r.finish(ctx, c, out)
}

// request returns what the tool is called with.
func (r *run) request(ctx context.Context, c *configured, args json.RawMessage) Call {
	return Call{
		ID: r.planned.CallID, Event: r.planned.Event, Configuration: c.name, Again: r.planned.Again, Made: r.planned.Made,
		Arguments: args, Eager: r.eager(), Agent: r.scene.Agent.Key, Session: r.scene.Session.Key, AgentNo: r.scene.AgentNo, SessionNo: r.scene.SessionNo, Images: r.scene.Images,
		Permit: func(needs ...permit.Need) error { return r.permit(ctx, c, needs) }, Sender: r.scene.Sender, Identity: r.identity, Recorder: r.bound.set.kit.Deeds, Mask: r.mask,
		Payers: r.scene.Payers, Place: r.scene.Place, Files: r.scene.Files, Trace: r.scene.Trace,
	}
}

// told returns what hears of the call, with secrets masked; nil for nobody.
func (r *run) told() Activity {
	if r.scene.Tell == nil {
		return nil
	}
	return func(p Progress) {
		p.Message = r.mask.Text(p.Message)
		r.scene.Tell(p)
	}
}

// permit returns an error if the call may not touch all that it needs.
func (r *run) permit(ctx context.Context, c *configured, needs []permit.Need) error {
	self, err := r.identity(ctx)
	if err != nil {
		return err
	}
	for _, n := range needs {
		if err := permit.Call(c.Needs, &self, r.scene.Sender, n); err != nil {
			return err
		}
	}
	for _, n := range needs {
		r.scene.Trace.Touch(n.Corpus)
	}
	return nil
}

// identity is the Identity of the agent.
func (r *run) identity(ctx context.Context) (permit.Identity, error) {
	if r.scene.Identity == nil {
		return permit.Identity{}, nil
	}
	return r.scene.Identity(ctx)
}

// Stop ends what an earlier process has begun for a call that is not made again.
func (b *Bound) Stop(ctx context.Context, p Planned, scene Scene) {
	b.after(ctx, p, scene, func(t *Tool) func(context.Context, Call) error { return t.Stop })
}

// Undo removes what a call has left for a session that was not made after all, as far as its tool can.
func (b *Bound) Undo(ctx context.Context, p Planned, scene Scene) {
	b.after(ctx, p, scene, func(t *Tool) func(context.Context, Call) error { return t.Undo })
}

// after does something about a call that was made.
func (b *Bound) after(ctx context.Context, p Planned, scene Scene, which func(*Tool) func(context.Context, Call) error) {
	r := &run{bound: b, planned: p, scene: &scene, mask: b.Mask()}
	c, args, err := r.prepare(ctx)
	if err != nil {
		return // nothing was begun
	}
	do := which(c.Tool)
	if do == nil {
		return
	}
	if err := do(ctx, r.request(ctx, c, args)); err != nil {
		r.log(err)
	}
}

// prepare takes the call to where its tool starts, and returns the arguments.
func (r *run) prepare(ctx context.Context) (c *configured, args json.RawMessage, err error) {
	if r.planned.refused != nil {
		return nil, nil, r.planned.refused
	}
	c = r.bound.set.tools[r.planned.Tool]
	if refs := r.unresolved(c); len(refs) > 0 {
		return nil, nil, unresolved(refs, true)
	}
	merged, overrides, err := r.merge(c)
	if err != nil {
		return nil, nil, err
	}
	args = jsonvalue.Encode(merged)
	if c.input != nil {
		if args, err = r.transform(ctx, "input_transform", c.input, r.scene.Document(merged)); err != nil {
			return nil, nil, err
		}
	}
	value, ok := jsonvalue.Decode(args).(map[string]any)
	if !ok {
		return nil, nil, &Failure{InvalidConfiguration, "input_transform has a result that is no object"}
	}
	if err := c.Schema.Check(value); err != nil {
		return nil, nil, &Failure{InvalidInput, fmt.Sprintf("the arguments don't fit: %s", err)}
	}
	r.overrides = jsonvalue.Encode(r.mask.Value(overrides))
	return c, args, nil
}

// merge returns the arguments with those that are pinned, and the latter alone by their keys.
func (r *run) merge(c *configured) (merged any, overrides map[string]any, err error) {
	merged, overrides = r.planned.arguments, map[string]any{}
	res := reference.Resolution{Scene: &r.scene.Scene, Fixed: r.fixed()}
	for _, o := range c.overrides {
		v := res.Value(o.value)
		overrides[o.key] = v
		merged = pin(merged, o.path, v)
	}
	r.mask = r.mask.With(res.Secrets...)
	switch {
	case len(res.Missing) > 0:
		return nil, nil, unresolved(res.Missing, res.Nobody)
	case len(res.Failed) > 0:
		return nil, nil, &Failure{DependencyFailed, fmt.Sprintf("a tool that this call depends on has failed or was not called: unresolved refs [%s]", strings.Join(res.Failed, ", "))}
	}
	return merged, overrides, nil
}

// unresolved returns the references that had no value when the turn began. Where one of another kind than reference.Nobody has none,
// there are no bound tools.
func (r *run) unresolved(c *configured) (refs []string) {
	values := r.bound.eager[r.planned.Tool]
	for place, ref := range c.Eager {
		if _, there := values[place]; !there {
			refs = append(refs, ref.String())
		}
	}
	slices.Sort(refs)
	return slices.Compact(refs)
}

// unresolved returns the failure of a call whose references have no value, nobody if session.caller is among them.
func unresolved(refs []string, nobody bool) error {
	why := ""
	if nobody {
		why = "; session.caller has a value only while a session is made, and only if somebody is known to make it"
	}
	return &Failure{InvalidConfiguration, fmt.Sprintf("unresolved refs [%s]%s", strings.Join(refs, ", "), why)}
}

// transform runs a transform of the configuration.
func (r *run) transform(ctx context.Context, name string, program *jq.Program, v any) (json.RawMessage, error) {
	return Transform(ctx, name, program, r.mask, v)
}

// Transform runs a transform of that name. Its error is a *Failure, with secrets masked, or the end of ctx.
func Transform(ctx context.Context, name string, program *jq.Program, m *mask.Mask, v any, variables ...any) (json.RawMessage, error) {
	// beside the call, since a step of a program that takes long can't be ended
	out, err := guard(ctx, jq.MaxTime, 0, func(ctx context.Context) (json.RawMessage, error) { return program.Run(ctx, v, MaxRaw, variables...) })
	var p *panicked
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &p):
		return nil, err
	case errors.Is(err, errLate), errors.Is(err, jq.ErrTime):
		return nil, &Failure{InvalidConfiguration, fmt.Sprintf("%s took longer than %s", name, jq.MaxTime)}
	case errors.Is(err, jq.ErrMemory):
		return nil, &Failure{InvalidConfiguration, fmt.Sprintf("%s needs more than %s of memory", name, bytesText(jq.MaxMemory))}
	}
	return nil, &Failure{InvalidConfiguration, m.Message(fmt.Sprintf("%s failed: %s", name, err))}
}

// finish returns the output to store of what the tool has returned.
func (r *run) finish(ctx context.Context, c *configured, raw json.RawMessage) (json.RawMessage, error) {
	kept := cmp.Or(r.scene.Most, MaxOutput)
	most := kept
	if c.output != nil {
		most = MaxRaw
	}
	if len(raw) > most {
		return nil, tooLarge(len(raw), most)
	}
	if !json.Valid(raw) {
		return nil, &Failure{ExecutionError, "the tool has answered with a text that is no JSON"}
	}
	v := jsonvalue.Decode(raw)
	if c.output != nil {
		out, err := r.transform(ctx, "output_transform", c.output, v)
		if err != nil {
			return nil, err
		}
		if v = jsonvalue.Decode(out); len(out) > kept {
			return nil, tooLarge(len(out), kept)
		}
	}
	if _, ok := v.(map[string]any); !ok {
		v = map[string]any{"content": v} // the output of an event is an object
	}
	return jsonvalue.Encode(r.mask.Value(v)), nil
}

func tooLarge(n, most int) error {
	return &Failure{ExecutionError, fmt.Sprintf("the output has %d bytes, more than the %s that are kept; ask for less", n, bytesText(most))}
}

func bytesText(n int) string { return fmt.Sprintf("%d MiB", n>>20) }

// eager returns the references of the configuration.
func (r *run) eager() map[string]any {
	out := map[string]any{}
	for place, v := range r.bound.eager[r.planned.Tool] {
		out[place] = v.Value
	}
	return out
}

// fixed returns the references of argument_override that were resolved when the turn began, by their text.
func (r *run) fixed() map[string]reference.Value {
	out := map[string]reference.Value{}
	for place, v := range r.bound.eager[r.planned.Tool] {
		if text, ok := strings.CutPrefix(place, fixedPlace); ok {
			out[text] = v
		}
	}
	return out
}

// failure returns what the model reads of an error.
func (r *run) failure(err error) *Failure {
	var known *Failure
	var p *panicked
	f, isFault := fault.As(err)
	switch {
	case errors.As(err, &p):
		r.log(err)
		return &Failure{ExecutionError, "the tool has failed by an error in this program"}
	case errors.Is(err, errLate), errors.Is(err, context.DeadlineExceeded):
		return &Failure{Timeout, "the tool took too long and was stopped"}
	case errors.Is(err, context.Canceled):
		return &Failure{ExecutionError, "the call was interrupted"}
	case errors.As(err, &known):
		return known
	case isFault && f.Kind != fault.KindInternal:
		return &Failure{cmp.Or(classes[f.Kind], ExecutionError), Reason(f, "")}
	}
	r.log(err)
	return &Failure{ExecutionError, "the tool has failed; the log of the service has the reason"}
}

// Reason returns what a fault says: its text, or what is wrong with which fields, which stand at a place.
func Reason(f *fault.Fault, place string) string {
	if len(f.Fields) == 0 {
		return f.Text
	}
	var all []string
	for _, path := range f.Paths() {
		all = append(all, fault.Join(place, path)+": "+f.Fields[path])
	}
	return strings.Join(all, "; ")
}

// classes are the classes of faults.
var classes = map[fault.Kind]Class{
	fault.KindInvalid: InvalidInput, fault.KindNotFound: NotFound, fault.KindTimeout: Timeout, fault.KindForbidden: InvalidConfiguration,
}

func (r *run) log(err error) {
	r.bound.set.kit.Log.Error("a tool has failed", slog.String("agent", r.scene.Agent.Key), slog.String("session", r.scene.Session.Key),
		slog.String("tool", r.planned.Tool), slog.String("error", r.mask.Message(err.Error())))
}
