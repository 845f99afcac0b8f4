package completions_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/completions"
	"quarry/internal/identity/authz"
	"quarry/internal/llm"
	"quarry/internal/llm/complete"
	"quarry/internal/llm/llmtest"
	"quarry/internal/testkit"
	"quarry/internal/usage"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// model is a model whose answers a function gives.
type model func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error)

func (m model) Stream(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	return m(ctx, r, emit)
}

// server returns the transport over one model.
func server(t *testing.T, m model) *httpapi.Server {
	t.Helper()
	use := &llm.Model{Provider: m, Name: "m", Can: llm.Abilities{Tools: true, Images: true}}
	s, err := httpapi.New(httpapi.Config{
		Authenticate: func(context.Context, httpapi.Credential) (authz.Principal, error) {
			return authz.Principal{Kind: authz.User, ID: "u1", APIRoles: []string{"owner"}}, nil
		},
		Areas: []httpapi.Area{completions.New(complete.New(llmtest.Only{Use: use}), nil)},
		Log:   slog.New(slog.DiscardHandler), MaxJSON: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pipes is a listener of connections in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

// ask sends a request over a connection in memory, whose time is that of a bubble, and returns the answer and the
// client's end of the connection.
func ask(t *testing.T, m model, members string) (*http.Response, net.Conn) {
	t.Helper()
	web, l := &http.Server{Handler: server(t, m)}, make(pipes)
	go func() { _ = web.Serve(l) }()
	t.Cleanup(func() { _ = web.Close() })
	client, end := net.Pipe()
	l <- end
	body := `{"model":"m"` + members + `}`
	if !strings.Contains(members, `"messages"`) {
		body = `{"messages":[{"role":"user","content":"hello"}],` + body[1:]
	}
	go func() {
		_, _ = fmt.Fprintf(client, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-Api-Key: k\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}()
	res, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil {
		t.Fatal(err)
	}
	return res, client
}

// chunks returns what the events of a stream hold, the last of which must be [DONE].
func chunks(t *testing.T, res *http.Response) []string {
	t.Helper()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for event := range strings.SplitSeq(strings.TrimSuffix(string(raw), "\n\n"), "\n\n") {
		if data, ok := strings.CutPrefix(event, "data: "); ok {
			out = append(out, data)
		} else if event != ": ping" {
			t.Errorf("the stream has the event %q", event)
		}
	}
	if n := len(out); n == 0 || out[n-1] != "[DONE]" {
		t.Fatalf("the stream does not end as it should: %q", out)
	}
	return out[:len(out)-1]
}

const stream = `,"stream":true,"stream_options":{"include_usage":true}`

// TestHead proves that the head of a stream waits for the model: a failure is a status as long as nothing came, for 15
// seconds, and a chunk with its error after that.
func TestHead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		silent time.Duration
		event  *llm.Event // before the failure
		status int
	}{
		{0, nil, 503}, {15*time.Second - 1, nil, 503}, {15*time.Second + 1, nil, 200},
		{0, &llm.Event{Text: "It "}, 200}, {time.Second, &llm.Event{Reasoning: "Hm"}, 200},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			res, _ := ask(t, func(_ context.Context, _ llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
				time.Sleep(c.silent)
				if c.event != nil {
					if err := emit(*c.event); err != nil {
						return llm.Answer{}, err
					}
					time.Sleep(time.Minute)
				}
				return llm.Answer{}, &llm.Error{Failure: llm.Unreachable, Model: "m"}
			}, stream)
			if took := time.Since(began); res.StatusCode != c.status || took > min(c.silent, 15*time.Second)+10*time.Millisecond {
				t.Fatalf("silent for %v: status %d after %v, want %d", c.silent, res.StatusCode, took, c.status)
			}
			if c.status != 200 {
				return
			}
			got := chunks(t, res)
			if last := got[len(got)-1]; !strings.Contains(got[0], `"delta":{"role":"assistant","content":""}`) ||
				!strings.Contains(last, `"choices":[],"error":{"message":"UNAVAILABLE: `) || !strings.Contains(last, `"type":"server_error","code":"llm_unreachable","param":null}`) {
				t.Errorf("silent for %v: %s", c.silent, got)
			}
		})
	}
}

