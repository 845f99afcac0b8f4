package agent

import (
	"net/http"

	"quarry/internal/cli/access"
	"quarry/internal/cli/command"
)

type identityCmd struct {
	one
	Mode       string   `enum:",auto,manual" default:"" help:"auto: what the agent's tools need; manual: what you give it." placeholder:"MODE" wire:"mode"`
	APIRole    []string `help:"API role; repeatable. The roles given take the place of those there were, like those on corpora and agents." name:"api-role" placeholder:"ROLE" wire:"api_roles[]"`
	CorpusRole []string `help:"Role on one corpus, as key:role; repeatable." name:"corpus-role" placeholder:"KEY:ROLE" wire:"corpus_roles[]"`
	AgentRole  []string `help:"Role on one agent, as key:role; repeatable." name:"agent-role" placeholder:"KEY:ROLE" wire:"agent_roles[]"`
	Clear      []string `enum:"api,corpus,agent" help:"Take all roles of a kind away: api, corpus or agent; repeatable." placeholder:"KIND"`
}

func (identityCmd) Help() string {
	return "Without flags it shows the identity. Roles are given in mode manual; in mode auto they follow from the tools.\n\n" +
		"Example: quarry agent identity support --mode manual --corpus-role handbook:viewer"
}

// identityView is an identity.
type identityView struct {
	Mode     string   `json:"mode"`
	ClientID string   `json:"client_id"`
	API      []string `json:"api_roles"`
	Corpora  []struct {
		Key  string `json:"corpus_key"`
		Role string `json:"role"`
	} `json:"corpus_roles"`
	Agents []struct {
		Key  string `json:"agent_key"`
		Role string `json:"role"`
	} `json:"agent_roles"`
}

func (c *identityCmd) Run(e *command.Env) error {
	body, err := c.body()
	if err != nil {
		return err
	}
	path := agentPath(c.Agent) + "/identity"
	show := func(v *identityView) { command.FieldsGiven(e, v.rows()) }
	if len(body) == 0 {
		return command.Show(e, c.Remote, path, show)
	}
	v, err := command.Send(e, c.Remote, http.MethodPatch, path, body, show)
	if err == nil && v.Mode == "auto" && len(c.APIRole)+len(c.CorpusRole)+len(c.AgentRole)+len(c.Clear) > 0 {
		return command.Failed(command.ExitUsage, "the identity is in mode auto, in which its roles follow from the agent's tools; give them with --mode manual")
	}
	return err
}

// body returns the change, empty for none.
func (c *identityCmd) body() (map[string]any, error) {
	body := command.Given(map[string]any{"mode": c.Mode, "api_roles": c.APIRole})
	if err := access.AddRoles(body, c.CorpusRole, c.AgentRole); err != nil {
		return nil, err
	}
	for _, kind := range c.Clear {
		member := kind + "_roles"
		if _, given := body[member]; given {
			return nil, command.Failed(command.ExitUsage, "--clear %s and --%s-role exclude each other", kind, kind)
		}
		body[member] = []string{}
	}
	return body, nil
}

func (v *identityView) rows() [][]string {
	rows := [][]string{{"mode", v.Mode}, {"client id", v.ClientID}}
	for _, role := range v.API {
		rows = append(rows, []string{"role", role})
	}
	for _, g := range v.Corpora {
		rows = append(rows, []string{"role", g.Role + " on the corpus " + g.Key})
	}
	for _, g := range v.Agents {
		rows = append(rows, []string{"role", g.Role + " on the agent " + g.Key})
	}
	return rows
}
