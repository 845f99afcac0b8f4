package file

import (
	"context"
	"encoding/json"
	"strings"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/schema"
)

const createDescription = "Writes a text to a new file of this session, which the user can download and other tools can read, and returns its artifact_id. " +
	"Use it for results that are long or that the user wants to keep: reports, tables as CSV, code."

// newCreate returns the type artifact_create.
func newCreate(s *schema.Schema) tool.Type {
	return func(configuration json.RawMessage) (*tool.Tool, error) {
		if err := unconfigured(configuration); err != nil {
			return nil, err
		}
		// made again after a kill, the call has the same file under the same id
		return &tool.Tool{Name: Create, Description: createDescription, Schema: s, Repeat: tool.Reads, Run: create}, nil
	}
}

func create(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	var args struct {
		Filename    string `json:"filename"`
		Content     string `json:"content"`
		MIME        string `json:"mime_type"`
		Description string `json:"description"`
	}
	if err := arguments(&c, &args); err != nil {
		return nil, err
	}
	made, err := c.Files.Create(ctx, artifact.New{
		Filename: c.Mask.Text(args.Filename), MIME: c.Mask.Text(args.MIME), Description: c.Mask.Text(args.Description),
	}, strings.NewReader(c.Mask.Text(args.Content)))
	if err != nil {
		return nil, err
	}
	return encode(reference(&made))
}
