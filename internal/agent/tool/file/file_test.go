package file_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/file"
	"quarry/internal/agent/tool/reference"
	blobfile "quarry/internal/blobstore/file"
	"quarry/internal/corpus/ingest"
	"quarry/internal/fault"
	"quarry/internal/jsonvalue"
	"quarry/internal/llm"
	"quarry/internal/store"
	"quarry/internal/store/blobs"
	"quarry/internal/store/sessions"
	"quarry/internal/store/storetest"
)

// documents has one document, in the corpus mill.
type documents struct{}

func (documents) Text(_ context.Context, corpus, id string) (string, json.RawMessage, error) {
	if corpus != "mill" || id != "manual.pdf" {
		return "", nil, fault.NotFound("document_not_found", id, "document %s does not exist in corpus %s", id, corpus)
	}
	return "Stones\n\nDress them.", json.RawMessage(`{"author":{"name":"Ann","email":"ann@example.com"},"pages":[{"n":1,"internal":"x"},{"n":12345678901234567890}]}`), nil
}

// bench makes calls of tools in a session that has files.
type bench struct {
	files   *artifact.Service
	name    string // of the file that is there; "": notes.txt
	mime    string
	images  bool // the model reads images
	sender  permit.Rights
	self    tool.Identity
	secrets map[string]string
}

// everything is the identity of an agent that may read all that its configurations name.
func everything(context.Context) (permit.Identity, error) {
	return permit.Identity{Rights: permit.Rights{All: true}}, nil
}

func newBench(t *testing.T) *bench {
	t.Helper()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	kept, err := blobfile.Open(t.Context(), t.TempDir(), blobs.NewRows(db))
	if err != nil {
		t.Fatal(err)
	}
	rows := sessions.New(db, storetest.Secrets(t, db))
	return &bench{self: everything, files: artifact.NewService(artifact.Config{Store: rows, Blobs: kept, Most: 50 << 20, Log: slog.New(slog.DiscardHandler)})}
}

// kinds returns the types of the tools, and those tools that have none as types.
func kinds() (map[string]tool.Type, error) {
	types, dynamic, err := file.Tools(file.Config{Documents: documents{}, Reader: ingest.New(ingest.Config{}), MaxFile: 10 << 20})
	maps.Copy(types, dynamic)
	return types, err
}

// compile returns the tools of an agent with one configuration, named t.
func compile(configuration string) (*tool.Set, error) {
	types, err := kinds()
	if err != nil {
		return nil, err
	}
	return tool.Compile(map[string]json.RawMessage{"t": json.RawMessage(configuration)}, tool.Kit{Types: types, Log: slog.New(slog.DiscardHandler)})
}

