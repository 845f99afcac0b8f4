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

// Read returns the settings: a flag beats the environment, which beats the file. listen is the flag of that name, nil
// for none.
func (s *Settings) Read(listen *string) (config.Config, error) {
	cfg := config.Default()
	if s.Config != "" {
		if err := cfg.ReadFile(s.Config); err != nil {
			return cfg, Failed(ExitUsage, "%v", err)
		}
	}
	if err := cfg.ReadEnv(os.LookupEnv); err != nil {
		return cfg, Failed(ExitUsage, "%v", err)
	}
	for _, f := range []struct {
		flag *string
		to   *string
	}{{s.Data, &cfg.Data}, {listen, &cfg.Listen}, {s.Database, &cfg.Database}} {
		if f.flag != nil {
			*f.to = *f.flag
		}
	}
	if err := cfg.Check(); err != nil {
		return cfg, Failed(ExitUsage, "%v", err)
	}
	return cfg, nil
}

// StartFailure returns the error with the exit code for each reason that an installation can't be opened.
func StartFailure(err error) error {
	var held *app.HeldError
	var port *app.PortError
	var folder *app.FolderError
	switch {
	case errors.As(err, &held):
		return Failed(ExitHeld, "%v", held)
	case errors.As(err, &port):
		return Failed(ExitPort, "%v", port)
	case errors.As(err, &folder):
		return Failed(ExitFolder, "%v", folder)
	}
	return err
}

// NewLog returns a log at the level and in the format of the settings.
func NewLog(w io.Writer, cfg config.Config) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.LogLevel)) // checked by cfg.Check
	options := &slog.HandlerOptions{Level: level}
	w = redact.Writer(w)
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
