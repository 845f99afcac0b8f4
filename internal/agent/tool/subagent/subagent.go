// Package subagent is the tool sub_agent: a call sends a message to another agent, in a session that the configuration's mode
// chooses, and its output is what that agent answers (contract: tools.md section 9).
//
// A call and its turn are joined by ids that follow from the call alone: those of the session that it makes, of the input and of its
// part. So a call that is made again after a kill, in whichever process, finds what the first one has begun and waits for that.
package subagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/agent/turn"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/jsonvalue"
	"quarry/internal/usage"
)

// Name is the name of the tool, and of the type of its configurations.
const Name = "sub_agent"

// MaxDepth is how many levels of agents are called below the one that a client talks to.
const MaxDepth = 5

// The modes, in the contract's words. LLMControlled is another word for SessionScoped.
const (
	Ephemeral     = "ephemeral"
	Persistent    = "persistent"
	SessionScoped = "session_scoped"
	AgentScoped   = "agent_scoped"
	LLMControlled = "llm_controlled"
)

var modes = []string{Ephemeral, Persistent, SessionScoped, AgentScoped, LLMControlled}

// Agents finds agents; agent.Store is one.
type Agents interface {
	// Get returns an agent; fault.KindNotFound if there is none.
	Get(ctx context.Context, key string) (agent.Agent, error)
}

// Sessions is where calls open and find sessions; session.Service is one.
type Sessions interface {
	Create(ctx context.Context, a *agent.Agent, d session.Draft) (session.Session, error)
	Get(ctx context.Context, agentNo int64, key string) (session.Session, error)
	Update(ctx context.Context, x *session.Session, c session.Change) (session.Session, error)
	Event(ctx context.Context, no int64, e id.Event) (session.Event, error)
	Delete(ctx context.Context, no int64) error
}

// Turns answers inputs; turn.Engine is one.
type Turns interface {
	Send(ctx context.Context, in turn.Input) (*turn.Sent, error)
	Withdraw(ctx context.Context, session int64, input id.Event) error
	// Cause returns why a turn of a session did not come to its end; nil if it did, or goes on.
	Cause(ctx context.Context, session, turn int64) (*feed.Note, error)
}

// Config is what calls are made with.
type Config struct {
	Agents   Agents
	Sessions Sessions
	Turns    Turns
	// Places bounds the turns that run for calls, so that they never take a place of those that people send inputs for, and no call waits
	// for a place that another call holds: where none is left, a call fails. nil: there is no bound.
	Places *usage.Gate
	Log    *slog.Logger
}

// Tool has the type sub_agent. Join is called before the first call.
type Tool struct {
	Config
	plain, scoped, output *schema.Schema
}

// New returns a Tool that is not joined yet: what it calls needs the type itself.
func New() (*Tool, error) {
	var t Tool
	var errs [3]error
	t.plain, errs[0] = schema.New(arguments(""))
	t.scoped, errs[1] = schema.New(arguments(sessionKey))
	t.output, errs[2] = schema.New(json.RawMessage(outputSchema))
	return &t, errors.Join(errs[:]...)
}

// Join sets what calls are made with.
func (t *Tool) Join(c Config) { t.Config = c }

// maxShared bounds the files of one call.
const maxShared = 20

