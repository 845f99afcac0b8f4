package compat

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"quarry/internal/llm"
)

func object(raw json.RawMessage) map[string]any {
	if raw == nil {
		return nil
	}
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		panic(err)
	}
	return v
}

func address(i *llm.Image) string {
	if i.URL != "" {
		return i.URL
	}
	return "data:" + i.MimeType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

func pictured(m llm.Message) bool {
	for _, p := range m.Parts {
		if p.Image != nil {
			return true
		}
	}
	return false
}

func chatMessages(r llm.Request) (out []openai.ChatCompletionMessageParamUnion) {
	for _, m := range r.Messages {
		switch {
		case m.Role == llm.System:
			out = append(out, openai.SystemMessage(m.Plain()))
		case m.Role == llm.Result:
			out = append(out, openai.ToolMessage(m.Plain(), m.CallID))
		case m.Role == llm.Assistant:
			one := openai.ChatCompletionAssistantMessageParam{}
			if m.Plain() != "" {
				one.Content.OfString = param.NewOpt(m.Plain())
			}
			for _, c := range m.Calls {
				one.ToolCalls = append(one.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
					ID: c.ID, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: string(c.Arguments)},
				}})
			}
			out = append(out, openai.ChatCompletionMessageParamUnion{OfAssistant: &one})
		case pictured(m):
			var parts []openai.ChatCompletionContentPartUnionParam
			for _, p := range m.Parts {
				if p.Image != nil {
					parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: address(p.Image)}))
					continue
				}
				parts = append(parts, openai.TextContentPart(p.Text))
			}
			out = append(out, openai.UserMessage(parts))
		default:
			out = append(out, openai.UserMessage(m.Plain()))
		}
	}
	return out
}

func chatParams(model string, r llm.Request) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{
		Model: model, Messages: chatMessages(r), StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: param.NewOpt(t.Description), Parameters: object(t.Parameters),
		}))
	}
	switch r.Choice.Mode {
	case "required", "none":
		p.ToolChoice.OfAuto = param.NewOpt(r.Choice.Mode)
	case "tool":
		p.ToolChoice = openai.ToolChoiceOptionFunctionToolChoice(openai.ChatCompletionNamedToolChoiceFunctionParam{Name: r.Choice.Name})
	}
	if f := r.Format; f != nil && f.Type == "json_object" {
		p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	} else if f != nil {
		s := shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: f.Name, Schema: object(f.Schema), Strict: param.NewOpt(f.Strict)}
		if f.Description != "" {
			s.Description = param.NewOpt(f.Description)
		}
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: s}
	}
	if v := r.Parameters.MaxTokens; v != nil {
		p.MaxTokens = param.NewOpt(int64(*v))
	}
	for at, v := range map[*param.Opt[float64]]*float64{
		&p.Temperature: r.Parameters.Temperature, &p.FrequencyPenalty: r.Parameters.FrequencyPenalty, &p.PresencePenalty: r.Parameters.PresencePenalty,
	} {
		if v != nil {
			*at = param.NewOpt(*v)
		}
	}
	return p
}

