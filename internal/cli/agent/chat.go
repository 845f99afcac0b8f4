package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"quarry/internal/cli/answer"
	"quarry/internal/cli/command"
	"quarry/internal/id"
)

type chatCmd struct {
	one
	Question []string `arg:"" optional:"" name:"question" help:"One question; without it, question after question." wire:"messages[].content"`
	Session  string   `help:"Go on with this session; default: a new one." placeholder:"SESSION" wire:"session_key"`
	File     []string `help:"Send this file with the first question; repeat it for several." placeholder:"PATH" type:"existingfile" sep:"none" wire:"files"`
}

func (chatCmd) Help() string {
	return "Thoughts, calls of tools and steps are printed on standard error, answers on standard output. The service keeps the session, and a turn goes on " +
		"even if this program ends. Ctrl-C interrupts the turn, and a second time leaves. From a file or another program, each line is a " +
		"question. --json prints the events of each turn as JSON on a line.\n\n" +
		"Example: quarry agent chat support\n\n" +
		"Example: quarry agent chat support --file stock.csv \"what is running out?\"\n\n" +
		"Example: quarry agent chat support --session ase_4b1e \"and the seal?\""
}

// typed is what /help prints.
const typed = `/fail TEXT    answer a call that waits for you by an error; any other line is its output, JSON or a text
/new QUESTION leave the calls that wait for you, and ask something else
/skill NAME   load a skill of the agent; with a question behind the name, for that question;
              a name with blanks is typed in "quotation marks"
/sources      the passages that the last answer cites, whole
/help         this list
Ctrl-C        interrupt the turn; a second one leaves
Ctrl-D, /end  end the chat; the session is kept: quarry session list
`

func (c *chatCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	t := &talk{env: e, client: cl, cmd: c, session: c.Session, seen: "start", files: c.File}
	once := strings.TrimSpace(strings.Join(c.Question, " "))
	if err := t.begin(once == ""); err != nil {
		return err
	}
	if once != "" {
		err = t.ask(saying(once))
	} else {
		lines := command.Talk{Env: e, Prompt: command.Clip(c.Agent, 30) + "> ", Quiet: c.JSON, Line: t.line}
		err = lines.Run()
	}
	if t.session != "" && !c.JSON {
		fmt.Fprintf(e.Err, "to go on with this session: quarry agent chat %s --session %s\n", c.Agent, t.session)
	}
	if t.left {
		return context.Canceled
	}
	return err
}

// talk is a session while somebody talks in it.
type talk struct {
	env    *command.Env
	client *command.Client
	cmd    *chatCmd

	session string   // its key, "" before the first question
	seen    string   // the last event that was seen, or "start"
	files   []string // that go with the next question
	last    *screen  // of the last turn, nil for none
	pending []call   // that the session waits for
	left    bool     // a second Ctrl-C ended it

	mu          sync.Mutex
	interrupted int    // how often Ctrl-C was pressed in this turn; guarded by mu
	leave       func() // ends what is under way; guarded by mu
}

// unlessForbidden returns err, or nil if the caller may not look: it may talk all the same.
func unlessForbidden(err error) error {
	if command.Status(err) == http.StatusForbidden {
		return nil
	}
	return err
}

// begin looks whether agent and session are there, and prints who answers, and of a session that is resumed the last turn.
func (t *talk) begin(introduce bool) error {
	var agent view
	_, err := t.client.Call(t.env.Ctx, http.MethodGet, agentPath(t.cmd.Agent), nil, &agent)
	if unlessForbidden(err) != nil {
		return err
	}
	if introduce && !t.cmd.JSON && agent.Model.Name != "" {
		answer.Introduce(t.env, t.client, agent.Model.Name)
	}
	if t.session == "" {
		return nil
	}
	if _, err := t.client.Call(t.env.Ctx, http.MethodGet, sessionPath(t.cmd.Agent, t.session), nil, nil); unlessForbidden(err) != nil {
		return err
	}
	if err := unlessForbidden(t.recall(introduce && !t.cmd.JSON)); err != nil {
		return err
	}
	err = t.outstanding()
	t.showPending()
	return unlessForbidden(err)
}

