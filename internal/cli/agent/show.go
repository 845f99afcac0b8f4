package agent

import (
	"fmt"
	"io"
	"strings"

	"quarry/internal/cli/command"
	"quarry/internal/cli/query"
)

// screen shows a turn while it goes on: answers on standard output, and how they come about on standard error.
type screen struct {
	env      *command.Env
	external string            // the external id of the input whose turn it is, which is not repeated
	called   map[string]string // call → when it was made

	open   string // the kind of text that is being written: "answer", "thinking" or ""
	writer *command.Wrapper
	end    byte // the last byte of the text

	answer   strings.Builder // the last answer
	passages []query.Passage // of the last search
	trouble  []string        // why the turn did not come to its end
	stopped  bool            // it was interrupted
}

func newScreen(e *command.Env, external string) *screen {
	return &screen{env: e, external: external, called: map[string]string{}}
}

// show shows an event.
func (s *screen) show(f *frame) {
	switch f.Type {
	case "streaming_agent_output":
		s.write("answer", f.text())
		return
	case "streaming_thinking":
		s.write("thinking", f.text())
		return
	case "context_consumed":
		return
	}
	s.close()
	switch f.Type {
	case "agent_output", "structured_output":
		s.write("answer", f.text())
		s.close()
	case "thinking":
		s.write("thinking", f.text())
		s.close()
	case "input_message":
		if text, own := f.said(s.external); !own {
			command.WrapAfter(s.env.Err, "> ", command.Prose(text))
		}
	case "artifact_upload":
		s.note("uploaded " + f.line())
	case "tool_input":
		s.called[f.CallID] = f.Created
		s.note("calls " + f.Tool + " " + compact(f.Input))
	case "tool_activity":
		s.note(f.activity())
	case "tool_output":
		s.finished(f)
	case "skill_load":
		s.note("skill " + f.Skill + " is loaded")
	case "image_read":
		s.note("looks at " + f.Image)
	case "compaction_started":
		s.note("sums up what was said before")
	case "step_transition":
		s.note("goes on with step " + f.To)
	case "session_interrupted":
		s.stopped = true
		s.note("interrupted")
	case "error":
		s.trouble = append(s.trouble, f.failure())
	case "context_limit_exceeded", "step_transition_limit_exceeded":
		s.trouble = append(s.trouble, f.Message)
	}
}

// finished shows what came of a call.
func (s *screen) finished(f *frame) {
	took := f.since(s.called[f.CallID])
	if f.Error {
		s.note(f.Tool + " failed" + took + ": " + f.result())
		return
	}
	if found := f.passages(); found != nil {
		s.passages = found
	}
	s.note(f.Tool + " answered" + took + ": " + f.result())
}

// note prints how the answer comes about.
func (s *screen) note(text string) {
	fmt.Fprintln(s.env.Err, command.Dim(s.env.Err, command.Line(s.env.Err, "", text)))
}

// write goes on with a text of a kind, or begins it.
func (s *screen) write(kind, text string) {
	if s.open != kind {
		s.close()
		s.open = kind
		if kind == "answer" {
			s.answer.Reset()
			s.writer = command.NewWrapper(s.env.Out, "")
		} else {
			s.writer = command.NewWrapper(s.env.Err, "")
			_, _ = io.WriteString(s.env.Err, command.Faint(s.env.Err, true))
			text = "thinks: " + text
		}
	}
	if text == "" {
		return
	}
	if kind == "answer" {
		s.answer.WriteString(text)
	}
	s.end = text[len(text)-1]
	_, _ = io.WriteString(s.writer, command.Prose(text)) // Env.Out keeps its own failures
}

// close ends the text that is being written.
func (s *screen) close() {
	if s.open == "" {
		return
	}
	if s.end != '\n' {
		_, _ = io.WriteString(s.writer, "\n")
	}
	if s.open == "thinking" {
		_, _ = io.WriteString(s.env.Err, command.Faint(s.env.Err, false))
	}
	s.open = ""
}

// finish shows what the last answer stands on, and returns why the turn did not come to its end, if so.
func (s *screen) finish() error {
	s.close()
	s.sources(false)
	if len(s.trouble) > 0 {
		return command.Failed(command.ExitSomeFailed, "%s", strings.Join(s.trouble, "; "))
	}
	return nil
}

// sources lists the passages of the last search that the answer cites; whole adds what they say. It reports whether there are any.
func (s *screen) sources(whole bool) bool {
	corpora := false
	for _, p := range s.passages {
		corpora = corpora || p.CorpusKey != s.passages[0].CorpusKey
	}
	return query.Sources(s.env.Out, s.answer.String(), s.passages, query.Shown{Texts: whole, Corpora: corpora})
}