// call calls the tool of a configuration. A file of this content is there before, whose id stands for ID in the arguments.
func (b *bench) call(t *testing.T, configuration, content, arguments string) (tool.Output, *artifact.Workspace) {
	t.Helper()
	set, err := compile(configuration)
	if err != nil {
		t.Fatal(err)
	}
	work := b.files.Workspace(1, t.Name())
	t.Cleanup(func() { work.Release(context.Background()) })
	a, err := work.Create(t.Context(), artifact.New{Filename: cmp.Or(b.name, "notes.txt"), MIME: cmp.Or(b.mime, "text/plain")}, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	scene := tool.Scene{
		Files: work, Sender: b.sender, Identity: b.self, Most: tool.MaxRaw, Images: b.images,
		Scene: reference.Scene{Secrets: b.secrets, Session: reference.Subject{Key: "s", Metadata: json.RawMessage(`{"corpus":"mill"}`)}},
	}
	bound, _, err := set.Bind(scene, "")
	if err != nil {
		t.Fatal(err)
	}
	planned := bound.Plan([]llm.ToolCall{{ID: "c", Name: "t", Arguments: json.RawMessage(strings.ReplaceAll(arguments, "ID", a.ID))}}, nil, scene)
	out := bound.Run(t.Context(), planned[0], scene)
	fits(t, configuration, out)
	return out, work
}

// fits checks an output against what the tool says of it.
func fits(t *testing.T, configuration string, out tool.Output) {
	t.Helper()
	var c struct {
		Type string `json:"type"`
	}
	types, err := kinds()
	if err != nil || json.Unmarshal([]byte(configuration), &c) != nil {
		t.Fatal(err)
	}
	made, err := types[c.Type](json.RawMessage(configuration))
	if err != nil || out.Failed {
		return
	}
	if err := made.Output.Check(jsonvalue.Decode(out.Output)); err != nil {
		t.Errorf("%s returns %s, which does not fit its schema: %v", c.Type, out.Output, err)
	}
}

// members returns what an output has.
func members(t *testing.T, out tool.Output) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(out.Output, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// numbered returns lines with their numbers.
func numbered(from, to int) string {
	var b strings.Builder
	for n := from; n <= to; n++ {
		fmt.Fprintf(&b, "line %d\n", n)
	}
	return b.String()
}

// Proves what artifact_read returns: whole files, ranges of lines, both bounds with what is said of them, and base64.
func TestRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const plain = `{"type":"artifact_read"}`
	small := `{"type":"artifact_read","tool_configuration":{"max_size_bytes":100,"max_lines":3}}`
	binary := "\x00\x01\xff"
	for _, c := range []struct {
		name, configuration, content, arguments, want string
		start, end, total                             float64
		cut                                           bool
		err                                           string
	}{
		{name: "whole", configuration: plain, content: numbered(1, 300), arguments: `{"artifact_id":"ID"}`, want: numbered(1, 300)},
		{name: "empty", configuration: plain, arguments: `{"artifact_id":"ID"}`},
		{name: "empty range", configuration: plain, arguments: `{"artifact_id":"ID","start_line":1}`, start: 1},
		{name: "as large as may be", configuration: small, content: strings.Repeat("x", 100), arguments: `{"artifact_id":"ID"}`, want: strings.Repeat("x", 100)},
		{name: "a byte more", configuration: small, content: strings.Repeat("x", 101), arguments: `{"artifact_id":"ID"}`, err: "start_line and end_line"},
		{name: "a byte more in base64", configuration: small, content: strings.Repeat("x", 101), arguments: `{"artifact_id":"ID","encoding":"base64"}`, err: "only text can be read in parts"},
		{name: "range", configuration: small, content: numbered(1, 9), arguments: `{"artifact_id":"ID","start_line":2,"end_line":4}`, want: numbered(2, 4), start: 2, end: 4, total: 9},
		{name: "one line", configuration: small, content: numbered(1, 9), arguments: `{"artifact_id":"ID","start_line":9,"end_line":9}`, want: numbered(9, 9), start: 9, end: 9, total: 9},
		{name: "too many lines", configuration: small, content: numbered(1, 9), arguments: `{"artifact_id":"ID","start_line":2,"end_line":5}`, want: numbered(2, 4), start: 2, end: 4, total: 9, cut: true},
		{name: "no end", configuration: small, content: numbered(1, 9), arguments: `{"artifact_id":"ID","start_line":7}`, want: numbered(7, 9), start: 7, end: 9, total: 9},
		{name: "no end, too many", configuration: small, content: numbered(1, 9), arguments: `{"artifact_id":"ID","start_line":6}`, want: numbered(6, 8), start: 6, end: 8, total: 9, cut: true},
		{name: "no start", configuration: small, content: numbered(1, 9), arguments: `{"artifact_id":"ID","end_line":2}`, want: numbered(1, 2), start: 1, end: 2, total: 9},
		{name: "behind the end", configuration: small, content: "a\nb", arguments: `{"artifact_id":"ID","start_line":2,"end_line":4}`, want: "b", start: 2, end: 2, total: 2},
		{name: "past the end", configuration: small, content: "a\nb\n", arguments: `{"artifact_id":"ID","start_line":3}`, err: "has 2 lines"},
		{name: "backwards", configuration: small, content: "a\nb\n", arguments: `{"artifact_id":"ID","start_line":2,"end_line":1}`, err: "before start_line"},
		{name: "long line", configuration: small, content: "a\n" + strings.Repeat("ä", 1<<20) + "\nb", arguments: `{"artifact_id":"ID","start_line":1,"end_line":3}`, want: "a\n" + strings.Repeat("ä", 49), start: 1, end: 2, total: 3, cut: true},
		{name: "line ends of Windows", configuration: small, content: "a\r\nb\r\n", arguments: `{"artifact_id":"ID","start_line":1,"end_line":1}`, want: "a\r\n", start: 1, end: 1, total: 2},
		{name: "base64", configuration: small, content: binary, arguments: `{"artifact_id":"ID","encoding":"base64"}`, want: base64.StdEncoding.EncodeToString([]byte(binary))},
		{name: "binary raw", configuration: small, content: binary, arguments: `{"artifact_id":"ID"}`, err: `"encoding": "base64"`},
		{name: "binary range", configuration: small, content: binary, arguments: `{"artifact_id":"ID","start_line":1}`, err: "no text in UTF-8"},
		{name: "base64 range", configuration: small, content: "a", arguments: `{"artifact_id":"ID","start_line":1,"encoding":"base64"}`, err: "for the encoding raw"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, _ := b.call(t, c.configuration, c.content, c.arguments)
			got := members(t, out)
			if c.err != "" {
				if text, _ := got["error"].(string); !out.Failed || out.Class != tool.InvalidInput || !strings.Contains(text, c.err) {
					t.Errorf("%s: %.300s, want an error with %q", out.Class, out.Output, c.err)
				}
				return
			}
			number := func(name string) float64 { n, _ := got[name].(float64); return n }
			if out.Failed || got["content"] != c.want || number("start_line") != c.start || number("end_line") != c.end || number("total_lines") != c.total ||
				(got["truncated"] == true) != c.cut || (got["note"] != nil) != c.cut || number("size_bytes") != float64(len(c.content)) ||
				got["filename"] != "notes.txt" || !strings.HasPrefix(fmt.Sprint(got["mime_type"]), "text/plain") || fmt.Sprint(got["metadata"]) != "map[]" {
				t.Errorf("%.1000s", out.Output)
			}
		})
	}
}