// recall reads the session to its end, and prints the last question and answer if they are wanted.
func (t *talk) recall(show bool) error {
	var question, reply string
	turns := 0
	err := t.client.Pages(t.env.Ctx, sessionPath(t.cmd.Agent, t.session)+"/events", "events", url.Values{}, func(page []json.RawMessage) error {
		for _, raw := range page {
			var f frame
			if err := json.Unmarshal(raw, &f); err != nil {
				return fmt.Errorf("read the events of %s: %w", t.session, err)
			}
			switch t.seen = f.ID; f.Type {
			case "input_message":
				question, reply = f.line(), ""
				turns++
			case "agent_output", "structured_output":
				reply = f.line()
			}
		}
		return nil
	})
	if err != nil || turns == 0 || !show {
		return err
	}
	fmt.Fprintf(t.env.Err, "%s so far; quarry session events %s %s lists all events. The last one:\n", command.Count(int64(turns), "question"), t.cmd.Agent, t.session)
	command.WrapAfter(t.env.Out, "> ", command.Bold(t.env.Out, command.Prose(question)))
	command.Wrap(t.env.Out, "", command.Prose(reply)+"\n")
	return nil
}

// line does what a line says.
func (t *talk) line(line string) error {
	switch line = strings.TrimSpace(line); {
	case line == "":
		return nil
	case len(t.pending) > 0 && !strings.HasPrefix(line, "/"):
		return t.answer(line, false)
	case strings.HasPrefix(line, "//"):
		return t.ask(saying(line[1:]))
	case !strings.HasPrefix(line, "/"):
		return t.ask(saying(line))
	}
	word, rest, _ := strings.Cut(line, " ")
	switch rest = strings.TrimSpace(rest); {
	case word == "/skill":
		return t.load(rest)
	case word == "/fail" && len(t.pending) == 0:
		return command.Failed(command.ExitUsage, "no call waits for you")
	case word == "/fail" && rest == "":
		return command.Failed(command.ExitUsage, "/fail needs what went wrong, for the model to read")
	case word == "/fail":
		return t.answer(rest, true)
	case word == "/new" && rest != "":
		return t.ask(saying(rest))
	}
	switch line {
	case "/help":
		fmt.Fprint(t.env.Err, typed)
	case "/sources":
		switch {
		case t.last == nil:
			return command.Failed(command.ExitSomeFailed, "nothing was answered here yet")
		case !t.last.sources(true):
			fmt.Fprintln(t.env.Err, "the last answer cites no passage")
		}
	case "/end", "/exit", "/quit", "/bye":
		return command.ErrEnd
	default:
		return command.Failed(command.ExitUsage, "%s is nothing that a chat knows; /help lists what it does. A question that begins with / is typed with two of them", line)
	}
	return nil
}

// saying returns the part of an input that says a text.
func saying(text string) map[string]any { return map[string]any{"type": "text", "content": text} }

// load loads the skill that a line begins with; a name with blanks is in quotation marks. What stands behind its name is asked with it.
func (t *talk) load(line string) error {
	name, question, _ := strings.Cut(line, " ")
	if quoted, behind, ok := strings.Cut(strings.TrimPrefix(line, `"`), `"`); ok && strings.HasPrefix(line, `"`) {
		name, question = quoted, behind
	}
	if name == "" {
		return command.Failed(command.ExitUsage, "/skill needs the name of a skill: quarry agent get %s --json shows them under skills", t.cmd.Agent)
	}
	parts := []map[string]any{{"type": "skill", "skill_name": name}}
	if question = strings.TrimSpace(question); question != "" {
		parts = append(parts, saying(question))
	}
	return t.ask(parts...)
}

// ask sends the parts of an input, in a new session if there is none, and shows the turn to its end.
func (t *talk) ask(parts ...map[string]any) error {
	before := t.pending
	err := t.held(func(ctx context.Context) error { return t.turn(ctx, parts) })
	if command.Status(err) != 0 {
		t.refused(before)
	}
	return err
}

