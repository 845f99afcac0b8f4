// Package deploy checks the files that run Quarry as a service: the unit of systemd and the two files of Docker.
package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"quarry/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestUnit(t *testing.T) {
	// Proves that systemd takes the unit without a warning, with the real program in its place and with the certificate that
	// the guide adds, and judges it well confined.
	t.Parallel()
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		testkit.Skip(t, "systemd-analyze is not installed")
	}
	unit := filepath.Join(t.TempDir(), "quarry.service")
	added := regexp.MustCompile("(?s)```ini\n(.*?)```").FindStringSubmatch(read(t, "../docs/guide/deploy.md"))
	if added == nil {
		t.Fatal("the guide adds nothing to the unit")
	}
	text := strings.Replace(read(t, "quarry.service"), "/usr/local/bin/quarry", testkit.Binary(t), 1) + "\n" + added[1]
	if err := os.WriteFile(unit, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"verify", "--man=no", unit},
		{"security", "--offline=true", "--threshold=20", unit}, // tenths of exposure; an unconfined service has 96
	} {
		out, err := exec.CommandContext(t.Context(), tool, args...).CombinedOutput()
		if err != nil || args[0] == "verify" && len(out) > 0 {
			t.Errorf("systemd-analyze %s: %v\n%s", args[0], err, out)
		}
	}
}

func TestUnitStopsRestarting(t *testing.T) {
	// Proves that systemd does not start again what a restart can't mend: the exit codes of serve in the guide of the command
	// line.
	t.Parallel()
	if line := "RestartPreventExitStatus=2 3 4 5\n"; !strings.Contains(read(t, "quarry.service"), line) {
		t.Errorf("the unit lacks %q", line)
	}
}

func TestCompose(t *testing.T) {
	// Proves that the container runs without rights that it does not need, keeps its data in a volume, and is reached from
	// its machine alone.
	t.Parallel()
	var file struct {
		Services map[string]struct {
			Ports    []string
			Volumes  []string
			ReadOnly bool     `yaml:"read_only"`
			Drop     []string `yaml:"cap_drop"`
			Options  []string `yaml:"security_opt"`
			Build    struct{ Context, Dockerfile string }
		}
		Volumes map[string]any
	}
	if err := yaml.Unmarshal([]byte(read(t, "compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	s, ok := file.Services["quarry"]
	if !ok || !s.ReadOnly || !slices.Contains(s.Drop, "ALL") || !slices.Contains(s.Options, "no-new-privileges:true") {
		t.Errorf("%+v", s)
	}
	for _, p := range s.Ports {
		if !strings.HasPrefix(p, "127.0.0.1:") {
			t.Errorf("port %s is open to the network", p)
		}
	}
	for _, v := range s.Volumes {
		if name, _, _ := strings.Cut(v, ":"); !slices.Contains([]string{"data"}, name) {
			t.Errorf("volume %s", v)
		}
	}
	if _, err := os.Stat(filepath.Join(s.Build.Context, s.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
}

func TestDockerfile(t *testing.T) {
	// Proves that the image is made from nothing, does not run as root, and names a version of Go that the module asks for.
	t.Parallel()
	text := read(t, "Dockerfile")
	_, last, _ := strings.Cut(text, "\nFROM scratch\n")
	if !regexp.MustCompile(`(?m)^USER [1-9]\d*:[1-9]\d*$`).MatchString(last) || strings.Contains(last, "RUN ") {
		t.Errorf("the last stage is\n%s", last)
	}
	asked := regexp.MustCompile(`(?m)^go (1\.\d+)`).FindStringSubmatch(read(t, "../go.mod"))
	if asked == nil || !strings.Contains(text, "FROM golang:"+asked[1]+" ") {
		t.Errorf("go.mod asks for %v", asked)
	}
}
