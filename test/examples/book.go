// Package examples sends the examples of the contract to a service and compares what comes with what they show, so that
// whoever copies one from the published page gets what stands beside it.
//
// Each example gets a service of its own, after the examples that it builds on (testdata/before.yaml). What an answer
// calls something (an identifier, a secret) is remembered under the name that its example shows, and put in wherever a
// later example names it.
package examples

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"

	"quarry/internal/api"
)

// Example is a request that the contract shows, and the answer beside it.
type Example struct {
	Operation *api.Operation
	Name      string            // "" where the operation has one example
	Params    map[string]string // of path and query
	Media     string            // content type of the body; "" without one
	Body      any
	Status    int
	Answer    any            // nil where the answer has no content
	Events    map[string]any // of a stream, by type
}

// String returns "operation" or "operation/name".
func (e *Example) String() string {
	if e.Name == "" {
		return e.Operation.ID
	}
	return e.Operation.ID + "/" + e.Name
}

// Read returns the examples of the operations that are built, in contract order.
func Read(raw []byte) ([]*Example, error) {
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, fmt.Errorf("load the contract: %w", err)
	}
	var all []*Example
	var faults []error
	for i := range api.Operations {
		op := &api.Operations[i]
		if op.Planned {
			continue
		}
		found, err := readOperation(op, doc.Paths.Value(op.Path).GetOperation(op.Method))
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", op.ID, err))
		}
		all = append(all, found...)
	}
	return all, errors.Join(faults...)
}

func readOperation(op *api.Operation, spec *openapi3.Operation) ([]*Example, error) {
	params := map[string]string{}
	for _, p := range spec.Parameters {
		switch {
		case p.Value.Example != nil:
			params[p.Value.Name] = fmt.Sprint(p.Value.Example)
		case p.Value.Required:
			return nil, fmt.Errorf("the parameter %s has no example", p.Value.Name)
		}
	}
	requests := []*Example{{Operation: op, Params: params}}
	if spec.RequestBody != nil {
		var err error
		if requests, err = readBodies(requests[0], spec.RequestBody.Value); err != nil {
			return nil, err
		}
	}
	for _, e := range requests {
		if err := e.readAnswer(spec.Responses); err != nil {
			return nil, err
		}
	}
	return requests, nil
}

// readBodies returns a copy of base for each example of a body.
func readBodies(base *Example, body *openapi3.RequestBody) ([]*Example, error) {
	var out []*Example
	for media, content := range body.Content {
		for name, value := range named(content) {
			e := *base
			e.Name, e.Media, e.Body = name, media, value
			out = append(out, &e)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("the body has no example")
	}
	slices.SortFunc(out, func(a, b *Example) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// named returns the examples of a content by name, a single one under "".
func named(content *openapi3.MediaType) map[string]any {
	if content.Example != nil {
		return map[string]any{"": content.Example}
	}
	out := map[string]any{}
	for name, e := range content.Examples {
		out[name] = e.Value.Value
	}
	return out
}

// readAnswer finds the success response that shows what answers e, or one without content.
func (e *Example) readAnswer(responses *openapi3.Responses) error {
	body, _ := e.Body.(map[string]any)
	streams := e.Operation.StreamFlag && body["stream_response"] == true
	for _, status := range e.Operation.Statuses {
		if status >= http.StatusMultipleChoices && status != e.Operation.Success {
			continue
		}
		content := responses.Value(strconv.Itoa(status)).Value.Content
		if len(content) == 0 {
			e.Status = status
			return nil
		}
		for media, c := range content {
			if streams != (media == "text/event-stream") {
				continue
			}
			shown := named(c)
			if streams && len(shown) > 0 {
				e.Status, e.Events = status, shown
				return nil
			}
			if shown[e.Name] != nil {
				e.Status, e.Answer = status, shown[e.Name]
				return nil
			}
		}
	}
	return fmt.Errorf("no success response shows the answer of the example %q", e.Name)
}
