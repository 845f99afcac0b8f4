package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
)

type appClientCmd struct {
	Create appClientCreateCmd `cmd:"" help:"Create an application client and print its id and secret; the secret is shown this once."`
	List   appClientListCmd   `cmd:"" help:"List application clients, newest first."`
	Get    appClientGetCmd    `cmd:"" help:"Read one application client."`
	Delete appClientDeleteCmd `cmd:"" help:"Delete an application client; its tokens are refused from the next request on."`
}

// appClientView is the part of an application client that tables show.
type appClientView struct {
	ID          string `json:"id"`
	ClientID    string `json:"client_id"`
	Secret      string `json:"client_secret"`
	Name        string `json:"name"`
	Description string `json:"description"`
	grantsView
}

type appClientCreateCmd struct {
	remote
	Name        string   `arg:"" help:"What the client is."`
	Description string   `help:"What it is for."`
	APIRole     []string `help:"Role on everything, for example corpus_viewer; repeatable." name:"api-role" placeholder:"ROLE"`
	CorpusRole  []string `help:"Role on one corpus, as key:role; repeatable." name:"corpus-role" placeholder:"KEY:ROLE"`
}

func (appClientCreateCmd) Help() string {
	return "The client gets tokens of 30 minutes at /oauth2/token with the two values printed, each on a line: its id and its\n" +
		"secret.\n\nExample: quarry client create reporting --corpus-role docs:viewer"
}

func (c *appClientCreateCmd) Run(e *env) error {
	roles, err := corpusRoles(c.CorpusRole)
	if err != nil {
		return err
	}
	body := map[string]any{
		"type": "client_credentials", "name": c.Name, "api_roles": append([]string{}, c.APIRole...), "corpus_roles": roles,
	}
	if c.Description != "" {
		body["description"] = c.Description
	}
	cl, err := c.connect()
	if err != nil {
		return err
	}
	var v appClientView
	raw, err := cl.call(e.ctx, "POST", "/v2/app_clients", body, &v)
	if err != nil {
		return err
	}
	if c.JSON {
		printJSON(e.Out, raw)
	} else {
		fmt.Fprintf(e.Out, "%s\n%s\n", v.ClientID, v.Secret)
	}
	fmt.Fprintf(e.Err, "made client %s (%s); keep the secret now, it is not shown again\n", v.ID, v.Name)
	return nil
}

type appClientListCmd struct {
	remote
	Filter string `help:"Regular expression on the name."`
}

func (appClientListCmd) Help() string { return "Example: quarry client list --filter '^report'" }

func (c *appClientListCmd) Run(e *env) error {
	cl, err := c.connect()
	if err != nil {
		return err
	}
	query := url.Values{}
	if c.Filter != "" {
		query.Set("filter", c.Filter)
	}
	raw, err := cl.list(e.ctx, "/v2/app_clients", "app_clients", query, 0)
	if err != nil {
		return err
	}
	if c.JSON {
		printJSON(e.Out, raw)
		return nil
	}
	var all []appClientView
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	if len(all) == 0 {
		fmt.Fprintln(e.Out, "no such clients; make one with: quarry client create NAME --corpus-role KEY:viewer")
		return nil
	}
	rows := make([][]string, len(all))
	for i, v := range all {
		rows[i] = []string{v.ID, v.ClientID, v.Secret, clip(v.Name, 30), clip(v.grantsView.String(), 60)}
	}
	table(e.Out, []string{"ID", "CLIENT ID", "SECRET", "NAME", "ROLES"}, rows)
	return nil
}

// oneAppClient is embedded by the commands on one client.
type oneAppClient struct {
	remote
	ID string `arg:"" name:"id" help:"Id of the client, app_… (not its client id)."`
}

func (c *oneAppClient) path() string { return "/v2/app_clients/" + segment(c.ID) }

type appClientGetCmd struct{ oneAppClient }

func (appClientGetCmd) Help() string { return "Example: quarry client get app_31 --json" }

func (c *appClientGetCmd) Run(e *env) error {
	cl, err := c.connect()
	if err != nil {
		return err
	}
	var v appClientView
	raw, err := cl.call(e.ctx, "GET", c.path(), nil, &v)
	if err != nil {
		return err
	}
	if c.JSON {
		printJSON(e.Out, raw)
		return nil
	}
	table(e.Out, []string{"FIELD", "VALUE"}, [][]string{
		{"id", v.ID}, {"client id", v.ClientID}, {"secret", v.Secret}, {"name", v.Name}, {"description", v.Description},
		{"roles", v.grantsView.String()},
	})
	return nil
}

type appClientDeleteCmd struct{ oneAppClient }

func (appClientDeleteCmd) Help() string { return "Example: quarry client delete app_31" }

func (c *appClientDeleteCmd) Run(e *env) error {
	return c.do(e, "DELETE", c.path(), "deleted client "+c.ID)
}
