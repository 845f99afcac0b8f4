package identity

import (
	"context"
	"net/http"

	"quarry/internal/api"
	"quarry/internal/httpapi"
	"quarry/internal/secret/vault"
)

// SecretKeys rotates the keys that secrets are sealed under, as vault.Vault does.
type SecretKeys interface {
	// Rotate does a step; it is called until the rotation is done. fault.KindConflict while another call is at work.
	Rotate(ctx context.Context) (vault.Progress, error)
}

func (a *Area) secretKeys() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{"rotateSecretKeys": a.rotateSecretKeys}
}

func (a *Area) rotateSecretKeys(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	p, err := a.secrets.Rotate(r.Context())
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
