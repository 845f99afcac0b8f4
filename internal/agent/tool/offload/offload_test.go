package offload_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/offload"
	"quarry/internal/fault"
)

// output returns an object whose JSON has this many bytes.
func output(size int) json.RawMessage {
	return json.RawMessage(`{"text":"` + strings.Repeat("x", size-len(`{"text":""}`)) + `"}`)
}

// files keeps what is made.
type files struct {
	made []artifact.Artifact
	text string
	err  error
}

func (f *files) create(_ context.Context, n artifact.New, r io.Reader) (artifact.Artifact, error) {
	if f.err != nil {
		return artifact.Artifact{}, f.err
	}
	all, err := io.ReadAll(r)
	f.text = string(all)
	f.made = append(f.made, artifact.Artifact{ID: fmt.Sprintf("art_%d", len(f.made)+1), Filename: n.Filename, MIME: n.MIME, Size: int64(len(all))})
	return f.made[len(f.made)-1], err
}

// agent returns the policy of an agent with the tools search, read and grep.
func agent(settings, own string) *offload.Policy {
	all := map[string]tool.Entry{
		"search": {Tool: &tool.Tool{Name: "corpora_search", Offloading: json.RawMessage(own)}},
		"read":   {Tool: &tool.Tool{Name: "artifact_read"}}, "grep": {Tool: &tool.Tool{Name: "artifact_grep"}},
	}
	return offload.New(json.RawMessage(settings), maps.All(all))
}

// Proves that what the readers of files return is cut and never becomes a file, whatever agent, tool and entry say, under any name of the
// entry, and that what was cut or moved once stays as it is.
func TestReadersAreCut(t *testing.T) {
	t.Parallel()
	const settings = `{"mode":"artifact","max_threshold_bytes":2048,"min_threshold_bytes":1024}`
	for _, name := range []string{"artifact_read", "artifact_grep", "artifact_jq"} {
		entry := tool.Entry{Tool: &tool.Tool{Name: name, Offloading: json.RawMessage(settings)}, Own: json.RawMessage(settings)}
		p := offload.New(json.RawMessage(settings), maps.All(map[string]tool.Entry{"mine": entry, "search": {Tool: &tool.Tool{Name: "corpora_search"}}}))
		var kept files
		out, err := p.Fit(t.Context(), "mine", tool.Output{Output: output(100_000)}, offload.Room{}, kept.create)
		if err != nil || len(kept.made) > 0 || len(out.Output) > 2048 || !strings.Contains(string(out.Output), "bytes left out") {
			t.Errorf("%s: %.100s, %v; made: %v", name, out.Output, err, kept.made)
		}
		again, err := p.Fit(t.Context(), "mine", out, offload.Room{}, kept.create)
		if err != nil || string(again.Output) != string(out.Output) {
			t.Errorf("%s: cut again: %.100s, %v", name, again.Output, err)
		}
		moved, err := p.Fit(t.Context(), "search", tool.Output{Output: output(100_000)}, offload.Room{}, kept.create)
		if err != nil || len(kept.made) != 1 || !strings.Contains(string(moved.Output), "with mine") {
			t.Errorf("%s: %s, %v", name, moved.Output, err)
		}
		if twice, err := p.Fit(t.Context(), "search", moved, offload.Room{}, kept.create); err != nil || len(kept.made) != 1 || string(twice.Output) != string(moved.Output) {
			t.Errorf("%s: a marker became %s, %v", name, twice.Output, err)
		}
	}
}

