package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/fault"
	"quarry/internal/jsonvalue"
)

// Caller calls the tools of tool servers: the catalog.Caller of the service.
type Caller struct {
	servers Servers
	client  Client
}

var _ catalog.Caller = (*Caller)(nil)

// NewCaller returns a caller of the tools of these servers.
func NewCaller(servers Servers, client Client) *Caller { return &Caller{servers, client} }

// Call calls t. See catalog.Caller.
func (r *Caller) Call(ctx context.Context, t *catalog.Tool, output *schema.Schema, c tool.Call, tell tool.Activity) (json.RawMessage, error) {
	target, err := r.servers.Target(ctx, t.Remote.Server)
	if err != nil {
		return nil, err
	}
	told := func(text string) { tell(tool.Progress{Message: c.Mask.Text(text)}) }
	result, err := r.client.Call(ctx, target, t.Remote.Name, c.Arguments, told)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, callFailed("%s", err)
	}
	if err := fits(&result, output); err != nil {
		return nil, err
	}
	return (&answer{call: &c, tool: t}).write(ctx, &result)
}

// callFailed returns the failure of a call.
func callFailed(format string, args ...any) error {
	return &tool.Failure{Class: tool.ExecutionError, Text: fmt.Sprintf(format, args...)}
}

// fits holds the structured content of a result to the schema that the server had for it when it was synced. A failed call
// needs none.
func fits(r *Result, output *schema.Schema) error {
	switch {
	case output == nil || r.Failed:
		return nil
	case r.Structured == nil:
		return callFailed("the answer has no structured content, which the tool declares; has the server changed since its last sync?")
	}
	if err := output.Check(jsonvalue.Decode(r.Structured)); err != nil {
		return callFailed("the structured content of the answer is not what the tool declares: %s; has the server changed since its last sync?", err)
	}
	return nil
}

// answer writes the output of a call.
type answer struct {
	call  *tool.Call
	tool  *catalog.Tool
	files int
}

// block is a part of an output.
type block struct {
	Type        string `json:"type"`
	Text        string `json:"text,omitempty"`
	URI         string `json:"uri,omitempty"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mime_type,omitempty"`
	ID          string `json:"artifact_id,omitempty"`
	Filename    string `json:"filename,omitempty"`
	Size        int64  `json:"size_bytes,omitempty"`
}

// write returns the output of a result, with what is no text in files.
func (a *answer) write(ctx context.Context, r *Result) (json.RawMessage, error) {
	blocks := []block{}
	for i := range r.Content {
		b, err := a.block(ctx, &r.Content[i])
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	out := map[string]any{"content": blocks}
	if len(blocks) == 1 && blocks[0].Type == "text" {
		out["content"] = blocks[0].Text
	}
	if r.Structured != nil {
		out["structured_content"] = r.Structured
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(out); err != nil {
		return nil, fmt.Errorf("write the output of a tool of a server: %w", err)
	}
	if r.Failed {
		return nil, &tool.Partial{Output: text.Bytes(), Class: tool.ExecutionError}
	}
	return text.Bytes(), nil
}

// block returns a part of a result as the model reads it.
func (a *answer) block(ctx context.Context, b *Block) (block, error) {
	out := block{Type: b.Type, URI: b.URI, Name: b.Name}
	switch {
	case b.Type == "resource_link":
		out.MIME, out.Description = b.MIME, b.Text
		return out, nil
	case len(b.Data) == 0:
		out.MIME, out.Text = b.MIME, b.Text
		return out, nil
	}
	made, err := a.keep(ctx, b)
	if err != nil {
		return out, err
	}
	out.MIME, out.ID, out.Filename, out.Size = made.MIME, made.ID, made.Filename, made.Size
	return out, nil
}

// maxFiles bounds the files of a call.
const maxFiles = 100

// keep writes the data of a part to a file of the session.
func (a *answer) keep(ctx context.Context, b *Block) (artifact.Artifact, error) {
	if a.call.Files == nil {
		return artifact.Artifact{}, callFailed("the answer has files, and a session can't have any while it is made")
	}
	if a.files++; a.files > maxFiles {
		return artifact.Artifact{}, callFailed("the answer has more than %d files", maxFiles)
	}
	made, err := a.call.Files.Create(ctx, artifact.New{
		Filename: a.call.Mask.Text(a.filename(b)), MIME: a.call.Mask.Text(b.MIME), Description: fmt.Sprintf("Made by the tool %s.", a.tool.Name),
	}, bytes.NewReader(b.Data))
	if f, ok := fault.As(err); ok {
		return artifact.Artifact{}, callFailed("a file of the answer can't be kept: %s", tool.Reason(f, ""))
	}
	return made, err
}

// filename returns the name of a file: that of its resource, else one after the tool.
func (a *answer) filename(b *Block) string {
	name := b.Name
	if u, err := url.Parse(b.URI); name == "" && err == nil && strings.Trim(u.Path, "/.") != "" {
		name = path.Base(u.Path)
	}
	if name == "" {
		name = fmt.Sprintf("%s_%d", a.tool.Name, a.files)
	}
	if path.Ext(name) == "" {
		name += artifact.Ending(b.MIME)
	}
	return name
}
