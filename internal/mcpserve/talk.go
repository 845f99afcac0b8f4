package mcpserve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

const agentsPath = "/v2/agents"

type agents struct {
	Agents []agent `json:"agents"`
	Next   string  `json:"next_page_key,omitempty" jsonschema:"page_key of the next page; absent on the last one"`
}

type agent struct {
	Key         string `json:"agent_key" jsonschema:"what talk_to_agent takes"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Enabled     bool   `json:"enabled" jsonschema:"whether it answers"`
}

func (s rest) listAgents() tool[listArgs, agents] {
	return tool[listArgs, agents]{
		name: "list_agents", title: "List agents", reads: true, bounds: pageBounds,
		about: "Lists the agents that you may see, with their keys for talk_to_agent and what they are for.",
		run: func(ctx context.Context, args listArgs, _ func(string)) (out agents, err error) {
			var answer struct {
				page
				Agents []struct {
					agent
					Key string `json:"key"`
				} `json:"agents"`
			}
			err = s.call(ctx, http.MethodGet, listed(agentsPath, orUsual(args.Limit, 50), args.PageKey), nil, &answer)
			out = agents{Agents: []agent{}, Next: answer.Metadata.Key}
			for _, a := range answer.Agents {
				one := a.agent
				one.Key = a.Key
				one.Description, _ = cut(one.Description, mostDescription)
				out.Agents = append(out.Agents, one)
			}
			return out, err
		},
	}
}

type talkArgs struct {
	Agent   string `json:"agent_key" jsonschema:"key of the agent, from list_agents"`
	Message string `json:"message" jsonschema:"what to tell the agent"`
	Session string `json:"session_key,omitempty" jsonschema:"session of an earlier call, to go on with it; left out: a new session"`
}

type reply struct {
	Session   string `json:"session_key" jsonschema:"send it with the next message to go on with this session"`
	Answer    string `json:"answer" jsonschema:"what the agent replied; JSON if it answers in a form"`
	Truncated bool   `json:"truncated,omitempty" jsonschema:"whether the answer was longer"`
}

func (s rest) talkToAgent() tool[talkArgs, reply] {
	return tool[talkArgs, reply]{
		name: "talk_to_agent", title: "Talk to an agent",
		bounds: func(args *jsonschema.Schema) {
			one := 1
			args.Properties["agent_key"].MinLength, args.Properties["message"].MinLength = &one, &one
		},
		about: "Sends a message to an agent and returns its reply. The agent keeps the conversation: session_key of the reply goes on with it. " +
			"It may take minutes; progress tells which tools it calls, and cancelling interrupts it.",
		run: s.talk,
	}
}

func (s rest) talk(ctx context.Context, args talkArgs, progress func(string)) (reply, error) {
	sessions := agentsPath + "/" + url.PathEscape(args.Agent) + "/sessions"
	if args.Session == "" {
		var made struct {
			Key string `json:"key"`
		}
		if err := s.call(ctx, http.MethodPost, sessions, map[string]any{}, &made); err != nil {
			return reply{}, err
		}
		args.Session = made.Key
	}
	progress("session " + args.Session)
	events := sessions + "/" + url.PathEscape(args.Session) + "/events"
	var t turn
	err := s.frames(ctx, events, map[string]any{
		"type": "input_message", "messages": []map[string]any{{"type": "text", "content": args.Message}}, "stream_response": true,
	}, func(f *frame) error {
		if message := t.see(f); message != "" {
			progress(message)
		}
		return nil
	})
	if ctx.Err() != nil {
		return reply{}, s.stop(ctx, events, args.Session)
	}
	if status(err) == http.StatusConflict {
		return reply{}, advised(err, "Call again once that is over, or leave session_key out to begin another session")
	}
	if status(err) == http.StatusNotFound {
		return reply{}, err // there is no session to go on with
	}
	if err == nil {
		err = t.failure()
	}
	if err != nil {
		return reply{}, advised(err, fmt.Sprintf("The session is %s: send its session_key to go on with it", args.Session))
	}
	out := reply{Session: args.Session}
	out.Answer, out.Truncated = cut(t.answer, mostAnswer)
	return out, nil
}

// advised returns an error with a sentence about what to do next. What models and services say may end with a full stop.
func advised(err error, next string) error {
	if strings.HasSuffix(err.Error(), ".") {
		return fmt.Errorf("%w %s", err, next)
	}
	return fmt.Errorf("%w. %s", err, next)
}

// stopTime is how long the interruption of a turn may take.
const stopTime = 5 * time.Second

// stop ends the turn of a call that was cancelled, or whose caller has gone: nobody would read its answer. A service that stops
// leaves it, since the turn goes on at the next start.
func (s rest) stop(ctx context.Context, events, session string) error {
	cause := context.Cause(ctx)
	if stopping(cause) {
		return fmt.Errorf("%w. The agent goes on: send the session_key %s later to read on", cause, session)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if err := s.call(ctx, http.MethodPost, events, map[string]any{"type": "interrupt"}, nil); err != nil {
		return fmt.Errorf("the call was cancelled, and the turn in session %s goes on: %w", session, err)
	}
	return errors.New("the call was cancelled, and the agent interrupted in session " + session)
}

// frame is the part of a frame of a turn that is looked at.
type frame struct {
	Type     string          `json:"type"`
	Content  json.RawMessage `json:"content"`
	Messages json.RawMessage `json:"messages"` // texts of an error
	Tool     string          `json:"tool_configuration_name"`
	Failed   bool            `json:"error"`
	Message  string          `json:"message"`
	Calls    []struct {
		Tool string `json:"tool_configuration_name"`
	} `json:"pending_calls"`
}

// turn is what was seen of a turn.
type turn struct {
	answer string
	begun  bool  // a text of the model is under way
	wrong  error // why there is no answer
}

// see takes a frame in and returns what the caller is told of it, "" for nothing.
func (t *turn) see(f *frame) string {
	switch f.Type {
	case "tool_input":
		return "calls " + f.Tool
	case "tool_output":
		if f.Failed {
			return f.Tool + " failed"
		}
		return f.Tool + " has answered"
	case "tool_activity":
		return f.Message
	case "streaming_agent_output":
		var piece string
		_ = json.Unmarshal(f.Content, &piece)
		if !t.begun {
			t.answer, t.begun = "", true
		}
		t.answer += piece
	case "streaming_agent_output_end":
		t.begun = false
	case "agent_output", "structured_output":
		if json.Unmarshal(f.Content, &t.answer) != nil {
			t.answer = string(f.Content)
		}
	case "error":
		var texts []string
		_ = json.Unmarshal(f.Messages, &texts)
		t.wrong = errors.New("the agent failed: " + strings.Join(texts, "; "))
	case "context_limit_exceeded", "step_transition_limit_exceeded":
		t.wrong = errors.New("the agent gave up: " + strings.ReplaceAll(f.Type, "_", " "))
	case "session_interrupted":
		t.wrong = errors.New("the agent was interrupted by someone else")
	case "client_tool_pending":
		var names []string
		for _, c := range f.Calls {
			names = append(names, c.Tool)
		}
		t.wrong = fmt.Errorf("the agent waits for tools that only a client of its own can run (%s); another message leaves them and goes on without", strings.Join(names, ", "))
	}
	return ""
}

// failure returns why the turn ended without an answer, nil if it has one.
func (t *turn) failure() error {
	switch {
	case t.wrong != nil:
		return t.wrong
	case t.answer == "":
		return errors.New("the agent ended without an answer")
	}
	return nil
}