// Proves the three rules as a table: what an output of a size becomes in a context of so many tokens, of which so many are in use,
// and how many bytes of one that is cut stay.
func TestRules(t *testing.T) {
	t.Parallel()
	const kib, mib = 1 << 10, 1 << 20
	for _, c := range []struct {
		name           string
		settings, own  string
		size           int
		window, tokens int64
		most           int // that stay; 0 for all
	}{
		// by default: 4 KiB to 1 MiB, a quarter of the context, seven tenths of it in use
		{"below the lower threshold in a full context", ``, ``, 4*kib - 1, 8_000, 9_000, 0},
		{"the lower threshold in a full context", ``, ``, 4 * kib, 8_000, 9_000, 4*kib - 1},
		{"a quarter of the context", ``, ``, 100_000, 100_000, 0, 0},
		{"a byte more", ``, ``, 100_001, 100_000, 0, 100_000},
		{"a quarter of a small context is under the lower threshold", ``, ``, 4*kib + 1, 4_000, 0, 4 * kib},
		{"exactly as much as is under the lower threshold", ``, ``, 4 * kib, 4_000, 0, 0},
		{"the upper threshold in a large context", ``, ``, mib, 10_000_000, 0, 0},
		{"a byte more than the upper threshold", ``, ``, mib + 1, 10_000_000, 0, mib},
		{"just within the headroom", ``, ``, 40_000, 100_000, 60_000, 0},
		{"a byte over the headroom", ``, ``, 40_001, 100_000, 60_000, 40_000},
		{"no headroom is left", ``, ``, 40_000, 100_000, 70_000, 4 * kib},
		{"headroom 1 is no rule", `{"headroom_percentage":1}`, ``, 40_000, 100_000, 99_999, 0},
		{"headroom 1 leaves the other rules", `{"headroom_percentage":1}`, ``, 100_001, 100_000, 99_999, 100_000},
		{"a context that isn't known", ``, ``, mib, 0, 500_000, 0},
		{"a context that isn't known has thresholds", ``, ``, mib + 1, 0, 0, mib},
		// what is set
		{"share", `{"context_percentage":0.01}`, ``, 10_001, 250_000, 0, 10_000},
		{"share over the upper threshold", `{"context_percentage":1,"max_threshold_bytes":5000}`, ``, 5_001, 250_000, 0, 5_000},
		{"lower threshold", `{"min_threshold_bytes":50000,"context_percentage":0.01}`, ``, 49_999, 100_000, 90_000, 0},
		{"upper threshold alone, below the lower default", `{"max_threshold_bytes":2000}`, ``, 2_001, 100_000, 0, 2_000},
		{"lower threshold alone, above the upper default", `{"min_threshold_bytes":2097152}`, ``, mib, 100_000, 0, 0},
		{"no event is larger, whatever is set", `{"min_threshold_bytes":2097152}`, ``, mib + 1, 100_000, 0, mib},
		{"disabled", `{"enabled":false}`, ``, mib, 1_000, 900, 0},
		// the tool over the agent, field by field
		{"the tool's share, the agent's headroom", `{"context_percentage":1,"headroom_percentage":1}`, `{"context_percentage":0.01}`, 40_001, 100_000, 99_999, 4 * kib},
		{"enabled by the tool alone", `{"enabled":false,"max_threshold_bytes":5000}`, `{"enabled":true}`, 5_001, 100_000, 0, 5_000},
		{"disabled by the tool alone", `{"max_threshold_bytes":5000}`, `{"enabled":false}`, 5_001, 100_000, 0, 0},
		{"the tool's upper threshold under the agent's lower one", `{"min_threshold_bytes":9000}`, `{"max_threshold_bytes":5000}`, 5_001, 100_000, 0, 5_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := offload.Room{Window: c.window, Tokens: c.tokens}
			for mode, settings := range map[string]string{"artifact": c.settings, "truncate": with(c.settings, "truncate")} {
				var kept files
				whole := output(c.size)
				got, err := agent(settings, c.own).Fit(t.Context(), "search", tool.Output{Output: whole}, in, kept.create)
				if err != nil {
					t.Fatal(err)
				}
				switch n := len(got.Output); {
				case c.most == 0 && string(got.Output) != string(whole):
					t.Errorf("%s: it was not left alone: %d bytes", mode, n)
				case c.most > 0 && mode == "truncate" && (n > c.most || n < c.most-200):
					t.Errorf("%s: %d bytes stay, want up to %d", mode, n, c.most)
				case c.most > 0 && mode == "artifact" && (len(kept.made) != 1 || n > 2_000):
					t.Errorf("%s: %d files, %d bytes in the event", mode, len(kept.made), n)
				}
			}
		})
	}
}

// with returns settings with a mode.
func with(settings, mode string) string {
	return strings.Replace(fmt.Sprintf(`{"mode":%q,%s`, mode, strings.TrimPrefix(settings, "{")+strings.Repeat("}", 1-min(len(settings), 1))), ",}", "}", 1)
}

