package script

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
)

// seen are the variables that a command on a terminal gets from the script.
var seen = []string{"PATH", "HOME", "QUARRY_DATA", "NO_COLOR", "TERM", "COLUMNS"}

// terminal runs a command on a pseudo-terminal: terminal CODE COLUMNS INPUT command args… compares the exit code; stdout then
// is what the terminal showed, with \e for escape. INPUT is typed when the command begins to print: as it is, but for \n, for \d,
// the end of the input, and for \c, Ctrl-C.
func terminal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: terminal CODE COLUMNS INPUT command args…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	width, err := strconv.ParseUint(args[1], 10, 16)
	ts.Check(err)
	cmd := exec.Command(args[3], args[4:]...)
	for dir := range strings.SplitSeq(ts.Getenv("PATH"), string(os.PathListSeparator)) {
		if _, err := os.Stat(dir + "/" + args[3]); err == nil {
			cmd.Path = dir + "/" + args[3]
			break
		}
	}
	cmd.Err = nil // of the search in the test's own PATH
	cmd.Dir = ts.MkAbs(".")
	for _, name := range seen {
		if v := ts.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: uint16(width)})
	ts.Check(err)
	defer func() { _ = tty.Close() }()
	shown := make([]byte, 1) // a key is pressed when there is something to see
	if _, err = io.ReadFull(tty, shown); err == nil {
		_, err = io.WriteString(tty, strings.NewReplacer(`\n`, "\n", `\d`, "\x04", `\c`, "\x03").Replace(args[2]))
		ts.Check(err)
		var rest []byte
		rest, err = io.ReadAll(tty)
		shown = append(shown, rest...)
	}
	if err != nil && !errors.Is(err, syscall.EIO) { // how Linux reports that nobody writes any more
		ts.Fatalf("read the terminal: %v", err)
	}
	_, err = io.WriteString(ts.Stdout(), strings.NewReplacer("\r\n", "\n", "\x1b", `\e`).Replace(string(shown)))
	ts.Check(err)
	_ = cmd.Wait() // its exit code is looked at
	if got := cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("%v exits with %d, want %d; the terminal showed:\n%s", args[3:], got, want, shown)
	}
}
