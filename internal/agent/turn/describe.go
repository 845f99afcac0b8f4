package turn

import (
	"quarry/internal/agent/describe"
	"quarry/internal/usage"
)

// describe writes the description of a session that was made without one, beside the turns: nobody waits for it, and it ends with the
// process. Where it comes to nothing, the end of the next turn tries again.
func (t *turn) describe() {
	e, no, model := t.engine, t.run.Session, t.agent.Model.Name
	if !t.session.Describe {
		return
	}
	if _, busy := e.describing.LoadOrStore(no, true); busy {
		return
	}
	ctx := usage.Charged(e.ctx, t.payers()...)
	e.running.Go(func() {
		defer e.describing.Delete(no)
		if err := describe.Session(ctx, e.Sessions, e.Models, model, no); err != nil && ctx.Err() == nil {
			e.Logger.Warn("a session is not described for now", "error", err)
		}
	})
}
