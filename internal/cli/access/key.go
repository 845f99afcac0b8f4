package access

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"quarry/internal/cli/command"
)

// KeyCmd holds the commands about API keys.
type KeyCmd struct {
	Show    keyShowCmd    `cmd:"" help:"Print the owner key of the local data folder."`
	Recover keyRecoverCmd `cmd:"" help:"Write a fresh owner key into the local data folder when no owner has one that works."`
	Create  keyCreateCmd  `cmd:"" help:"Create an API key and print it; it is shown only once."`
	List    keyListCmd    `cmd:"" help:"List API keys, newest first."`
	Get     keyGetCmd     `cmd:"" help:"Read one API key."`
	Enable  keyEnableCmd  `cmd:"" help:"Accept a disabled API key again."`
	Disable keyDisableCmd `cmd:"" help:"Refuse an API key from the next request on."`
	Delete  keyDeleteCmd  `cmd:"" help:"Delete an API key; it is refused from the next request on."`
}

// keyView is the part of an API key that tables show.
type keyView struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Secret  string `json:"secret_key"`
	Enabled bool   `json:"enabled"`
	Role    string `json:"api_key_role"`
	grantsView
}

// grantsView is the roles of a user, key or client.
type grantsView struct {
	APIRoles    []string `json:"api_roles"`
	CorpusRoles []struct {
		Corpus string `json:"corpus_key"`
		Role   string `json:"role"`
	} `json:"corpus_roles"`
	AgentRoles []struct {
		Agent string `json:"agent_key"`
		Role  string `json:"role"`
	} `json:"agent_roles"`
}

// String returns the roles in a line: API roles, then KEY:ROLE of corpora and agents.
func (g *grantsView) String() string {
	all := append([]string(nil), g.APIRoles...)
	for _, r := range g.CorpusRoles {
		all = append(all, r.Corpus+":"+r.Role)
	}
	for _, r := range g.AgentRoles {
		all = append(all, r.Agent+":"+r.Role)
	}
	return strings.Join(all, ", ")
}

// setEnabled enables or disables what is at path.
func setEnabled(r command.Remote, e *command.Env, path, what string, enabled bool) error {
	return r.Do(e, "PATCH", path, map[string]any{"enabled": enabled}, command.State(enabled)+" "+what)
}

type keyCreateCmd struct {
	command.Remote
	Name       string   `help:"Name of the key; default: derived from its roles." wire:"name"`
	Role       string   `help:"serving (may query the corpora named), serving_and_indexing (may also write their documents) or personal (has your own roles)." enum:",serving,serving_and_indexing,personal" default:"" placeholder:"ROLE" wire:"api_key_role"`
	As         string   `help:"Sign in as this user with a password, and create a key of theirs; asks on the terminal or reads standard input." placeholder:"NAME"`
	Corpus     []string `help:"Corpus that --role serving or serving_and_indexing reaches; repeatable." placeholder:"KEY" wire:"corpus_keys[]"`
	APIRole    []string `help:"Role of the key on everything, instead of --role; repeatable." name:"api-role" placeholder:"ROLE" wire:"api_roles[]"`
	CorpusRole []string `help:"Role of the key on one corpus, instead of --role, as key:role; repeatable." name:"corpus-role" placeholder:"KEY:ROLE" wire:"corpus_roles[]"`
	AgentRole  []string `help:"Role of the key on one agent, instead of --role, as key:role; repeatable." name:"agent-role" placeholder:"KEY:ROLE" wire:"agent_roles[]"`
}

func (keyCreateCmd) Help() string {
	return "Example: SITE_KEY=$(quarry key create --role serving --corpus docs)\n\nA key of your own: quarry key create --role personal --as ann"
}

// body returns the request. A key without a name is named after what it may do.
func (c *keyCreateCmd) body() (map[string]any, error) {
	body := command.Given(map[string]any{"api_key_role": c.Role, "corpus_keys": c.Corpus, "api_roles": c.APIRole})
	if err := AddRoles(body, c.CorpusRole, c.AgentRole); err != nil {
		return nil, err
	}
	if len(body) == 0 {
		return nil, command.Failed(command.ExitUsage, "say what the key may do: --role with --corpus, or --api-role, --corpus-role or --agent-role")
	}
	if body["name"] = c.Name; c.Name == "" {
		rights := slices.Concat([]string{c.Role}, c.Corpus, c.APIRole, c.CorpusRole, c.AgentRole)
		body["name"] = command.Clip(strings.Join(rights, " "), 100)
	}
	return body, nil
}

