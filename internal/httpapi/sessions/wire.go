package sessions

import (
	"bytes"
	"encoding/json"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/artifact"
	"quarry/internal/agent/fork"
	"quarry/internal/agent/session"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
)

// createBody is CreateAgentSessionRequest.
type createBody struct {
	Key         string            `json:"key"`
	Name        string            `json:"name"`
	Description *string           `json:"description"`
	Metadata    json.RawMessage   `json:"metadata"`
	Enabled     *bool             `json:"enabled"`
	IdleMinutes int64             `json:"tti_minutes"`
	Secrets     map[string]string `json:"secrets"`
	From        *fromBody         `json:"from_session"`
}

type fromBody struct {
	Agent   string  `json:"agent_key"`
	Session string  `json:"session_key"`
	UpTo    *string `json:"include_up_to_event_id"`
	Compact *string `json:"compact_up_to_event_id"`
}

// compacts reports whether what was said before is summed up.
func (b *fromBody) compacts() bool { return b != nil && opt.Deref(b.Compact, "") != "" }

// from returns what b goes on from. An anchor that is there and empty is refused: left out, it would mean another thing.
func (b *fromBody) from() (fork.From, error) {
	bad := fault.Invalid()
	if b.UpTo != nil && *b.UpTo == "" {
		bad.Field(fork.IncludeField, "must not be empty; leave it out to copy all events")
	}
	if b.Compact != nil && *b.Compact == "" {
		bad.Field(fork.CompactField, "must not be empty; leave it out to sum nothing up")
	}
	return fork.From{Agent: b.Agent, Session: b.Session, UpTo: id.Event(opt.Deref(b.UpTo, "")), Compact: id.Event(opt.Deref(b.Compact, ""))}, bad.Err()
}

func (b *createBody) draft() session.Draft {
	return session.Draft{
		Key: b.Key, Name: b.Name, Description: b.Description, Metadata: b.Metadata, Disabled: !opt.Deref(b.Enabled, true), IdleMinutes: b.IdleMinutes,
		Secrets: b.Secrets,
	}
}

// updateBody is UpdateAgentSessionRequest.
type updateBody struct {
	Name        opt.Field[string]            `json:"name"`
	Description opt.Field[string]            `json:"description"`
	Metadata    opt.Field[json.RawMessage]   `json:"metadata"`
	Enabled     opt.Field[bool]              `json:"enabled"`
	IdleMinutes opt.Field[int64]             `json:"tti_minutes"`
	Secrets     map[string]opt.Field[string] `json:"secrets"`
}

// listBody is ListAgentSessionsResponse.
type listBody struct {
	Sessions []sessionBody `json:"sessions"`
	Metadata struct {
		PageKey *string `json:"page_key,omitempty"`
	} `json:"metadata"`
}

// sessionBody is AgentSession.
type sessionBody struct {
	Key         string            `json:"key"`
	AgentKey    string            `json:"agent_key"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Metadata    json.RawMessage   `json:"metadata"`
	Step        *string           `json:"current_step_name"`
	Enabled     bool              `json:"enabled"`
	Status      string            `json:"status"`
	IdleMinutes int64             `json:"tti_minutes"`
	Created     time.Time         `json:"created_at"`
	Updated     time.Time         `json:"updated_at"`
	Usage       *usageBody        `json:"session_context_usage,omitempty"`
	Compaction  compactionBody    `json:"effective_compaction"`
	ByAgent     *string           `json:"created_by_agent_key,omitempty"`
	BySession   *string           `json:"created_by_session_key,omitempty"`
	Alias       *string           `json:"alias_key"`
	Secrets     map[string]string `json:"secrets"`
}

func wireSession(s *session.Session) sessionBody {
	out := sessionBody{
		Key: s.Key, AgentKey: s.AgentKey, Name: s.Name, Description: s.Description, Metadata: s.Metadata, Step: opt.NonZero(s.Step), Enabled: s.Enabled,
		Status: status(s), IdleMinutes: s.IdleMinutes, Created: s.Created, Updated: s.Updated, Usage: wireUsage(s.Usage),
		Compaction: wireCompaction(&s.Compaction), Secrets: map[string]string{},
	}
	if o := s.Origin; o != nil {
		out.ByAgent, out.BySession = &o.Agent, &o.Session
	}
	for _, name := range s.Secrets {
		out.Secrets[name] = session.Masked
	}
	return out
}

func status(s *session.Session) string {
	switch {
	case s.Running:
		return "running"
	case s.Started:
		return "stopped"
	}
	return "unstarted"
}

// compactionBody is CompactionConfig.
type compactionBody struct {
	Enabled    bool    `json:"enabled"`
	Threshold  int     `json:"threshold_percent"`
	KeepInputs int     `json:"keep_recent_inputs"`
	Message    *string `json:"compaction_message,omitempty"`
	Policy     string  `json:"tool_event_policy"`
}

func wireCompaction(c *agent.Compaction) compactionBody {
	return compactionBody{c.Enabled, c.Threshold, c.KeepInputs, opt.NonZero(c.Message), c.ToolEventPolicy}
}

// usageBody is SessionContextUsage.
type usageBody struct {
	Input struct {
		Count  int64 `json:"count"`
		Cached int64 `json:"cached_tokens,omitempty"`
	} `json:"input_tokens"`
	Output struct {
		Count     int64 `json:"count"`
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens"`
	Total  int64 `json:"total_tokens"`
	Window int64 `json:"model_context_window"`
}

