package command

import (
	"errors"
	"io"
	"log/slog"
	"os"

	"quarry/internal/app"
	"quarry/internal/config"
	"quarry/internal/secret/redact"
)

// Settings is embedded by the commands that work on an installation itself rather than speak to a running service.
type Settings struct {
	Data     *string `help:"Data folder (QUARRY_DATA; default ./quarry-data)." placeholder:"DIR"`
	Config   string  `help:"YAML file with settings; docs/reference/config.md lists them." env:"QUARRY_CONFIG" placeholder:"FILE"`
	Database *string `help:"postgres:// URL (QUARRY_DATABASE); default: SQLite in the data folder." placeholder:"URL"`
}

// Flag is a flag that overlays a setting when it is given.
type Flag struct {
	Value *string // nil: not given
	To    func(*config.Config) *string
}

// Read returns the settings: a flag beats the environment, which beats the file.
func (s *Settings) Read(flags ...Flag) (config.Config, error) {
	cfg := config.Default()
	if s.Config != "" {
		if err := cfg.ReadFile(s.Config); err != nil {
			return cfg, Failed(ExitUsage, "%v", err)
		}
	}
	if err := cfg.ReadEnv(os.LookupEnv); err != nil {
		return cfg, Failed(ExitUsage, "%v", err)
	}
	flags = append(flags,
		Flag{s.Data, func(c *config.Config) *string { return &c.Data }},
		Flag{s.Database, func(c *config.Config) *string { return &c.Database }})
	for _, f := range flags {
		if f.Value != nil {
			*f.To(&cfg) = *f.Value
		}
	}
	if err := cfg.Check(); err != nil {
		return cfg, Failed(ExitUsage, "%v", err)
	}
	return cfg, nil
}

// StartFailure returns the error with the exit code for each reason that an installation can't be opened.
func StartFailure(err error) error {
	var setting *app.SettingError
	var held *app.HeldError
	var port *app.PortError
	var folder *app.FolderError
	switch {
	case errors.As(err, &setting):
		return Failed(ExitUsage, "%v", setting)
	case errors.As(err, &held):
		return Failed(ExitHeld, "%v", held)
	case errors.As(err, &port):
		return Failed(ExitPort, "%v", port)
	case errors.As(err, &folder):
		return Failed(ExitFolder, "%v", folder)
	}
	return err
}

// NewLog returns a log to w at the level and in the format of the settings.
func NewLog(w io.Writer, cfg config.Config) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.Level(IsTerminal(w))}
	w = redact.Writer(w)
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
