// Package enrich runs the rules by which an agent adds to the metadata of its new sessions. Each calls a tool of the agent and lays what a
// transform makes of the output over the metadata (contract: agents.md section 11). All of that happens before there is a session: who
// opens it is known then, and a rule that fails leaves none.
package enrich

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/agent/tool/mask"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/jsonvalue"
	"quarry/internal/llm"
	"quarry/internal/usage"
)

// MaxTime is how long all rules of a session take at most.
const MaxTime = 30 * time.Second

// MaxMetadata bounds metadata that rules have added to, in bytes.
const MaxMetadata = 65_535

// Opening is a session that is about to be made.
type Opening struct {
	Rules   json.RawMessage // as the agent has them
	Agent   configuration.Agent
	Of      reference.Subject // the agent
	Session reference.Subject // with the metadata that it has without rules
	Secrets map[string]string // of the session
	Caller  reference.Caller  // who opens it; the zero value where nobody is known
	Sender  permit.Rights     // of the caller
	Payers  []usage.Account   // whom the calls are charged to, the agent last
}

// Identities are the accounts that agents act as; identity.Service is one.
type Identities interface {
	// Acting returns what decides about a call of an agent's tools that is made now.
	Acting(ctx context.Context, agentNo int64) (permit.Identity, error)
}

// Secrets are those of agents; the store of agents is one.
type Secrets interface {
	// PresentSecrets returns the secrets of an agent, as they are now.
	PresentSecrets(ctx context.Context, agentNo int64) (map[string]string, error)
}

// Runner runs rules. Safe for concurrent use.
type Runner struct {
	sets       *configuration.Sets
	identities Identities
	secrets    Secrets // nil: agents have none
	limit      time.Duration
}

// New returns a runner that finds tools in sets.
func New(sets *configuration.Sets, identities Identities, secrets Secrets) *Runner {
	return &Runner{sets, identities, secrets, MaxTime}
}

// errLate is the cause of the end of rules that took too long.
var errLate = errors.New("the rules have taken too long")

// Run returns the metadata of a session after the rules of its agent have run. Whoever doesn't make the session then calls undo, which is
// never nil. A rule that fails is fault.KindUnprocessable and names it; nothing is left to be undone.
func (r *Runner) Run(ctx context.Context, o Opening) (metadata json.RawMessage, undo func(), err error) {
	none := func() {}
	rules, err := parse(o.Rules)
	if f, ok := fault.As(err); ok {
		return nil, none, fault.Unprocessable("invalid_enrichment",
			"the session was not made, since the agent can't enrich it: %s; change the agent's %s, or clear it with null", tool.Reason(f, ""), Field)
	}
	if err != nil || len(rules) == 0 {
		return o.Session.Metadata, none, err
	}
	own, err := r.present(ctx, o.Agent.No)
	if err != nil {
		return nil, none, err
	}
	within, cancel := context.WithTimeoutCause(usage.Charged(ctx, o.Payers...), r.limit, errLate)
	defer cancel()
	x := &run{Opening: o, runner: r, own: own, mask: mask.New(slices.AppendSeq(slices.Collect(maps.Values(o.Secrets)), maps.Values(own))...), outputs: map[string]reference.Latest{}}
	for i := range rules {
		if err := x.apply(within, &rules[i]); err != nil {
			x.undo(ctx)
			return nil, none, r.failed(ctx, within, i, &rules[i], err)
		}
	}
	return x.Session.Metadata, func() { x.undo(ctx) }, nil
}

func (r *Runner) present(ctx context.Context, agentNo int64) (map[string]string, error) {
	if r.secrets == nil {
		return nil, nil
	}
	return r.secrets.PresentSecrets(ctx, agentNo)
}

// failed returns the fault of a rule that has failed. Where it was whoever asks for the session that has given up, that is the error.
func (r *Runner) failed(ctx, within context.Context, i int, of *rule, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	why := ""
	var known *tool.Failure
	f, isFault := fault.As(err)
	switch {
	case errors.Is(context.Cause(within), errLate):
		why = fmt.Sprintf("the rules of a session may take %s in all, and that time was over", r.limit)
	case errors.As(err, &known):
		why = known.Text
	case isFault && f.Kind != fault.KindInternal:
		why = tool.Reason(f, "")
	default:
		return err
	}
	return fault.Unprocessable("enrichment_failed", "the session was not made: the rule %s, which calls the tool configuration '%s', has failed: %s", at(i), of.tool, excerpt(why))
}

