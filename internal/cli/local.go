package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"quarry/internal/cli/command"
)

type versionCmd struct {
	JSON bool `help:"Print JSON." name:"json"`
}

func (versionCmd) Help() string { return "Example: quarry version --json" }

// Version is set by the release build; a build from source names its revision.
var Version = "dev"

func (c *versionCmd) Run(e *command.Env) error {
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
