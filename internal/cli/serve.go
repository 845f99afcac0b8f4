package cli

import (
	"errors"
	"fmt"

	"quarry/internal/app"
	"quarry/internal/cli/command"
	"quarry/internal/config"
)

type serveCmd struct {
	command.Settings
	Listen *string `help:"Address to listen on (QUARRY_LISTEN; default 127.0.0.1:8080)." placeholder:"ADDR"`
}

func (serveCmd) Help() string {
	return "Example: quarry serve --data /var/lib/quarry --listen 127.0.0.1:9000"
}

func (c *serveCmd) Run(e *command.Env) error {
	cfg, err := c.Read(c.Listen)
	if err != nil {
		return err
	}
	a, err := app.Open(e.Ctx, cfg, command.NewLog(e.Err, cfg))
	if err != nil {
		return command.StartFailure(err)
	}
	c.announce(e, a, cfg)
	err = a.Serve(e.Ctx)
	return errors.Join(err, a.Close())
}

// announce prints the address and where everything is; the key itself is never printed.
func (c *serveCmd) announce(e *command.Env, a *app.App, cfg config.Config) {
	fmt.Fprintf(e.Out, "Quarry serves %s\n  data   %s\n  model  %s\n", a.URL(), cfg.Data, a.Encoder())
	if a.NewOwner {
		fmt.Fprintf(e.Out, "  key    written to %s (the owner's; print it with: quarry key show)\n", a.KeyFile())
	}
}
