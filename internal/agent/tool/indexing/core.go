package indexing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"quarry/internal/agent/tool"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/ingest"
	"quarry/internal/fault"
)

const coreDescription = "Adds up to 100 documents to a corpus, so that searches find them. Each is given as document, in parts that you make, or as the " +
	"artifact_id of a file of this session, which is cut into parts unless it is a core document as JSON. A document that is in the corpus already, with the " +
	"same content, is left as it is; one with other content fails unless reindex is true. Each document succeeds or fails for itself: if retryable " +
	"is true, call again with the same arguments."

// entry is a document of a call.
type entry struct {
	ID       string          `json:"document_id"`
	Document json.RawMessage `json:"document"`
	Artifact string          `json:"artifact_id"`

	place string // of the document in the call
}

// The statuses of a document.
var statuses = map[ingest.Outcome]string{
	ingest.Refused: "failed", ingest.Indexed: "indexed", ingest.Replaced: "replaced", ingest.Unchanged: "unchanged",
}

// indexed is what came of a document.
type indexed struct {
	ID     string `json:"document_id"`
	Status string `json:"status"`
	Error  string `json:"error,omitempty"`
}

// core is Tool.Run of core_document_index.
func (s *service) core(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	var args struct {
		Corpus    string  `json:"corpus_key"`
		Documents []entry `json:"documents"`
		Reindex   bool    `json:"reindex"`
	}
	if err := begin(&c, &args, &args.Corpus); err != nil {
		return nil, err
	}
	if err := s.identify(ctx, &c, args.Documents); err != nil {
		return nil, err
	}
	all, err := s.create(ctx, &c, args.Corpus, func(i int) string { return args.Documents[i].ID }, ingest.Batch{
		Size: len(args.Documents), Replace: args.Reindex,
		Draft: func(ctx context.Context, i int) (document.Draft, error) { return s.draft(ctx, &c, &args.Documents[i]) },
	})
	if err != nil {
		return nil, err
	}
	out := struct {
		Documents []indexed `json:"documents"`
		Retryable bool      `json:"retryable"`
	}{Documents: make([]indexed, len(all))}
	var class tool.Class
	for i, r := range all {
		e := &args.Documents[i]
		if out.Documents[i] = (indexed{ID: e.ID, Status: statuses[outcome(&c, &r)]}); r.Err == nil {
			continue
		}
		out.Documents[i].Error = s.reason(&c, e.ID, fault.Under(r.Err, e.place))
		out.Retryable = out.Retryable || transient(r.Err)
		class = cmp.Or(class, classOf(r.Err))
	}
	raw, err := encode(out)
	if err == nil && class != "" {
		return nil, &tool.Partial{Output: raw, Class: class}
	}
	return raw, err
}

// classOf returns the class of why a document was not indexed.
func classOf(err error) tool.Class {
	switch f, ok := fault.As(err); {
	case ok && f.Kind == fault.KindInvalid:
		return tool.InvalidInput
	case ok && f.Kind == fault.KindNotFound:
		return tool.NotFound
	case errors.Is(err, context.DeadlineExceeded):
		return tool.Timeout
	}
	return tool.ExecutionError
}

// outcome returns what came of a document. A call that is made again after a kill finds what it has done before that, which
// counts as if it were done now.
func outcome(c *tool.Call, r *ingest.Result) ingest.Outcome {
	if !c.Again || r.Document == nil {
		return r.Outcome
	}
	switch {
	case !r.Created.Before(c.Made):
		return ingest.Indexed
	case r.Outcome == ingest.Unchanged && !r.Updated.Before(c.Made):
		return ingest.Replaced
	}
	return r.Outcome
}

// identify sets ids and places of the documents of a call: the id is that of the entry, else that in the document, else that of the
// file. Nothing was changed where it fails.
func (s *service) identify(ctx context.Context, c *tool.Call, all []entry) error {
	bad := fault.Invalid()
	places := map[string]int{}
	var twice []string
	for i := range all {
		e := &all[i]
		at := fmt.Sprintf("documents[%d]", i)
		if err := s.name(ctx, c, e, at, bad); err != nil {
			return err
		}
		if first, taken := places[e.ID]; taken && e.ID != "" {
			twice = append(twice, fmt.Sprintf("documents[%d] and %s have the same id %q", first, at, e.ID))
			continue
		}
		places[e.ID] = i
	}
	if len(twice) > 0 {
		return invalid("%s; nothing was changed: give each document an id of its own", strings.Join(twice, "; "))
	}
	return bad.Err()
}

// name sets id and place of one document and adds to bad what is wrong with the entry.
func (s *service) name(ctx context.Context, c *tool.Call, e *entry, at string, bad *fault.Fault) error {
	if string(e.Document) == "null" {
		e.Document = nil
	}
	switch {
	case e.Document != nil && e.Artifact != "":
		bad.Field(at, "has document and artifact_id; give one of them")
	case e.Document != nil:
		e.Document = c.Mask.JSON(e.Document)
		if e.ID, e.place = cmp.Or(e.ID, peek(e.Document).id), fault.Join(at, "document"); e.ID == "" {
			bad.Field(at+".document_id", "is required, or document.id in its place")
		}
	case e.Artifact == "":
		bad.Field(at, "has neither document nor artifact_id; give one of them")
	default:
		e.place = fault.Join(at, "artifact_id")
		if e.ID != "" {
			break
		}
		e.ID = e.Artifact
		if data, _, err := s.load(ctx, c, e.Artifact); err == nil {
			if d := peek(data); d.core() {
				e.ID = cmp.Or(d.id, e.ID)
			}
		} else if ctx.Err() != nil {
			return context.Cause(ctx)
		} // else the document fails for itself
	}
	e.ID = c.Mask.Text(e.ID)
	return nil
}

// draft returns the document of an entry. Faults name fields of the document.
func (s *service) draft(ctx context.Context, c *tool.Call, e *entry) (document.Draft, error) {
	if e.Artifact != "" {
		return s.fromFile(ctx, c, e)
	}
	return s.fromJSON(e.Document, e.ID, coreKind)
}

// fromJSON reads a document of a type with an id in the place of its own.
func (s *service) fromJSON(raw json.RawMessage, docID, kind string) (document.Draft, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, fault.InvalidField("", "must be an object")
	}
	if given := peek(raw).kind; given != "" && given != kind {
		return nil, fault.InvalidField("type", "must be %s, not %q", kind, given)
	}
	members["id"], members["type"] = text(docID), text(kind)
	whole, err := encode(members)
	if err != nil {
		return nil, err
	}
	return s.Reader.Read(whole)
}

func text(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // texts always encode
	return raw
}