// Proves what the event has in place of an output: the file, its size, its shape and the tools to read it with, and that the
// file has the whole output in lines.
func TestMarker(t *testing.T) {
	t.Parallel()
	whole := `{"found":[` + strings.Repeat(`{"text":"stone <a>","score":1.50},`, 300) + `{"text":"é","score":2}],"note":null,"ok":true}`
	var kept files
	got, err := agent(``, ``).Fit(t.Context(), "search", tool.Output{Output: json.RawMessage(whole)}, offload.Room{Window: 8_000}, kept.create)
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		ID       string `json:"artifact_id"`
		Filename string `json:"filename"`
		MIME     string `json:"mime_type"`
		Size     int    `json:"size_bytes"`
		Lines    int    `json:"lines"`
		Shape    string `json:"shape"`
		Hint     string `json:"hint"`
	}
	if err := json.Unmarshal(got.Output, &m); err != nil {
		t.Fatal(err)
	}
	if m.ID != "art_1" || m.Filename != "search.json" || m.MIME != "application/json" || m.Size != len(kept.text) || m.Lines != strings.Count(kept.text, "\n")+1 || m.Lines < 1_000 {
		t.Errorf("%+v of a file of %d bytes", m, len(kept.text))
	}
	if want := "{found: list of 301, the first: {score: number; text: text of 9 characters}; note: null; ok: boolean}"; m.Shape != want {
		t.Errorf("shape %q, want %q", m.Shape, want)
	}
	if !strings.Contains(m.Hint, "with read") || !strings.Contains(m.Hint, "with grep") || strings.Contains(m.Hint, "query") {
		t.Errorf("hint %q", m.Hint)
	}
	if back := strings.ReplaceAll(strings.ReplaceAll(kept.text, "\n", ""), ": ", ":"); back != whole {
		t.Errorf("the file has %.200s", back)
	}
	if len(got.Output) > 1_024 {
		t.Errorf("a marker of %d bytes could be offloaded itself", len(got.Output))
	}
}

// Proves the mode: a file where the agent can read files, unless settings say otherwise; never of what the tools for files
// return, of errors and where no file can be made.
func TestMode(t *testing.T) {
	t.Parallel()
	alone := offload.New(nil, maps.All(map[string]tool.Entry{"search": {Tool: &tool.Tool{Name: "corpora_search"}}}))
	asked := offload.New(json.RawMessage(`{"mode":"artifact"}`), maps.All(map[string]tool.Entry{"search": {Tool: &tool.Tool{Name: "corpora_search"}}}))
	for _, c := range []struct {
		name   string
		policy *offload.Policy
		tool   string
		failed bool
		err    error
		file   bool
	}{
		{name: "search", policy: agent(``, ``), tool: "search", file: true},
		{name: "asked to cut", policy: agent(`{"mode":"truncate"}`, ``), tool: "search"},
		{name: "the tool over the agent", policy: agent(`{"mode":"truncate"}`, `{"mode":"artifact"}`), tool: "search", file: true},
		{name: "no tools for files", policy: alone, tool: "search"},
		{name: "asked for a file", policy: asked, tool: "search", file: true},
		{name: "read", policy: agent(`{"mode":"artifact"}`, ``), tool: "read"},
		{name: "grep", policy: agent(`{"mode":"artifact"}`, ``), tool: "grep"},
		{name: "error", policy: agent(``, ``), tool: "search", failed: true},
		{name: "no such tool", policy: agent(``, ``), tool: "other", failed: true},
		{name: "no room for a file", policy: agent(``, ``), tool: "search", err: errors.New("full")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			kept := files{err: c.err}
			got, err := c.policy.Fit(t.Context(), c.tool, tool.Output{Output: output(50_000), Failed: c.failed}, offload.Room{Window: 10_000}, kept.create)
			if (len(kept.made) == 1) != c.file || !errors.Is(err, c.err) || got.Failed != c.failed {
				t.Errorf("%d files, failed %t, %v", len(kept.made), got.Failed, err)
			}
			var v map[string]any
			if err := json.Unmarshal(got.Output, &v); err != nil || len(got.Output) > 10_000 {
				t.Errorf("%d bytes, %v", len(got.Output), err)
			}
		})
	}
	if got := agent(``, ``).Bound("search"); got != tool.MaxRaw {
		t.Errorf("%d bytes are taken where the output is fitted in", got)
	}
	if got := agent(`{"enabled":false}`, ``).Bound("search"); got != tool.MaxOutput {
		t.Errorf("%d bytes are taken where it isn't", got)
	}
}

// Proves that a cut output stays an object in which small members are whole and long ones have lost their middle.
func TestCut(t *testing.T) {
	t.Parallel()
	item := `{"id":7,"text":"` + strings.Repeat("long ", 100) + `"}`
	for _, c := range []struct{ name, whole, want string }{
		{"text", `{"id":12345678901234567890,"text":"A` + strings.Repeat(`ä\n`, 3_000) + `Z"}`, `"id":12345678901234567890|"text":"Aä\n|\n[… |\nZ"`},
		{"items", `{"all":[` + strings.Repeat(item+",", 50) + `{"id":8}],"total":51}`, `"total":51|{"id":7,|left out|{"id":8}`},
		{"members", `{"first":1,"map":{` + strings.Repeat(`"`+strings.Repeat("k", 50)+`":1,`, 1) + manyMembers() + `}}`, `"first":1|members left out`},
		{"nested", `{"a":` + strings.Repeat(`{"b":[`, 100) + `"` + strings.Repeat("x", 5_000) + `"` + strings.Repeat(`]}`, 100) + `}`, `{"a":{"b":[|left out`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, most := range []int{1_024, 2_000} {
				got := offload.Cut(json.RawMessage(c.whole), most)
				var v map[string]any
				if err := json.Unmarshal(got, &v); err != nil || len(got) > most || len(got) < most/3 {
					t.Errorf("%d bytes of up to %d, %v: %s", len(got), most, err, got)
				}
				for _, want := range strings.Split(c.want, "|") {
					if !strings.Contains(string(got), want) {
						t.Errorf("%q is not in %s", want, got)
					}
				}
			}
		})
	}
}

