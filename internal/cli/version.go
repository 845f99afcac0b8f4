package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"quarry/internal/cli/command"
	"quarry/internal/cpu"
	"quarry/internal/embed"
	"quarry/internal/encode"
	"quarry/internal/encode/asset"
)

// Set by the release build. Without them a build in a clone has what Go records of the commit.
var (
	Version    = ""
	Commit     = ""
	CommitTime = "" // RFC 3339
)

// build describes a program: what it was built from and what it computes with.
type build struct {
	Version    string `json:"version"`
	Commit     string `json:"commit"`             // "" when it was not built in a clone
	Modified   bool   `json:"modified,omitempty"` // the clone had changes that are in no commit
	CommitTime string `json:"commit_time,omitempty"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
	Kernels    string `json:"kernels"` // those chosen on this machine unless the setting kernel says otherwise
	Model      model  `json:"model"`
}

// model is the sentence encoder inside.
type model struct {
	Name       string `json:"name"`
	Source     string `json:"source"`
	Licence    string `json:"licence"`
	Dimensions int    `json:"dimensions"`
}

// thisBuild returns the description of the running program.
func thisBuild() (build, error) {
	b := build{Version: Version, Commit: Commit, CommitTime: CommitTime, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Kernels: cpu.Current().String()}
	if info, ok := debug.ReadBuildInfo(); ok && b.Version == "" {
		b.recorded(info)
	}
	encoder, err := encode.Open(asset.MiniLM())
	if err != nil {
		return b, err
	}
	b.Model = model{embed.DefaultName, encoder.Meta().Source, encoder.Meta().Licence, encoder.Dim()}
	return b, nil
}

// recorded fills in what Go records of a build that is no release.
func (b *build) recorded(info *debug.BuildInfo) {
	if b.Version = info.Main.Version; b.Version == "(devel)" {
		b.Version = "dev"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.CommitTime = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
}

// text returns the description in lines.
func (b build) text() string {
	commit := ""
	if b.Commit != "" {
		commit = "commit " + b.Commit[:min(12, len(b.Commit))]
		if b.Modified {
			commit += " with changes"
		}
		commit += ", "
	}
	source, _, _ := strings.Cut(b.Model.Source, ",")
	return fmt.Sprintf("quarry %s (%s%s, %s)\n  kernels  %s\n  model    %s (%s, %d dimensions)\n",
		b.Version, commit, b.Go, b.Platform, b.Kernels, b.Model.Name, source, b.Model.Dimensions)
}

type versionCmd struct {
	JSON bool `help:"Print JSON." name:"json"`
}

func (versionCmd) Help() string { return "Example: quarry version --json" }

func (c *versionCmd) Run(e *command.Env) error {
	b, err := thisBuild()
	if err != nil {
		return err
	}
	if c.JSON {
		out := json.NewEncoder(e.Out)
		out.SetIndent("", "  ")
		return out.Encode(b)
	}
	_, err = fmt.Fprint(e.Out, b.text())
	return err
}

// asCommand returns the arguments with the flag --version as the command that it stands for, --json kept.
func asCommand(args []string) []string {
	if !slices.Contains(args, "--version") || slices.ContainsFunc(args, func(a string) bool { return a != "--version" && a != "--json" }) {
		return args
	}
	if slices.Contains(args, "--json") {
		return []string{"version", "--json"}
	}
	return []string{"version"}
}
