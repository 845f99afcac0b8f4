package builtin

import (
	"strings"

	"quarry/internal/llm"
)

// talk is what a request comes to: a question, and what it is to be answered from.
type talk struct {
	question string
	passages []llm.Evidence
	looked   bool // a tool was called for this question
}

// listen finds the question and the passages of a request.
func listen(r llm.Request) talk {
	t := talk{question: strings.TrimSpace(r.Question), passages: r.Evidence}
	last := -1
	for i, m := range r.Messages {
		if m.Role == llm.User && strings.TrimSpace(m.Plain()) != "" {
			last = i
		}
	}
	if t.question == "" && last >= 0 {
		t.question = strings.TrimSpace(r.Messages[last].Plain())
	}
	return t
}

// call is implemented with tools.
func (t talk) call(llm.Request) *llm.ToolCall { return nil }
