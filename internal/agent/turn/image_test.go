package turn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"slices"
	"testing"

	"quarry/internal/agent"
	"quarry/internal/agent/artifact"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/turn"
	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
)

// looks is a model that calls the probe once for each input, and then tells how many images it sees.
func looks(_ context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	seen, inputs, results := 0, 0, 0
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Image != nil && p.Image.MimeType == "image/png" && len(p.Image.Data) > 0 && p.Image.URL == "" && p.Image.Detail == "high":
				seen++
			case m.Role == llm.User && (p.Text == "go" || p.Text == "again"):
				inputs++
			case m.Role == llm.Result:
				results++
			}
		}
	}
	if results < inputs {
		call := llm.ToolCall{ID: fmt.Sprintf("c%d", inputs), Name: "probe", Arguments: json.RawMessage("{}")}
		return llm.Answer{Reason: llm.Calls, Calls: []llm.ToolCall{call}}, emit(llm.Event{Call: &call})
	}
	text := fmt.Sprintf("%d seen", seen)
	return llm.Answer{Reason: llm.Stop, Text: text}, emit(llm.Event{Text: text})
}

// shows is a tool that makes an image and shows it to models that read images.
func shows(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	if !c.Images {
		return nil, &tool.Failure{Class: tool.InvalidConfiguration, Text: "no images"}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		return nil, err
	}
	a, err := c.Files.Create(ctx, artifact.New{Filename: "a.png"}, &b)
	if err != nil {
		return nil, err
	}
	c.Files.Show(artifact.Shown{ID: a.ID, Detail: "high"})
	return json.RawMessage("{}"), nil
}

// images returns the ids of the images that the events of a session name, and whether each stands behind an output.
func (b *bench) images(t *testing.T) (ids []string) {
	t.Helper()
	all, _, err := b.rows.Events(t.Context(), session.Page{Session: b.no, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range all {
		if e.Type != session.ImageRead {
			continue
		}
		if ids = append(ids, e.Image.Artifact); all[i-1].Type != session.ToolOutput || all[i-1].Turn != e.Turn {
			t.Errorf("an image stands behind %+v", all[i-1])
		}
	}
	return ids
}

// TestKilledImages proves that a turn that shows the model an image, killed before or after any of its commits, goes on in another process with
// one event and the image in view, and that it stays in view in the next turn and in the next process.
func TestKilledImages(t *testing.T) {
	t.Parallel()
	for n := range 4 { // 0: it isn't killed; then the reply, the output, the end
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d after %v", n, after), func(t *testing.T) {
				t.Parallel()
				killed := &cut{left: n, after: after, dead: make(chan struct{})}
				with := func(cutOff bool) func(*turn.Config, *agent.Agent) {
					return func(c *turn.Config, a *agent.Agent) {
						probes(tool.Reads, shows)(c, a)
						c.Models = llmtest.Only{Use: &llm.Model{Provider: model(looks), Name: "m", Can: llm.Abilities{Tools: true, Images: true, Context: 100_000}}}
						if killed.Log = c.Log; cutOff {
							c.Log = killed
						}
					}
				}
				b := prepare(t)
				b.open(t, nil, with(n > 0))
				s, err := b.Send(t.Context(), b.input("go"))
				if err != nil {
					t.Fatal(err)
				}
				if n > 0 {
					<-killed.dead
				} else {
					b.idle(t)
				}
				s.Close()
				b.stop()
				b.open(t, nil, with(false))
				b.idle(t)
				if _, err := b.ask(t, b.input("again")); err != nil {
					t.Fatal(err)
				}
				log := b.log(t)
				for _, want := range []string{"agent_output: 1 seen", "agent_output: 2 seen"} {
					if !slices.Contains(log, want) {
						t.Errorf("%q is missing in %q", want, log)
					}
				}
				if ids := b.images(t); len(ids) != 2 || ids[0] == ids[1] {
					t.Errorf("the images are %v", ids)
				}
			})
		}
	}
}

// TestImagesOfFailures proves that a call that fails shows nothing, although its tool had.
func TestImagesOfFailures(t *testing.T) {
	t.Parallel()
	b := begin(t, looks, func(c *turn.Config, a *agent.Agent) {
		probes(tool.Reads, shows)(c, a)
		c.Models = llmtest.Only{Use: &llm.Model{Provider: model(looks), Name: "m", Can: llm.Abilities{Tools: true, Images: true, Context: 100_000}}}
		a.Tools["probe"] = json.RawMessage(`{"type":"probe","output_transform":"error(\"no\")"}`)
	})
	if _, err := b.ask(t, b.input("go")); err != nil {
		t.Fatal(err)
	}
	if ids, log := b.images(t), b.log(t); len(ids) > 0 || !slices.Contains(log, "agent_output: 0 seen") {
		t.Errorf("%v, %q", ids, log)
	}
}
