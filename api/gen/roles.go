package main

import (
	"fmt"
	"slices"
	"strings"

	"quarry/internal/identity/authz"
)

// rolesPage is the page of roles, seen from outDir.
const rolesPage = "../../docs/reference/roles.md"

const rolesHead = "<!-- Written by `make generate` from api/openapi.yaml; do not edit. -->\n\n" + `# Who may do what

A caller may run an operation if it holds **one** of the roles that stand in the operation's row: an API role, or a
corpus role on every corpus that the request names, or an agent role on the agent that it names (on any agent where it
names none). The rows list a role together with all that include it, so nothing needs to be added in one's head. What
no row allows is refused with 403. Operations that are not built yet are decided the same way before they answer 501.
Operations with a † take no API key that has roles of its own: a personal key, a person who signed in, or a client.
Operations that name no role are open to everybody, to every caller that is authenticated, or to every person.
How roles are given is in [docs/guide/access.md](../guide/access.md).

API roles count everywhere. In the tables they are columns:
`

// column is an API role under its heading.
type column struct{ role, heading string }

// columns are the API roles in the order of the page; a role that the contract adds comes last, under its own name.
var columns = []column{
	{"owner", "own"}, {"administrator", "adm"}, {"viewer", "view"},
	{"corpus_administrator", "c-adm"}, {"corpus_developer", "c-dev"}, {"corpus_viewer", "c-view"},
	{"agent_administrator", "a-adm"}, {"agent_developer", "a-dev"}, {"agent_viewer", "a-view"}, {"agent_user", "a-user"}, {"agent_end_user", "a-end"},
	{"pipeline_administrator", "p-adm"}, {"pipeline_viewer", "p-view"}, {"metrics_viewer", "m-view"}, {"billing_administrator", "bill"},
}

// rolesMarkdown returns the page docs/reference/roles.md.
func (c *contract) rolesMarkdown() ([]byte, error) {
	cols := columns
	for _, role := range strs(obj(c.schemas["ApiRole"])["enum"]) {
		if !slices.ContainsFunc(cols, func(x column) bool { return x.role == role }) {
			cols = append(slices.Clone(cols), column{role, role})
		}
	}
	var b strings.Builder
	b.WriteString(rolesHead)
	for _, x := range cols {
		fmt.Fprintf(&b, "%s = `%s`, ", x.heading, x.role)
	}
	page := strings.TrimSuffix(b.String(), ", ") + ".\n\n" + includesMarkdown()
	var tags []string
	rows := map[string]string{}
	for _, op := range c.operations {
		tag := strings.Join(strs(op.spec["tags"]), ", ")
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
		row, err := rolesRow(op, cols)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", op.method, op.path, err)
		}
		rows[tag] += row
	}
	for _, tag := range tags {
		page += "\n## " + tag + "\n\n| Operation | Route |"
		for _, x := range cols {
			page += " " + x.heading + " |"
		}
		page += " on the corpus | on the agent |\n|---|---|" + strings.Repeat(":-:|", len(cols)) + "---|---|\n" + rows[tag]
	}
	return []byte(page), nil
}

// includesMarkdown returns the table of the roles that each role includes when roles are granted.
func includesMarkdown() string {
	page := "Nobody gives or takes a role that they do not hold. Who has the role on the left may give it, and those on the right:\n\n" +
		"| API role | includes |\n|---|---|\n"
	for _, x := range columns {
		page += "| `" + x.role + "` | " + strings.Join(authz.Includes(x.role), ", ") + " |\n"
	}
	return page + "\nOn a corpus `owner` includes `administrator`, that `editor`, that `viewer`; what they open, `corpus_administrator`, " +
		"`corpus_administrator`,\n`corpus_developer` and `corpus_viewer` open on every corpus. On an agent the roles are those of the API, for that agent alone.\n"
}

func rolesRow(op operation, cols []column) (string, error) {
	roles := map[string][]string{}
	for _, r := range list(op.spec["x-required-roles"]) {
		roles[str(obj(r)["type"])] = strs(obj(r)["roles"])
	}
	name := op.id()
	if personal(op) {
		name += " †"
	}
	row := fmt.Sprintf("| %s | `%s %s` |", name, op.method, op.path)
	marked := 0
	for _, x := range cols {
		if slices.Contains(roles["ApiRole"], x.role) {
			row += " ● |"
			marked++
			continue
		}
		row += "  |"
	}
	if marked != len(roles["ApiRole"]) {
		return "", fmt.Errorf("one of the API roles %q is not known to the contract", roles["ApiRole"])
	}
	if len(roles) == 0 {
		return row + " open to " + openTo(op) + " | |\n", nil
	}
	return row + " " + strings.Join(roles["CorpusRole"], ", ") + " | " + strings.Join(roles["AgentRole"], ", ") + " |\n", nil
}

// openTo returns to whom an operation without roles is open.
func openTo(op operation) string {
	switch str(op.spec["x-open-to"]) {
	case "callers":
		return "every caller"
	case "people":
		return "every person, by a personal key or a sign-in"
	}
	return "everybody"
}