// TestFirstPiece proves that the first piece of an answer leaves at once, with the chunk that says who speaks.
func TestFirstPiece(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		res, conn := ask(t, func(ctx context.Context, _ llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
			if err := emit(llm.Event{Text: "It "}); err != nil {
				return llm.Answer{}, err
			}
			<-ctx.Done()
			return llm.Answer{}, context.Cause(ctx)
		}, stream)
		var read []byte
		for buffer := make([]byte, 1<<10); !bytes.Contains(read, []byte(`"content":"It "`)); {
			n, err := res.Body.Read(buffer)
			if err != nil {
				t.Fatal(err)
			}
			read = append(read, buffer[:n]...)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("the first piece came after %v", took)
		}
		_ = conn.Close()
	})
}

// TestConnection proves that the connection of a stream serves the next request, however long after it that comes.
func TestConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		web, l := &http.Server{Handler: server(t, answering)}, make(pipes)
		go func() { _ = web.Serve(l) }()
		t.Cleanup(func() { _ = web.Close() })
		client, end := net.Pipe()
		l <- end
		in := bufio.NewReader(client)
		for i, streamed := range []bool{true, false, true} {
			body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"hello"}],"stream":%v}`, streamed)
			go func() {
				_, _ = fmt.Fprintf(client, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-Api-Key: k\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			}()
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatalf("request %d: %v", i, err)
			}
			if res.StatusCode != 200 || res.Close {
				t.Fatalf("request %d: status %d, to be closed: %v", i, res.StatusCode, res.Close)
			}
			if streamed {
				chunks(t, res)
			} else if _, err := io.ReadAll(res.Body); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour)
		}
	})
}

// TestLate proves what a stream ends with that is refused or fails when it has begun: a chunk with the error, then [DONE].
func TestLate(t *testing.T) {
	t.Parallel()
	over := fault.Limited("llm_quota_exhausted", `language model "m": its quota output_tokens_per_day of 20 is used up; try again in 7 seconds`).
		Because(&usage.Refused{After: 7 * time.Second})
	for _, c := range []struct {
		err  error
		want string
	}{
		{over, `{"message":"RESOURCE_EXHAUSTED: language model \"m\": its quota output_tokens_per_day of 20 is used up; try again in 7 seconds","type":"rate_limit_error","code":"llm_quota_exhausted","param":null}`},
		{&llm.Error{Failure: llm.Limited, Model: "m", Begun: true}, `{"message":"RESOURCE_EXHAUSTED: the language model \"m\" is refusing calls for now, by a limit of its provider","type":"rate_limit_error","code":"llm_rate_limited","param":null}`},
		{&llm.Error{Failure: llm.TimedOut, Model: "m", Begun: true}, `{"message":"DEADLINE_EXCEEDED: the language model \"m\" did not answer in time","type":"server_error","code":"timeout","param":null}`},
		{errors.New("the disk is on fire"), `{"message":"INTERNAL: the request failed inside the service; the log has the cause under the request id","type":"server_error","code":"internal","param":null}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			res, _ := ask(t, func(_ context.Context, _ llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
				if err := emit(llm.Event{Text: "It "}); err != nil {
					return llm.Answer{}, err
				}
				return llm.Answer{}, c.err
			}, stream)
			got := chunks(t, res)
			if res.StatusCode != 200 || len(got) != 3 || !strings.HasSuffix(got[2], `"choices":[],"error":`+c.want+`}`) {
				t.Errorf("%v: %d %s", c.err, res.StatusCode, got)
			}
		})
	}
}

// TestRefusedBefore proves that a refusal before any output is 429 without Retry-After, whole and streamed.
func TestRefusedBefore(t *testing.T) {
	t.Parallel()
	for _, members := range []string{"", stream, `,"n":3`, `,"n":3` + stream} {
		synctest.Test(t, func(t *testing.T) {
			res, _ := ask(t, func(context.Context, llm.Request, func(llm.Event) error) (llm.Answer, error) {
				return llm.Answer{}, &llm.Error{Failure: llm.Limited, Model: "m", After: 7 * time.Second}
			}, members)
			raw, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != 429 || res.Header.Get("Retry-After") != "" || !bytes.Contains(raw, []byte(`"type":"rate_limit_error","code":"llm_rate_limited","param":null}`)) {
				t.Errorf("%s: %d %v %s", members, res.StatusCode, res.Header, raw)
			}
		})
	}
}

// answering is a model that answers with everything that an answer can hold.
func answering(_ context.Context, _ llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	call := llm.ToolCall{ID: "c1", Name: "find", Arguments: json.RawMessage(`{"q":"moon"}`)}
	other := llm.ToolCall{ID: "c2", Name: "now", Arguments: json.RawMessage(`{}`)}
	for _, e := range []llm.Event{{Reasoning: "Hm."}, {Text: "I "}, {Text: "look."}, {Call: &call}, {Call: &other}} {
		if err := emit(e); err != nil {
			return llm.Answer{}, err
		}
	}
	return llm.Answer{
		Text: "I look.", Reasoning: "Hm.", Calls: []llm.ToolCall{call, other}, Reason: llm.Calls, Model: "other",
		Usage: llm.Usage{Input: 40, Cached: 30, Output: 25, Reasoning: 5},
	}, nil
}

