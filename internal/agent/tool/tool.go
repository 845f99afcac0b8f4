// Package tool is what agents act with: the configurations of tools on an agent, what the model is shown of them, and the
// way of a call from the model's arguments through overrides, references and transforms to an output. A call never fails: what
// goes wrong is an output that the model reads.
package tool

import (
	"context"
	"encoding/json"
	"time"
)

// Repeat is what happens to a call that a kill has cut off.
type Repeat int

// A tool that reads, or gives the same result however often it is called, is called again; any other is not.
const (
	Never Repeat = iota
	Always
)

// Scene is what references and transforms of a turn read.
type Scene struct {
	Agent   Subject
	Session Subject
	Secrets map[string]string          // of the session
	Outputs map[string]json.RawMessage // the latest output of each tool in the session, by configuration
	Now     time.Time
}

// Subject is an agent or a session, as references see it.
type Subject struct {
	Key, Name, Description string
	Metadata               json.RawMessage // an object
}

// Searcher runs queries in the contract's shapes.
type Searcher interface {
	// Check returns what is wrong with a query as far as it can be known without running it; members that are references are
	// left out. Fields are those of a QueryRequest.
	Check(request json.RawMessage) error
	// Search runs a query and returns the response.
	Search(ctx context.Context, s Search) (json.RawMessage, error)
}

// Search is a query of the tool corpora_search.
type Search struct {
	Request json.RawMessage       // a QueryRequest of the contract
	Allowed func(key string) bool // whether a corpus that a reference named may be searched
	Agent   string                // keys, for the history
	Session string
	Keep    bool // in the history
}