func chat(t *testing.T, url, model string, r llm.Request) read {
	t.Helper()
	client := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
	stream := client.Chat.Completions.NewStreaming(t.Context(), chatParams(model, r))
	acc := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		acc.AddChunk(stream.Current())
	}
	if err := stream.Err(); err != nil {
		t.Fatalf("their library: %v", err)
	}
	first := acc.Choices[0]
	out := read{Text: first.Message.Content, Stop: first.FinishReason, Usage: fmt.Sprint(acc.Usage.PromptTokens, acc.Usage.CompletionTokens)}
	for _, c := range first.Message.ToolCalls {
		out.Calls = append(out.Calls, called{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return out
}

// alikeChat: content may be a text or a list of one text; the flag "strict" of a schema is false when it is absent; a tool
// without parameters may say so by an empty object; the text of a message that only calls tools may be null.
func alikeChat(body map[string]any) {
	under(body, func(o map[string]any) {
		if parts, ok := o["content"].([]any); ok && len(parts) == 1 {
			if one, _ := parts[0].(map[string]any); one["type"] == "text" {
				o["content"] = one["text"]
			}
		}
		if v, ok := o["content"]; ok && v == nil {
			delete(o, "content")
		}
		if o["strict"] == false {
			delete(o, "strict")
		}
		emptyParameters(o, "parameters")
	})
}

// emptyParameters takes away the schema of an object without members.
func emptyParameters(o map[string]any, name string) {
	schema, _ := o[name].(map[string]any)
	members, _ := schema["properties"].(map[string]any)
	if schema["type"] == "object" && len(members) == 0 {
		delete(o, name)
	}
}

func responseInput(r llm.Request) (out responses.ResponseInputParam) {
	for _, m := range r.Messages {
		switch {
		case m.Role == llm.Result:
			one := responses.ResponseInputItemParamOfFunctionCallOutput(m.Plain())
			one.OfFunctionCallOutput.CallID = param.NewOpt(m.CallID)
			out = append(out, one)
		case pictured(m):
			var parts responses.ResponseInputMessageContentListParam
			for _, p := range m.Parts {
				if p.Image == nil {
					parts = append(parts, responses.ResponseInputContentParamOfInputText(p.Text))
					continue
				}
				one := responses.ResponseInputContentParamOfInputImage("auto")
				one.OfInputImage.ImageURL = param.NewOpt(address(p.Image))
				parts = append(parts, one)
			}
			out = append(out, responses.ResponseInputItemParamOfMessage(parts, "user"))
		default:
			if m.Plain() != "" {
				out = append(out, responses.ResponseInputItemParamOfMessage(m.Plain(), responses.EasyInputMessageRole(m.Role)))
			}
			for _, c := range m.Calls {
				out = append(out, responses.ResponseInputItemParamOfFunctionCall(string(c.Arguments), c.ID, c.Name))
			}
		}
	}
	return out
}

func responseParams(model string, r llm.Request) responses.ResponseNewParams {
	p := responses.ResponseNewParams{Model: model, Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responseInput(r)}, Store: param.NewOpt(false)}
	for _, t := range r.Tools {
		parameters := object(t.Parameters)
		if parameters == nil {
			parameters = map[string]any{"type": "object", "properties": map[string]any{}}
		}
		one := responses.ToolParamOfFunction(t.Name, parameters, false)
		one.OfFunction.Description = param.NewOpt(t.Description)
		p.Tools = append(p.Tools, one)
	}
	switch r.Choice.Mode {
	case "required", "none":
		p.ToolChoice.OfToolChoiceMode = param.NewOpt(responses.ToolChoiceOptions(r.Choice.Mode))
	case "tool":
		p.ToolChoice.OfFunctionTool = &responses.ToolChoiceFunctionParam{Name: r.Choice.Name}
	}
	if f := r.Format; f != nil && f.Type == "json_object" {
		p.Text.Format.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	} else if f != nil {
		p.Text.Format = responses.ResponseFormatTextConfigParamOfJSONSchema(f.Name, object(f.Schema))
		p.Text.Format.OfJSONSchema.Strict = param.NewOpt(f.Strict)
		if f.Description != "" {
			p.Text.Format.OfJSONSchema.Description = param.NewOpt(f.Description)
		}
	}
	if v := r.Parameters.MaxTokens; v != nil {
		p.MaxOutputTokens = param.NewOpt(int64(*v))
	}
	if v := r.Parameters.Temperature; v != nil {
		p.Temperature = param.NewOpt(*v)
	}
	return p
}

func respond(t *testing.T, url, model string, r llm.Request) read {
	t.Helper()
	client := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
	stream := client.Responses.NewStreaming(t.Context(), responseParams(model, r))
	var last responses.Response
	text := ""
	for stream.Next() {
		switch e := stream.Current(); e.Type {
		case "response.output_text.delta":
			text += e.Delta
		case "response.completed", "response.incomplete":
			last = e.Response
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatalf("their library: %v", err)
	}
	if text != last.OutputText() {
		t.Fatalf("their library: the pieces are %q, the whole %q", text, last.OutputText())
	}
	out := read{Text: text, Stop: string(last.Status), Usage: fmt.Sprint(last.Usage.InputTokens, last.Usage.OutputTokens)}
	for _, item := range last.Output {
		if item.Type == "function_call" {
			c := item.AsFunctionCall()
			out.Calls = append(out.Calls, called{c.CallID, c.Name, c.Arguments})
		}
	}
	if len(out.Calls) > 0 {
		out.Stop += " with calls"
	}
	return out
}

// alikeResponses: an item may say that it is a message, which it is when it says nothing; content may be a text or a list
// of one text; "strict" of a schema is false when it is absent; "auto" is the detail of a picture that says none. Which
// parts of the model's own thoughts come back (include) is up to the caller.
func alikeResponses(body map[string]any) {
	delete(body, "include")
	under(body, func(o map[string]any) {
		if o["type"] == "message" {
			delete(o, "type")
		}
		if parts, ok := o["content"].([]any); ok && len(parts) == 1 {
			if one, _ := parts[0].(map[string]any); one["type"] == "input_text" || one["type"] == "output_text" {
				o["content"] = one["text"]
			}
		}
		if o["strict"] == false {
			delete(o, "strict")
		}
		if o["detail"] == "auto" {
			delete(o, "detail")
		}
		emptyParameters(o, "parameters")
	})
}
