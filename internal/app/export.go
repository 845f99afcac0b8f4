package app

import (
	"crypto/rand"
	"runtime/debug"

	"quarry/internal/otlp"
)

// openExporter starts what sends spans to a collector, where the settings name one.
func (a *App) openExporter() error {
	if a.cfg.OTLPEndpoint == "" {
		return nil
	}
	headers, err := a.cfg.Headers()
	if err != nil {
		return &SettingError{err}
	}
	address, err := otlp.Address(a.cfg.OTLPEndpoint)
	if err != nil {
		return &SettingError{err}
	}
	a.exporter = otlp.New(otlp.Config{
		HTTP: a.doors.spans, Endpoint: address, Headers: headers, Content: a.cfg.OTLPContent,
		Version: version(), Instance: rand.Text(), Log: a.log,
	})
	a.sinks = append(a.sinks, a.exporter)
	return nil
}

// version returns that of the program, as Go recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
