package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"quarry/internal/cli/command"
)

// session is a chat while it goes on.
type session struct {
	env    *command.Env
	client *command.Client
	cmd    *withCmd
	by     answerer

	chat  string     // its id, "" before the first answer
	turns []turnView // stored ones, the last one last
	last  *event     // the last answer of this session, nil for none

	mu     sync.Mutex
	cancel func() // of what is under way, nil for nothing; guarded by mu
}

// begin looks whether corpora and chat are there, and prints who answers, and of a chat that is resumed the last turn.
func (s *session) begin() error {
	e := s.env
	for key := range strings.SplitSeq(s.cmd.CorpusKey, ",") {
		if _, err := s.client.Call(e.Ctx, http.MethodGet, command.CorpusPath(strings.TrimSpace(key)), nil, nil); unlessForbidden(err) != nil {
			return err
		}
	}
	if s.chat != "" {
		var err error
		if s.turns, _, err = turnsOf(e, s.client, s.chat); unlessForbidden(err) != nil {
			return err
		}
	}
	s.by = s.cmd.answerer(e, s.client)
	if !s.cmd.JSON {
		s.introduce()
	}
	return nil
}

// unlessForbidden returns err, or nil if the caller may not look: it may ask all the same.
func unlessForbidden(err error) error {
	if command.Status(err) == http.StatusForbidden {
		return nil
	}
	return err
}

func (s *session) introduce() {
	e := s.env
	s.by.introduce(e)
	if n := len(s.turns); n > 0 {
		fmt.Fprintf(e.Err, "%s so far; quarry chat show %s prints all. The last one:\n", command.Count(int64(n), "turn"), s.chat)
		command.WrapAfter(e.Out, "> ", command.Bold(e.Out, command.Prose(s.turns[n-1].Query)))
		command.Wrap(e.Out, "", command.Prose(s.turns[n-1].Answer)+"\n")
	}
}

// nameQuestion has messages speak of the question, which no flag or argument sets.
func (s *session) nameQuestion() {
	flagOf := s.env.FlagOf
	s.env.FlagOf = func(field string) string {
		if _, member, _ := strings.Cut(field, "."); member == "query" {
			return "the question"
		}
		return flagOf(field)
	}
}

// stop ends what is under way.
func (s *session) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel()
	}
}

// stoppable calls fn with a context that stop ends.
func (s *session) stoppable(fn func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(s.env.Ctx)
	defer cancel()
	set := func(to func()) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.cancel = to
	}
	set(cancel)
	defer set(nil)
	return fn(ctx)
}

// path is where the next question is sent: to a new chat, or as its next turn.
func (s *session) path() string {
	if s.chat == "" {
		return chats
	}
	return chatPath(s.chat) + "/turns"
}

// ask asks the next question.
func (s *session) ask(question string) error {
	return s.stoppable(func(ctx context.Context) error {
		body := s.cmd.body(question, s.cmd.Corpora(s.cmd.CorpusKey))
		if s.cmd.JSON {
			return s.whole(ctx, question, body)
		}
		return s.stream(ctx, question, body)
	})
}

// whole prints the answer as JSON on a line.
func (s *session) whole(ctx context.Context, question string, body map[string]any) error {
	seen := new(event)
	raw, err := s.client.Call(ctx, http.MethodPost, s.path(), body, seen)
	if err != nil {
		return err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	fmt.Fprintln(s.env.Out, line.String())
	s.keep(question, seen)
	return nil
}

// stream prints the answer as it comes, then its sources.
func (s *session) stream(ctx context.Context, question string, body map[string]any) error {
	e := s.env
	seen, err := stream(ctx, e.Out, s.client, s.path(), body, func(name string, seen *event) {
		if name == "generation_info" && seen.Rephrased != "" && seen.Rephrased != question {
			command.WrapAfter(e.Err, "searched: ", command.Prose(strings.Join(strings.Fields(seen.Rephrased), " ")))
		}
	})
	if seen.done { // whatever comes after it, the turn is stored
		s.keep(question, seen)
	}
	if err != nil && !(seen.done && errors.Is(err, context.Canceled)) {
		return err
	}
	s.cmd.sources(e.Out, s.cmd.CorpusKey, seen, s.cmd.All, false)
	credit(e.Out, s.by, seen)
	warn(e, seen)
	return nil
}

// keep remembers an answer that is whole.
func (s *session) keep(question string, seen *event) {
	s.last = seen
	if seen.ChatID == "" { // it is not stored
		return
	}
	s.chat = seen.ChatID
	s.turns = append(s.turns, turnView{ID: seen.TurnID, Query: question})
}

// sources prints the passages of the last answer, whole.
func (s *session) sources(all bool) error {
	switch {
	case s.cmd.JSON:
		return command.Failed(command.ExitSomeFailed, "with --json each answer has its passages")
	case s.last == nil && len(s.turns) > 0:
		return command.Failed(command.ExitSomeFailed, "the passages of earlier answers are not kept; ask again to see them")
	case s.last == nil:
		return command.Failed(command.ExitSomeFailed, "nothing was answered here yet")
	case s.cmd.sources(s.env.Out, s.cmd.CorpusKey, s.last, all || s.cmd.All, true):
	case len(s.last.Results) > 0:
		fmt.Fprintln(s.env.Err, "the last answer cites no passage; /sources all prints every one that was found")
	default:
		fmt.Fprintln(s.env.Err, "no passage was found for the last question")
	}
	return nil
}

// undo deletes the last turn. Without its only turn the chat is gone, too.
func (s *session) undo() error {
	if len(s.turns) == 0 {
		return command.Failed(command.ExitSomeFailed, "there is no question to take back")
	}
	last := s.turns[len(s.turns)-1]
	err := s.stoppable(func(ctx context.Context) error {
		_, err := s.client.Call(ctx, http.MethodDelete, turnPath(s.chat, last.ID), nil, nil)
		return err
	})
	if err != nil && command.Status(err) != http.StatusNotFound {
		return err
	}
	s.last = nil
	if s.turns = s.turns[:len(s.turns)-1]; len(s.turns) == 0 {
		s.chat = ""
	}
	fmt.Fprintln(s.env.Err, command.Line(s.env.Err, "taken back: ", last.Query))
	return nil
}
