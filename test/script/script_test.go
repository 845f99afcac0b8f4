// Package script runs the command line as its users do: each file of testdata is a script of commands and what they
// must print. It holds tests alone.
package script

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"quarry/internal/provider/scripted"
	"quarry/internal/testkit"
	"quarry/test/toolserver"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// TestScripts proves the commands: their output, their exit codes, and what they leave behind.
func TestScripts(t *testing.T) {
	t.Parallel()
	binary := testkit.Binary(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("QUARRY_DATA", filepath.Join(e.WorkDir, "data"))
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, "cache"))
			e.Setenv("DATASETS", datasets())
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"server": server(t), "exits": exits, "api": api, "provider": provider(t), "toolserver": toolServer(t), "replace": replace, "terminal": terminal,
			"eventually": eventually, "damage": damage,
		},
	})
}

// datasets is the folder of the shared test collections, "" when it is not there.
func datasets() string {
	dir, err := filepath.Abs("../../../shared/data")
	if err != nil {
		return ""
	}
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}

// server starts a service on the script's data folder; it ends with the script.
func server(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		p := testkit.StartBinary(t, ts.Getenv("QUARRY_DATA"), args...)
		ts.Defer(p.Kill)
		ts.Setenv("SERVER_PID", strconv.Itoa(p.PID()))
		ts.Setenv("SERVER_URL", p.URL)
		ts.Setenv("SERVER_ADDR", strings.TrimPrefix(p.URL, "http://"))
	}
}

// provider starts a scripted provider of language models: provider NAME [MODEL]… sets NAME to its address; MODEL is what it
// lists. It ends with the script.
func provider(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) == 0 {
			ts.Fatalf("usage: provider NAME [MODEL]…")
		}
		s := scripted.Start(t)
		var models []scripted.Listed
		for _, m := range args[1:] {
			models = append(models, scripted.Listed{ID: m, Owner: "scripted", Context: 32768})
		}
		s.List(models...)
		ts.Setenv(args[0], s.URL)
	}
}

// toolServer starts the tool servers of package toolserver: toolserver NAME sets NAME to their address. They end with the script.
func toolServer(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 1 {
			ts.Fatalf("usage: toolserver NAME")
		}
		ts.Setenv(args[0], toolserver.Start(t).URL)
	}
}

// replace puts a text in the place of another in a file: replace OLD NEW FILE.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace OLD NEW FILE")
	}
	name := ts.MkAbs(args[2])
	ts.Check(os.WriteFile(name, []byte(strings.ReplaceAll(ts.ReadFile(args[2]), args[0], args[1])), 0o600))
}

// api sends a request as the owner: api METHOD PATH [BODY] [NAME=MEMBER]… sends the JSON object BODY and sets NAME to the value
// at the path MEMBER of the answer.
func api(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: api METHOD PATH [BODY] [NAME=MEMBER]…")
	}
	body := ""
	if len(args) > 2 && strings.HasPrefix(args[2], "{") {
		body = args[2]
		args = slices.Delete(args, 2, 3)
	}
	req, err := http.NewRequest(args[0], ts.Getenv("SERVER_URL")+args[1], strings.NewReader(body))
	ts.Check(err)
	key, err := os.ReadFile(filepath.Join(ts.Getenv("QUARRY_DATA"), "owner.key"))
	ts.Check(err)
	req.Header.Set("x-api-key", strings.TrimSpace(string(key)))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode/100 != 2 {
		ts.Fatalf("%s %s: %s", args[0], args[1], res.Status)
	}
	var answer any
	ts.Check(json.NewDecoder(res.Body).Decode(&answer))
	for _, a := range args[2:] {
		name, member, _ := strings.Cut(a, "=")
		ts.Setenv(name, fmt.Sprint(at(answer, member)))
	}
}

// at returns the value at a path such as api_keys.0.id, nil if there is none.
func at(v any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// eventually runs a command until it exits with a code: eventually CODE command args…
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually CODE command args…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		got := 0
		if err := ts.Exec(args[1], args[2:]...); err != nil {
			e, ok := err.(interface{ ExitCode() int })
			if !ok {
				ts.Fatalf("%v", err)
			}
			got = e.ExitCode()
		}
		if got == want {
			return
		}
	}
	ts.Fatalf("%v never exits with %d", args[1:], want)
}

// damage cuts the last line of every journal in a folder short: damage FOLDER.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damage FOLDER")
	}
	names, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.journal"))
	ts.Check(err)
	for _, name := range names {
		info, err := os.Stat(name)
		ts.Check(err)
		ts.Check(os.Truncate(name, info.Size()-7))
	}
}

// exits runs a command and compares its exit code: exits CODE command args…
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		e, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = e.ExitCode()
	}
	if got != want {
		ts.Fatalf("%v exits with %d, want %d", args[1:], got, want)
	}
}
