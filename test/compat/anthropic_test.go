package compat

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"quarry/internal/llm"
)

func blocks(m llm.Message) (out []anthropic.ContentBlockParamUnion) {
	if m.Role == llm.Result {
		return []anthropic.ContentBlockParamUnion{anthropic.NewToolResultBlock(m.CallID, m.Plain(), false)}
	}
	for _, p := range m.Parts {
		switch {
		case p.Image == nil:
			out = append(out, anthropic.NewTextBlock(p.Text))
		case p.Image.URL != "":
			out = append(out, anthropic.NewImageBlock(anthropic.URLImageSourceParam{URL: p.Image.URL}))
		default:
			out = append(out, anthropic.NewImageBlockBase64(p.Image.MimeType, base64.StdEncoding.EncodeToString(p.Image.Data)))
		}
	}
	for _, c := range m.Calls {
		out = append(out, anthropic.NewToolUseBlock(c.ID, object(c.Arguments), c.Name))
	}
	return out
}

func messageParams(model string, r llm.Request) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{Model: anthropic.Model(model), MaxTokens: int64(*r.Parameters.MaxTokens)}
	for i, m := range r.Messages {
		switch {
		case m.Role == llm.System:
			p.System = append(p.System, anthropic.TextBlockParam{Text: m.Plain()})
		case m.Role == llm.Assistant:
			p.Messages = append(p.Messages, anthropic.NewAssistantMessage(blocks(m)...))
		case i > 0 && r.Messages[i-1].Role == llm.Result: // a turn of the user holds all results, and what comes behind them
			last := &p.Messages[len(p.Messages)-1]
			last.Content = append(last.Content, blocks(m)...)
		default:
			p.Messages = append(p.Messages, anthropic.NewUserMessage(blocks(m)...))
		}
	}
	for _, t := range r.Tools {
		schema := anthropic.ToolInputSchemaParam{}
		if o := object(t.Parameters); o != nil {
			schema.Properties = o["properties"]
			for _, name := range o["required"].([]any) {
				schema.Required = append(schema.Required, name.(string))
			}
			schema.ExtraFields = map[string]any{"additionalProperties": o["additionalProperties"]}
		}
		one := anthropic.ToolUnionParamOfTool(schema, t.Name)
		one.OfTool.Description = param.NewOpt(t.Description)
		p.Tools = append(p.Tools, one)
	}
	switch r.Choice.Mode {
	case "required":
		p.ToolChoice.OfAny = &anthropic.ToolChoiceAnyParam{}
	case "none":
		none := anthropic.NewToolChoiceNoneParam()
		p.ToolChoice.OfNone = &none
	case "tool":
		p.ToolChoice = anthropic.ToolChoiceParamOfTool(r.Choice.Name)
	}
	if f := r.Format; f != nil && f.Schema != nil {
		p.OutputConfig.Format = anthropic.JSONOutputFormatParam{Schema: object(f.Schema)}
	} else if f != nil { // the format has no free object: the arguments of a tool that must be called are one
		one := anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{}, "structured_answer")
		one.OfTool.Description = param.NewOpt("Gives the answer.")
		p.Tools, p.ToolChoice = append(p.Tools, one), anthropic.ToolChoiceParamOfTool("structured_answer")
	}
	if v := r.Parameters.Temperature; v != nil {
		p.Temperature = param.NewOpt(*v)
	}
	return p
}

func messages(t *testing.T, url, model string, r llm.Request) read {
	t.Helper()
	client := anthropic.NewClient(option.WithBaseURL(url), option.WithAPIKey(key), option.WithMaxRetries(0))
	stream := client.Messages.NewStreaming(t.Context(), messageParams(model, r))
	acc := anthropic.Message{}
	for stream.Next() {
		if err := acc.Accumulate(stream.Current()); err != nil {
			t.Fatalf("their library: %v", err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatalf("their library: %v", err)
	}
	u := acc.Usage
	out := read{Stop: string(acc.StopReason), Usage: fmt.Sprint(u.InputTokens+u.CacheReadInputTokens+u.CacheCreationInputTokens, u.OutputTokens)}
	for _, b := range acc.Content {
		switch b.Type {
		case "text":
			out.Text += b.Text
		case "tool_use":
			out.Calls = append(out.Calls, called{b.ID, b.Name, string(b.Input)})
		}
	}
	return out
}

// alikeMessages: a list of one text may be the text; a result that is no error may say so; space around a description is
// nothing; a tool without parameters may have an empty object of them.
func alikeMessages(body map[string]any) {
	under(body, func(o map[string]any) {
		for _, name := range []string{"content", "system"} {
			if parts, ok := o[name].([]any); ok && len(parts) == 1 {
				if one, _ := parts[0].(map[string]any); one["type"] == "text" {
					o[name] = one["text"]
				}
			}
		}
		if o["is_error"] == false {
			delete(o, "is_error")
		}
		if text, ok := o["description"].(string); ok {
			o["description"] = strings.TrimSpace(text)
		}
		emptyParameters(o, "input_schema")
	})
}