func wireUsage(u *session.Usage) *usageBody {
	if u == nil {
		return nil
	}
	out := &usageBody{Total: u.Input + u.Output, Window: u.Window}
	out.Input.Count, out.Input.Cached = u.Input, u.Cached
	out.Output.Count, out.Output.Reasoning = u.Output, u.Reasoning
	return out
}

// eventsBody is ListAgentEventsResponse.
type eventsBody struct {
	Events   []eventBody `json:"events"`
	Metadata struct {
		PageKey *string `json:"page_key,omitempty"`
		Total   int     `json:"total_count"`
	} `json:"metadata"`
}

// eventBody is AgentEvent: the members of all types, of which an event has those of its own. Where the contract has two names
// for one member, both are there.
type eventBody struct {
	Type       session.Type `json:"type"`
	ID         string       `json:"id"`
	SessionKey string       `json:"session_key"`
	SessionID  string       `json:"session_id"`
	Created    instant      `json:"created_at"`
	HideReason string       `json:"hide_reason,omitempty"`

	Messages []messageBody `json:"messages,omitempty"`  // input_message
	Files    []fileBody    `json:"artifacts,omitempty"` // artifact_upload, like the next one
	Upload   string        `json:"agent_upload_message,omitempty"`
	Skill    string        `json:"skill_name,omitempty"` // skill_load
	Schema   *string       `json:"schema_name,omitempty"`
	From     *string       `json:"from_step,omitempty"` // step_transition, like To
	To       *string       `json:"to_step,omitempty"`
	Content  any           `json:"content,omitempty"` // a text, of structured_output any JSON

	*imageBody  // image_read
	*summedBody // compaction

	*callBody                  // tool_input and tool_output
	ToolInput  json.RawMessage `json:"tool_input,omitempty"`
	Pinned     *[]string       `json:"argument_override_paths,omitempty"`
	ToolOutput json.RawMessage `json:"tool_output,omitempty"`
	Error      *bool           `json:"error,omitempty"`
	Overrides  json.RawMessage `json:"resolved_argument_overrides,omitempty"`
}

type imageBody struct {
	ID     string `json:"artifact_id"`
	Detail string `json:"detail"`
}

type summedBody struct {
	Turns   int    `json:"turns_compacted"`
	Events  int    `json:"events_compacted"`
	Summary string `json:"summary_text"`
	Key     string `json:"summary_key"`
}

type callBody struct {
	ID                string `json:"tool_call_id"`
	Configuration     string `json:"tool_configuration"`
	ConfigurationName string `json:"tool_configuration_name"`
	Tool              string `json:"tool_name"`
}

// messageBody is AgentTextInput and AgentSkillInput.
type messageBody struct {
	Type       string `json:"type"`
	Content    string `json:"content,omitempty"`
	Skill      string `json:"skill_name,omitempty"`
	ExternalID string `json:"external_id,omitempty"`
}

// fileBody is ArtifactReference.
type fileBody struct {
	ID       string `json:"artifact_id"`
	Filename string `json:"filename"`
	MIME     string `json:"mime_type"`
	Size     int64  `json:"size_bytes"`
}

// artifactsBody is ListSessionArtifactsResponse.
type artifactsBody struct {
	Artifacts []artifactBody `json:"artifacts"`
	Metadata  struct {
		PageKey *string `json:"page_key,omitempty"`
	} `json:"metadata"`
}

// artifactBody is SessionArtifact without its data.
type artifactBody struct {
	ID          string          `json:"artifact_id"`
	Filename    string          `json:"filename"`
	MIME        string          `json:"mime_type"`
	Size        int64           `json:"size_bytes"`
	Sum         string          `json:"checksum_sha256"`
	Metadata    json.RawMessage `json:"metadata"`
	Description string          `json:"description,omitempty"`
	TTLDays     int             `json:"ttl_days"`
	Created     time.Time       `json:"created_at"`
	Updated     time.Time       `json:"updated_at"`
}

func wireArtifact(a *artifact.Artifact) artifactBody {
	return artifactBody{a.ID, a.Filename, a.MIME, a.Size, a.Sum, a.Metadata, a.Description, a.TTLDays, a.Created, a.Updated}
}

// instant is a time as events have it: UTC with milliseconds.
type instant time.Time

