// Package access holds the commands about who may do what: users, API keys, application clients, secret keys, the audit.
package access

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"quarry/internal/cli/command"
)

// UserCmd holds the commands about users.
type UserCmd struct {
	Create  userCreateCmd  `cmd:"" help:"Create a user."`
	List    userListCmd    `cmd:"" help:"List users, newest first."`
	Get     userGetCmd     `cmd:"" help:"Read one user."`
	Update  userUpdateCmd  `cmd:"" help:"Change roles, groups and description of a user."`
	Disable userDisableCmd `cmd:"" help:"Refuse a user and its personal keys from the next request on."`
	Enable  userEnableCmd  `cmd:"" help:"Accept a disabled user again."`
	Delete  userDeleteCmd  `cmd:"" help:"Delete a user and its personal keys."`

	Password      userPasswordCmd      `cmd:"" help:"Set a user's password."`
	ResetPassword userResetPasswordCmd `cmd:"" help:"Invalidate a user's password and print a one-time code for a new one."`
}

// userView is the part of a user that tables show.
type userView struct {
	ID          string   `json:"id"`
	Username    string   `json:"username"`
	Email       string   `json:"email"`
	Description string   `json:"description"`
	Enabled     bool     `json:"enabled"`
	Groups      []string `json:"groups"`
	Created     string   `json:"created_at"`
	Code        string   `json:"one_time_code"`
	Link        string   `json:"one_time_code_link"`
	grantsView
}

type userCreateCmd struct {
	command.Remote
	Email       string   `arg:"" help:"E-mail address." wire:"email"`
	Username    string   `help:"Name to sign in with; default: the e-mail address." wire:"username"`
	Description string   `help:"Description of the user." wire:"description"`
	APIRole     []string `help:"Role on everything, for example corpus_viewer; repeatable." name:"api-role" placeholder:"ROLE" wire:"api_roles[]"`
	CorpusRole  []string `help:"Role on one corpus, as key:role; repeatable." name:"corpus-role" placeholder:"KEY:ROLE" wire:"corpus_roles[]"`
	AgentRole   []string `help:"Role on one agent, as key:role; repeatable." name:"agent-role" placeholder:"KEY:ROLE" wire:"agent_roles[]"`
	Group       []string `help:"Group that the user is in; repeatable." placeholder:"NAME" sep:"none" wire:"groups[]"`
}

func (userCreateCmd) Help() string {
	return "Example: quarry user create ann@example.test --username ann --corpus-role docs:editor"
}

func (c *userCreateCmd) Run(e *command.Env) error {
	body := command.Given(map[string]any{
		"email": c.Email, "username": c.Username, "description": c.Description, "groups": c.Group,
		"api_roles": append([]string{}, c.APIRole...),
	})
	if err := AddRoles(body, c.CorpusRole, c.AgentRole); err != nil {
		return err
	}
	_, err := command.Send(e, c.Remote, "POST", "/v2/users", body, func(v *userView) {
		fmt.Fprintf(e.Out, "created user %s\n", v.Username)
		if v.Code != "" {
			fmt.Fprintf(e.Out, "one-time code: %s\n", v.Code)
		}
		if v.Link != "" {
			fmt.Fprintf(e.Out, "to choose a password: %s\n", v.Link)
		}
	})
	return err
}

type userListCmd struct {
	command.Remote
	command.Paging
	Corpus string `help:"Only users with access to this corpus." placeholder:"KEY" wire:"corpus_key"`
}

func (userListCmd) Help() string { return "Example: quarry user list --corpus docs" }

func (c *userListCmd) Run(e *command.Env) error {
	return command.Listing[userView]{
		Path: "/v2/users", Member: "users", Query: url.Values{"corpus_key": {c.Corpus}}, Paging: c.Paging,
		Empty:  "no such users; make one with: quarry user create EMAIL",
		Header: []string{"USERNAME", "STATE", "EMAIL", "CREATED", "ROLES"},
		Row: func(v *userView) []string {
			return []string{v.Username, command.State(v.Enabled), v.Email, command.Second(v.Created), v.grantsView.String()}
		},
	}.Print(e, c.Remote)
}

// oneUser is embedded by the commands on one user.
type oneUser struct {
	command.Remote
	Username string `arg:"" help:"Name of the user." wire:"username"`
}

func (c *oneUser) path() string { return "/v2/users/" + command.Segment(c.Username) }

type userGetCmd struct{ oneUser }

func (userGetCmd) Help() string { return "Example: quarry user get ann --json" }

func (c *userGetCmd) Run(e *command.Env) error {
	return command.Show(e, c.Remote, c.path(), func(v *userView) {
		command.Fields(e, [][]string{
			{"id", v.ID}, {"username", v.Username}, {"email", v.Email}, {"description", v.Description},
			{"enabled", strconv.FormatBool(v.Enabled)}, {"created", command.Second(v.Created)}, {"groups", strings.Join(v.Groups, ", ")},
			{"roles", v.grantsView.String()},
		})
	})
}

type userDisableCmd struct{ oneUser }

func (userDisableCmd) Help() string { return "Example: quarry user disable ann" }

func (c *userDisableCmd) Run(e *command.Env) error {
	return setEnabled(c.Remote, e, c.path(), "user "+c.Username, false)
}

type userEnableCmd struct{ oneUser }

func (userEnableCmd) Help() string { return "Example: quarry user enable ann" }

func (c *userEnableCmd) Run(e *command.Env) error {
	return setEnabled(c.Remote, e, c.path(), "user "+c.Username, true)
}

type userDeleteCmd struct {
	oneUser
	command.Sure
}

func (userDeleteCmd) Help() string {
	return "Asks first, on a terminal. Elsewhere it needs --yes.\n\nExample: quarry user delete ann --yes"
}

func (c *userDeleteCmd) Run(e *command.Env) error {
	lost := func() (string, error) { return "its personal keys are refused from the next request on", nil }
	if err := c.Confirm(e, "delete user "+c.Username, lost); err != nil {
		return err
	}
	return c.Do(e, "DELETE", c.path(), nil, "deleted user "+c.Username)
}
