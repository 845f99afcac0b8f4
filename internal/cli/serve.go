package cli

import (
	"errors"
	"fmt"

	"quarry/internal/app"
	"quarry/internal/background"
	"quarry/internal/cli/command"
	"quarry/internal/config"
	"quarry/internal/reader"
)

type serveCmd struct {
	command.Settings
	Listen  *string `help:"Address to listen on, host:port or a port of this machine alone (QUARRY_LISTEN; default 127.0.0.1:8080)." placeholder:"ADDR"`
	TLSCert *string `help:"File with the certificate for HTTPS, PEM (QUARRY_TLS_CERT)." name:"tls-cert" placeholder:"FILE"`
	TLSKey  *string `help:"File with the private key of that certificate, PEM (QUARRY_TLS_KEY)." name:"tls-key" placeholder:"FILE"`
	Log     *string `help:"What the log shows: warnings, requests or debug (QUARRY_LOG; default: warnings on a terminal, requests elsewhere)." placeholder:"WHAT"`
}

func (serveCmd) Help() string {
	return "Example: quarry serve --data /var/lib/quarry --listen 9000\n\n" +
		"Example: quarry serve --listen 0.0.0.0:443 --tls-cert /etc/quarry/cert.pem --tls-key /etc/quarry/key.pem"
}

func (c *serveCmd) Run(e *command.Env) error {
	cfg, err := c.Read(
		command.Flag{Value: c.Listen, To: func(c *config.Config) *string { return &c.Listen }},
		command.Flag{Value: c.TLSCert, To: func(c *config.Config) *string { return &c.TLSCert }},
		command.Flag{Value: c.TLSKey, To: func(c *config.Config) *string { return &c.TLSKey }},
		command.Flag{Value: c.Log, To: func(c *config.Config) *string { return &c.Log }},
	)
	if err != nil {
		return err
	}
	if cfg.Listen == "" { // which a program without a listener may be opened with
		return command.Failed(command.ExitUsage, "setting listen is empty: write host:port, such as 127.0.0.1:9000, or a port alone")
	}
	background.MakeRoom()
	program, err := reader.Program()
	if err != nil {
		return err
	}
	a, err := app.Open(e.Ctx, cfg, command.NewLog(e.Err, cfg), program, "worker")
	if err != nil {
		return command.StartFailure(err)
	}
	c.announce(e, a, cfg)
	a.Stopping = func(requests int64) { fmt.Fprintln(e.Out, stopping(requests)) }
	if err = errors.Join(a.Serve(e.Ctx), a.Close()); err == nil {
		fmt.Fprintln(e.Out, "stopped")
	}
	return err
}

// announce prints the address and where everything is; the key itself is never printed.
func (c *serveCmd) announce(e *command.Env, a *app.App, cfg config.Config) {
	fmt.Fprintf(e.Out, "Quarry serves %s\n", a.URL())
	if a.Everywhere() {
		fmt.Fprintln(e.Out, "  on     every interface of this machine")
	}
	fmt.Fprintf(e.Out, "  data   %s\n  model  %s\n", cfg.Data, a.Encoder())
	fmt.Fprintf(e.Out, "  ocr    %s\n", a.Recognition())
	fmt.Fprintln(e.Out, "  pages  the console is in the browser, at the address that this prints: quarry console")
	if a.NewOwner {
		fmt.Fprintf(e.Out, "  key    written to %s (the owner's; print it with: quarry key show)\n", a.KeyFile())
	}
}

// stopping returns the line for a service that begins to stop with that many requests in flight.
func stopping(requests int64) string {
	switch requests {
	case 0:
		return "stopping"
	case 1:
		return "stopping: waiting for 1 request; Ctrl-C again ends at once"
	}
	return fmt.Sprintf("stopping: waiting for %d requests; Ctrl-C again ends at once", requests)
}
