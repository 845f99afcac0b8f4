package mcpclient

import (
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"quarry/internal/agent/tool/server"
)

// failure is why a request to a tool server has no result, in words for people and without secrets.
type failure struct {
	text        string
	unavailable bool
	gone        bool // the server doesn't know the session
	over        bool // the session can't be used any more
}

// Error returns the text.
func (f *failure) Error() string { return "the tool server failed: " + f.text }

// Is reports whether target is server.ErrUnavailable and the server was not reached or did not speak.
func (f *failure) Is(target error) bool { return f.unavailable && target == server.ErrUnavailable }

func unavailable(format string, args ...any) error {
	return &failure{text: fmt.Sprintf(format, args...), unavailable: true}
}

func broken(format string, args ...any) error { return &failure{text: fmt.Sprintf(format, args...)} }

// Failures that end sessions, or exchanges.
var (
	errBroke    = &failure{text: "it ended the connection, or sent what is no message of the protocol", unavailable: true, over: true}
	errTooLarge = &failure{text: fmt.Sprintf("its answer has more than %d MiB", maxAnswer>>20)}
)

// refusal returns what is said of a request that the server has answered with an error of the protocol.
func (d *door) refusal(e *jsonrpc.Error) error {
	return broken("it refused the request: %s (code %d)", line(string(d.clean([]byte(e.Message)))), e.Code)
}

// line returns a text of a server as one line of bounded length.
func line(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}), " ")
	if r := []rune(s); len(r) > maxMessage {
		s = string(r[:maxMessage]) + "…"
	}
	return s
}

// mediaType returns the type of an answer without its parameters.
func mediaType(resp *http.Response) string {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// isPage reports whether an answer is a web page.
func isPage(resp *http.Response, body []byte) bool {
	start := strings.ToLower(strings.TrimSpace(string(body[:min(len(body), 512)])))
	return strings.Contains(resp.Header.Get("Content-Type"), "html") || strings.HasPrefix(start, "<!doctype") || strings.HasPrefix(start, "<html")
}
