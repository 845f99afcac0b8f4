// Package folder keeps a corpus in step with files: it plans what to send by what earlier runs remember, sends it, removes
// what has no file any more, and goes on doing so while files change. quarry index is its command.
package folder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"quarry/internal/folder/source"
	"quarry/internal/folder/state"
)

// Corpus is the corpus that is kept in step, wherever it is. Errors are faults where the service refuses, ErrUnreachable
// where it does not answer, and that of ctx.
type Corpus interface {
	// Documents calls fn with the id of every document.
	Documents(ctx context.Context, fn func(id string)) error
	// Put adds a document. If there is one with its id and other content, it replaces that or, without replace, returns
	// fault.KindConflict.
	Put(ctx context.Context, d Document, replace bool) (Stored, error)
	// Delete removes a document. One that is not there is no error.
	Delete(ctx context.Context, id string) error
}

// Document is what Put sends.
type Document struct {
	ID   string
	Form source.Form
	Data []byte
}

// Stored is what became of a document.
type Stored struct {
	Same              bool // it was there, with the same content
	Passages, Encoded int  // passages it has, and those of them that were encoded for it; 0 where the service does not say
}

// ErrUnreachable is wrapped by errors of a Corpus whose service does not answer.
var ErrUnreachable = errors.New("the service is not reached")

// State is what a pass did with an item, or would do.
type State string

// The states.
const (
	New       State = "new"
	Changed   State = "changed"
	Unchanged State = "unchanged"
	Gone      State = "gone"    // a document without a file, which stays
	Removed   State = "removed" // a document without a file, which was removed
	Failed    State = "failed"
)

// StageSend and StageRemove are the stages of failures beside those of package source.
const (
	StageSend   = "send"
	StageRemove = "remove"
)

// Item is the outcome for one file, or for a document without one.
type Item struct {
	Place    string `json:"file,omitempty"`
	ID       string `json:"id,omitempty"`
	State    State  `json:"state"`
	Stage    string `json:"stage,omitempty"` // of a failure, with the two after it
	Reason   string `json:"reason,omitempty"`
	Advice   string `json:"advice,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`
	Passages int    `json:"passages,omitempty"`
	Encoded  int    `json:"encoded,omitempty"`
}

// Result is the sum of a pass.
type Result struct {
	New, Changed, Unchanged, Gone, Removed, Failed int

	Passages, Encoded int // of what was sent
	LeftOut           []source.LeftOut
	Failures          []Item
}

// Done returns how many items the pass has settled.
func (r *Result) Done() int { return r.New + r.Changed + r.Unchanged + r.Removed + r.Failed }

func (r *Result) add(i Item) {
	switch i.State {
	case New:
		r.New++
	case Changed:
		r.Changed++
	case Unchanged:
		r.Unchanged++
	case Gone:
		r.Gone++
	case Removed:
		r.Removed++
	case Failed:
		r.Failed++
		r.Failures = append(r.Failures, i)
	}
	r.Passages += i.Passages
	r.Encoded += i.Encoded
}

// Root is an argument of the command, with what is remembered of it.
type Root struct {
	source.Root
	Journal *state.Journal
}

// Config is what a Sync works with.
type Config struct {
	Corpus   Corpus
	Roots    []Root
	Find     source.Options
	Settings string // what documents depend on beside their files; another value counts as a change of every file
	Parallel int    // files sent at the same time
	Remove   bool   // remove the documents that this command made and that have no file any more
	DryRun   bool   // send and remember nothing

	Each     func(Item)     // outcomes as they come; nil where nobody wants them
	Progress func(Progress) // nil likewise; neither is called at the same time as itself
}

// Sync keeps a corpus in step. It is used by one goroutine.
type Sync struct {
	cfg  Config
	gate *gate
	meter
	refusals map[string]refusal // of files that were not taken, by id
	again    bool               // this is not the first pass
}

// refusal is why a file was not taken, and what is then known of it: the next passes of a watch do not send it again until
// it has changed.
type refusal struct {
	source.Stamp
	Item
}

// NewSync returns a Sync.
func NewSync(c Config) *Sync {
	c.Parallel = max(1, c.Parallel)
	return &Sync{cfg: c, gate: newGate(c.Parallel), refusals: map[string]refusal{}}
}

// shielded reports whether a document that was not found may have a file all the same: behind a folder that can't be
// read, or left out by patterns of this run.
func (s *Sync) shielded(root source.Root, found *source.Found, id string) bool {
	for i := range found.Problems {
		p := &found.Problems[i]
		if p.ID == id && !p.Below || p.Below && strings.HasPrefix(id, p.ID) {
			return true
		}
	}
	if len(s.cfg.Find.Include)+len(s.cfg.Find.Exclude) == 0 {
		return false
	}
	switch root.Kind {
	case source.Folder, source.Glob:
		_, err := os.Lstat(filepath.Join(root.Path, filepath.FromSlash(id)))
		return err == nil
	}
	return true
}

// failed returns the outcome of something that can't be read or sent.
func failed(place, id, stage, advice, format string, args ...any) Item {
	return Item{Place: place, ID: id, State: Failed, Stage: stage, Reason: fmt.Sprintf(format, args...), Advice: advice}
}
