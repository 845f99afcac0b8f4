package identity

import (
	"quarry/internal/httpapi"
)

// users are the handlers of users.
func (a *Area) users() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{}
}
