package cli

import (
	"encoding/json"
	"fmt"

	"quarry/internal/cli/command"
)

type urlCmd struct {
	URL  string `help:"Address of the service; default: the one that the data folder names." env:"QUARRY_URL" placeholder:"URL"`
	Data string `help:"Data folder to take the address from." env:"QUARRY_DATA" default:"./quarry-data" placeholder:"DIR"`
	JSON bool   `help:"Print JSON." name:"json"`
}

func (urlCmd) Help() string { return "Example: curl $(quarry url)/healthz" }

// Run prints the address that the other commands call, for use with other clients.
func (c *urlCmd) Run(e *command.Env) error {
	cl, err := command.Connection{URL: c.URL, Data: c.Data}.Reach()
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(e.Out).Encode(map[string]string{"url": cl.Base})
	}
	fmt.Fprintln(e.Out, cl.Base)
	return nil
}
