package answer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"quarry/internal/cli/command"
)

// withCmd is a chat: question after question.
type withCmd struct {
	command.Remote
	CorpusKey string `arg:"" name:"corpus" help:"Key of the corpus, or several separated by commas." wire:"search.corpora[].corpus_key"`
	asking
	Resume string `help:"Go on with this chat." placeholder:"CHAT" wire:"chat_id"`
}

func (withCmd) Help() string {
	return "Each question is asked with those before it in mind; the service keeps the chat and the query history. On a terminal, lines can be " +
		"edited and recalled with the arrow keys, and Ctrl-C stops the answer at hand. From a file or another program, each line is a " +
		"question; --json prints the answer to each as JSON on a line.\n\n" +
		"/help lists what can be typed beside questions. A question that begins with / is typed with two of them.\n\n" +
		"Example: quarry chat docs\n\n" +
		"Example: quarry chat docs --resume cht_4b1e"
}

// typed is what /help prints.
const typed = `/sources      the passages that the last answer cites, whole; /sources all: every passage found
/undo         delete the last question and its answer
/help         this list
Ctrl-C        stop the answer at hand; the question is not kept
Ctrl-D, /end  end the chat, which is kept: quarry chat list
`

func (c *withCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	s := &session{env: e, client: cl, cmd: c, chat: c.Resume}
	s.nameQuestion()
	if err := s.begin(); err != nil {
		return err
	}
	editor := command.NewEditor(e, cut(c.CorpusKey)+"> ")
	if editor == nil {
		err = s.read(e.In)
	} else {
		err = s.talk(editor)
	}
	if s.chat != "" && !c.JSON {
		fmt.Fprintf(e.Err, "to go on with this chat: quarry chat %s --resume %s\n", c.CorpusKey, s.chat)
	}
	return err
}

// cut shortens the keys of many corpora for the prompt.
func cut(keys string) string { return command.Clip(keys, 30) }

// talk asks what is typed until the end.
func (s *session) talk(editor *command.Editor) error {
	fmt.Fprintln(s.env.Err, "/help lists what can be typed; Ctrl-D ends the chat")
	s.env.Interrupt.Take(s.stop)
	for {
		line, err := editor.Line()
		switch {
		case errors.Is(err, command.ErrCleared):
			fmt.Fprintln(s.env.Err, "Ctrl-D ends the chat")
			continue
		case errors.Is(err, io.EOF):
			fmt.Fprintln(s.env.Err)
			return nil
		case err != nil:
			return err
		}
		switch err := s.line(line); {
		case errors.Is(err, errEnd):
			return nil
		case s.env.Ctx.Err() != nil:
			return s.env.Ctx.Err()
		case errors.Is(err, context.Canceled):
			fmt.Fprintln(s.env.Err, "stopped; the question is not kept")
		case err != nil:
			s.complain(err)
		}
		fmt.Fprintln(s.env.Err)
	}
}

// longestLine bounds a line of input, in bytes: many times what a question may have.
const longestLine = 1 << 20

// read asks what stands on the lines of the input. What fails is told, and the next line is asked.
func (s *session) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	failed, over, echo := false, false, !s.cmd.JSON && !command.IsTerminal(in)
	for !over && lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		if echo {
			fmt.Fprintf(s.env.Out, "> %s\n", command.Prose(line))
		}
		if !s.heard() {
			return nil
		}
		switch err := s.line(line); {
		case errors.Is(err, errEnd):
			over = true
		case s.env.Ctx.Err() != nil:
			return s.env.Ctx.Err()
		case command.Unreachable(err):
			return err
		case !s.heard():
			return nil
		case err != nil:
			s.complain(err)
			failed = true
		}
		if !s.cmd.JSON && !over {
			fmt.Fprintln(s.env.Out)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return command.Failed(command.ExitUsage, "a line of the input is longer than a question can be")
	} else if err != nil {
		return command.Failed(command.ExitUsage, "can't read the questions: %v", err)
	}
	if failed {
		return command.Failed(command.ExitSomeFailed, "")
	}
	return nil
}

// heard reports whether the output still takes what is written; its failure is told at the end.
func (s *session) heard() bool {
	_, err := s.env.Out.Write(nil)
	return err == nil
}

// errEnd ends a chat.
var errEnd = errors.New("the chat is over")

// line does what a line says.
func (s *session) line(line string) error {
	line = strings.TrimSpace(line)
	switch {
	case line == "":
		return nil
	case strings.HasPrefix(line, "//"):
		return s.ask(line[1:])
	case !strings.HasPrefix(line, "/"):
		return s.ask(line)
	}
	word, rest, _ := strings.Cut(line, " ")
	switch rest = strings.TrimSpace(rest); strings.TrimSpace(word + " " + rest) {
	case "/help":
		fmt.Fprint(s.env.Err, typed)
	case "/sources", "/sources all":
		return s.sources(rest == "all")
	case "/undo":
		return s.undo()
	case "/end", "/exit", "/quit", "/bye":
		return errEnd
	default:
		return command.Failed(command.ExitUsage, "%s is nothing that a chat knows; /help lists what it does. A question that begins with / is typed with two of them", line)
	}
	return nil
}
