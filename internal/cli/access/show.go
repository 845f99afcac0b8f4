package access

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"quarry/internal/cli/command"
)

type keyShowCmd struct {
	Data string `help:"Data folder." env:"QUARRY_DATA" default:"./quarry-data" placeholder:"DIR"`
	JSON bool   `help:"Print JSON." name:"json"`
}

func (keyShowCmd) Help() string { return "Example: curl -H \"x-api-key: $(quarry key show)\" …" }

func (c *keyShowCmd) Run(e *command.Env) error {
	raw, err := os.ReadFile(filepath.Join(c.Data, command.KeyFile))
	if err != nil {
		return command.Failed(command.ExitSomeFailed, "no key in %s: the first start of quarry serve writes %s there (%v)", c.Data, command.KeyFile, err)
	}
	key := strings.TrimSpace(string(raw))
	if c.JSON {
		return json.NewEncoder(e.Out).Encode(map[string]string{"key": key})
	}
	fmt.Fprintln(e.Out, key)
	return nil
}
