package file

import (
	"context"
	"encoding/json"
	"errors"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/file/grep"
	"quarry/internal/agent/tool/schema"
)

const grepDescription = "Searches the lines of a file of this session for a regular expression (RE2), like grep, and returns those that match with their number. " +
	"Use it to find places in large files, then read around them. Lines of more than 256 KiB are searched in pieces."

// newGrep returns the type artifact_grep.
func newGrep(s *schema.Schema) tool.Type {
	return func(configuration json.RawMessage) (*tool.Tool, error) {
		if err := unconfigured(configuration); err != nil {
			return nil, err
		}
		return &tool.Tool{Name: Grep, Description: grepDescription, Schema: s, Repeat: tool.Reads, Run: search}, nil
	}
}

// found is the output of artifact_grep.
type found struct {
	ID      string `json:"artifact_id"`
	Lines   int    `json:"match_count"`
	Cut     bool   `json:"truncated,omitempty"`
	Note    string `json:"note,omitempty"`
	Content string `json:"content"`
}

func search(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	var args struct {
		ID      string   `json:"artifact_id"`
		Pattern string   `json:"pattern"`
		Options []string `json:"grep_options"`
	}
	if err := arguments(&c, &args); err != nil {
		return nil, err
	}
	options, err := grep.ParseOptions(args.Options)
	if err != nil {
		return nil, invalid("grep_options: %s", err)
	}
	pattern, err := grep.Compile(args.Pattern, options)
	if err != nil {
		return nil, invalid("pattern: %s", err)
	}
	a, data, err := c.Files.Open(ctx, args.ID)
	if err != nil {
		return nil, err
	}
	defer func() { _ = data.Close() }()
	got, err := pattern.Search(ctx, data)
	if errors.Is(err, grep.ErrBinary) {
		return nil, invalid("%s (%s) is no text, so its lines can't be searched", a.ID, a.MIME)
	}
	if err != nil {
		return nil, err
	}
	out := found{ID: a.ID, Lines: got.Lines, Cut: got.Cut, Content: got.Text}
	if out.Cut {
		out.Note = "Not all of what was found is shown; search for less, count with -c, or stop behind some lines with -m."
	}
	return encode(out)
}
