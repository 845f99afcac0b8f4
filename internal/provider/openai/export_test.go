package openai

import "encoding/json"

// Piece is piece, for tests.
func Piece(data []byte) (model, text string, ok bool) {
	m, t, ok := piece(data)
	return string(m), string(t), ok
}

// Plain reads an event with encoding/json; ok says that it holds a text, or nothing, and nothing else.
func Plain(data []byte) (model, text string, ok bool) {
	var c chunk
	if json.Unmarshal(data, &c) != nil || len(c.Choices) != 1 || c.Usage != nil || c.Object == "error" || len(c.Error) > 0 && string(c.Error) != "null" {
		return "", "", false
	}
	d := c.Choices[0].Delta
	if d == nil {
		d = &delta{}
	}
	ok = c.Choices[0].Index == 0 && c.Choices[0].Message == nil && (len(c.Choices[0].Finish) == 0 || string(c.Choices[0].Finish) == "null") &&
		d.ReasoningContent == nil && d.Reasoning == content{} && d.Refusal == nil && d.Calls == nil && d.Content.thought == ""
	return c.Model, d.Content.text, ok
}
