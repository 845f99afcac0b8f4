package check

import (
	"encoding/json"
	"regexp"
	"sync"

	"quarry/internal/api"
)

// maskText matches what reads show instead of a secret: asterisks, with the prefix and the last characters of a key.
var maskText = regexp.MustCompile(`^([a-z]{1,8}_)?\*{4,}[A-Za-z0-9_-]{0,4}$`)

// isMask reports whether v is the mask of a secret. A client that reads an object, changes a member and sends all of it
// back would replace its credential by asterisks.
func isMask(v any) bool {
	s, ok := v.(string)
	return ok && len(s) <= 64 && maskText.MatchString(s)
}

const maskReason = "is the mask that reads show instead of the secret; leave the member out to keep the secret as it is, or send the secret itself"

// repeats is the comment of what others have made of a secret, perhaps: the audit has nothing of it.
const repeats = "may repeat a secret"

// takesMask is the comment of a secret that may be the mask itself, as whoever takes it decides.
const (
	takesMask = "takes the mask of a secret"
	plainMask = "****"
)

// secretNames are the members that hold a secret anywhere in the contract.
var secretNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	var all any
	if json.Unmarshal(api.Schemas, &all) == nil { // Contract returns the error
		collectSecrets(all, names)
	}
	return names
})

func collectSecrets(schema any, names map[string]bool) {
	switch s := schema.(type) {
	case map[string]any:
		if properties, ok := s["properties"].(map[string]any); ok {
			for name, p := range properties {
				if p, ok := p.(map[string]any); ok && p["writeOnly"] == true {
					names[name] = true
				}
			}
		}
		for _, next := range s {
			collectSecrets(next, names)
		}
	case []any:
		for _, next := range s {
			collectSecrets(next, names)
		}
	}
}
