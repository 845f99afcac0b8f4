package offload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/tool"
	"quarry/internal/jsonvalue"
)

// readers are the tools that read files of sessions, and what each is for. What they return is never made a file again.
var readers = map[string]string{
	"artifact_read": "read ranges of its lines with %s", "artifact_grep": "search its lines with %s", "artifact_jq": "query it with %s",
}

// Policy is what the rules of an agent and of its tools come to. It is safe for concurrent use.
type Policy struct {
	agent Rules
	tools map[string]kept // by configuration
	hint  string          // how the model reads files of the session; "" if it can't
}

// kept is what is known of a tool.
type kept struct {
	Rules
	reads bool
}

// New returns the policy of an agent with these settings, nil for none, and these tools, by the names of their configurations.
func New(agent json.RawMessage, tools iter.Seq2[string, tool.Entry]) *Policy {
	p := &Policy{tools: map[string]kept{}}
	by, found := Truncate, map[string][]string{}
	for name, t := range tools {
		if readers[t.Name] != "" {
			by, found[t.Name] = Artifact, append(found[t.Name], name)
		}
	}
	p.hint = hint(found)
	settings, _ := read(agent) // checked when the agent was written
	p.agent = settings.Rules(by)
	for name, t := range tools {
		entry, _ := read(t.Own) // checked, like that of the tool
		own, _ := read(t.Offloading)
		p.tools[name] = kept{entry.Over(own).Over(settings).Rules(by), readers[t.Name] != ""}
	}
	return p
}

// hint returns how files are read with tools of these configurations.
func hint(found map[string][]string) string {
	var ways []string
	for _, kind := range []string{"artifact_read", "artifact_grep", "artifact_jq"} {
		if names := found[kind]; len(names) > 0 {
			slices.Sort(names)
			ways = append(ways, fmt.Sprintf(readers[kind], strings.Join(names, " or ")))
		}
	}
	return strings.Join(ways, ", ")
}

// of returns what is known of a tool. A tool that the agent doesn't have only has errors as outputs.
func (p *Policy) of(name string) kept {
	if k, ok := p.tools[name]; ok {
		return k
	}
	return kept{Rules: p.agent}
}

// Bound returns how many bytes of an output of a tool are taken: all that a call can read where the output is then fitted in,
// else what an event holds.
func (p *Policy) Bound(name string) int {
	if k := p.of(name); k.Enabled {
		return tool.MaxRaw
	}
	return tool.MaxOutput
}

// Fit returns the output of a tool as the conversation has it. A whole output that moves out of it becomes a file made by
// create, nil for none; if that fails, the error is returned with an output that is cut.
func (p *Policy) Fit(ctx context.Context, name string, out tool.Output, in Room, create Create) (tool.Output, error) {
	k := p.of(name)
	most := k.Most(int64(len(out.Output)), in)
	if !k.Enabled || int64(len(out.Output)) <= most {
		return out, nil
	}
	if k.Mode == Artifact && !out.Failed && !k.reads && create != nil {
		marker, err := p.move(ctx, name, out.Output, create)
		if err == nil {
			out.Output = marker
			return out, nil
		}
		out.Output = Cut(out.Output, int(most))
		return out, err
	}
	out.Output = Cut(out.Output, int(most))
	return out, nil
}

// Create is how a file of a session is made.
type Create func(ctx context.Context, n artifact.New, r io.Reader) (artifact.Artifact, error)

// marker is what the event has in place of an output.
type marker struct {
	ID       string `json:"artifact_id"`
	Filename string `json:"filename"`
	MIME     string `json:"mime_type"`
	Size     int64  `json:"size_bytes"`
	Lines    int    `json:"lines"`
	Shape    string `json:"shape"`
	Hint     string `json:"hint"`
}

// move writes an output to a file and returns its marker. Each value in it has a line of its own, so that tools for lines can read it.
func (p *Policy) move(ctx context.Context, name string, output json.RawMessage, create Create) (json.RawMessage, error) {
	var lines bytes.Buffer
	if err := json.Indent(&lines, output, "", ""); err != nil {
		return nil, fmt.Errorf("write the output of a tool in lines: %w", err)
	}
	m := marker{Lines: bytes.Count(lines.Bytes(), []byte("\n")) + 1, Shape: shape(jsonvalue.Decode(output))}
	metadata, err := json.Marshal(map[string]string{"tool_configuration_name": name})
	if err != nil {
		return nil, fmt.Errorf("describe the output of a tool: %w", err)
	}
	made, err := create(ctx, artifact.New{
		Filename: name + ".json", MIME: "application/json", Description: "The whole output of the tool " + name, Metadata: metadata,
	}, &lines)
	if err != nil {
		return nil, fmt.Errorf("keep the output of a tool as a file: %w", err)
	}
	m.ID, m.Filename, m.MIME, m.Size = made.ID, made.Filename, made.MIME, made.Size
	if m.Hint = "The output is too large for the conversation and is kept as this file of the session."; p.hint != "" {
		m.Hint += " To see more of it, " + p.hint + "."
	}
	return jsonvalue.Encode(m), nil
}
