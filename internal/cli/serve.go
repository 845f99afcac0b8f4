package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"quarry/internal/app"
	"quarry/internal/cli/command"
	"quarry/internal/config"
	"quarry/internal/redact"
)

type serveCmd struct {
	Data     *string `help:"Data folder (QUARRY_DATA; default ./quarry-data)." placeholder:"DIR"`
	Listen   *string `help:"Address to listen on (QUARRY_LISTEN; default 127.0.0.1:8080)." placeholder:"ADDR"`
	Config   string  `help:"YAML file with settings; docs/reference/config.md lists them." env:"QUARRY_CONFIG" placeholder:"FILE"`
	Database *string `help:"postgres:// URL (QUARRY_DATABASE); default: SQLite in the data folder." placeholder:"URL"`
}

func (serveCmd) Help() string {
	return "Example: quarry serve --data /var/lib/quarry --listen 127.0.0.1:9000"
}

func (c *serveCmd) Run(e *command.Env) error {
	cfg, err := c.settings()
	if err != nil {
		return command.Failed(command.ExitUsage, "%v", err)
	}
	a, err := app.Open(e.Ctx, cfg, newLog(e.Err, cfg))
	if err != nil {
		return startFailure(err)
	}
	c.announce(e, a, cfg)
	err = a.Serve(e.Ctx)
	return errors.Join(err, a.Close())
}

func (c *serveCmd) settings() (config.Config, error) {
	cfg := config.Default()
	if c.Config != "" {
		if err := cfg.ReadFile(c.Config); err != nil {
			return cfg, err
		}
	}
	if err := cfg.ReadEnv(os.LookupEnv); err != nil {
		return cfg, err
	}
	for _, f := range []struct {
		flag *string
		to   *string
	}{{c.Data, &cfg.Data}, {c.Listen, &cfg.Listen}, {c.Database, &cfg.Database}} {
		if f.flag != nil {
			*f.to = *f.flag
		}
	}
	return cfg, cfg.Check()
}

// announce tells where everything is; the key itself is never printed.
func (c *serveCmd) announce(e *command.Env, a *app.App, cfg config.Config) {
	fmt.Fprintf(e.Out, "Quarry serves %s\n  data   %s\n  model  %s\n", a.URL(), cfg.Data, a.Encoder())
	if a.NewOwner {
		fmt.Fprintf(e.Out, "  key    written to %s (the owner's; print it with: quarry key show)\n", a.KeyFile())
	}
}

// startFailure gives the exit code for each reason not to start.
func startFailure(err error) error {
	var held *app.HeldError
	var port *app.PortError
	var folder *app.FolderError
	switch {
	case errors.As(err, &held):
		return command.Failed(command.ExitHeld, "%v", held)
	case errors.As(err, &port):
		return command.Failed(command.ExitPort, "%v", port)
	case errors.As(err, &folder):
		return command.Failed(command.ExitFolder, "%v", folder)
	}
	return err
}

func newLog(w io.Writer, cfg config.Config) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.LogLevel)) // checked by cfg.Check
	options := &slog.HandlerOptions{Level: level}
	w = redact.Writer(w)
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
