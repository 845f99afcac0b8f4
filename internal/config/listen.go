package config

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
)

// Address returns the setting listen as host and port, "" for none. A port alone is one of this machine.
func (c *Config) Address() (string, error) {
	if c.Listen == "" {
		return "", nil
	}
	bad := func(reason string) (string, error) {
		return "", fmt.Errorf("setting listen is %q: %s; write host:port, such as 127.0.0.1:9000, or a port alone", c.Listen, reason)
	}
	text := c.Listen
	if strings.Trim(text, "0123456789") == "" {
		text = "127.0.0.1:" + text
	}
	host, port, err := net.SplitHostPort(text)
	switch {
	case err != nil && strings.Contains(text, "://"):
		return bad("it is an address to listen on, not a URL")
	case err != nil && strings.Count(text, ":") > 1:
		return bad("an IPv6 address stands in brackets, such as [::1]:9000")
	case err != nil:
		return bad("it has no port")
	case port == "":
		return bad("it has no port")
	}
	if _, err := net.DefaultResolver.LookupPort(context.Background(), "tcp", port); err != nil { // reads a file at most
		return bad(fmt.Sprintf("%q is no port, which is a number up to 65535", port))
	}
	return net.JoinHostPort(host, port), nil
}

// Level returns the least level that the log shows on a terminal or anywhere else.
func (c *Config) Level(terminal bool) (level slog.Level) {
	switch {
	case c.Log == "debug":
		return slog.LevelDebug
	case c.Log == "requests":
		return slog.LevelInfo
	case c.Log == "warnings":
		return slog.LevelWarn
	case c.LogLevel != "":
		_ = level.UnmarshalText([]byte(c.LogLevel)) // Check has read it
		return level
	case terminal:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}
