// Package indexing is the tools of agents that change corpora: core_document_index and structured_document_index add documents as
// clients of the service do, delete_documents removes them as a job (contract: tools.md section 3.1).
package indexing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/corpus/bulk"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/ingest"
	"quarry/internal/fault"
	"quarry/internal/id"
)

// The names of the tools.
const (
	Core       = "core_document_index"
	Structured = "structured_document_index"
	Delete     = "delete_documents"
)

// Ingest adds documents; ingest.Service is one.
type Ingest interface {
	CreateAll(ctx context.Context, corpusKey string, b ingest.Batch) ([]ingest.Result, error)
	// Read returns the document in a file.
	Read(ctx context.Context, u *ingest.Upload) (document.Draft, error)
}

// Bulk deletes documents; bulk.Service is one.
type Bulk interface {
	DeleteChosen(ctx context.Context, which id.Job, sel bulk.Selection, most int) (bulk.Chosen, error)
	Resume(ctx context.Context, which id.Job) (d bulk.Chosen, ok bool, err error)
	Wait(ctx context.Context, b bulk.Begun) (bulk.Counts, error)
	Left(ctx context.Context, corpusKey string, ids []string) ([]string, error)
}

// Reader reads a document as clients of the service send it. Faults name fields of the document.
type Reader interface {
	Read(raw json.RawMessage) (document.Draft, error)
}

// Config is what the tools work with.
type Config struct {
	Ingest Ingest
	Bulk   Bulk
	Reader Reader
	Log    *slog.Logger // hears why a document was not indexed where the model doesn't
	File   int64        // bytes that a file has at most that a document is made of
	JSON   int64        // likewise, of one that is a document as JSON, and of the images of a document
}

// limit is how long a call takes at most, unless the agent says otherwise: much text has to be encoded.
const limit = 10 * time.Minute

// service is the tools over one configuration of the program.
type service struct{ Config }

// Types returns the tools by their names.
func Types(c Config) (map[string]tool.Type, error) {
	s := &service{c}
	out := map[string]tool.Type{}
	for name, t := range map[string]tool.Tool{
		Core:       {Description: coreDescription, Run: s.core},
		Structured: {Description: structuredDescription, Run: s.structured},
		Delete:     {Description: deleteDescription, Run: s.delete},
	} {
		var err error
		if t.Schema, err = schema.New(json.RawMessage(arguments[name])); err != nil {
			return nil, fmt.Errorf("arguments of %s: %w", name, err)
		}
		if t.Output, err = schema.New(json.RawMessage(outputs[name])); err != nil {
			return nil, fmt.Errorf("output of %s: %w", name, err)
		}
		t.Name, t.Repeat, t.Timeout = name, tool.Repeatable, limit
		out[name] = func(configuration json.RawMessage) (*tool.Tool, error) {
			made := t
			made.Needs = needs(configuration)
			return &made, nil
		}
	}
	return out, nil
}

// needs returns the right to the corpus that a configuration names. A corpus that a reference names counts by who sends the input.
func needs(configuration json.RawMessage) []permit.Need {
	var c struct {
		Override struct {
			Corpus json.RawMessage `json:"corpus_key"`
		} `json:"argument_override"`
	}
	_ = json.Unmarshal(configuration, &c) // package tool checks overrides
	var key string
	if json.Unmarshal(c.Override.Corpus, &key) != nil || key == "" {
		return nil
	}
	return []permit.Need{edit(key)}
}

func edit(corpus string) permit.Need { return permit.Need{Corpus: corpus, Level: permit.Edit} }

// begin reads the arguments of a call and checks that it may change the corpus.
func begin(c *tool.Call, args any, corpus *string) error {
	if err := json.Unmarshal(c.Arguments, args); err != nil {
		return invalid("the arguments can't be read: %s", err)
	}
	return c.Permit(edit(*corpus))
}

// invalid returns the failure of arguments.
func invalid(format string, args ...any) error {
	return &tool.Failure{Class: tool.InvalidInput, Text: fmt.Sprintf(format, args...)}
}

// early returns a context that ends before the limit of a call, so that there is time left to tell what was done.
func early(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	left := time.Until(deadline)
	return context.WithDeadline(ctx, deadline.Add(-max(left/20, min(left/4, time.Second/2))))
}

// create adds documents of a call, each recorded as clients' are. A corpus that takes none is refused by its configuration. What was not
// added in time has failed.
func (s *service) create(ctx context.Context, c *tool.Call, corpus string, ids func(i int) string, b ingest.Batch) ([]ingest.Result, error) {
	within, done := early(ctx)
	defer done()
	draft, recorded := b.Draft, make([]func(error), b.Size)
	b.Draft = func(ctx context.Context, i int) (d document.Draft, err error) {
		if d, err = draft(ctx, i); err != nil {
			return nil, err
		}
		recorded[i], err = c.Intend(ctx, tool.Deed{Operation: "createCorpusDocument", Target: map[string]string{"corpus_key": corpus, "document_id": ids(i)}})
		return d, err
	}
	all, err := s.Ingest.CreateAll(within, corpus, b)
	for i, told := range recorded {
		if told != nil && i < len(all) {
			told(all[i].Err)
		}
	}
	switch f, ok := fault.As(err); {
	case ok && f.Kind == fault.KindInvalid:
		return nil, &tool.Failure{Class: tool.InvalidConfiguration, Text: f.Text}
	case err == nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return all, err
}

// at returns the fault of something that isn't there with the argument that names it.
func at(place string, err error) error {
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.KindNotFound {
		return err
	}
	out := *f
	out.Text = place + ": " + f.Text
	return &out
}

// transient reports whether the same call may succeed later.
func transient(err error) bool {
	f, ok := fault.As(err)
	if !ok {
		return true // an error of this service
	}
	switch f.Kind {
	case fault.KindInternal, fault.KindUnavailable, fault.KindTimeout, fault.KindLimited, fault.KindUpstream:
		return true
	}
	return f.Code == "corpus_changed"
}

// reason returns what the model reads of why a document was not indexed.
func (s *service) reason(c *tool.Call, documentID string, err error) string {
	f, ok := fault.As(err)
	if !ok && errors.Is(err, context.DeadlineExceeded) {
		return "the time of the call was up before; call again with the same arguments"
	}
	if !ok || f.Kind == fault.KindInternal {
		s.Log.Error("a document was not indexed by a tool", "agent", c.Agent, "session", c.Session,
			"document", c.Mask.Text(documentID), "error", c.Mask.Text(err.Error()))
		return "an error of the service; its log has the reason"
	}
	text := f.Text
	if len(f.Fields) > 0 {
		var all []string
		for _, path := range f.Paths() {
			all = append(all, strings.TrimPrefix(path+": ", ": ")+f.Fields[path])
		}
		text = strings.Join(all, "; ")
	}
	if f.Kind == fault.KindConflict && f.Code == "document_exists" {
		text += " Call again with reindex true to replace it."
	}
	return text
}

// encode writes an output.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write the output of a tool: %w", err)
	}
	return b.Bytes(), nil
}
