// Package tool is what agents act with: the configurations of tools on an agent, what the model is shown of them, and the
// way of a call from the model's arguments through overrides, references and transforms to an output. A call never fails: what
// goes wrong is an output that the model reads.
//
// Compile checks configurations and makes a Set of them, Set.Bind resolves at the start of a turn what stays the same during
// the turn, Bound.Offer is what the model sees in a step, Bound.Plan what it has called, Bound.Run one call.
package tool

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool/line"
	"quarry/internal/agent/tool/mask"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/id"
	"quarry/internal/trace"
	"quarry/internal/usage"
)

// Repeat is what happens to a call that a kill has cut off.
type Repeat int

// The ways: it has failed; it is made again, since the tool only reads; it is made again with Call.Again, by which the tool finds
// what the first one has done.
const (
	Never Repeat = iota
	Reads
	Repeatable
)

// Kit is what configurations are made into tools with.
type Kit struct {
	Types   map[string]Type // by their names in the contract
	Dynamic map[string]Type // tools without a type of their own, by their names; package catalog makes one type of them
	Log     *slog.Logger    // hears why a tool has failed where the model doesn't
	Deeds   Recorder        // hears of what tools change; nil: nobody does
	Apart   bool            // tools whose outputs a configuration reads need not be among those of the agent
}

// Type returns the tool of a configuration in the contract's shape. Faults name fields of the configuration.
type Type func(configuration json.RawMessage) (*Tool, error)

// Tool is something that an agent can call.
type Tool struct {
	Name        string // of the tool itself, in events
	Description string // that the model reads, unless the configuration has a template
	Schema      *schema.Schema
	Repeat      Repeat
	Timeout     time.Duration   // of one call; 0 = DefaultTimeout, NoLimit for none
	Disabled    bool            // neither offered nor called
	Why         string          // it is disabled, for whoever calls it; "" if nothing is to be said
	Client      bool            // the client runs it: Run is nil
	Output      *schema.Schema  // that outputs fit; those of a client are held to it; nil: any object
	Offloading  json.RawMessage // tool_output_offloading of the tool itself; nil for none
	// Eager are the members of the configuration that are references, by their place in it. They are resolved when a turn begins.
	Eager map[string]Eager
	// Fixed is whether references in argument_override are resolved when a turn begins, too, but for those to outputs of tools.
	Fixed bool
	// Secrets are credentials that stand in the configuration as they are; they are masked like those of the session.
	Secrets []string
	Needs   []permit.Need // what the configuration names; whoever writes it must have the right to it
	InLine  bool          // calls of one reply have a Call.Place, in their order
	Ending  time.Duration // how long a call waits for Run when its context has ended, since Run ends what it has begun; 0: not at all
	// Stop ends what a process that was killed has begun for a call that is not made again; nil: that ends by itself.
	Stop func(ctx context.Context, c Call) error
	// Undo removes what a call has left that only the calling session leads to, where that session was not made after all; nil: nothing is.
	Undo func(ctx context.Context, c Call) error
	// Run returns a JSON object. An error that is a *Failure or a fault is shown to the model, any other is logged. Run may be
	// left behind when its context has ended. It may tell of what it does while it runs.
	Run func(ctx context.Context, c Call, tell Activity) (json.RawMessage, error)
}

// Eager is a reference that is resolved when a turn begins.
type Eager struct {
	reference.Reference
	Any bool // its value may be anything, not only a text
}

// Activity hears of what goes on in a call while it runs. It is never nil, and safe for concurrent use.
type Activity func(Progress)

// Progress is a message, or an event of a session with another agent. It is shown to those who read along, and not stored.
type Progress struct {
	Message string
	Event   Event // nil for a message
}

// Event is an event of a session; session.Event is one.
type Event interface{ Identity() id.Event }

// DefaultTimeout is how long a call takes at most.
const DefaultTimeout = time.Minute

// NoLimit is the Tool.Timeout of one that takes as long as it takes.
const NoLimit time.Duration = -1

// Call is what a tool is called with.
type Call struct {
	ID            string          // that the model gave it
	Event         id.Event        // of the call, which has the same one when it is made again
	Configuration string          // the name of the tool's configuration
	Again         bool            // a kill has cut the call off; see Repeatable
	Made          time.Time       // when a call that was cut off was made: what it has done is not older
	Arguments     json.RawMessage // an object that the tool's schema allows
	Eager         map[string]any  // the values of Tool.Eager
	Agent         string          // keys
	Session       string
	AgentNo       int64                      // row numbers
	SessionNo     int64                      // 0: the session is still to be made, and has no files
	Images        bool                       // the model reads images
	Permit        func(...permit.Need) error // an error if the call may not touch all of that; the model reads it
	Sender        permit.Rights              // of whoever sent the input
	Identity      Identity                   // of the agent, never nil
	Recorder      Recorder                   // see Intend
	Payers        []usage.Account            // whom the turn is charged to: the agents whose calls have led to it, and its own, the last
	Place         *line.Place                // of a tool in line
	Mask          *mask.Mask                 // for what the tool stores; nil where no secret is known
	Files         *artifact.Workspace
	Trace         *trace.Call // the call in the trace of its turn: what it leads to, and the calls of other tools that it makes, belong there
}

// Identity returns the account that an agent acts as, as it is now: what a call may touch is decided by what it was given by then.
type Identity func(context.Context) (permit.Identity, error)

// Scene is what references, templates and transforms of a turn read, and what a call is made with.
type Scene struct {
	reference.Scene
	Sender             permit.Rights       // of whoever sent the input
	Identity           Identity            // of the agent; nil: it has none, and may touch nothing that its configurations name
	Payers             []usage.Account     // see Call, like the next ones
	AgentNo, SessionNo int64               // SessionNo is 0 while the session is made
	Place              *line.Place         // of the call that is made, if its tool is in line
	Images             bool                // the model reads images
	Files              *artifact.Workspace // of the call that is made
	Most               int                 // bytes of its output; 0 = MaxOutput
	Tell               Activity            // hears of what the call does; nil: nobody
	Trace              *trace.Call         // see Call
}

// Output is what came of a call.
type Output struct {
	Output    json.RawMessage // an object, with secrets masked; {"error": text} if the call failed
	Failed    bool
	Overrides json.RawMessage // an object: the values of the pinned arguments, with secrets masked; nil if the tool never started
	Class     Class           // why it failed
	// Artifacts are the files that the call has made, none if it failed. Their rows are written with the output. Whether they are
	// or not, whoever called Run releases what is in Scene.Files then.
	Artifacts []artifact.Artifact
}

// Class is why a call failed, in the contract's words.
type Class string

// The classes.
const (
	InvalidInput         Class = "invalid_input"
	NotFound             Class = "not_found"
	InvalidConfiguration Class = "invalid_configuration"
	Timeout              Class = "timeout"
	ExecutionError       Class = "execution_error"
	DependencyFailed     Class = "dependency_failed"
)

// Failure is the error of a call that the model reads.
type Failure struct {
	Class Class
	Text  string
}

// Error returns the text.
func (f *Failure) Error() string { return f.Text }

// Partial is the error of a call that has failed and has an output nevertheless, of which the model reads.
type Partial struct {
	Output json.RawMessage // an object
	Class  Class
}

// Error returns a text for logs.
func (p *Partial) Error() string { return "the call has failed; its output says in what" }