func manyMembers() string {
	var all []string
	for i := range 500 {
		all = append(all, fmt.Sprintf(`"m%03d":"%s"`, i, strings.Repeat("v", 20)))
	}
	return strings.Join(all, ",")
}

// Proves that whatever is cut is an object that is no larger than it may be.
func FuzzCut(f *testing.F) {
	f.Add(`{"a":[1,2,{"b":"`+strings.Repeat("c", 2_000)+`"}]}`, 1_024)
	f.Add(`{"`+strings.Repeat(`\u0000`, 900)+`":[[[["\u2028<>&"]]]]}`, 1_024)
	f.Add(strings.Repeat("[", 3_000), 1_500)
	f.Add(`{"n":1`+strings.Repeat("0", 3_000)+`}`, 1_100)
	f.Fuzz(func(t *testing.T, whole string, most int) {
		if most < 1_024 || most > 100_000 {
			return
		}
		got := offload.Cut(json.RawMessage(whole), most)
		var v map[string]any
		if err := json.Unmarshal(got, &v); err != nil || len(got) > most {
			t.Errorf("%d bytes of up to %d, %v", len(got), most, err)
		}
	})
}

// Proves that settings are checked when they are written, each member under its name.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, good := range []string{``, `null`, `{}`, `{"enabled":false}`, `{"mode":"truncate","context_percentage":0.01,"headroom_percentage":1}`, `{"max_threshold_bytes":1024,"min_threshold_bytes":1024}`} {
		if err := offload.Check(json.RawMessage(good)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, field := range map[string]string{
		`[]`: "", `"x"`: "", `{"enabled":"x"}`: "", `{"mode":"file"}`: "mode", `{"context_percentage":0}`: "context_percentage", `{"context_percentage":1.1}`: "context_percentage",
		`{"headroom_percentage":0.001}`: "headroom_percentage", `{"max_threshold_bytes":1023}`: "max_threshold_bytes", `{"min_threshold_bytes":-1}`: "min_threshold_bytes",
		`{"max_threshold_bytes":2000,"min_threshold_bytes":2001}`: "max_threshold_bytes",
	} {
		f, ok := fault.As(offload.Check(json.RawMessage(bad)))
		if !ok || f.Fields[field] == "" {
			t.Errorf("%s: %+v", bad, f)
		}
	}
}

// TestEntry proves that the settings of a configuration lie over those of its tool, and these over those of the agent, member by
// member, and that faults name the member of the configuration.
func TestEntry(t *testing.T) {
	t.Parallel()
	p := offload.New(json.RawMessage(`{"mode":"artifact","max_threshold_bytes":5000,"min_threshold_bytes":2000}`), maps.All(map[string]tool.Entry{"search": {
		Tool: &tool.Tool{Name: "corpora_search", Offloading: json.RawMessage(`{"mode":"artifact","max_threshold_bytes":3000}`)}, Own: json.RawMessage(`{"mode":"truncate"}`),
	}}))
	f := &files{}
	out, err := p.Fit(t.Context(), "search", tool.Output{Output: json.RawMessage(`{"text":"` + strings.Repeat("x", 4000) + `"}`)}, offload.Room{Window: 1_000_000}, f.create)
	if n := len(out.Output); err != nil || len(f.made) > 0 || n > 3000 || n < 2000 {
		t.Errorf("%v, %d files, %d bytes", err, len(f.made), n)
	}
	err = offload.CheckEntries(map[string]json.RawMessage{"a": json.RawMessage(`{"tool_output_offloading":{"mode":"x"}}`), "b": json.RawMessage(`{"tool_output_offloading":null}`), "c": json.RawMessage(`{}`)})
	if got, ok := fault.As(err); !ok || len(got.Fields) != 1 || got.Fields["a.tool_output_offloading.mode"] == "" {
		t.Error(err)
	}
}
