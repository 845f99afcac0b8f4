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
)

// Repeat is what happens to a call that a kill has cut off.
type Repeat int

// A tool that reads, or gives the same result however often it is called, is called again; any other is not.
const (
	Never Repeat = iota
	Always
)

// Kit is what configurations are made into tools with.
type Kit struct {
	Types  map[string]Type // by their names in the contract
	Sealer Sealer          // for values of secrets that are stored with a run
	Log    *slog.Logger    // hears why a tool has failed where the model doesn't
}

// Type returns the tool of a configuration in the contract's shape. Faults name fields of the configuration.
type Type func(configuration json.RawMessage) (*Tool, error)

// Sealer encrypts what must be read again; seal.Keyring is one.
type Sealer interface {
	Seal(name string, plain []byte) ([]byte, error)
	Open(name string, sealed []byte) ([]byte, error)
}

// Tool is something that an agent can call.
type Tool struct {
	Name        string // of the tool itself, in events
	Description string // that the model reads, unless the configuration has a template
	Schema      *Schema
	Repeat      Repeat
	Timeout     time.Duration   // of one call; 0 = DefaultTimeout
	Disabled    bool            // neither offered nor called
	Client      bool            // the client runs it: Run is nil
	Output      *Schema         // that outputs of a client must fit; nil: any object
	Offloading  json.RawMessage // tool_output_offloading of the tool itself; nil for none
	// Eager are the members of the configuration that are references to texts, by their place in it. They are resolved when a
	// turn begins.
	Eager   map[string]Reference
	Corpora []string // keys that the configuration names
	// Run returns a JSON object. An error that is a *Failure or a fault is shown to the model, any other is logged. Run may be
	// left behind when its context has ended.
	Run func(ctx context.Context, c Call) (json.RawMessage, error)
}

// DefaultTimeout is how long a call takes at most.
const DefaultTimeout = 2 * time.Minute

// Call is what a tool is called with.
type Call struct {
	Arguments json.RawMessage   // an object that the tool's schema allows
	Eager     map[string]string // the values of Tool.Eager
	Agent     string            // keys
	Session   string
	Allowed   func(corpus string) bool
	Mask      *Mask // for what the tool stores; nil where no secret is known
	Files     *artifact.Workspace
}

// Scene is what references, templates and transforms of a turn read.
type Scene struct {
	Agent   Subject
	Session Subject
	Secrets map[string]string // of the session
	Outputs map[string]Latest // the latest output of each tool in the session, by configuration
	Now     time.Time
	Allowed func(corpus string) bool // whether a corpus that a reference named may be searched; nil: none
	Files   *artifact.Workspace      // of the call that is made
	Most    int                      // bytes of its output; 0 = MaxOutput
}

// Subject is an agent or a session, as references see it.
type Subject struct {
	Key, Name, Description string
	Metadata               json.RawMessage // an object
}

// Latest is the latest output of a tool.
type Latest struct {
	Output json.RawMessage // an object
	Failed bool
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

// Searcher runs queries in the contract's shapes.
type Searcher interface {
	// Check returns what is wrong with a query as far as it can be known without looking at corpora. Corpora and filters that
	// are references are left out. Faults name fields of a QueryRequest.
	Check(request json.RawMessage) error
	// Search runs a query and returns the response.
	Search(ctx context.Context, s Search) (json.RawMessage, error)
}

// Search is a query of the tool corpora_search.
type Search struct {
	Request json.RawMessage // a QueryRequest of the contract
	Agent   string          // keys, for the history
	Session string
	Mask    *Mask // for the history; nil where no secret is known
}
