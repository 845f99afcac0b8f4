package turn

import (
	"context"
	"slices"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/session/recent"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/offload"
)

// fit returns the output of a call as the conversation has it: one that is too large becomes a file in the workspace, or is
// cut. The caller writes the files of the output, then releases the workspace.
func (t *turn) fit(ctx context.Context, p *tool.Planned, out tool.Output) (tool.Output, *artifact.Workspace) {
	ctx, cancel := durable(ctx)
	defer cancel()
	var create offload.Create
	files := t.workspace(p.CallID + "/output")
	if files != nil {
		create = files.Create
	}
	out, err := t.policy.Fit(ctx, p.Tool, out, t.room(), create)
	if err != nil {
		t.engine.Logger.Warn("the whole output of a tool is not kept", "session", t.run.Session, "tool", p.Tool, "error", err)
	}
	out.Artifacts = append(out.Artifacts, files.Take()...)
	return out, files
}

// workspace is the files of the session as a call sees them; nil for none.
func (t *turn) workspace(call string) *artifact.Workspace {
	if t.engine.Files == nil {
		return nil
	}
	return t.engine.Files.Workspace(t.run.Session, call)
}

// bytesPerToken is what texts have at least in nearly all languages.
const bytesPerToken = 4

// room is how much of the conversation the model reads, and how much of it there is: by the count of its last call and an estimate
// of what came since, else by an estimate of all.
func (t *turn) room() offload.Room {
	var r offload.Room
	used := t.session.Usage
	counted := used != nil && used.Input > 0 && t.session.Measured.Edits == t.edits
	for i := range slices.Backward(t.events) {
		e := &t.events[i]
		if counted && e.Ord <= t.session.Measured.Ord {
			break
		}
		r.Tokens += int64(recent.Size(e) / bytesPerToken)
	}
	if used != nil {
		r.Window = used.Window
	}
	if counted {
		r.Tokens += used.Input + used.Output - used.Reasoning
	}
	return r
}
