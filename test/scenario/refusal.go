package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// opening is the status word of a message.
var opening = regexp.MustCompile(`^[A-Z][A-Z_]+: .`)

// refusal checks what holds for every refusal, whatever a step expects: the contract's members, a code, the request id
// of the header, places at fault on 400 alone and what was not found on 404 alone.
func refusal(res *http.Response, raw []byte) error {
	if res.StatusCode < 400 || !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		return nil
	}
	var b struct {
		Messages    []string          `json:"messages"`
		Code        string            `json:"code"`
		RequestID   string            `json:"request_id"`
		ID          *string           `json:"id"`
		FieldErrors map[string]string `json:"field_errors"`
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return fmt.Errorf("a body that can't be read (%w)", err)
	}
	status := res.StatusCode
	switch {
	case len(b.Messages) == 0 || !opening.MatchString(b.Messages[0]):
		return errors.New("no message with a status word")
	case b.Code == "":
		return errors.New("no code")
	case len(b.RequestID) != 32 || b.RequestID != res.Header.Get("X-Request-Id"):
		return errors.New("another request id than in the header")
	case b.FieldErrors != nil && status != http.StatusBadRequest:
		return errors.New("field_errors beside another status than 400")
	case (b.ID != nil) != (status == http.StatusNotFound):
		return errors.New("id belongs to 404, and to nothing else,")
	case status == http.StatusUnauthorized && res.Header.Get("WWW-Authenticate") == "":
		return errors.New("no header WWW-Authenticate")
	case status == http.StatusMethodNotAllowed && res.Header.Get("Allow") == "":
		return errors.New("no header Allow")
	}
	for path := range b.FieldErrors {
		first, _, _ := strings.Cut(path, ".")
		if first, _, _ = strings.Cut(first, "["); first != "body" && first != "query" && first != "header" && first != "path" {
			return fmt.Errorf("a field %q that is no place of a request", path)
		}
	}
	return nil
}
