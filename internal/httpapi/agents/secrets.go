package agents

import (
	"net/http"

	"quarry/internal/agent/secret"
	"quarry/internal/agent/tool/mask"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/opt"
)

// Secrets answers the operations of secrets of agents.
type Secrets struct{ secrets *secret.Service }

// NewSecrets returns the area.
func NewSecrets(s *secret.Service) *Secrets { return &Secrets{s} }

// Handlers implements httpapi.Area.
func (a *Secrets) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{"getAgentSecrets": a.get, "replaceAgentSecrets": a.replace, "updateAgentSecrets": a.update}
}

// secretsBody is AgentSecrets.
type secretsBody struct {
	Secrets map[string]string `json:"secrets"`
}

// writeSecrets answers with names, each with the mask in place of its value.
func writeSecrets(w http.ResponseWriter, names []string) error {
	out := secretsBody{Secrets: make(map[string]string, len(names))}
	for _, name := range names {
		out.Secrets[name] = mask.Masked
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

func (a *Secrets) get(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	names, err := a.secrets.Names(r.Context(), found(c).No)
	if err != nil {
		return err
	}
	return writeSecrets(w, names)
}

func (a *Secrets) replace(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var b secretsBody
	if err := httpapi.Decode(c.Body, &b); err != nil {
		return err
	}
	names, err := a.secrets.Replace(r.Context(), found(c).No, b.Secrets)
	if err != nil {
		return fault.Under(err, "body")
	}
	return writeSecrets(w, names)
}

func (a *Secrets) update(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var b struct {
		Secrets map[string]opt.Field[string] `json:"secrets"`
	}
	if err := httpapi.Decode(c.Body, &b); err != nil {
		return err
	}
	names, err := a.secrets.Update(r.Context(), found(c).No, b.Secrets)
	if err != nil {
		return fault.Under(err, "body")
	}
	return writeSecrets(w, names)
}