// AddRoles adds roles on corpora and agents, given as key:role, to a body. A list that is nil is left out.
func AddRoles(body map[string]any, corpora, agents []string) error {
	for _, on := range []struct {
		what, example string
		given         []string
	}{{"corpus", "docs:viewer", corpora}, {"agent", "helper:agent_user", agents}} {
		if on.given == nil {
			continue
		}
		roles := make([]map[string]string, 0, len(on.given))
		for _, text := range on.given {
			key, role, ok := strings.Cut(text, ":")
			if at := strings.LastIndex(text, "="); !ok && at >= 0 { // a key may have the sign, a role has none
				key, role, ok = text[:at], text[at+1:], true
			}
			if !ok {
				return command.Failed(command.ExitUsage, "%s role %q must look like %s", on.what, text, on.example)
			}
			roles = append(roles, map[string]string{on.what + "_key": key, "role": role})
		}
		body[on.what+"_roles"] = roles
	}
	return nil
}

func (c *keyCreateCmd) Run(e *command.Env) error {
	body, err := c.body()
	if err != nil {
		return err
	}
	if c.As != "" {
		if c.Token, err = signIn(c.Remote, e, c.As); err != nil {
			return err
		}
	}
	v, err := command.Send(e, c.Remote, "POST", "/v2/api_keys", body, func(v *keyView) { fmt.Fprintln(e.Out, v.Secret) })
	if err == nil {
		fmt.Fprintf(e.Err, "made key %s (%s); keep the secret now, it is not shown again\n", v.ID, v.Name)
	}
	return err
}

type keyListCmd struct {
	command.Remote
	command.Paging
	Role   string `help:"Only keys made as serving, serving_and_indexing or personal." enum:",serving,serving_and_indexing,personal" default:"" placeholder:"ROLE" wire:"api_key_role"`
	Corpus string `help:"Only keys with a role on this corpus." placeholder:"KEY" wire:"corpus_key"`
}

func (keyListCmd) Help() string { return "Example: quarry key list --corpus docs" }

func (c *keyListCmd) Run(e *command.Env) error {
	return command.Listing[keyView]{
		Path: "/v2/api_keys", Member: "api_keys", Query: url.Values{"api_key_role": {c.Role}, "corpus_key": {c.Corpus}},
		Paging: c.Paging,
		Empty:  "no such keys; make one with: quarry key create --role serving --corpus KEY",
		Header: []string{"ID", "STATE", "KEY", "MADE AS", "NAME", "ROLES"},
		Row: func(v *keyView) []string {
			return []string{v.ID, command.State(v.Enabled), v.Secret, v.Role, v.Name, v.grantsView.String()}
		},
	}.Print(e, c.Remote)
}

// oneKey is embedded by the commands on one key.
type oneKey struct {
	command.Remote
	ID string `arg:"" name:"id" help:"Id of the key, aky_… (not its secret)." wire:"api_key_id"`
}

func (c *oneKey) path() string { return "/v2/api_keys/" + command.Segment(c.ID) }

type keyGetCmd struct{ oneKey }

func (keyGetCmd) Help() string { return "Example: quarry key get aky_31 --json" }

func (c *keyGetCmd) Run(e *command.Env) error {
	return command.Show(e, c.Remote, c.path(), func(v *keyView) {
		command.Fields(e, [][]string{
			{"id", v.ID}, {"name", v.Name}, {"key", v.Secret}, {"enabled", strconv.FormatBool(v.Enabled)},
			{"made as", v.Role}, {"roles", v.grantsView.String()},
		})
	})
}

type keyEnableCmd struct{ oneKey }

func (keyEnableCmd) Help() string { return "Example: quarry key enable aky_31" }

func (c *keyEnableCmd) Run(e *command.Env) error {
	return setEnabled(c.Remote, e, c.path(), "key "+c.ID, true)
}

type keyDisableCmd struct{ oneKey }

func (keyDisableCmd) Help() string { return "Example: quarry key disable aky_31" }

func (c *keyDisableCmd) Run(e *command.Env) error {
	return setEnabled(c.Remote, e, c.path(), "key "+c.ID, false)
}

type keyDeleteCmd struct{ oneKey }

func (keyDeleteCmd) Help() string { return "Example: quarry key delete aky_31" }

func (c *keyDeleteCmd) Run(e *command.Env) error {
	return c.Do(e, "DELETE", c.path(), nil, "deleted key "+c.ID)
}
