package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/provider"
)

// event is an event of a stream; its members depend on its type.
type event struct {
	Type      string        `json:"type"`
	Delta     provider.Text `json:"delta"`
	Arguments string        `json:"arguments"`
	Output    int           `json:"output_index"`
	Item      *item         `json:"item"`
	Response  *response     `json:"response"`
}

type response struct {
	ID         string          `json:"id"`
	Model      string          `json:"model"`
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []item `json:"output"`
	Usage  *struct {
		Input   int64 `json:"input_tokens"`
		Output  int64 `json:"output_tokens"`
		InputIs *struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		OutputIs *struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

// item is a piece of the output; raw is all of it.
type item struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Sealed    string `json:"encrypted_content"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
	raw json.RawMessage
}

func (i *item) UnmarshalJSON(data []byte) error {
	type plain item
	if err := json.Unmarshal(data, (*plain)(i)); err != nil {
		return err
	}
	i.raw = append(json.RawMessage(nil), data...)
	return nil
}

// output is the state of one answer.
type output struct {
	resp    *provider.Response
	b       *provider.Builder
	pieces  map[int]*strings.Builder // arguments of the calls under way, by their place in the output
	made    map[string]bool          // calls passed on, by id
	thought []json.RawMessage
	ended   bool
}

func (responses) events(resp *provider.Response, b *provider.Builder) error {
	out := &output{resp: resp, b: b, pieces: map[int]*strings.Builder{}, made: map[string]bool{}}
	for e, err := range resp.Events() {
		if err != nil {
			return err
		}
		text := strings.TrimSpace(string(e.Data))
		if text == "" || text == "[DONE]" {
			continue
		}
		if err := out.event(e.Data); err != nil {
			return err
		}
		if out.ended {
			return nil
		}
	}
	return resp.CutOff()
}

func (responses) whole(data []byte, resp *provider.Response, b *provider.Builder) error {
	out := &output{resp: resp, b: b, made: map[string]bool{}}
	var r response
	if err := json.Unmarshal(data, &r); err != nil {
		return resp.BadEvent(err)
	}
	if r.Status == "" && r.Output == nil && provider.Present(r.Error) {
		return resp.Reported(data)
	}
	return out.end(&r, data)
}

func (out *output) event(data []byte) error {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return out.resp.BadEvent(err)
	}
	switch e.Type {
	case "response.output_text.delta":
		return out.b.Text(string(e.Delta))
	case "response.refusal.delta":
		out.b.Refuse(string(e.Delta))
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return out.b.Reasoning(string(e.Delta))
	case "response.output_item.added":
		if e.Item != nil && e.Item.Type == "function_call" {
			out.pieces[e.Output] = &strings.Builder{}
		}
	case "response.function_call_arguments.delta":
		if p := out.pieces[e.Output]; p != nil {
			p.WriteString(string(e.Delta))
		}
	case "response.output_item.done":
		return out.itemDone(&e)
	case "response.completed", "response.incomplete", "response.failed", "response.done":
		if e.Response == nil {
			return out.resp.BadEvent(nil)
		}
		return out.end(e.Response, data)
	case "error":
		return out.resp.Reported(data)
	case "":
		return out.untyped(data)
	}
	return nil
}

// untyped handles an event without a type: it may be an error in the form of other servers.
func (out *output) untyped(data []byte) error {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &e) == nil && provider.Present(e.Error) {
		return out.resp.Reported(data)
	}
	return nil
}

func (out *output) itemDone(e *event) error {
	if e.Item == nil {
		return nil
	}
	if p := out.pieces[e.Output]; p != nil && e.Item.Type == "function_call" && e.Item.Arguments == "" {
		e.Item.Arguments = p.String()
	}
	delete(out.pieces, e.Output)
	return out.item(e.Item)
}

// item handles a complete item, whose texts were passed on piece by piece.
func (out *output) item(i *item) error {
	switch i.Type {
	case "reasoning":
		if i.Sealed != "" {
			out.thought = append(out.thought, i.raw)
		}
	case "function_call":
		key := cmp.Or(i.CallID, i.ID)
		if key != "" && out.made[key] {
			return nil
		}
		out.made[key] = true
		call := llm.ToolCall{ID: key, Name: i.Name, Arguments: json.RawMessage(i.Arguments)}
		if len(out.thought) > 0 {
			state, err := json.Marshal(items{Reasoning: out.thought})
			if err != nil {
				return out.resp.BadEvent(err)
			}
			call.State, out.thought = string(state), nil
		}
		return out.b.Call(call)
	}
	return nil
}

// end handles the whole response: it passes on what was not streamed, and sets why the model stopped and the usage.
func (out *output) end(r *response, data []byte) error {
	out.ended = true
	a := &out.b.Answer
	a.Model, a.ID = r.Model, r.ID
	if u := r.Usage; u != nil {
		a.Usage = llm.Usage{Input: u.Input, Output: u.Output}
		if u.InputIs != nil {
			a.Usage.Cached = u.InputIs.Cached
		}
		if u.OutputIs != nil {
			a.Usage.Reasoning = u.OutputIs.Reasoning
		}
	}
	if r.Status == "failed" || provider.Present(r.Error) {
		return out.resp.Reported(failedError(r, data))
	}
	streamed := out.b.Streamed() || a.Refusal != ""
	for i := range r.Output {
		item := &r.Output[i]
		if !streamed {
			if err := out.text(item); err != nil {
				return err
			}
		}
		if err := out.item(item); err != nil {
			return err
		}
	}
	if r.Incomplete != nil {
		a.Reason = llm.Length
		if r.Incomplete.Reason == "content_filter" {
			a.Reason = llm.Refused
		}
	}
	if a.Refusal != "" {
		a.Reason = llm.Refused
	}
	return nil
}

// text passes on the texts of an item that were not streamed.
func (out *output) text(i *item) error {
	for _, s := range i.Summary {
		if err := out.b.Reasoning(s.Text); err != nil {
			return err
		}
	}
	for _, c := range i.Content {
		out.b.Refuse(c.Refusal)
		var err error
		if i.Type == "reasoning" {
			err = out.b.Reasoning(c.Text)
		} else {
			err = out.b.Text(c.Text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// failedError returns the error of a failed response in a shape that provider.Message knows.
func failedError(r *response, data []byte) []byte {
	if !provider.Present(r.Error) {
		return data
	}
	out, err := json.Marshal(object{"error": r.Error})
	if err != nil {
		return data
	}
	return out
}