// arguments returns the schema of the arguments, with a further one.
func arguments(more string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{
	"type": "object",
	"properties": {
		"message": {"type": "string", "minLength": 1, "description": "What the agent is told. It sees nothing else of this conversation, so say everything that it needs."},
		%s"session_tti_minutes": {"type": "integer", "minimum": 1, "maximum": 52560000, "description": "After how many minutes without use the agent's session is deleted. Leave it out to keep the session."},
		"artifact_ids": {"type": "array", "maxItems": %d, "uniqueItems": true, "items": {"type": "string"}, "description": "The files of this session that the agent gets copies of."}
	},
	"required": ["message"],
	"additionalProperties": false
}`, more, maxShared))
}

const (
	sessionKey = `"session_key": {"type": "string", "description": "The session_key of an earlier output, to go on with that conversation. Leave it out to begin a new one."},
		`
	outputSchema = `{
	"type": "object",
	"properties": {
		"session_key": {"type": "string", "description": "The session of the agent that has answered."},
		"sub_agent_response": {"description": "The answer: a text, or JSON if the agent answers in JSON."}
	},
	"required": ["session_key", "sub_agent_response"]
}`
)

// The members of a configuration.
const (
	configurationField = "sub_agent_configuration"
	// AgentField is where a configuration names the agent that it calls.
	AgentField    = configurationField + ".agent_key"
	modeField     = configurationField + ".session_mode"
	metadataField = configurationField + ".session_metadata"
)

var agentKey = regexp.MustCompile(`^[0-9a-zA-Z_-]{1,50}$`)

// kind is one configuration.
type kind struct {
	*Tool
	agent    string // key of the agent that is called
	mode     string
	metadata any // of new sessions, an object, with its references
	refs     []reference.Reference
}

// Type is a tool.Type.
func (t *Tool) Type(configuration json.RawMessage) (*tool.Tool, error) {
	k := &kind{Tool: t, mode: Ephemeral}
	if err := k.read(configuration); err != nil {
		return nil, err
	}
	out := &tool.Tool{
		Name: Name, Schema: t.plain, Output: t.output, Repeat: tool.Repeatable, Timeout: tool.NoLimit, Ending: ending, InLine: true,
		Description: fmt.Sprintf("Asks the agent %q, which works with its own instructions and tools, and returns its answer.", k.agent),
		Needs:       []permit.Need{{Agent: k.agent, Level: permit.Use}}, Eager: map[string]tool.Eager{}, Run: k.run, Stop: k.stop, Undo: k.undo,
	}
	if k.isScoped() {
		out.Schema = t.scoped
	}
	for _, r := range k.refs {
		out.Eager[place(r)] = tool.Eager{Reference: r, Any: true}
	}
	return out, nil
}

// place is where tool.Eager has a reference of the metadata.
func place(r reference.Reference) string { return metadataField + " " + r.String() }

// ending is how long a call that was given up waits for the turn that it has begun to end.
const ending = 6 * time.Second

func (k *kind) read(configuration json.RawMessage) error {
	members, _ := jsonvalue.Decode(configuration).(map[string]any)
	c, ok := members[configurationField].(map[string]any)
	if !ok {
		return fault.InvalidField(configurationField, "is required and an object")
	}
	f := fault.Invalid()
	if k.agent, _ = c["agent_key"].(string); !agentKey.MatchString(k.agent) {
		f.Field(AgentField, "must be the key of an agent: 1 to 50 letters, digits, _ and -")
	}
	if mode, given := c["session_mode"]; given && mode != nil {
		if k.mode, _ = mode.(string); !slices.Contains(modes, k.mode) {
			f.Field(modeField, "must be one of %s", strings.Join(modes, ", "))
		}
	}
	if k.mode == LLMControlled {
		k.mode = SessionScoped
	}
	k.metadata = map[string]any{}
	if metadata, given := c["session_metadata"]; given && metadata != nil {
		if k.metadata, ok = metadata.(map[string]any); !ok {
			f.Field(metadataField, "must be an object")
		}
		k.find(k.metadata, metadataField, f)
	}
	return f.Err()
}

// find finds the references within the metadata.
func (k *kind) find(v any, at string, f *fault.Fault) {
	r, is, err := reference.Of(v)
	switch {
	case err != nil:
		f.Field(at, "%s", err)
		return
	case is && at == metadataField:
		f.Field(at, "must be an object, whose values may be references")
		return
	case is:
		k.refs = append(k.refs, r)
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			k.find(member, fault.Join(at, name), f)
		}
	case []any:
		for i := range v {
			k.find(v[i], fmt.Sprintf("%s[%d]", at, i), f)
		}
	}
}

// within returns what a configuration means in a session. In one that is still to be made each call is a conversation of its own: no
// later call could find what is kept for the session, and one of another session must not.
func (k *kind) within(session int64) *kind {
	if session != 0 {
		return k
	}
	once := *k
	once.mode = Ephemeral
	return &once
}

// isScoped reports whether the model names the session that a call goes on with.
func (k *kind) isScoped() bool { return k.mode == SessionScoped || k.mode == AgentScoped }
