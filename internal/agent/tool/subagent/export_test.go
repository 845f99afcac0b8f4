package subagent

import (
	"quarry/internal/agent/session"
	"quarry/internal/id"
)

// InputOf returns the id of the input that a call sends.
func InputOf(call session.Event) id.Event { return inputOf(call.ID) }
