package access

import (
	"cmp"
	"strings"

	"quarry/internal/cli/command"
)

// WhoAmICmd shows whom the credential belongs to.
type WhoAmICmd struct{ command.Remote }

// Help is printed below the usage.
func (WhoAmICmd) Help() string {
	return "A user (by a personal key or a token), a key with roles of its own, or a client, with the roles that count now.\n" +
		"--json shows the operations that they open, too.\n\nExample: quarry whoami --key zut_…"
}

// Run reads the caller.
func (c *WhoAmICmd) Run(e *command.Env) error {
	type caller struct {
		Type    string   `json:"type"`
		ID      string   `json:"id"`
		Name    string   `json:"name"`
		Email   string   `json:"email"`
		Groups  []string `json:"groups"`
		Expires string   `json:"expires_at"`
		grantsView
	}
	return command.Show(e, c.Remote, "/v2/caller", func(v *caller) {
		command.FieldsGiven(e, [][]string{
			{"type", v.Type}, {"id", v.ID}, {"name", v.Name}, {"email", v.Email}, {"groups", strings.Join(v.Groups, ", ")},
			{"roles", cmp.Or(v.grantsView.String(), "none")}, {"token expires", command.Second(v.Expires)},
		})
	})
}
