package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

type keyShowCmd struct {
	Data string `help:"Data folder." env:"QUARRY_DATA" default:"./quarry-data" placeholder:"DIR"`
	JSON bool   `help:"Print JSON." name:"json"`
}

func (keyShowCmd) Help() string { return "Example: curl -H \"x-api-key: $(quarry key show)\" …" }

func (c *keyShowCmd) Run(e *env) error {
	raw, err := os.ReadFile(filepath.Join(c.Data, keyFile))
	if err != nil {
		return failed(exitSomeFailed, "no key in %s: the first start of quarry serve writes %s there (%v)", c.Data, keyFile, err)
	}
	key := strings.TrimSpace(string(raw))
	if c.JSON {
		return json.NewEncoder(e.Out).Encode(map[string]string{"key": key})
	}
	fmt.Fprintln(e.Out, key)
	return nil
}

type versionCmd struct {
	JSON bool `help:"Print JSON." name:"json"`
}

func (versionCmd) Help() string { return "Example: quarry version --json" }

// Version is set by the release build; a build from source names its revision.
var Version = "dev"

func (c *versionCmd) Run(e *env) error {
	v := map[string]string{"version": Version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v["revision"] = s.Value
			}
		}
	}
	if c.JSON {
		return json.NewEncoder(e.Out).Encode(v)
	}
	fmt.Fprintf(e.Out, "quarry %s (%s, %s)\n", v["version"], v["go"], v["platform"])
	return nil
}