const used = `{"prompt_tokens":40,"completion_tokens":25,"total_tokens":65,"prompt_tokens_details":{"cached_tokens":30},"completion_tokens_details":{"reasoning_tokens":5}}`

// TestWhole proves the form of an answer in one piece, with tokens of caches and reasoning, and that several add up.
func TestWhole(t *testing.T) {
	t.Parallel()
	const message = `"message":{"role":"assistant","reasoning_content":"Hm.","tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{\"q\":\"moon\"}"}},{"id":"c2","type":"function","function":{"name":"now","arguments":"{}"}}],"content":"I look.","refusal":null}`
	for members, want := range map[string]string{
		"": `"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","logprobs":null,` + message + `}],"usage":` + used + `}`,
		`,"n":2`: `"choices":[{"index":0,"finish_reason":"tool_calls","logprobs":null,` + message + `},{"index":1,"finish_reason":"tool_calls","logprobs":null,` + message + `}],` +
			`"usage":{"prompt_tokens":80,"completion_tokens":50,"total_tokens":130,"prompt_tokens_details":{"cached_tokens":60},"completion_tokens_details":{"reasoning_tokens":10}}}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			res, _ := ask(t, answering, members)
			raw, err := io.ReadAll(res.Body)
			if got := strings.TrimSpace(string(raw)); err != nil || res.StatusCode != 200 || !strings.HasSuffix(got, want) {
				t.Errorf("%s: %d %s, want %s", members, res.StatusCode, got, want)
			}
		})
	}
}

// TestChunks proves the form of an answer in chunks: the role first, each call with its place and id, the usage last.
func TestChunks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		res, _ := ask(t, answering, stream)
		var got []string
		for _, c := range chunks(t, res) {
			_, rest, _ := strings.Cut(c, `"model":"m",`)
			got = append(got, rest)
		}
		delta := func(d, reason string) string {
			return `"choices":[{"index":0,"delta":` + d + `,"finish_reason":` + reason + `}]}`
		}
		want := []string{
			delta(`{"role":"assistant","content":""}`, "null"), delta(`{"reasoning_content":"Hm."}`, "null"), delta(`{"content":"I "}`, "null"), delta(`{"content":"look."}`, "null"),
			delta(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"find","arguments":"{\"q\":\"moon\"}"}}]}`, "null"),
			delta(`{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"now","arguments":"{}"}}]}`, "null"),
			delta(`{}`, `"tool_calls"`), `"choices":[],"usage":` + used + `}`,
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

// TestState proves that what a model wants back with a call goes to the client with it, whole and in chunks, and comes back
// from there, and that what others put in its place does no harm.
func TestState(t *testing.T) {
	t.Parallel()
	const state = "gemini/m\nc2\"ln"
	calling := func(_ context.Context, _ llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		call := llm.ToolCall{ID: "c1", Name: "now", Arguments: json.RawMessage(`{}`), State: state}
		return llm.Answer{Calls: []llm.ToolCall{call}, Reason: llm.Calls}, emit(llm.Event{Call: &call})
	}
	const carried = `{"id":"c1","type":"function","function":{"name":"now","arguments":"{}"},"extra_content":{"quarry":{"state":"gemini/m\nc2\"ln"}}}`
	for members, want := range map[string]string{"": `"tool_calls":[` + carried + `]`, stream: `"tool_calls":[{"index":0,` + carried[1:] + `]`} {
		synctest.Test(t, func(t *testing.T) {
			res, _ := ask(t, calling, members)
			if raw, err := io.ReadAll(res.Body); err != nil || !bytes.Contains(raw, []byte(want)) {
				t.Errorf("%s, want %s", raw, want)
			}
		})
	}
	for sent, want := range map[string]string{
		carried: state,
		strings.ReplaceAll(carried, `{"quarry":{"state":"gemini/m\nc2\"ln"}}`, `{"google":{"thought_signature":"x"}}`): "",
		strings.ReplaceAll(carried, `{"quarry":{"state":"gemini/m\nc2\"ln"}}`, `[3]`):                                  "",
		strings.ReplaceAll(carried, `{"quarry":{"state":"gemini/m\nc2\"ln"}}`, `null`):                                 "",
		strings.ReplaceAll(carried, `"gemini/m\nc2\"ln"`, `{}`):                                                        "",
	} {
		synctest.Test(t, func(t *testing.T) {
			var got llm.Request
			res, _ := ask(t, func(_ context.Context, r llm.Request, _ func(llm.Event) error) (llm.Answer, error) {
				got = r
				return llm.Answer{Text: "So.", Reason: llm.Stop}, nil
			}, `,"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[`+sent+`]},{"role":"tool","tool_call_id":"c1","content":"b"}]`)
			if raw, err := io.ReadAll(res.Body); err != nil || res.StatusCode != 200 {
				t.Fatalf("%s: %d %s", sent, res.StatusCode, raw)
			}
			if c := got.Messages[1].Calls; len(c) != 1 || c[0].ID != "c1" || c[0].State != want {
				t.Errorf("%s became %+v", sent, c)
			}
		})
	}
}