// Proves that what isn't there is an error of its class, by any tool.
func TestMissing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for configuration, arguments := range map[string]string{
		`{"type":"artifact_read"}`: `{"artifact_id":"art_none"}`, `{"type":"artifact_grep"}`: `{"artifact_id":"art_none","pattern":"x"}`,
	} {
		if out, _ := b.call(t, configuration, "", arguments); !out.Failed || out.Class != tool.NotFound || !strings.Contains(string(out.Output), "art_none") {
			t.Errorf("%s: %s %s", configuration, out.Class, out.Output)
		}
		if out, _ := b.call(t, configuration, "", `{"artifact_id":"../../etc/passwd\u0000","pattern":"x"}`); !out.Failed {
			t.Errorf("%s: %s", configuration, out.Output)
		}
	}
}

// Proves that artifact_create writes a file with its name cleaned and secrets masked, whose reference is the output.
func TestCreate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.secrets = map[string]string{"token": "hunter2hunter2"}
	out, work := b.call(t, `{"type":"artifact_create","argument_override":{"description":{"$ref":"session.key"}}}`, "", `{"filename":"../../Belt Report.md","content":"tighten hunter2hunter2 <b>"}`)
	got := members(t, out)
	if out.Failed || got["filename"] != "Belt Report.md" || got["size_bytes"] != float64(len("tighten **** <b>")) || len(out.Artifacts) != 2 {
		t.Fatalf("%s with %d files", out.Output, len(out.Artifacts))
	}
	made, data, err := work.Open(t.Context(), fmt.Sprint(got["artifact_id"]))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = data.Close() }()
	all, err := io.ReadAll(data)
	if err != nil || string(all) != "tighten **** <b>" || made.Description != "s" || !strings.HasPrefix(made.MIME, "text/markdown") {
		t.Errorf("%q, %+v, %v", all, made, err)
	}
	for arguments, want := range map[string]string{
		`{"filename":"a"}`: "content", `{"content":"a"}`: "filename", `{"filename":"","content":"a"}`: "filename", `{"filename":"a","content":1}`: "content", `{"filename":"a","content":"b","x":1}`: "x",
	} {
		if out, _ := b.call(t, `{"type":"artifact_create"}`, "", arguments); out.Class != tool.InvalidInput || !strings.Contains(string(out.Output), want) {
			t.Errorf("%s: %s %s", arguments, out.Class, out.Output)
		}
	}
}

