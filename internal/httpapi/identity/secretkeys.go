package identity

import (
	"net/http"

	"quarry/internal/api"
	"quarry/internal/httpapi"
)

func (a *Area) secretKeys() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{"rotateSecretKeys": a.rotateSecretKeys}
}

func (a *Area) rotateSecretKeys(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	p, err := a.Secrets.Rotate(r.Context())
	if err != nil {
		return err
	}
	c.Named = map[string]string{"key_id": p.Key}
	answer := api.SecretKeyRotation{KeyId: p.Key, Resealed: int64(p.Resealed), Remaining: int64(p.Remaining), Done: p.Done}
	if p.Advice != "" {
		answer.Advice = &p.Advice
	}
	return httpapi.WriteJSON(w, http.StatusOK, answer)
}
