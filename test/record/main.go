// Command record runs commands in a terminal and draws what it showed as an animated picture, docs/session.svg: the
// README's look at the program. What is drawn is what the commands printed, when they printed it; only pauses are
// shortened.
//
//	go run ./test/record -quarry ./quarry docs/session.svg 'quarry index docs' 'quarry ask docs "…"'
//
// A command that ends in " &" stays in the background until the end; the next one begins when it has stopped printing.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// The size of the terminal, in characters.
const (
	columns = 106
	rows    = 24
)

func main() {
	program := flag.String("quarry", "./quarry", "the program")
	data := flag.String("data", "", "data folder; default: a new one, which is removed afterwards")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "record: name the picture and at least one command")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := record(ctx, *program, *data, flag.Arg(0), flag.Args()[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func record(ctx context.Context, program, data, to string, commands []string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	if data == "" {
		if data, err = os.MkdirTemp("", "quarry-record-"); err != nil {
			return err
		}
		defer os.RemoveAll(data)
	}
	cache, err := filepath.Abs(filepath.Join(data, "cache"))
	if err != nil {
		return err
	}
	s := session{film: newFilm(columns, rows), env: append(os.Environ(), "TERM=xterm-256color", "QUARRY_DATA="+data,
		"XDG_CACHE_HOME="+cache, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))}
	defer s.end()
	for _, c := range commands {
		if err := s.run(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
	}
	return os.WriteFile(to, []byte(s.film.svg()), 0o644)
}

// session is the terminal while commands run in it.
type session struct {
	film       *film
	env        []string
	background []*exec.Cmd
}

// Pauses of the picture.
const (
	stroke  = 35 * time.Millisecond  // between two letters that are typed
	settle  = 700 * time.Millisecond // after a command
	longest = 400 * time.Millisecond // between two outputs: longer waits are cut to this
	quiet   = time.Second            // after which a command in the background has printed all it will
)

// run types a command and shows its output until it ends or, in the background, says no more.
func (s *session) run(ctx context.Context, line string) error {
	s.film.show("\x1b[1;32m$\x1b[0m ", 0)
	for _, letter := range line {
		s.film.show(string(letter), stroke)
	}
	s.film.show("\r\n", settle/2)
	command, background := strings.CutSuffix(line, " &")
	cmd := exec.CommandContext(ctx, "bash", "-c", "exec "+command)
	cmd.Env = s.env
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: rows, Cols: columns})
	if err != nil {
		return err
	}
	outputs := make(chan string)
	go func() {
		defer close(outputs)
		buffer := make([]byte, 4096)
		for {
			n, err := terminal.Read(buffer)
			if n > 0 {
				outputs <- string(buffer[:n])
			}
			if err != nil { // the command has ended
				return
			}
		}
	}()
	s.watch(outputs, background)
	s.film.show("", settle)
	if background {
		s.background = append(s.background, cmd)
		go func() {
			for range outputs { // so that the command never waits for a reader
			}
		}()
		return nil
	}
	return cmd.Wait()
}

// watch shows outputs as they come until there are no more or, in the background, none for a while.
func (s *session) watch(outputs <-chan string, background bool) {
	last := time.Now()
	for {
		var enough <-chan time.Time
		if background {
			enough = time.After(quiet)
		}
		select {
		case text, ok := <-outputs:
			if !ok {
				return
			}
			s.film.show(text, min(time.Since(last), longest))
			last = time.Now()
		case <-enough:
			return
		}
	}
}

// end stops what runs in the background.
func (s *session) end() {
	for _, c := range s.background {
		_ = c.Process.Signal(syscall.SIGTERM) // it may have ended by itself
		_ = c.Wait()
	}
}
