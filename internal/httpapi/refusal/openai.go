package refusal

import (
	"encoding/json"
	"net/http"
	"strings"

	"quarry/internal/fault"
	"quarry/internal/secret/redact"
)

// openAIError is an error as clients of OpenAI's interface read it.
type openAIError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Code    string  `json:"code"`
	Param   *string `json:"param"` // the member at fault
}

// AddOpenAI adds what clients of OpenAI's interface show to people: without it they print the status alone.
func (b *Body) AddOpenAI(f *fault.Fault) { b.Error = OpenAI(f) }

// OpenAI returns f as clients of OpenAI's interface read it, without secrets.
func OpenAI(f *fault.Fault) json.RawMessage {
	e := openAIError{Message: redact.Text(Message(f)), Type: "invalid_request_error", Code: f.Code}
	switch status, _ := Status(f); {
	case status == http.StatusTooManyRequests:
		e.Type = "rate_limit_error"
	case status >= http.StatusInternalServerError:
		e.Type = "server_error"
	}
	if paths := f.Paths(); len(paths) > 0 {
		param := redact.Text(strings.TrimPrefix(paths[0], "body."))
		e.Param = &param
	}
	out, _ := json.Marshal(e) // strings always encode
	return out
}