// TestBadMembers proves which members of a body are refused that the schema lets pass, each with its place, before a model is
// called, and that the absent ones of clients that send all members as null are not.
func TestBadMembers(t *testing.T) {
	t.Parallel()
	of := func(message string) string { return `,"messages":[` + message + `]` }
	user := func(content string) string { return of(`{"role":"user","content":` + content + `}`) }
	for members, want := range map[string]string{
		user(`5`):                          "messages[0].content",
		user(`[null]`):                     "messages[0].content[0]",
		user(`["x"]`):                      "messages[0].content[0]",
		user(`[{"type":"text","text":5}]`): "messages[0].content[0]",
		user(`[{"type":"text"}]`):          "messages[0].content[0].text",
		user(`[{"text":"x"}]`):             "messages[0].content[0].type",
		user(`[{"type":"text","text":"x"},{"type":"image_url","image_url":"https://x.test/a.png"}]`): "messages[0].content[1]",
		user(`[{"type":"image_url","image_url":{}}]`):                                                "messages[0].content[0].image_url.url",
		user(`[{"type":"image_url","image_url":{"url":"data:text/html;base64,aGk="}}]`):              "messages[0].content[0].image_url.url",
		user(`[{"type":"image_url","image_url":{"url":"data:image/png;base64,@"}}]`):                 "messages[0].content[0].image_url.url",
		user(`[{"type":"input_audio","input_audio":{"data":"eA==","format":"wav"}}]`):                "messages[0].content[0].type",
		user(`[{"type":"file","file":{"file_id":"f"}}]`):                                             "messages[0].content[0].type",
		user(`null`): "messages[0].content",
		of(`{"role":"assistant","content":"a","function_call":{"name":"f","arguments":"{}"}}`): "messages[0].function_call",
		of(`{"role":"assistant","content":"a","audio":{"id":"x"}}`):                            "messages[0].audio",
		`,"modalities":"audio"`: "modalities", `,"modalities":["text","audio"]`: "modalities", `,"audio":{}`: "audio",
		`,"logprobs":true`: "logprobs", `,"top_logprobs":3`: "top_logprobs", `,"functions":[]`: "functions", `,"function_call":"auto"`: "function_call",
		`,"tool_choice":"always"`: "tool_choice", `,"tool_choice":{"type":"allowed_tools"}`: "tool_choice", `,"tool_choice":"required"`: "tool_choice",
		`,"response_format":{"type":"json_schema"}`: "response_format.json_schema",
		`,"modalities":null,"audio":null,"logprobs":null,"functions":null,"tool_choice":null,"response_format":null,"n":null,"stream":null,"tools":null` +
			of(`{"role":"assistant","content":"a","function_call":null,"audio":null,"tool_calls":null,"refusal":null,"name":null}`): "",
		`,"logprobs":false,"modalities":["text"]`: "",
	} {
		synctest.Test(t, func(t *testing.T) {
			called := false
			res, _ := ask(t, func(context.Context, llm.Request, func(llm.Event) error) (llm.Answer, error) {
				called = true
				return llm.Answer{Text: "So.", Reason: llm.Stop}, nil
			}, members)
			var got struct {
				Fields map[string]string `json:"field_errors"`
				Error  struct {
					Param string `json:"param"`
				} `json:"error"`
			}
			raw, _ := io.ReadAll(res.Body)
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatalf("%s: %s", members, raw)
			}
			if refused := res.StatusCode == 400; refused != (want != "") || called == refused || got.Error.Param != want || refused && (len(got.Fields) != 1 || got.Fields["body."+want] == "") {
				t.Errorf("%s: %d %s, want the field %q", members, res.StatusCode, raw, want)
			}
		})
	}
}