// MarshalJSON implements json.Marshaler.
func (t instant) MarshalJSON() ([]byte, error) {
	return []byte(time.Time(t).UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

// wireEvent maps an event of a session to what clients see.
func wireEvent(sessionKey string, e *session.Event) eventBody {
	out := eventBody{Type: e.Type, ID: string(e.ID), SessionKey: sessionKey, SessionID: sessionKey, Created: instant(e.Created), HideReason: e.Hidden}
	switch e.Type {
	case session.InputMessage:
		out.Messages = make([]messageBody, len(e.Parts))
		for i, p := range e.Parts {
			out.Messages[i] = messageBody{"text", p.Text, p.Skill, p.ExternalID}
			if p.Skill != "" {
				out.Messages[i].Type = skillPart
			}
		}
	case session.ArtifactUpload:
		out.Upload, out.Files = e.Text, make([]fileBody, len(e.Files))
		for i, f := range e.Files {
			out.Files[i] = fileBody(f)
		}
	case session.StructuredOutput:
		out.Schema, out.Content = &e.Schema, e.Body.Content
	case session.SkillLoad:
		out.Skill, out.Content = e.Skill, e.Text
	case session.ImageRead:
		out.imageBody = &imageBody{e.Image.Artifact, e.Image.Detail}
	case session.StepTransition:
		out.From, out.To, out.Content = &e.From, &e.To, e.Text
	case session.Compaction:
		out.summedBody = &summedBody{e.Summed.Turns, e.Summed.Events, e.Text, e.Summed.Key}
	case session.ToolInput:
		pinned := append([]string{}, e.Pinned...)
		out.callBody, out.ToolInput, out.Pinned = wireCall(e), e.Arguments, &pinned
	case session.ToolOutput:
		out.callBody, out.ToolOutput, out.Error, out.Overrides = wireCall(e), e.Output, &e.Failed, e.Overrides
	default:
		out.Content = e.Text
	}
	return out
}

func wireCall(e *session.Event) *callBody { return &callBody{e.CallID, e.Tool, e.Tool, e.ToolName} }

// searched reports whether an event is what the tool corpora_search has found.
func searched(e *session.Event) bool {
	return e.Type == session.ToolOutput && !e.Failed && e.ToolName == "corpora_search"
}

// derived are the members that the single read adds to the output of a search.
type derived struct {
	Results []searchResult `json:"results"`
	Query   string         `json:"query_used"`
	Total   int            `json:"total_results"`
	Millis  int64          `json:"search_time_ms"`
}

type searchResult struct {
	Title      string  `json:"title"`
	Content    string  `json:"content"`
	Score      float64 `json:"relevance_score"`
	DocumentID string  `json:"document_id"`
}

// withDerived returns the output of a search with the derived members behind its own; of those that it has itself, its own count.
// call is the call that it answers, if there still is one: without it the query and the time are not known.
func withDerived(output, call *session.Event, known bool) json.RawMessage {
	var response struct {
		Results []struct {
			Text     string  `json:"text"`
			Score    float64 `json:"score"`
			Document string  `json:"document_id"`
			Metadata struct {
				Title any `json:"title"`
			} `json:"document_metadata"`
		} `json:"search_results"`
	}
	own := map[string]json.RawMessage{}
	if json.Unmarshal(output.Output, &response) != nil || json.Unmarshal(output.Output, &own) != nil || own["search_results"] == nil {
		return output.Output // a transform made something else of it, or it was moved to a file
	}
	d := derived{Results: make([]searchResult, len(response.Results)), Total: len(response.Results)}
	for i, r := range response.Results {
		title, _ := r.Metadata.Title.(string)
		d.Results[i] = searchResult{title, r.Text, r.Score, r.Document}
	}
	if known {
		d.Query = queryUsed(output, call)
		d.Millis = output.Created.Sub(call.Created).Milliseconds()
	}
	added, err := json.Marshal(d)
	var more map[string]json.RawMessage
	if err != nil || json.Unmarshal(added, &more) != nil {
		return output.Output
	}
	body := bytes.TrimSpace(output.Output)
	body = body[: len(body)-1 : len(body)-1]
	for _, name := range []string{"results", "query_used", "total_results", "search_time_ms"} {
		if _, there := own[name]; there {
			continue
		}
		if len(bytes.TrimSpace(body)) > 1 {
			body = append(body, ',')
		}
		body = append(append(append(body, '"'), name...), `":`...)
		body = append(body, more[name]...)
	}
	return append(body, '}')
}

// queryUsed returns the query of a search: what was pinned over what the model sent.
func queryUsed(output, call *session.Event) string {
	var sent struct {
		Query string `json:"query"`
	}
	_ = json.Unmarshal(call.Arguments, &sent)   // arguments of another form have no query
	_ = json.Unmarshal(output.Overrides, &sent) // nil for none
	return sent.Query
}
