// Package credential reads the credentials of other services that commands register: a key from the environment or from standard
// input, or an auth object from a file. They are never arguments, which other people on the machine can read.
package credential

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"quarry/internal/cli/command"
)

// Flags are embedded by the commands that register a service.
type Flags struct {
	KeyEnv    string `help:"Environment variable that holds its key." placeholder:"VAR"`
	KeyStdin  bool   `help:"Read its key from the first line of standard input."`
	KeyHeader string `help:"Header for the key; default: that of the type." placeholder:"NAME"`
	AuthFile  string `help:"File with an auth object, for credentials other than a single key (OAuth clients, service accounts, AWS); - for standard input." placeholder:"FILE" wire:"auth"`
}

// Check refuses more than one source.
func (f *Flags) Check() error {
	sources := 0
	for _, given := range []bool{f.KeyEnv != "", f.KeyStdin, f.AuthFile != ""} {
		if given {
			sources++
		}
	}
	if sources > 1 {
		return command.Failed(command.ExitUsage, "give one of --key-env, --key-stdin and --auth-file")
	}
	return nil
}

// Auth returns the credentials as the contract writes them, nil for none. usual makes them of a key that goes into no header of
// its own.
func (f *Flags) Auth(e *command.Env, usual func(key string) map[string]any) (map[string]any, error) {
	if f.AuthFile != "" {
		return f.read(e)
	}
	key, err := f.key(e)
	switch {
	case key == "" || err != nil:
		return nil, err
	case f.KeyHeader != "":
		return map[string]any{"type": "header", "header": f.KeyHeader, "value": key}, nil
	}
	return usual(key), nil
}

// longest is the longest key or auth object that is read, in bytes.
const longest = 64 << 10

func (f *Flags) key(e *command.Env) (string, error) {
	switch {
	case f.KeyEnv != "":
		key := strings.TrimSpace(os.Getenv(f.KeyEnv))
		if key == "" {
			return "", command.Failed(command.ExitUsage, "the environment variable %s is empty", f.KeyEnv)
		}
		return key, nil
	case f.KeyStdin:
		line, err := bufio.NewReader(io.LimitReader(e.In, longest)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read key: %w", err)
		}
		if line = strings.TrimSpace(line); line == "" {
			return "", command.Failed(command.ExitUsage, "no key came on standard input")
		}
		return line, nil
	}
	return "", nil
}

// read reads an auth object. Its errors do not quote it.
func (f *Flags) read(e *command.Env) (map[string]any, error) {
	in := e.In
	if f.AuthFile != "-" {
		file, err := os.Open(f.AuthFile)
		if err != nil {
			return nil, command.Failed(command.ExitUsage, "%v", err)
		}
		defer func() { _ = file.Close() }() // only read
		in = file
	}
	raw, err := io.ReadAll(io.LimitReader(in, longest))
	if err != nil {
		return nil, fmt.Errorf("read auth: %w", err)
	}
	var auth map[string]any
	if json.Unmarshal(raw, &auth) != nil || auth["type"] == nil {
		return nil, command.Failed(command.ExitUsage, "%s holds no JSON object with a type, such as {\"type\": \"oauth_client_credentials\", …}", f.AuthFile)
	}
	return auth, nil
}
