package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"quarry/internal/jsonvalue"
)

// maxDelivered bounds the arguments of a call for the client, in bytes.
const maxDelivered = MaxOutput / 2

// Delivered is a call as the client makes it.
type Delivered struct {
	Arguments json.RawMessage // an object, with secrets in clear
	Secrets   []string        // that are in it
	Overrides json.RawMessage // an object: the values of the pinned arguments, with secrets masked
	Output    json.RawMessage // a JSON Schema that the output has to fit; nil for any object
}

// Prepare takes a call of the client's to where the client makes it, as Run takes others. What fails on the way is an output; then
// Delivered is nil.
func (b *Bound) Prepare(ctx context.Context, p Planned, scene Scene) (*Delivered, Output) {
	r := &run{bound: b, planned: p, scene: &scene, mask: b.Mask()}
	c, args, err := r.prepare(ctx)
	if err == nil && len(args) > maxDelivered {
		err = &Failure{InvalidInput, fmt.Sprintf("the arguments have %d bytes, more than the %d that a client is sent", len(args), maxDelivered)}
	}
	if err != nil {
		return nil, r.failed(err)
	}
	d := &Delivered{Arguments: args, Overrides: r.overrides}
	if c.Output != nil {
		d.Output = c.Output.JSON()
	}
	d.Secrets = r.mask.Found(jsonvalue.Decode(args))
	return d, Output{}
}

// Finish returns the output to store of what the client has made of a call of a tool. secrets are those that the client was sent.
func (b *Bound) Finish(ctx context.Context, tool string, secrets []string, raw json.RawMessage, failed bool, scene Scene) Output {
	r := &run{bound: b, planned: Planned{Tool: tool}, scene: &scene, mask: b.Mask().With(secrets...)}
	if failed {
		return Output{Output: jsonvalue.Encode(map[string]any{"error": r.mask.Value(jsonvalue.Decode(raw))}), Failed: true, Class: ExecutionError}
	}
	c := b.set.tools[tool]
	if c == nil {
		c = &configured{}
	}
	out, err := r.finish(ctx, c, raw)
	if err != nil {
		return r.failed(err)
	}
	return Output{Output: out}
}
