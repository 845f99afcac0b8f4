package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/tool/server"
	blobfile "quarry/internal/blobstore/file"
	"quarry/internal/llm"
	"quarry/internal/mcpclient"
	"quarry/internal/oauth"
	"quarry/internal/opt"
	"quarry/internal/outbound"
	"quarry/internal/store"
	"quarry/internal/store/blobs"
	"quarry/internal/store/sessions"
	"quarry/internal/store/storetest"
	"quarry/internal/store/tools"
	"quarry/internal/store/toolservers"
)

// hall is a tool server made with the library, registered and synced, and a session that calls its tools.
type hall struct {
	tools map[string]catalog.Tool
	known *catalog.Service
	made  server.Server
	*server.Service
	files   *artifact.Service
	secrets map[string]string
}

// newHall opens a hall whose server has these tools, each with what it answers.
func newHall(t *testing.T, schema string, answers map[string]*mcp.CallToolResult) *hall {
	t.Helper()
	own := mcp.NewServer(&mcp.Implementation{Name: "hall", Version: "1"}, nil)
	for name, answer := range answers {
		one := &mcp.Tool{Name: name, Description: "does " + name, InputSchema: json.RawMessage(`{"type":"object"}`)}
		if schema != "" {
			one.OutputSchema = json.RawMessage(schema)
		}
		own.AddTool(one, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if answer == nil {
				_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Message: "half of " + string(r.Params.Arguments)})
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}, nil
			}
			return answer, nil
		})
	}
	at := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return own }, nil))
	t.Cleanup(at.Close)
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	sealed := storetest.Secrets(t, db)
	out := outbound.New(outbound.Config{AllowPrivate: true})
	client := mcpclient.New(mcpclient.Config{HTTP: out, Tokens: oauth.NewClient(out, nil)})
	t.Cleanup(func() { client.Stop(); out.CloseIdleConnections() })
	quiet := slog.New(slog.DiscardHandler)
	kept, err := blobfile.Open(t.Context(), t.TempDir(), blobs.NewRows(db))
	if err != nil {
		t.Fatal(err)
	}
	rows := tools.New(db)
	h := &hall{
		tools: map[string]catalog.Tool{}, Service: server.New(server.Config{
			Store: toolservers.New(db, sealed), Client: client, Log: quiet, Reserved: func(string) bool { return false },
		}),
		files: artifact.NewService(artifact.Config{Store: sessions.New(db, sealed), Blobs: kept, Most: 1 << 20, Log: quiet}),
	}
	if h.known, err = catalog.New(rows, tool.Kit{}); err != nil {
		t.Fatal(err)
	}
	h.known.Through(server.NewCaller(h.Service, client))
	if h.made, err = h.Create(t.Context(), server.Change{Name: opt.Some("hall"), URI: opt.Some(at.URL), Transport: opt.Some(server.Streamable)}); err != nil {
		t.Fatal(err)
	}
	if err := h.Sync(t.Context(), h.made); err != nil {
		t.Fatal(err)
	}
	found, _, err := rows.List(t.Context(), nil, 100, nil)
	if err != nil || len(found) != len(answers) {
		t.Fatalf("%d tools, %v", len(found), err)
	}
	for _, one := range found {
		h.tools[one.Name] = one
	}
	return h
}