// run is the rules of one session while they run.
type run struct {
	Opening
	runner  *Runner
	own     map[string]string // secrets of the agent
	mask    *mask.Mask
	outputs map[string]reference.Latest
	calls   []call
}

// call is a call that a rule has made.
type call struct {
	bound   *tool.Bound
	planned tool.Planned
	scene   tool.Scene
}

// undo removes what the calls have left that nobody reaches without the session, the latest first.
func (x *run) undo(ctx context.Context) {
	const most = 10 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer cancel()
	for _, c := range slices.Backward(x.calls) {
		c.bound.Undo(ctx, c.planned, c.scene)
	}
	x.calls = nil
}

// scene returns what a rule reads.
func (x *run) scene() tool.Scene {
	self := func(ctx context.Context) (permit.Identity, error) {
		return x.runner.identities.Acting(ctx, x.Agent.No)
	}
	return tool.Scene{Sender: x.Sender, Identity: self, Payers: x.Payers, AgentNo: x.Agent.No, Scene: reference.Scene{
		Agent: x.Of, Session: x.Session, Caller: &x.Caller, Secrets: x.Secrets, AgentSecrets: x.own, Outputs: maps.Clone(x.outputs), Now: clock.Now(),
	}}
}

// failure returns the error of a rule that can't be run as it is.
func failure(format string, args ...any) error {
	return &tool.Failure{Class: tool.InvalidConfiguration, Text: fmt.Sprintf(format, args...)}
}

// apply runs a rule, if its condition holds.
func (x *run) apply(ctx context.Context, r *rule) error {
	scene := x.scene()
	if r.when != nil {
		var document any // as conditions of steps have it, with numbers that can be compared
		_ = json.Unmarshal(jsonvalue.Encode(scene.Visible()), &document)
		holds, err := r.when.Holds(document, scene.Now)
		if err != nil {
			return failure("%s: %s", conditionField, x.mask.Message(err.Error()))
		}
		if !holds {
			return nil
		}
	}
	arguments := json.RawMessage(`{}`)
	if r.input != nil {
		var err error
		if arguments, err = tool.Transform(ctx, inputField, r.input, x.mask, scene.Document(map[string]any{})); err != nil {
			return err
		}
	}
	output, err := x.call(ctx, r, arguments, scene)
	if err != nil {
		return err
	}
	x.outputs[r.tool] = reference.Latest{Output: output}
	scene = x.scene()
	seen := scene.Visible()
	made, err := tool.Transform(ctx, outputField, r.output, x.mask, jsonvalue.Decode(output), seen["agent"], seen["session"], seen["tools"], seen["currentDate"])
	if err != nil {
		return err
	}
	return x.lay(made)
}

// call calls the tool of a rule and returns its output.
func (x *run) call(ctx context.Context, r *rule, arguments json.RawMessage, scene tool.Scene) (json.RawMessage, error) {
	bound, err := x.runner.sets.BindOne(ctx, x.Agent, r.tool, scene)
	switch {
	case err != nil:
		return nil, err
	case bound == nil:
		return nil, failure("the agent has no such tool any more; change its %s", Field)
	}
	planned := bound.Plan([]llm.ToolCall{{ID: "call_" + id.Text(24), Name: r.tool, Arguments: arguments}}, nil, scene)[0]
	if planned.Client {
		return nil, failure("its tool has become one of type client, and there is no client to run it while a session is made")
	}
	planned.Event = id.NewEvent()
	x.calls = append(x.calls, call{bound, planned, scene})
	out := bound.Run(ctx, planned, scene)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !out.Failed:
		return out.Output, nil
	}
	members, _ := jsonvalue.Decode(out.Output).(map[string]any)
	text, ok := members["error"].(string)
	if !ok {
		text = string(out.Output)
	}
	return nil, &tool.Failure{Class: out.Class, Text: text}
}

// excerpt returns the beginning of a text.
func excerpt(s string) string {
	const most = 1000
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// lay lays an object over the metadata: its members take the place of those with their names.
func (x *run) lay(made json.RawMessage) error {
	above, ok := jsonvalue.Decode(made).(map[string]any)
	if !ok {
		return failure("%s has a result that is no object, which is what is laid over the metadata: %s", outputField, string(made))
	}
	if len(above) == 0 {
		return nil
	}
	below, _ := jsonvalue.Decode(x.Session.Metadata).(map[string]any)
	all := maps.Clone(below)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, above)
	metadata := jsonvalue.Encode(all)
	if len(metadata) > MaxMetadata {
		return failure("the session's metadata would have %d bytes, more than the %d that they may have after it", len(metadata), MaxMetadata)
	}
	x.Session.Metadata = metadata
	return nil
}
