package mcpclient_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/internal/agent/tool/server"
)

// TestListening proves that progress is heard which a server sends beside the answer to its call, that what it asks for there is refused, and
// that a server which has no such stream, or doesn't open it, is asked once and called all the same.
func TestListening(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"events", "405", "hang", "page", "ends"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			var streams atomic.Int64
			events, refused, released := make(chan string, 10), make(chan string, 10), make(chan struct{})
			at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var m struct {
					ID     json.RawMessage
					Method string
					Error  *struct{ Message string }
					Result json.RawMessage
					Params struct {
						Meta struct {
							Token json.RawMessage `json:"progressToken"`
						} `json:"_meta"`
					}
				}
				_ = json.NewDecoder(r.Body).Decode(&m)
				var all map[string]json.RawMessage
				_ = json.Unmarshal([]byte(results), &all)
				switch {
				case r.Method == http.MethodGet:
					streams.Add(1)
					switch mode {
					case "405":
						w.WriteHeader(405)
						return
					case "page":
						w.Header().Set("Content-Type", "text/html")
						return
					case "hang":
						select {
						case <-r.Context().Done():
						case <-released:
						}
						return
					}
					if r.Header.Get("Mcp-Session-Id") != "s1" || r.Header.Get("Authorization") != "Bearer "+hush {
						t.Errorf("%v", r.Header)
					}
					w.Header().Set("Content-Type", "text/event-stream")
					_ = http.NewResponseController(w).Flush()
					for mode == "events" {
						select {
						case e := <-events:
							_, _ = fmt.Fprintf(w, "event: message\ndata: %s\n\n", e)
							_ = http.NewResponseController(w).Flush()
						case <-r.Context().Done():
							return
						case <-released:
							return
						}
					}
				case m.Method == "" && m.ID != nil:
					if m.Error != nil {
						refused <- m.Error.Message
					} else {
						refused <- string(m.Result)
					}
					w.WriteHeader(http.StatusAccepted)
				case m.ID == nil:
					w.WriteHeader(http.StatusAccepted)
				default:
					w.Header().Set("Content-Type", "application/json")
					w.Header().Set("Mcp-Session-Id", "s1")
					if m.Method == "tools/call" && mode == "events" {
						events <- fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"message":"half with %s"}}`, m.Params.Meta.Token, hush)
						events <- `{"jsonrpc":"2.0","id":"a","method":"sampling/createMessage","params":{}}`
						events <- `{"jsonrpc":"2.0","id":"b","method":"ping"}`
						if first, second := <-refused, <-refused; !strings.Contains(first, "does not offer sampling/createMessage") || second != "{}" {
							t.Errorf("answers %q and %q", first, second)
						}
					}
					_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, all[m.Method])
				}
			}))
			t.Cleanup(func() { close(released); at.CloseClientConnections(); at.Close() })
			c := newClient(t, nil)
			to := server.Target{ID: "tsr_a", URI: at.URL, Transport: server.Streamable, Auth: &server.Auth{Type: server.Bearer, Token: hush}}
			heard := make(chan string, 10)
			for range 3 {
				r, err := c.Call(t.Context(), to, "echo", nil, func(s string) { heard <- s })
				if err != nil || said(r) != "fine" {
					t.Fatalf("%+v, %v", r, err)
				}
				if mode == "events" {
					if got := <-heard; got != "half with ****" {
						t.Errorf("heard %q", got)
					}
				}
			}
			if streams.Load() != 1 {
				t.Errorf("%d streams were opened", streams.Load())
			}
		})
	}
}
