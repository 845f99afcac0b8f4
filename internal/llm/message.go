// Package llm is what the product knows of language models: messages, tools and formats, the events of an answer, the
// interface that every model is called through (Provider), and how a model is found by name (Models). Packages generate
// and verify call models through it, chat and agents will. Registered models are in llm/registry, the wire formats of
// providers in provider/*; prompts are made in package generate.
package llm

import (
	"context"
	"encoding/json"
)

// Role is who speaks.
type Role string

// The roles. Tool carries the result of a tool call.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Result    Role = "tool"
)

// Message is one turn of a conversation.
type Message struct {
	Role      Role
	Parts     []Part
	Calls     []ToolCall // of Assistant: what it asked for
	CallID    string     // of Result: the call that it answers
	Name      string     // of Result: the tool; otherwise who speaks, where the model can tell speakers apart
	Reasoning string     // of Assistant: what it thought, for models that want it back
}

// Part is a piece of a message: a text or an image.
type Part struct {
	Text  string
	Image *Image
}

// Image is a picture by value or by address.
type Image struct {
	MimeType string
	Data     []byte // nil when URL is set
	URL      string
	Detail   string // how closely the model is to look, as OpenAI's interface names it; "" leaves it to the model
}

// Text returns a message of one text.
func Text(r Role, s string) Message { return Message{Role: r, Parts: []Part{{Text: s}}} }

// Plain is the texts of a message, joined by newlines.
func (m Message) Plain() string {
	out := ""
	for _, p := range m.Parts {
		if p.Text == "" {
			continue
		}
		if out != "" {
			out += "\n"
		}
		out += p.Text
	}
	return out
}

// Tool is something that the model may ask for.
type Tool struct {
	Name, Description string
	Parameters        json.RawMessage // a JSON Schema of an object; nil for none
	Strict            bool            // calls hold to the schema, where the provider can enforce it
}

// ToolCall is a request of the model.
type ToolCall struct {
	ID, Name  string
	Arguments json.RawMessage // a JSON object; what the model sent if that is not one
	// State is opaque: what the model wants back with the call, such as its signed reasoning; "" for none. Keep it with the
	// message. It may have been with a client, so adapters take from it only what belongs there.
	State string
}

// Choice is whether the model may, must or must not call tools.
type Choice struct {
	Mode string // "" or "auto", "none", "required", "tool"
	Name string // with "tool"
}

// Format is the form of the answer. The JSON names are for stores.
type Format struct {
	Type        string          `json:"type"` // "json_object" or "json_schema"
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Strict      bool            `json:"strict,omitempty"`
}

// Parameters steer the model. Absent ones are left to the provider.
type Parameters struct {
	MaxTokens        *int
	Temperature      *float64
	FrequencyPenalty *float64
	PresencePenalty  *float64
	Extra            map[string]json.RawMessage // passed through to the provider as they are; the members above win
}

// Evidence is a passage that the answer may stand on. Models over the wire find the passages in the prompt and do not
// look at it; the embedded generator quotes from it and cites [N].
type Evidence struct {
	N      int       // 1-based place in the results of the query; 0 for what the user has said before
	Text   string    // with the context around it, without the marks that the query puts around matches
	Score  float64   // of the result
	Title  string    // of its document; "" when it has none
	Label  bool      // it names what is elsewhere, as a title or the summary of a table does; in summaries also a row of a table
	Vector []float32 // of the passage, of unit length; nil when it is not known

	Headings      []string // above the passage, outermost first, without Title
	Before, After string   // the sentences on either side of Text in its section, for judging it; "" when they are not known

	Section int // of summaries: where the passage stands; neighbours with the same number belong together
}

// Request is one call of a model.
type Request struct {
	Messages   []Message
	Tools      []Tool
	Choice     Choice
	Format     *Format // nil for free text
	Parameters Parameters
	Question   string     // what Evidence is to answer; "" takes the last user message
	Language   string     // ISO 639-3 of the answer; "" leaves it to the model
	Evidence   []Evidence // best first; of a summary, in reading order
	// Partial is for callers that pass answers on as they are. Structured output that the token limit cut off is the part
	// with the reason Length, and an answer that it cut off before its first word is an empty one; a refusal to give
	// structured output has the reason Refused. Otherwise they are the failures Truncated, Empty and Declined.
	Partial bool
	// Summarize asks for a summary of Evidence in place of an answer to Question. Models over the wire are asked in Messages
	// alone and do not look at it. The embedded generator chooses sentences of Evidence, however long that is, and without
	// Evidence of Messages.
	Summarize bool
}

// Event is a piece of an answer as it arrives: exactly one member is set.
type Event struct {
	Text      string    // to be appended to the answer
	Reasoning string    // to be appended to what the model thinks
	Call      *ToolCall // a call, complete
}

// Reason is why a model stopped.
type Reason string

// The reasons. Length means that the token limit cut the answer off; Refused that the model or its provider would not
// answer.
const (
	Stop    Reason = "stop"
	Length  Reason = "length"
	Calls   Reason = "tool_calls"
	Refused Reason = "content_filter"
)

// Usage counts tokens. Input includes those read from a cache of the provider, Output those of reasoning.
type Usage struct {
	Input, Cached, Output, Reasoning int64
	Estimated                        bool // the provider did not say
}

// Answer is what a call gave. Its text and calls are what the events held, together.
type Answer struct {
	Text      string
	Reasoning string
	Calls     []ToolCall
	Reason    Reason
	Refusal   string // with Refused: what the model said about it; may be empty
	Model     string // that the provider says answered
	ID        string // of the answer, as the provider has it; "" where it has none
	Usage     Usage
	// Evidence is how likely what was quoted first is to answer the question, 0 to 1; nil for models that write and where nothing
	// was quoted.
	Evidence *float64
}

// Provider is one model behind one connection. Implementations are safe for concurrent use and hold no state of a
// conversation.
type Provider interface {
	// Stream runs one call. emit gets every event in order, from the goroutine of the caller, as soon as it arrives;
	// an error of emit ends the call and is returned unchanged. When ctx ends, the call upstream ends at once and the
	// cause of ctx is returned. A failure of the model is an *Error. With Request.Format the answer's text is JSON.
	Stream(ctx context.Context, r Request, emit func(Event) error) (Answer, error)
}

// Complete is Stream for callers that want the whole answer.
func Complete(ctx context.Context, p Provider, r Request) (Answer, error) {
	return p.Stream(ctx, r, func(Event) error { return nil })
}
