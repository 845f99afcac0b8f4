package compat

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"quarry/internal/llm"
)

func geminiParts(m llm.Message) (out []*genai.Part) {
	if m.Role == llm.Result {
		var response map[string]any
		if json.Unmarshal([]byte(m.Plain()), &response) != nil {
			response = map[string]any{"output": m.Plain()}
		}
		return []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: m.CallID, Name: m.Name, Response: response}}}
	}
	for _, p := range m.Parts {
		switch {
		case p.Image == nil:
			out = append(out, genai.NewPartFromText(p.Text))
		case p.Image.URL != "":
			out = append(out, genai.NewPartFromURI(p.Image.URL, p.Image.MimeType))
		default:
			out = append(out, genai.NewPartFromBytes(p.Image.Data, p.Image.MimeType))
		}
	}
	for _, c := range m.Calls {
		out = append(out, &genai.Part{FunctionCall: &genai.FunctionCall{ID: c.ID, Name: c.Name, Args: object(c.Arguments)}})
	}
	return out
}

// schemaOf is a JSON Schema in the library's own type: its names of types are written large, and what the type does not
// know, such as additionalProperties, is left out.
func schemaOf(raw json.RawMessage) *genai.Schema {
	o := object(raw)
	under(o, func(o map[string]any) {
		if kind, ok := o["type"].(string); ok {
			o["type"] = strings.ToUpper(kind)
		}
	})
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var schema genai.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		panic(err)
	}
	return &schema
}

// geminiParams are the arguments of the library; own puts schemas in Google's own terms, which models want that take no
// JSON Schema.
func geminiParams(r llm.Request, own bool) ([]*genai.Content, *genai.GenerateContentConfig) {
	var contents []*genai.Content
	config := &genai.GenerateContentConfig{MaxOutputTokens: int32(*r.Parameters.MaxTokens)}
	for i, m := range r.Messages {
		switch {
		case m.Role == llm.System:
			config.SystemInstruction = genai.NewContentFromText(m.Plain(), genai.RoleUser)
		case m.Role == llm.Assistant:
			contents = append(contents, genai.NewContentFromParts(geminiParts(m), genai.RoleModel))
		case i > 0 && r.Messages[i-1].Role == llm.Result:
			last := contents[len(contents)-1]
			last.Parts = append(last.Parts, geminiParts(m)...)
		default:
			contents = append(contents, genai.NewContentFromParts(geminiParts(m), genai.RoleUser))
		}
	}
	var declared []*genai.FunctionDeclaration
	for _, t := range r.Tools {
		one := &genai.FunctionDeclaration{Name: t.Name, Description: t.Description}
		switch {
		case t.Parameters != nil && own:
			one.Parameters = schemaOf(t.Parameters)
		case t.Parameters != nil:
			one.ParametersJsonSchema = object(t.Parameters)
		}
		declared = append(declared, one)
	}
	if declared != nil {
		config.Tools = []*genai.Tool{{FunctionDeclarations: declared}}
	}
	switch c := (&genai.FunctionCallingConfig{}); r.Choice.Mode {
	case "required", "tool":
		c.Mode = genai.FunctionCallingConfigModeAny
		if r.Choice.Name != "" {
			c.AllowedFunctionNames = []string{r.Choice.Name}
		}
		config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: c}
	case "none":
		c.Mode = genai.FunctionCallingConfigModeNone
		config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: c}
	}
	if f := r.Format; f != nil {
		config.ResponseMIMEType = "application/json"
		switch {
		case f.Schema != nil && own:
			config.ResponseSchema = schemaOf(f.Schema)
		case f.Schema != nil:
			config.ResponseJsonSchema = object(f.Schema)
		}
	}
	for at, v := range map[**float32]*float64{
		&config.Temperature: r.Parameters.Temperature, &config.FrequencyPenalty: r.Parameters.FrequencyPenalty, &config.PresencePenalty: r.Parameters.PresencePenalty,
	} {
		if v != nil {
			*at = ref(float32(*v))
		}
	}
	return contents, config
}

const (
	newGemini = "gemini-2.5-flash"
	oldGemini = "gemini-2.0-flash"
)

func gemini(t *testing.T, url, model string, r llm.Request) read {
	t.Helper()
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: key, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url, APIVersion: "v1beta"},
	})
	if err != nil {
		t.Fatal(err)
	}
	contents, config := geminiParams(r, model == oldGemini)
	var out read
	for chunk, err := range client.Models.GenerateContentStream(t.Context(), model, contents, config) {
		if err != nil {
			t.Fatalf("their library: %v", err)
		}
		first := chunk.Candidates[0]
		if first.Content != nil {
			for _, p := range first.Content.Parts {
				switch {
				case p.FunctionCall != nil:
					raw, err := json.Marshal(p.FunctionCall.Args)
					if err != nil {
						t.Fatal(err)
					}
					out.Calls = append(out.Calls, called{p.FunctionCall.ID, p.FunctionCall.Name, string(raw)})
				case !p.Thought:
					out.Text += p.Text
				}
			}
		}
		if first.FinishReason != "" {
			out.Stop = string(first.FinishReason)
		}
		if u := chunk.UsageMetadata; u != nil {
			out.Usage = fmt.Sprint(u.PromptTokenCount, u.CandidatesTokenCount+u.ThoughtsTokenCount)
		}
	}
	if len(out.Calls) > 0 {
		out.Stop += " with calls"
	}
	return out
}

// alikeGemini: the role of the system's instruction is not read; empty arguments may be left out.
func alikeGemini(body map[string]any) {
	if s, ok := body["systemInstruction"].(map[string]any); ok {
		delete(s, "role")
	}
	under(body, func(o map[string]any) {
		if args, ok := o["args"].(map[string]any); ok && len(args) == 0 {
			delete(o, "args")
		}
	})
}
