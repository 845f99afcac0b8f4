package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"quarry/internal/agent"
	"quarry/internal/agent/artifact"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/file"
	"quarry/internal/agent/turn"
	"quarry/internal/llm"
	"quarry/internal/store/blobs"
)

// asks is a model that calls tools in its first reply to an input, as if the conversation had so many tokens, and then answers.
func asks(tokens int64, calls ...llm.ToolCall) model {
	return func(_ context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		a := llm.Answer{Text: "Done.", Reason: llm.Stop, Usage: llm.Usage{Input: tokens, Output: 10}}
		if r.Messages[len(r.Messages)-1].Role == llm.User {
			a.Text, a.Reason, a.Calls = "", llm.Calls, calls
			for i := range calls {
				if err := emit(llm.Event{Call: &calls[i]}); err != nil {
					return a, err
				}
			}
			return a, nil
		}
		return a, emit(llm.Event{Text: a.Text})
	}
}

// named returns calls of a tool.
func named(name string, arguments ...string) (out []llm.ToolCall) {
	for i, a := range arguments {
		out = append(out, llm.ToolCall{ID: fmt.Sprintf("%s%d", name, i), Name: name, Arguments: json.RawMessage(a)})
	}
	return out
}

// filers gives the agent the tools for files beside a tool that returns a text of as many bytes as it is asked for.
func filers(offloading string) func(*turn.Config, *agent.Agent) {
	return func(c *turn.Config, a *agent.Agent) {
		probes(tool.Reads, func(_ context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
			var args struct{ Bytes int }
			if err := json.Unmarshal(c.Arguments, &args); err != nil {
				return nil, err
			}
			return json.Marshal(map[string]string{"text": strings.Repeat("x", args.Bytes)})
		})(c, a)
		types, _, err := file.Tools(file.Config{})
		if err != nil {
			panic(err)
		}
		for _, name := range []string{file.Create, file.Read} {
			c.Kit.Types[name] = types[name]
			a.Tools[name] = json.RawMessage(fmt.Sprintf(`{"type":%q}`, name))
		}
		if a.Offloading = nil; offloading != "" {
			a.Offloading = json.RawMessage(offloading)
		}
	}
}

// kept returns the files of the session with what they hold.
func (b *bench) kept(t *testing.T) map[string]string {
	t.Helper()
	files := artifact.NewService(artifact.Config{Store: b.rows, Blobs: blobs.NewPieces(b.db), Most: 50 << 20, Log: slog.New(slog.DiscardHandler)})
	all, _, err := files.Find(t.Context(), artifact.List{Session: b.no, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for i := range all {
		data, err := files.Open(t.Context(), &all[i])
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(data)
		if err != nil {
			t.Fatal(err)
		}
		_ = data.Close()
		out[all[i].ID] = string(text)
	}
	return out
}

// outputs returns the outputs of tools in the session.
func (b *bench) outputs(t *testing.T) (out []session.Event) {
	t.Helper()
	found, _, err := b.rows.Events(t.Context(), session.Page{Session: b.no, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		if e.Type == session.ToolOutput {
			out = append(out, e)
		}
	}
	return out
}

// Proves that a file which a tool makes, and one that a large output becomes, are made exactly once, whether the process is killed
// between their bytes and their row or behind it, and that the output names the file.
func TestFilesOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call llm.ToolCall
		want string
	}{
		"made":      {named(file.Create, `{"filename":"a.txt","content":"hello"}`)[0], "hello"},
		"too large": {named("probe", `{"bytes":2000000}`)[0], "{\n\"text\": \"" + strings.Repeat("x", 2_000_000) + "\"\n}"},
	} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s after %t", name, after), func(t *testing.T) {
				t.Parallel()
				m := asks(100, c.call)
				b := begin(t, m, filers(""))
				b.killed(t, b.input("go"), 2, after, m, filers(""))
				all, out := b.kept(t), b.outputs(t)
				var named struct {
					ID string `json:"artifact_id"`
				}
				if len(out) != 1 || out[0].Failed || len(all) != 1 {
					t.Fatalf("%d outputs, %d files", len(out), len(all))
				}
				if err := json.Unmarshal(out[0].Output, &named); err != nil || all[named.ID] != c.want {
					t.Errorf("%.300s names a file of %d bytes, want %d; %v", out[0].Output, len(all[named.ID]), len(c.want), err)
				}
			})
		}
	}
}

// Proves that the outputs of one reply count one after another: the third of three would leave too little of the context.
func TestHeadroom(t *testing.T) {
	t.Parallel()
	const size = 90_000 // less than a quarter of the context of 100,000 tokens
	b := begin(t, asks(10_000, named("probe", `{"bytes":90000}`, `{"bytes":90000}`, `{"bytes":90000}`)...), filers(""))
	if _, err := b.ask(t, b.input("go")); err != nil {
		t.Fatal(err)
	}
	var whole, marked int
	for _, e := range b.outputs(t) {
		if len(e.Output) > size {
			whole++
		} else if strings.Contains(string(e.Output), "with artifact_read") {
			marked++
		}
	}
	if whole != 2 || marked != 1 || len(b.kept(t)) != 1 {
		t.Errorf("%d whole, %d in a file, %d files", whole, marked, len(b.kept(t)))
	}
}

// Proves that without offloading an output that no event holds is an error, whose class is stored with it.
func TestNotOffloaded(t *testing.T) {
	t.Parallel()
	calls := append(named("probe", `{"bytes":2000000}`), append(named(file.Read, `{"artifact_id":"art_none"}`), named("gone", `{}`)...)...)
	b := begin(t, asks(100, calls...), filers(`{"enabled":false}`))
	if _, err := b.ask(t, b.input("go")); err != nil {
		t.Fatal(err)
	}
	classes := map[string]string{}
	for _, e := range b.outputs(t) {
		if !e.Failed {
			t.Errorf("%.200s", e.Output)
		}
		classes[e.Tool] = e.Class
	}
	if classes["probe"] != string(tool.ExecutionError) || classes[file.Read] != string(tool.NotFound) || classes["gone"] != string(tool.NotFound) || len(b.kept(t)) != 0 {
		t.Errorf("classes %v", classes)
	}
}