// Proves that a secret that is pinned as the name of a file, or of a document, is in nothing that is kept of the file.
func TestNamesOfSecrets(t *testing.T) {
	t.Parallel()
	for configuration, arguments := range map[string]string{
		`{"type":"artifact_create","argument_override":{"filename":{"$ref":"session.secrets.token"},"mime_type":{"$ref":"session.secrets.token"}}}`: `{"content":"a"}`,
		`{"type":"get_document_text","argument_override":{"document_id":{"$ref":"session.secrets.token"}}}`:                                         `{"corpus_key":"mill"}`,
	} {
		b := newBench(t)
		b.secrets, b.sender = map[string]string{"token": "manual.pdf"}, permit.Rights{All: true}
		out, _ := b.call(t, configuration, "", arguments)
		if out.Failed || len(out.Artifacts) < 2 {
			t.Fatalf("%s with %d files", out.Output, len(out.Artifacts))
		}
		for _, a := range out.Artifacts {
			if kept := fmt.Sprintf("%+v %s", a, a.Metadata); strings.Contains(kept, "manual") {
				t.Errorf("%s: %s", configuration, kept)
			}
		}
	}
}

// Proves that a call that is made again has the same file under the same id.
func TestCreateAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, _ := b.call(t, `{"type":"artifact_create"}`, "", `{"filename":"a.txt","content":"x"}`)
	again, _ := b.call(t, `{"type":"artifact_create"}`, "", `{"filename":"a.txt","content":"x"}`)
	if first.Failed || !bytes.Equal(first.Output, again.Output) {
		t.Errorf("%s, then %s", first.Output, again.Output)
	}
}

// Proves that artifact_grep takes options in the ways that models write them, and that what it can't do is an error that says so.
func TestGrep(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	content := "One stone\ntwo belts\nthree STONES\n"
	for _, c := range []struct {
		name, arguments, want string
		lines                 float64
		err                   string
	}{
		{name: "plain", arguments: `{"artifact_id":"ID","pattern":"stone"}`, want: "One stone\n", lines: 1},
		{name: "together", arguments: `{"artifact_id":"ID","pattern":"stone","grep_options":["-in"]}`, want: "1:One stone\n3:three STONES\n", lines: 2},
		{name: "number in the next", arguments: `{"artifact_id":"ID","pattern":"stone","grep_options":["-n","-A","1"]}`, want: "1:One stone\n2-two belts\n", lines: 1},
		{name: "number behind a blank", arguments: `{"artifact_id":"ID","pattern":"stone","grep_options":["-n -A 1"]}`, want: "1:One stone\n2-two belts\n", lines: 1},
		{name: "number at once", arguments: `{"artifact_id":"ID","pattern":"stone","grep_options":["-nA1"]}`, want: "1:One stone\n2-two belts\n", lines: 1},
		{name: "none", arguments: `{"artifact_id":"ID","pattern":"steel"}`},
		{name: "unknown option", arguments: `{"artifact_id":"ID","pattern":"stone","grep_options":["-r"]}`, err: `there is no option \"-r\"`},
		{name: "nested repeats", arguments: `{"artifact_id":"ID","pattern":"((a{100}){100}){100}"}`, err: "repeats too much"},
		{name: "many stars", arguments: `{"artifact_id":"ID","pattern":"(((((a*)*)*)*)*)*b"}`, want: "two belts\n", lines: 1},
		{name: "look-ahead", arguments: `{"artifact_id":"ID","pattern":"(?=a)"}`, err: "look-around"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, _ := b.call(t, `{"type":"artifact_grep"}`, content, c.arguments)
			if c.err != "" {
				if !out.Failed || out.Class != tool.InvalidInput || !strings.Contains(string(out.Output), c.err) {
					t.Errorf("%s %s", out.Class, out.Output)
				}
				return
			}
			if got := members(t, out); out.Failed || got["content"] != c.want || got["match_count"] != c.lines {
				t.Errorf("%s", out.Output)
			}
		})
	}
	if out, _ := b.call(t, `{"type":"artifact_grep"}`, "PK\x03\x04\x00", `{"artifact_id":"ID","pattern":"a"}`); out.Class != tool.InvalidInput || !strings.Contains(string(out.Output), "no text") {
		t.Errorf("%s", out.Output)
	}
}

