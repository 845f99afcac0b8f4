package access

import (
	"encoding/json"
	"fmt"

	"quarry/internal/app"
	"quarry/internal/cli/command"
)

type keyRecoverCmd struct {
	command.Settings
	JSON bool `help:"Print JSON." name:"json"`
}

func (keyRecoverCmd) Help() string {
	return "For an installation whose owners have no working key, because it was lost, disabled or deleted. Stop the service on this data folder\n" +
		"first. Only a key that no longer belongs to an owner is replaced, and the audit records it.\n\n" +
		"Example: quarry key recover --data /var/lib/quarry"
}

func (c *keyRecoverCmd) Run(e *command.Env) error {
	cfg, err := c.Read()
	if err != nil {
		return err
	}
	r, err := app.Recover(e.Ctx, cfg, command.NewLog(e.Err, cfg))
	if err != nil {
		return command.StartFailure(err)
	}
	switch {
	case c.JSON:
		return json.NewEncoder(e.Out).Encode(map[string]string{"file": r.File, "id": string(r.Key), "user": r.User})
	case r.Key == "":
		fmt.Fprintf(e.Out, "the key in %s is an owner's and works; nothing was made\n", r.File)
	default:
		fmt.Fprintf(e.Out, "made key %s of the owner %s; it is in %s (print it with: quarry key show)\n", r.Key, r.User, r.File)
	}
	return nil
}