// held does what Ctrl-C interrupts, and leaves at the second time.
func (t *talk) held(do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(t.env.Ctx)
	defer cancel()
	t.mu.Lock()
	t.interrupted, t.leave = 0, cancel
	t.mu.Unlock()
	t.env.Interrupt.Take(t.stop)
	defer t.env.Interrupt.Take(nil)
	err := do(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left = t.interrupted > 1 && ctx.Err() != nil; t.left {
		fmt.Fprintln(t.env.Err, "left; the turn ends as soon as the service has stopped it")
		return command.ErrEnd
	}
	return err
}

func (t *talk) turn(ctx context.Context, parts []map[string]any) error {
	if t.session == "" {
		var made sessionView
		if _, err := t.client.Call(ctx, http.MethodPost, sessionsPath(t.cmd.Agent), map[string]any{}, &made); err != nil {
			return err
		}
		t.mu.Lock()
		t.session = made.Key
		t.mu.Unlock()
	}
	external := "cli_" + id.Text(20)
	for i, p := range parts {
		if p["external_id"] = external; i > 0 {
			p["external_id"] = fmt.Sprint(external, "_", i)
		}
	}
	body := map[string]any{"type": "input_message", "messages": parts}
	send := func() error { return t.stream(ctx, body, newScreen(t.env, external)) }
	if t.cmd.JSON {
		send = func() error { return t.whole(ctx, body) }
	}
	err := send()
	if command.Status(err) == http.StatusConflict && t.running(ctx) {
		fmt.Fprintln(t.env.Err, "a turn is still running in this session; the question comes after it")
		body["since"], external = t.seen, "" // its turn comes after another: the question is shown between them
		err = send()
	}
	if err == nil {
		t.files = nil
	}
	return err
}

// input returns the body of an input: a form if files go with it.
func (t *talk) input(members map[string]any) any {
	if len(t.files) == 0 || members["type"] != "input_message" {
		return members
	}
	fields := maps.Clone(members)
	delete(fields, "type") // forms are messages
	return &command.Form{Fields: fields, Name: "files", Files: t.files}
}

// running reports whether a turn runs in the session.
func (t *talk) running(ctx context.Context) bool {
	var s sessionView
	_, err := t.client.Call(ctx, http.MethodGet, sessionPath(t.cmd.Agent, t.session), nil, &s)
	return err == nil && s.Status == "running"
}

// stream sends an input and shows its turn as it goes on.
func (t *talk) stream(ctx context.Context, body map[string]any, s *screen) error {
	body["stream_response"] = true
	t.pending = nil
	err := t.client.Stream(ctx, sessionPath(t.cmd.Agent, t.session)+"/events", t.input(body), func(kind string, data []byte) error {
		f := parse(kind, data)
		if len(f.Calls) > 0 {
			t.pending = f.Calls
		}
		if t.seen = f.last(t.seen); f.Type != "end" {
			s.show(&f)
		}
		return nil
	})
	t.last = s
	if err != nil {
		s.close()
		if command.Unreachable(err) && len(t.seen) > 0 {
			return fmt.Errorf("%w; an input that was accepted is answered all the same: quarry session events %s %s", err, t.cmd.Agent, t.session)
		}
		return err
	}
	err = s.finish()
	t.showPending()
	return err
}

// last returns the stored event that f is, or ends; else the one before.
func (f *frame) last(before string) string {
	switch {
	case f.EventID != "":
		return f.EventID
	case f.ID != "" && stored[f.Type]:
		return f.ID
	}
	return before
}

// stored are the types of events that can be read again.
var stored = map[string]bool{
	"input_message": true, "artifact_upload": true, "thinking": true, "tool_input": true, "tool_output": true, "agent_output": true, "structured_output": true, "step_transition": true,
	"skill_load": true, "image_read": true,
}

// whole sends an input and prints the events of its turn as JSON on a line.
func (t *talk) whole(ctx context.Context, body map[string]any) error {
	var made struct {
		Events []frame `json:"events"`
	}
	raw, err := t.client.Call(ctx, http.MethodPost, sessionPath(t.cmd.Agent, t.session)+"/events", t.input(body), &made)
	if err != nil {
		return err
	}
	fmt.Fprintln(t.env.Out, compact(raw))
	var failed error
	t.pending = nil
	for _, f := range made.Events {
		if len(f.Calls) > 0 {
			t.pending = f.Calls
		}
		t.seen = f.last(t.seen)
		if f.Type == "error" || strings.HasSuffix(f.Type, "_limit_exceeded") {
			failed = command.Failed(command.ExitSomeFailed, "%s", f.line())
		}
	}
	return failed
}

// stop is what Ctrl-C does while a turn goes on.
func (t *talk) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.interrupted++
	if t.interrupted > 1 || t.session == "" {
		t.leave()
		return
	}
	fmt.Fprintln(t.env.Err, "\ninterrupts the turn; Ctrl-C again leaves")
	path := sessionPath(t.cmd.Agent, t.session) + "/events"
	go func() {
		if _, err := t.client.Call(t.env.Ctx, http.MethodPost, path, map[string]any{"type": "interrupt"}, nil); err != nil {
			fmt.Fprintln(t.env.Err, "quarry: the turn is not interrupted:", command.Prose(err.Error()))
		}
	}()
}