// Proves that get_document_text writes text and metadata to files, less what is excluded, and who may read which corpus through it.
func TestDocumentText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.sender = permit.Rights{Corpora: []string{"open"}}
	free := newBench(t)
	free.sender = permit.Rights{All: true}
	const pinned = `{"type":"get_document_text","argument_override":{"corpus_key":"mill"}`
	for _, c := range []struct {
		name                     string
		bench                    *bench
		configuration, arguments string
		metadata                 string // "" for no file
		class                    tool.Class
	}{
		{"pinned", b, pinned + `}`, `{"document_id":"manual.pdf"}`, `{"author":{"email":"ann@example.com","name":"Ann"},"pages":[{"internal":"x","n":1},{"n":12345678901234567890}]}`, ""},
		{"excluded", b, pinned + `,"tool_configuration":{"metadata":{"exclude_paths":["$.author.email","$..internal"]}}}`, `{"document_id":"manual.pdf"}`,
			`{"author":{"name":"Ann"},"pages":[{"n":1},{"n":12345678901234567890}]}`, ""},
		{"without", b, pinned + `,"tool_configuration":{"metadata":{"include":false}}}`, `{"document_id":"manual.pdf"}`, "", ""},
		{"by the model", free, `{"type":"get_document_text"}`, `{"document_id":"manual.pdf","corpus_key":"mill"}`, `{"author":{"email":"ann@example.com","name":"Ann"},"pages":[{"internal":"x","n":1},{"n":12345678901234567890}]}`, ""},
		{"by the model, of others", b, `{"type":"get_document_text"}`, `{"document_id":"manual.pdf","corpus_key":"mill"}`, "", tool.NotFound},
		{"by a reference, of others", b, `{"type":"get_document_text","argument_override":{"corpus_key":{"$ref":"session.metadata.corpus"}}}`, `{"document_id":"manual.pdf"}`, "", tool.NotFound},
		{"by a transform, of others", b, `{"type":"get_document_text","argument_override":{"corpus_key":"open"},"input_transform":".args + {corpus_key: \"mill\"}"}`, `{"document_id":"manual.pdf"}`, "", tool.NotFound},
		{"no document", b, pinned + `}`, `{"document_id":"none"}`, "", tool.NotFound},
		{"pinned and sent", b, pinned + `}`, `{"document_id":"manual.pdf","corpus_key":"open"}`, `{"author":{"email":"ann@example.com","name":"Ann"},"pages":[{"internal":"x","n":1},{"n":12345678901234567890}]}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, work := c.bench.call(t, c.configuration, "", c.arguments)
			if out.Class != c.class || out.Failed != (c.class != "") {
				t.Fatalf("%s %s", out.Class, out.Output)
			}
			if out.Failed {
				return
			}
			var got struct {
				Text, Metadata *file.Reference
			}
			if err := json.Unmarshal(out.Output, &got); err != nil || got.Text == nil || got.Text.Filename != "manual.txt" {
				t.Fatalf("%s, %v", out.Output, err)
			}
			if text := read(t, work, got.Text.ID); text != "Stones\n\nDress them." {
				t.Errorf("text %q", text)
			}
			if (got.Metadata != nil) != (c.metadata != "") {
				t.Fatalf("%s", out.Output)
			}
			if got.Metadata == nil {
				return
			}
			var plain bytes.Buffer
			if err := json.Compact(&plain, []byte(read(t, work, got.Metadata.ID))); err != nil || plain.String() != c.metadata {
				t.Errorf("metadata %s, %v", plain.String(), err)
			}
		})
	}
}

func read(t *testing.T, work *artifact.Workspace, id string) string {
	t.Helper()
	_, data, err := work.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = data.Close() }()
	all, err := io.ReadAll(data)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// Proves that configurations are checked when they are written, under the members that are wrong.
func TestConfigurations(t *testing.T) {
	t.Parallel()
	for configuration, field := range map[string]string{
		`{"type":"artifact_read","tool_configuration":{"max_lines":0}}`:                                 "tool_configuration.max_lines",
		`{"type":"artifact_read","tool_configuration":{"max_lines":10001}}`:                             "tool_configuration.max_lines",
		`{"type":"artifact_read","tool_configuration":{"max_size_bytes":10485761}}`:                     "tool_configuration.max_size_bytes",
		`{"type":"artifact_read","tool_configuration":{"max_size_bytes":"x"}}`:                          "tool_configuration.max_size_bytes",
		`{"type":"artifact_read","tool_configuration":{"lines":5}}`:                                     "tool_configuration",
		`{"type":"artifact_read","tool_configuration":[]}`:                                              "tool_configuration",
		`{"type":"artifact_grep","tool_configuration":{"x":1}}`:                                         "tool_configuration",
		`{"type":"artifact_create","tool_configuration":{"x":1}}`:                                       "tool_configuration",
		`{"type":"artifact_read","argument_override":{"path":"x"}}`:                                     "argument_override.path",
		`{"type":"artifact_read","argument_override":{"encoding":"hex"}}`:                               "argument_override.encoding",
		`{"type":"artifact_grep","argument_override":{"grep_options":"-i"}}`:                            "argument_override.grep_options",
		`{"type":"artifact_create","argument_override":{"ttl_days":1}}`:                                 "argument_override.ttl_days",
		`{"type":"get_document_text","argument_override":{"corpus":"x"}}`:                               "argument_override.corpus",
		`{"type":"get_document_text","argument_override":{"corpus_key":""}}`:                            "argument_override.corpus_key",
		`{"type":"get_document_text","tool_configuration":{"metadata":{"exclude_paths":["$.a","$["]}}}`: "tool_configuration.metadata.exclude_paths[1]",
		`{"type":"get_document_text","tool_configuration":{"metadata":{"exclude_paths":"$.a"}}}`:        "tool_configuration.metadata.exclude_paths",
		`{"type":"get_document_text","tool_configuration":{"metadata":{"paths":[]}}}`:                   "tool_configuration",
		`{"type":"get_document_text","tool_configuration":{"include":true}}`:                            "tool_configuration",
	} {
		_, err := compile(configuration)
		f, ok := fault.As(err)
		if !ok || len(f.Fields) != 1 || f.Fields["tool_configurations.t."+field] == "" {
			t.Errorf("%s: %v", configuration, f)
		}
	}
	set, err := compile(`{"type":"get_document_text","argument_override":{"corpus_key":"mill"},"tool_configuration":null}`)
	if err != nil || len(set.Needs([]string{"t"})) != 1 {
		t.Errorf("%v: the corpus that it names is not known", err)
	}
	set, err = compile(`{"type":"get_document_text","argument_override":{"corpus_key":{"$ref":"session.metadata.corpus"}},"tool_configuration":{}}`)
	if err != nil || len(set.Needs([]string{"t"})) != 0 {
		t.Errorf("%v", err)
	}
}