// call calls a tool through the pipeline.
func (h *hall) call(t *testing.T, name, arguments, members string, change func(*tool.Scene)) (tool.Output, *artifact.Workspace) {
	t.Helper()
	all := map[string]json.RawMessage{"t": json.RawMessage(fmt.Sprintf(`{"type":"mcp","tool_id":%q%s}`, h.tools[name].ID, members))}
	known, err := h.known.Known(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	known.Lenient = true
	set, err := tool.Compile(all, known.Kit(tool.Kit{Log: slog.New(slog.DiscardHandler)}))
	if err != nil {
		t.Fatal(err)
	}
	work := h.files.Workspace(1, t.Name())
	t.Cleanup(func() { work.Release(context.Background()) })
	scene := tool.Scene{Files: work, Most: tool.MaxRaw, Scene: reference.Scene{Session: reference.Subject{Key: "s"}, Secrets: h.secrets}}
	if change != nil {
		change(&scene)
	}
	bound, _, err := set.Bind(scene, "")
	if err != nil {
		t.Fatal(err)
	}
	planned := bound.Plan([]llm.ToolCall{{ID: "c", Name: "t", Arguments: json.RawMessage(arguments)}}, nil, scene)
	return bound.Run(t.Context(), planned[0], scene), work
}

func texts(all ...string) *mcp.CallToolResult {
	out := &mcp.CallToolResult{Content: []mcp.Content{}}
	for _, s := range all {
		out.Content = append(out.Content, &mcp.TextContent{Text: s})
	}
	return out
}

func structured(raw string, all ...string) *mcp.CallToolResult {
	out := texts(all...)
	out.StructuredContent = json.RawMessage(raw)
	return out
}

// TestCallOutputs proves what the model reads of each kind of answer: a single text, several parts, links, resources, none, structured
// content with its numbers, and a failure with its text.
func TestCallOutputs(t *testing.T) {
	t.Parallel()
	failed := texts("no such city")
	failed.IsError = true
	h := newHall(t, "", map[string]*mcp.CallToolResult{
		"one": texts("a <b>"), "two": texts("a", "b"), "none": texts(), "number": structured(`{"n":12345678901234567890}`, "n"), "failed": failed,
		"others": {Content: []mcp.Content{
			&mcp.ResourceLink{URI: "https://example.com/", Name: "page", MIMEType: "text/html", Description: "a page"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a.txt", MIMEType: "text/plain", Text: "hello"}},
		}},
	})
	for name, want := range map[string]string{
		"one": `{"content":"a <b>"}`, "two": `{"content":[{"text":"a","type":"text"},{"text":"b","type":"text"}]}`, "none": `{"content":[]}`,
		"number": `{"content":"n","structured_content":{"n":12345678901234567890}}`, "failed": `{"content":"no such city"}`,
		"others": `{"content":[{"description":"a page","mime_type":"text/html","name":"page","type":"resource_link","uri":"https://example.com/"},` +
			`{"mime_type":"text/plain","text":"hello","type":"resource","uri":"file:///a.txt"}]}`,
	} {
		out, _ := h.call(t, name, `{}`, "", nil)
		if string(out.Output) != want || out.Failed != (name == "failed") || out.Failed && out.Class != tool.ExecutionError {
			t.Errorf("%s: %s %v, want %s", name, out.Output, out.Failed, want)
		}
	}
}

// TestCallFiles proves that what is no text becomes files of the session, which the output names, and that there are none of a call that
// fails for them.
func TestCallFiles(t *testing.T) {
	t.Parallel()
	many := &mcp.CallToolResult{}
	for range 101 {
		many.Content = append(many.Content, &mcp.ImageContent{Data: []byte("x"), MIMEType: "image/png"})
	}
	h := newHall(t, "", map[string]*mcp.CallToolResult{
		"chart": {Content: []mcp.Content{
			&mcp.TextContent{Text: "see"}, &mcp.ImageContent{Data: []byte("png"), MIMEType: "image/png"}, &mcp.AudioContent{Data: []byte("wav"), MIMEType: "audio/wav"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "https://h/x/report.pdf?q=1", MIMEType: "application/pdf", Blob: []byte("pdf")}},
		}},
		"large": {Content: []mcp.Content{&mcp.ImageContent{Data: bytes.Repeat([]byte("x"), 2<<20), MIMEType: "image/png"}}},
		"many":  many,
	})
	out, work := h.call(t, "chart", `{}`, "", nil)
	var got struct {
		Content []struct {
			Type, Text   string
			ID           string `json:"artifact_id"`
			Filename     string
			MIME         string `json:"mime_type"`
			Size         int64  `json:"size_bytes"`
			Data         any
			URI          string
			Unrecognized any
		}
	}
	if err := json.Unmarshal(out.Output, &got); err != nil || out.Failed || len(got.Content) != 4 || len(out.Artifacts) != 3 {
		t.Fatalf("%s, %d files, %v", out.Output, len(out.Artifacts), err)
	}
	for i, want := range []string{"text   0 ", "image chart_1.png image/png 3 png", "audio chart_2.wav audio/wav 3 wav", "resource report.pdf application/pdf 3 pdf"} {
		c, content := got.Content[i], ""
		if c.ID != "" {
			a, r, err := work.Open(t.Context(), c.ID)
			if err != nil {
				t.Fatal(err)
			}
			raw, _ := io.ReadAll(r)
			_ = r.Close()
			content = string(raw)
			if a.Filename != c.Filename {
				t.Errorf("%+v", a)
			}
		}
		if have := fmt.Sprintf("%s %s %s %d %s", c.Type, c.Filename, c.MIME, c.Size, content); have != want {
			t.Errorf("part %d is %q, want %q", i, have, want)
		}
	}
	for name, says := range map[string]string{"large": "more than 1048576 bytes", "many": "more than 100 files"} {
		if out, _ := h.call(t, name, `{}`, "", nil); !out.Failed || !strings.Contains(string(out.Output), says) || len(out.Artifacts) != 0 {
			t.Errorf("%s: %s", name, out.Output)
		}
	}
	if out, _ := h.call(t, "chart", `{}`, "", func(s *tool.Scene) { s.Files = nil }); !out.Failed || !strings.Contains(string(out.Output), "can't have any") {
		t.Errorf("without files: %s", out.Output)
	}
}

// TestCallSchemas proves that structured content is held to the schema that the tool had when it was synced.
func TestCallSchemas(t *testing.T) {
	t.Parallel()
	failed := texts("no")
	failed.IsError = true
	h := newHall(t, `{"type":"object","properties":{"sky":{"type":"string"}},"required":["sky"]}`, map[string]*mcp.CallToolResult{
		"good": structured(`{"sky":"blue"}`), "other": structured(`{"sky":5}`, "5"), "without": texts("blue"), "failed": failed,
	})
	for name, want := range map[string]string{"good": "blue", "other": "sky: got number, want string", "without": "has no structured content", "failed": `{"content":"no"}`} {
		out, _ := h.call(t, name, `{}`, "", nil)
		if !strings.Contains(string(out.Output), want) || out.Failed == (name == "good") {
			t.Errorf("%s: %s %v", name, out.Output, out.Failed)
		}
	}
}

// TestCallWay proves that overrides, transforms and masks hold for tools of servers, that progress is told, and that a call which takes
// too long or whose server is gone is one failure.
func TestCallWay(t *testing.T) {
	t.Parallel()
	h := newHall(t, "", map[string]*mcp.CallToolResult{"echo": nil})
	h.secrets = map[string]string{"key": "s3cret-value"}
	var mu sync.Mutex
	var told []string
	out, _ := h.call(t, "echo", `{"a":1}`, `,"argument_override":{"key":{"$ref":"session.secrets.key"}},"output_transform":"{said: .content}"`, func(s *tool.Scene) {
		s.Tell = func(p tool.Progress) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, p.Message)
		}
	})
	if got := string(out.Output); got != `{"said":"{\"a\":1,\"key\":\"****\"}"}` {
		t.Errorf("%s", got)
	}
	if len(told) != 1 || told[0] != `half of {"a":1,"key":"****"}` {
		t.Errorf("told %q", told)
	}
	if _, err := h.Update(t.Context(), h.made, server.Change{URI: opt.Some("http://127.0.0.1:1/mcp")}); err != nil {
		t.Fatal(err)
	}
	out, _ = h.call(t, "echo", `{}`, "", nil)
	if !out.Failed || out.Class != tool.ExecutionError || !strings.Contains(string(out.Output), "no connection") {
		t.Errorf("%s %v", out.Output, out.Class)
	}
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body); <-r.Context().Done() }))
	t.Cleanup(hang.Close)
	now, err := h.Get(t.Context(), h.made.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Update(t.Context(), now, server.Change{URI: opt.Some(hang.URL)}); err != nil {
		t.Fatal(err)
	}
	out, _ = h.call(t, "echo", `{}`, `,"max_execution_time_seconds":1`, nil)
	if !out.Failed || out.Class != tool.Timeout {
		t.Errorf("%s %v", out.Output, out.Class)
	}
	off, err := h.Get(t.Context(), h.made.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Update(t.Context(), off, server.Change{Enabled: opt.Some(false)}); err != nil {
		t.Fatal(err)
	}
	if out, _ = h.call(t, "echo", `{}`, "", nil); !out.Failed || out.Class != tool.InvalidConfiguration || !strings.Contains(string(out.Output), "disabled") {
		t.Errorf("%s %v", out.Output, out.Class)
	}
}
