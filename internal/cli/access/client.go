package access

import (
	"fmt"
	"net/url"
	"strconv"

	"quarry/internal/cli/command"
)

// ClientCmd holds the commands about application clients.
type ClientCmd struct {
	Create  clientCreateCmd  `cmd:"" help:"Create an application client and print its id and secret; the secret is shown only once."`
	List    clientListCmd    `cmd:"" help:"List application clients, newest first."`
	Get     clientGetCmd     `cmd:"" help:"Read one application client."`
	Update  clientUpdateCmd  `cmd:"" help:"Change roles and description of an application client."`
	Enable  clientEnableCmd  `cmd:"" help:"Accept a disabled application client again."`
	Disable clientDisableCmd `cmd:"" help:"Refuse an application client and its tokens from the next request on."`
	Delete  clientDeleteCmd  `cmd:"" help:"Delete an application client; its tokens are refused from the next request on."`
}

// clientView is the part of an application client that tables show.
type clientView struct {
	ID          string `json:"id"`
	ClientID    string `json:"client_id"`
	Secret      string `json:"client_secret"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Enabled     bool   `json:"enabled"`
	grantsView
}

type clientCreateCmd struct {
	command.Remote
	Name        string   `arg:"" help:"Name of the client." wire:"name"`
	Description string   `help:"What it is for." wire:"description"`
	APIRole     []string `help:"Role on everything, for example corpus_viewer; repeatable." name:"api-role" placeholder:"ROLE" wire:"api_roles[]"`
	CorpusRole  []string `help:"Role on one corpus, as key:role; repeatable." name:"corpus-role" placeholder:"KEY:ROLE" wire:"corpus_roles[]"`
	AgentRole   []string `help:"Role on one agent, as key:role; repeatable." name:"agent-role" placeholder:"KEY:ROLE" wire:"agent_roles[]"`
}

func (clientCreateCmd) Help() string {
	return "Prints the client's id and secret, each on a line. With them the client obtains tokens, valid for 30 minutes, at\n" +
		"/oauth2/token.\n\nExample: quarry client create reporting --corpus-role docs:viewer"
}

func (c *clientCreateCmd) Run(e *command.Env) error {
	body := command.Given(map[string]any{
		"type": "client_credentials", "name": c.Name, "description": c.Description,
		"api_roles": append([]string{}, c.APIRole...),
	})
	if err := AddRoles(body, c.CorpusRole, c.AgentRole); err != nil {
		return err
	}
	v, err := command.Send(e, c.Remote, "POST", "/v2/app_clients", body, func(v *clientView) {
		fmt.Fprintf(e.Out, "%s\n%s\n", v.ClientID, v.Secret)
	})
	if err == nil {
		fmt.Fprintf(e.Err, "made client %s (%s); keep the secret now, it is not shown again\n", v.ID, v.Name)
	}
	return err
}

type clientListCmd struct {
	command.Remote
	command.Paging
	Filter string `help:"Regular expression on the name." wire:"filter"`
}

func (clientListCmd) Help() string { return "Example: quarry client list --filter '^report'" }

func (c *clientListCmd) Run(e *command.Env) error {
	return command.Listing[clientView]{
		Path: "/v2/app_clients", Member: "app_clients", Query: url.Values{"filter": {c.Filter}}, Paging: c.Paging,
		Empty:  "no such clients; make one with: quarry client create NAME --corpus-role KEY:viewer",
		Header: []string{"ID", "CLIENT ID", "SECRET", "STATE", "NAME", "ROLES"},
		Row: func(v *clientView) []string {
			return []string{v.ID, v.ClientID, v.Secret, command.State(v.Enabled), v.Name, v.grantsView.String()}
		},
	}.Print(e, c.Remote)
}

// oneClient is embedded by the commands on one client.
type oneClient struct {
	command.Remote
	ID string `arg:"" name:"id" help:"Id of the client, app_… (not its client id)." wire:"app_client_id"`
}

func (c *oneClient) path() string { return "/v2/app_clients/" + command.Segment(c.ID) }

type clientGetCmd struct{ oneClient }

func (clientGetCmd) Help() string { return "Example: quarry client get app_31 --json" }

func (c *clientGetCmd) Run(e *command.Env) error {
	return command.Show(e, c.Remote, c.path(), func(v *clientView) {
		command.Fields(e, [][]string{
			{"id", v.ID}, {"client id", v.ClientID}, {"secret", v.Secret}, {"name", v.Name}, {"description", v.Description},
			{"enabled", strconv.FormatBool(v.Enabled)}, {"roles", v.grantsView.String()},
		})
	})
}

type clientEnableCmd struct{ oneClient }

func (clientEnableCmd) Help() string { return "Example: quarry client enable app_31" }

func (c *clientEnableCmd) Run(e *command.Env) error {
	return setEnabled(c.Remote, e, c.path(), "client "+c.ID, true)
}

type clientDisableCmd struct{ oneClient }

func (clientDisableCmd) Help() string { return "Example: quarry client disable app_31" }

func (c *clientDisableCmd) Run(e *command.Env) error {
	return setEnabled(c.Remote, e, c.path(), "client "+c.ID, false)
}

type clientDeleteCmd struct{ oneClient }

func (clientDeleteCmd) Help() string { return "Example: quarry client delete app_31" }

func (c *clientDeleteCmd) Run(e *command.Env) error {
	return c.Do(e, "DELETE", c.path(), nil, "deleted client "+c.ID)
}
