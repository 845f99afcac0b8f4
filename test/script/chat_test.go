package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"quarry/internal/provider/scripted"
	"quarry/internal/testkit"
)

// person sits at a terminal in which a command runs.
type person struct {
	t       *testing.T
	tty     *os.File
	outputs chan string
	seen    string // what the terminal has shown and nobody waited for yet
}

// sit starts a command on a terminal.
func sit(t *testing.T, env []string, name string, args ...string) (*person, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, tty: tty, outputs: make(chan string, 1000)}
	t.Cleanup(func() { _ = tty.Close(); _ = cmd.Process.Kill() })
	go func() {
		defer close(p.outputs)
		buffer := make([]byte, 4096)
		for {
			n, err := tty.Read(buffer)
			p.outputs <- string(buffer[:n])
			if err != nil { // the command has ended
				return
			}
		}
	}()
	return p, cmd
}

// await waits until the terminal shows a text, and returns what it showed before.
func (p *person) await(text string) string {
	p.t.Helper()
	limit := time.After(time.Minute)
	for {
		if before, after, ok := strings.Cut(p.seen, text); ok {
			p.seen = after
			return before
		}
		select {
		case more, ok := <-p.outputs:
			if !ok {
				p.t.Fatalf("the command ended without %q; it showed %q", text, p.seen)
			}
			p.seen += more
		case <-limit:
			p.t.Fatalf("no %q in %q", text, p.seen)
		}
	}
}

// press types keys.
func (p *person) press(keys string) {
	p.t.Helper()
	if _, err := p.tty.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// Keys of a terminal.
const (
	enter  = "\r"
	ctrlC  = "\x03"
	ctrlD  = "\x04"
	rubout = "\x7f"
	up     = "\x1b[A"
	left   = "\x1b[D"
)

// pump starts a service with a corpus of that name. It returns the environment of commands that call it, and a function that
// runs one.
func pump(t *testing.T) (env []string, quarry func(args ...string) string) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	service := testkit.StartBinary(t, data)
	t.Cleanup(service.Kill)
	env = []string{"QUARRY_DATA=" + data, "TERM=xterm", "NO_COLOR=1", "COLUMNS="}
	quarry = func(args ...string) string {
		t.Helper()
		cmd := exec.Command(testkit.Binary(t), args...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("quarry %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	folder := filepath.Join(t.TempDir(), "pump")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "a.md"), []byte("The filter is replaced every 500 hours.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	quarry("index", folder)
	return env, quarry
}

func TestChatOnATerminal(t *testing.T) {
	// Proves that a person can edit and recall questions, paste one of several lines, stop an answer without ending the chat, clear a
	// line, and end the chat.
	t.Parallel()
	models := scripted.Start(t)
	env, quarry := pump(t)
	quarry("llm", "add", "mine", "--uri", models.URL+"/v1/chat/completions", "--model", "on:forever:pace:100:100000", "--default")

	p, cmd := sit(t, env, testkit.Binary(t), "chat", "pump")
	p.await("mine answers")
	p.await("Ctrl-D ends the chat")
	p.await("pump> ")
	p.press("wait forever" + enter) // an answer without an end
	p.await("word word")
	p.press(ctrlC)
	p.await("stopped; the question is not kept")
	p.await("pump> ")
	p.press("half a question" + ctrlC)
	p.await("Ctrl-D ends the chat")
	p.await("pump> ")
	p.press("What is replacdx" + rubout + "?" + left + left + "e" + enter)
	p.await("The answer stands in the first passage [1].")
	p.await("Sources")
	p.await("[1] a.md")
	p.await("Consistency")
	p.await("pump> ")
	p.press(up + enter)
	p.await("The answer stands in the first passage [1].")
	p.await("pump> ")
	p.press("/sources" + enter)
	p.await("The filter is replaced every 500 hours.")
	p.await("pump> ")
	p.press("\x1b[200~one line\rand another\x1b[201~" + enter)
	p.await("The answer stands in the first passage [1].")
	p.await("pump> ")
	p.press("/what" + enter)
	p.await("/help lists what it does")
	p.await("pump> ")
	p.press(ctrlD)
	p.await("--resume ")
	id, _, _ := strings.Cut(p.await("\r\n"), "\r")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the chat ends with %v", err)
	}
	want := "> What is replaced?\nThe answer stands in the first passage [1].\n\n" +
		"> What is replaced?\nThe answer stands in the first passage [1].\n\n" +
		"> one line and another\n"
	if got := strings.Join(strings.Fields(quarry("chat", "show", id)), " "); !strings.HasPrefix(got, strings.Join(strings.Fields(want), " ")) {
		t.Errorf("the chat is %q", got)
	}
}
