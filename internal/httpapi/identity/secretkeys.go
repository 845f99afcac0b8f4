package identity

import (
	"net/http"

	"quarry/internal/api"
	"quarry/internal/httpapi"
	"quarry/internal/opt"
)

func (a *Area) rotateSecretKeys(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	p, err := a.Secrets.Rotate(r.Context())
	if err != nil {
		return err
	}
	c.Named = map[string]string{"key_id": p.Key}
	return httpapi.WriteJSON(w, http.StatusOK, api.SecretKeyRotation{
		KeyId: p.Key, Resealed: int64(p.Resealed), Remaining: int64(p.Remaining), Done: p.Done, Advice: opt.NonZero(p.Advice),
	})
}
