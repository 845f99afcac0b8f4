package account

import (
	"fmt"

	"quarry/internal/fault"
	"quarry/internal/identity/authz"
)

// checkRights adds to bad what nobody can be given: roles that don't exist, and roles on agents, of which there are
// none yet. Whether the corpora exist is for the store to say.
func checkRights(r authz.Rights, bad *fault.Fault) {
	r.Check(bad)
	for i, g := range r.Agents {
		bad.Field(fmt.Sprintf("agent_roles[%d].agent_key", i), "agent %s does not exist", g.Key)
	}
}
