package access

import (
	"cmp"
	"fmt"

	"quarry/internal/cli/command"
)

// roleFlags replace the roles of a user or client. A list not given stays; an empty one takes every role of its kind.
type roleFlags struct {
	APIRole     []string `help:"New roles on everything, in place of the present ones; repeatable; --api-role= removes all." name:"api-role" placeholder:"ROLE" wire:"api_roles[]"`
	CorpusRole  []string `help:"New roles on single corpora, as key:role, in place of the present ones; repeatable; --corpus-role= removes all." name:"corpus-role" placeholder:"KEY:ROLE" wire:"corpus_roles[]"`
	AgentRole   []string `help:"New roles on single agents, as key:role, in place of the present ones; repeatable; --agent-role= removes all." name:"agent-role" placeholder:"KEY:ROLE" wire:"agent_roles[]"`
	Description *string  `help:"New description." wire:"description"`
}

// body returns the changes asked for.
func (f *roleFlags) body() (map[string]any, error) {
	body := map[string]any{}
	if given := listed(f.APIRole); given != nil {
		body["api_roles"] = given
	}
	if err := AddRoles(body, listed(f.CorpusRole), listed(f.AgentRole)); err != nil {
		return nil, err
	}
	if f.Description != nil {
		body["description"] = *f.Description
	}
	return body, nil
}

// listed returns the values of a repeatable flag: none for one without a value, nil for one that is absent.
func listed(values []string) []string {
	if len(values) == 1 && values[0] == "" {
		return []string{}
	}
	return values
}

// nothing is the error of an update that changes nothing.
func nothing(flags string) error {
	return command.Failed(command.ExitUsage, "say what to change: %s", flags)
}

type userUpdateCmd struct {
	oneUser
	roleFlags
	Group []string `help:"New groups of the user, in place of the present ones; repeatable; --group= removes all." placeholder:"NAME" sep:"none" wire:"groups[]"`
}

func (userUpdateCmd) Help() string {
	return "Example: quarry user update ann --api-role corpus_viewer --corpus-role docs:editor"
}

func (c *userUpdateCmd) Run(e *command.Env) error {
	body, err := c.body()
	if err != nil {
		return err
	}
	if given := listed(c.Group); given != nil {
		body["groups"] = given
	}
	if len(body) == 0 {
		return nothing("--api-role, --corpus-role, --agent-role, --group or --description")
	}
	_, err = command.Send(e, c.Remote, "PATCH", c.path(), body, func(v *userView) {
		fmt.Fprintf(e.Out, "changed user %s; its roles: %s\n", v.Username, cmp.Or(v.grantsView.String(), "none"))
	})
	return err
}

type clientUpdateCmd struct {
	oneClient
	roleFlags
}

func (clientUpdateCmd) Help() string {
	return "Example: quarry client update app_31 --corpus-role docs:editor"
}

func (c *clientUpdateCmd) Run(e *command.Env) error {
	body, err := c.body()
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return nothing("--api-role, --corpus-role, --agent-role or --description")
	}
	_, err = command.Send(e, c.Remote, "PATCH", c.path(), body, func(v *clientView) {
		fmt.Fprintf(e.Out, "changed client %s; its roles: %s\n", v.ID, cmp.Or(v.grantsView.String(), "none"))
	})
	return err
}
