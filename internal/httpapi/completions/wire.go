package completions

import (
	"encoding/json"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
)

// head is what the answer and each chunk of it have in common.
type head struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"` // as it was asked for
}

type completion struct {
	head
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage"`
}

type choice struct {
	Index   int        `json:"index"`
	Message message    `json:"message"`
	Reason  llm.Reason `json:"finish_reason"`
	LogProb *struct{}  `json:"logprobs"` // always null, where clients look for it
}

type chunk struct {
	head
	Choices []delta         `json:"choices"`
	Usage   *usage          `json:"usage,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

type delta struct {
	Index  int         `json:"index"`
	Delta  message     `json:"delta"`
	Reason *llm.Reason `json:"finish_reason"`
}

// message is one of an assistant, or a piece of it.
type message struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	Refusal   *string    `json:"refusal,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"` // the name that most servers use for it
	Calls     []toolCall `json:"tool_calls,omitempty"`
}

// MarshalJSON implements json.Marshaler: the whole message has content and refusal, null where there is none.
func (c choice) MarshalJSON() ([]byte, error) {
	type plain choice
	type whole struct {
		message
		Content *string `json:"content"`
		Refusal *string `json:"refusal"`
	}
	return json.Marshal(struct {
		plain
		Message whole `json:"message"`
	}{plain(c), whole{c.Message, c.Message.Content, c.Message.Refusal}})
}

type toolCall struct {
	Index    *int         `json:"index,omitempty"` // of a chunk: its place among the calls of the answer
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function calledByName `json:"function"`
	State    state        `json:"extra_content,omitempty"`
}

// state is llm.ToolCall.State on its way through the client. It stands where other servers put what their models want back
// with a call, so clients that keep theirs keep ours: {"quarry":{"state":"…"}}.
type state string

type extraContent struct {
	Ours struct {
		State string `json:"state"`
	} `json:"quarry"`
}

// MarshalJSON implements json.Marshaler.
func (s state) MarshalJSON() ([]byte, error) {
	var out extraContent
	out.Ours.State = string(s)
	return json.Marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler. What others put there is no fault, and nothing to us.
func (s *state) UnmarshalJSON(raw []byte) error {
	var in extraContent
	if json.Unmarshal(raw, &in) == nil {
		*s = state(in.Ours.State)
	}
	return nil
}

type calledByName struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	PromptIs   struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionIs struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// wireUsage adds the tokens of all answers: each is a call that reads the prompt.
func wireUsage(answers []llm.Answer) *usage {
	var out usage
	for _, a := range answers {
		out.Prompt += a.Usage.Input
		out.Completion += a.Usage.Output
		out.PromptIs.Cached += a.Usage.Cached
		out.CompletionIs.Reasoning += a.Usage.Reasoning
	}
	out.Total = out.Prompt + out.Completion
	return &out
}

func wireCompletion(h head, answers []llm.Answer) completion {
	h.Object = "chat.completion"
	out := completion{head: h, Choices: make([]choice, len(answers)), Usage: wireUsage(answers)}
	for i := range answers {
		a := &answers[i]
		m := message{Role: "assistant", Reasoning: a.Reasoning}
		if a.Text != "" || len(a.Calls) == 0 && a.Refusal == "" {
			m.Content = &a.Text
		}
		if a.Refusal != "" {
			m.Refusal = &a.Refusal
		}
		for _, c := range a.Calls {
			m.Calls = append(m.Calls, wireCall(c))
		}
		out.Choices[i] = choice{Index: i, Message: m, Reason: wireReason(a)}
	}
	return out
}

// wireReason returns why an answer ended. A refusal in words is a message that ends as usual; content_filter is one
// without words.
func wireReason(a *llm.Answer) llm.Reason {
	if a.Reason == llm.Refused && a.Refusal != "" {
		return llm.Stop
	}
	return a.Reason
}

func wireCall(c llm.ToolCall) toolCall {
	return toolCall{ID: c.ID, Type: "function", Function: calledByName{c.Name, string(c.Arguments)}, State: state(c.State)}
}

func (h head) chunk(choices []delta, u *usage, failed json.RawMessage) chunk {
	h.Object = "chat.completion.chunk"
	return chunk{h, choices, u, failed}
}

type models struct {
	Object string  `json:"object"`
	Data   []model `json:"data"`
}

type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Owner   string `json:"owned_by"`
}

func wireModels(found []registry.LLM) models {
	out := models{"list", make([]model, len(found))}
	for i, l := range found {
		owner := "customer"
		if l.Platform {
			owner = "platform"
		}
		out.Data[i] = model{l.Name, "model", l.Created.Unix(), owner}
	}
	return out
}
