package answer

import (
	"fmt"
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
	talk := command.Talk{
		Env: e, Prompt: cut(c.CorpusKey) + "> ", Quiet: c.JSON, Line: s.line, Stop: s.stop, Stopped: "stopped; the question is not kept",
	}
	err = talk.Run()
	if s.chat != "" && !c.JSON {
		fmt.Fprintf(e.Err, "to go on with this chat: quarry chat %s --resume %s\n", c.CorpusKey, s.chat)
	}
	return err
}

// cut shortens the keys of many corpora for the prompt.
func cut(keys string) string { return command.Clip(keys, 30) }

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
		return command.ErrEnd
	default:
		return command.Failed(command.ExitUsage, "%s is nothing that a chat knows; /help lists what it does. A question that begins with / is typed with two of them", line)
	}
	return nil
}
