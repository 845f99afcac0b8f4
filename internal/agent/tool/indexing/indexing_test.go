package indexing_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/indexing"
	"quarry/internal/agent/tool/reference"
	blobfile "quarry/internal/blobstore/file"
	"quarry/internal/corpus"
	"quarry/internal/corpus/bulk"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/document/documenttest"
	"quarry/internal/corpus/ingest"
	"quarry/internal/fault"
	"quarry/internal/httpapi/documents"
	"quarry/internal/id"
	"quarry/internal/job"
	"quarry/internal/job/jobtest"
	"quarry/internal/llm"
	"quarry/internal/store"
	"quarry/internal/store/blobs"
	"quarry/internal/store/sessions"
	"quarry/internal/store/storetest"
)

// failing is a store whose inserts can fail or wait, and whose deletions can wait.
type failing struct {
	*documenttest.Memory
	err  error
	late string        // the document for which there is no time left
	held chan struct{} // that deletions wait for, nil for none
}

func (f *failing) DeleteMany(ctx context.Context, no, epoch int64, ids []string, cutoff time.Time) (int64, int, error) {
	if f.held != nil {
		<-f.held
	}
	return f.Memory.DeleteMany(ctx, no, epoch, ids, cutoff)
}

func (f *failing) Insert(ctx context.Context, no, epoch int64, d *document.Document) (int64, error) {
	if f.err != nil {
		return 0, f.err
	}
	if d.ID == f.late {
		return 0, context.DeadlineExceeded
	}
	return f.Memory.Insert(ctx, no, epoch, d)
}

// everything is the identity of an agent that may change all that its configurations name.
func everything(context.Context) (permit.Identity, error) {
	return permit.Identity{Rights: permit.Rights{EditAll: true}}, nil
}

// bench makes calls of the tools in a session with files, on the corpus shop.
type bench struct {
	kit     tool.Kit
	files   *artifact.Service
	rows    *failing
	log     bytes.Buffer
	sender  permit.Rights
	self    tool.Identity
	secrets map[string]string
	again   time.Time // when a call was made that is made again; zero for a fresh one
	event   id.Event
	work    *artifact.Workspace
	limit   int // seconds of a call; 0: as the tool has it
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{self: everything, sender: permit.Rights{Edit: []string{"shop"}}, event: "aev_1"}
	b.rows = &failing{Memory: documenttest.New(corpus.Corpus{Key: "shop", Enabled: true, Attributes: []corpus.Attribute{{Name: "year", Level: "document", Type: "integer"}}})}
	log := slog.New(slog.NewTextHandler(&b.log, nil))
	queue := job.New(job.Config{Store: new(jobtest.Memory), Log: slog.New(slog.DiscardHandler)})
	changing := bulk.New(bulk.Config{
		Corpora: b.rows.Corpora(), Store: b.rows, Index: b.rows, Jobs: queue, Documents: document.NewService(b.rows, b.rows.Corpora(), b.rows, nil, 64),
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		queue.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	types, err := indexing.Types(indexing.Config{
		Ingest: ingest.New(ingest.Config{Corpora: b.rows.Corpora(), Documents: b.rows, Encoders: new(documenttest.Encoder), Index: b.rows}),
		Bulk:   changing, Reader: documents.Reader{}, Log: log, File: 10_000, JSON: 5_000,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.kit = tool.Kit{Types: types, Log: log}
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	kept, err := blobfile.Open(t.Context(), t.TempDir(), blobs.NewRows(db))
	if err != nil {
		t.Fatal(err)
	}
	rows := sessions.New(db, storetest.Secrets(t, db))
	b.files = artifact.NewService(artifact.Config{Store: rows, Blobs: kept, Most: 50 << 20, Log: log})
	b.work = b.files.Workspace(1, t.Name())
	t.Cleanup(func() { b.work.Release(context.Background()) })
	return b
}

// file puts a file into the session and returns its id.
func (b *bench) file(t *testing.T, name, mime, content string) string {
	t.Helper()
	a, err := b.work.Create(t.Context(), artifact.New{Filename: name, MIME: mime}, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return a.ID
}

// call calls a tool with arguments beside the corpus shop.
func (b *bench) call(t *testing.T, name, arguments string) tool.Output {
	t.Helper()
	if !strings.Contains(arguments, "corpus_key") {
		arguments = `{"corpus_key":"shop",` + strings.TrimPrefix(arguments, "{")
		arguments = strings.Replace(arguments, ",}", "}", 1)
	}
	configuration := `{"type":"` + name + `"}`
	if b.limit > 0 {
		configuration = fmt.Sprintf(`{"type":%q,"max_execution_time_seconds":%d}`, name, b.limit)
	}
	set, err := tool.Compile(map[string]json.RawMessage{"t": json.RawMessage(configuration)}, b.kit)
	if err != nil {
		t.Fatal(err)
	}
	scene := tool.Scene{Files: b.work, Sender: b.sender, Identity: b.self, Scene: reference.Scene{Secrets: b.secrets, Session: reference.Subject{Key: "s"}}}
	bound, _, err := set.Bind(scene, "")
	if err != nil {
		t.Fatal(err)
	}
	p := bound.Plan([]llm.ToolCall{{ID: "c", Name: "t", Arguments: json.RawMessage(arguments)}}, nil, scene)[0]
	p.Event, p.Again, p.Made = b.event, !b.again.IsZero(), b.again
	return bound.Run(t.Context(), p, scene)
}

// expect compares an output with what is wanted: JSON of all of it, or, for a failure, its class and a part of its text.
func expect(t *testing.T, name string, got tool.Output, want string, class tool.Class) {
	t.Helper()
	if got.Class != class || got.Failed != (class != "") {
		t.Errorf("%s: failed %v, %q, want %q: %s", name, got.Failed, got.Class, class, got.Output)
	}
	if !strings.HasPrefix(want, "{") {
		if !strings.Contains(string(got.Output), want) {
			t.Errorf("%s: %s, want %q in it", name, got.Output, want)
		}
		return
	}
	var a, b any
	if err := json.Unmarshal([]byte(want), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got.Output, &b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// batch returns arguments with a document for each pair of id and text.
func batch(pairs ...string) string {
	var all []string
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, fmt.Sprintf(`{"document":{"id":%q,"document_parts":[{"text":%q}]}}`, pairs[i], pairs[i+1]))
	}
	return `{"documents":[` + strings.Join(all, ",") + `]}`
}

// texts returns the parts of a document in the corpus.
func (b *bench) texts(t *testing.T, id string) (out []string) {
	t.Helper()
	d, ok := b.rows.Document(id)
	if !ok {
		t.Errorf("there is no document %s", id)
	}
	for _, p := range d.Parts {
		out = append(out, p.Text)
	}
	return out
}

// TestCore proves what comes of the documents of a batch, and of a batch that is refused as a whole.
func TestCore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const one = `"retryable":false}`
	for _, c := range []struct {
		name, arguments, want string
		class                 tool.Class
	}{
		{"two", batch("a", "One.", "b", "Two."), `{"documents":[{"document_id":"a","status":"indexed"},{"document_id":"b","status":"indexed"}],` + one, ""},
		{"again", batch("a", "One.", "b", "Two."), `{"documents":[{"document_id":"a","status":"unchanged"},{"document_id":"b","status":"unchanged"}],` + one, ""},
		{"other content", batch("a", "Uno."), "CONFLICT: Indexing doesn't support updating documents. A document with document id 'a' already exists. Call again with reindex true", tool.ExecutionError},
		{"anew", strings.Replace(batch("a", "Uno.", "c", "Three."), "{", `{"reindex":true,`, 1), `{"documents":[{"document_id":"a","status":"replaced"},{"document_id":"c","status":"indexed"}],` + one, ""},
		{"anew, equal", strings.Replace(batch("a", "Uno."), "{", `{"reindex":true,`, 1), `{"documents":[{"document_id":"a","status":"replaced"}],` + one, ""},
		{"the id of the entry", `{"documents":[{"document_id":"e","document":{"id":"a","type":"core","document_parts":[{"text":"Four."}]}}]}`, `{"documents":[{"document_id":"e","status":"indexed"}],` + one, ""},
		{"null for what may be left out", `{"documents":[{"document_id":null,"artifact_id":null,"document":{"id":"o","metadata":null,"document_parts":[{"text":"Null.","context":null}]}}],"reindex":null}`,
			`{"documents":[{"document_id":"o","status":"indexed"}],` + one, ""},
		{"a bad value", `{"documents":[{"document":{"id":"f","metadata":{"year":"x"},"document_parts":[{"text":"Five."}]}}]}`, "documents[0].document.metadata.year", tool.InvalidInput},
		{"another type", `{"documents":[{"document":{"id":"f","type":"structured","sections":[{"text":"Five."}]}}]}`, "documents[0].document.type: must be core", tool.InvalidInput},
		{"an id that can't be", `{"documents":[{"document_id":"..","document":{"document_parts":[{"text":"Five."}]}}]}`, "documents[0].document.id: must not be . or ..", tool.InvalidInput},
		{"no file", `{"documents":[{"artifact_id":"art_x"}]}`, "documents[0].artifact_id: artifact art_x does not exist", tool.NotFound},
		{"twice", batch("f", "Five.", "g", "Six.", "f", "Seven."), `documents[0] and documents[2] have the same id \"f\"; nothing was changed`, tool.InvalidInput},
		{"no id", `{"documents":[{"document":{"document_parts":[{"text":"Five."}]}}]}`, "documents[0].document_id: is required", tool.InvalidInput},
		{"nothing", `{"documents":[{"document_id":"f"}]}`, "documents[0]: has neither document nor artifact_id", tool.InvalidInput},
		{"both", `{"documents":[{"document_id":"f","document":{},"artifact_id":"x"}]}`, "documents[0]: has document and artifact_id", tool.InvalidInput},
		{"too many", batch(strings.Split(strings.Repeat("f,x,", 101), ",")[:202]...), "maxItems", tool.InvalidInput},
		{"no corpus", `{"corpus_key":"none","documents":[{"document":{"id":"f","document_parts":[{"text":"Five."}]}}]}`, `there is no corpus \"none\"`, tool.NotFound},
	} {
		expect(t, c.name, b.call(t, indexing.Core, c.arguments), c.want, c.class)
	}
	if _, there := b.rows.Document("f"); there {
		t.Error("a refused document is there")
	}
	if diff := cmp.Diff([]string{"Four."}, b.texts(t, "e")); diff != "" {
		t.Error(diff)
	}
	b.sender = permit.Rights{All: true}
	expect(t, "a reader", b.call(t, indexing.Core, batch("f", "Five.")), `there is no corpus \"shop\" that whoever sent the message may index or delete in`, tool.NotFound)
}

// TestCoreFiles proves what documents are made of files: core and structured documents as JSON, texts and other JSON, each under the
// id that the contract says; and which files make none.
func TestCoreFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := []any{
		b.file(t, "core.json", "application/json", `{"id":"k","document_parts":[{"text":"A core."}]}`),
		b.file(t, "nameless.json", "application/json", "\ufeff"+`{"type":"core","id":7,"document_parts":[{"text":"Nameless."}]}`),
		b.file(t, "doc.json", "application/json", `{"type":"structured","title":"T","sections":[{"text":"One. Two."}]}`),
		b.file(t, "notes.md", "text/markdown", "# Oil\n\nIt burns. It smells.\n"),
		b.file(t, "rows.json", "application/json", `[{"lamp": 3}]`),
		b.file(t, "image.png", "image/png", "\x89PNG\r\n\x1a\n\x00\x00"),
		b.file(t, "large.txt", "text/plain", strings.Repeat("x", 10_001)),
		b.file(t, "large.json", "application/json", `{"id":"l","document_parts":[{"text":"`+strings.Repeat("x", 5_000)+`"}]}`),
	}
	got := b.call(t, indexing.Core, fmt.Sprintf(`{"documents":[{"artifact_id":%q},{"artifact_id":%q},{"artifact_id":%q},{"artifact_id":%q},{"artifact_id":%q},{"artifact_id":%q},{"artifact_id":%q},{"artifact_id":%q},{"document_id":"m","artifact_id":%[1]q}]}`, ids...))
	var out struct {
		Documents []struct {
			ID     string `json:"document_id"`
			Status string
			Error  string
		}
		Retryable bool
	}
	if err := json.Unmarshal(got.Output, &out); err != nil || !got.Failed || got.Class != tool.InvalidInput || out.Retryable || len(out.Documents) != 9 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []struct {
		id    string
		texts []string
		err   string
	}{
		{"k", []string{"A core."}, ""}, {ids[1].(string), []string{"Nameless."}, ""}, {ids[2].(string), []string{"T", "One.", "Two."}, ""},
		{ids[3].(string), []string{"Oil", "It burns.", "It smells."}, ""}, {ids[4].(string), []string{`[{"lamp": 3}]`}, ""},
		{ids[5].(string), nil, "documents[5].artifact_id: "}, {ids[6].(string), nil, "10001 bytes"}, {"l", nil, "max_json"}, {"m", []string{"A core."}, ""},
	} {
		d := out.Documents[i]
		if d.ID != want.id || (d.Status == "indexed") != (want.err == "") || !strings.Contains(d.Error, want.err) {
			t.Errorf("document %d: %+v, want %+v", i, d, want)
		}
		if want.err == "" {
			if diff := cmp.Diff(want.texts, b.texts(t, want.id)); diff != "" {
				t.Errorf("document %d:\n%s", i, diff)
			}
		}
	}
	expect(t, "an id in two files", b.call(t, indexing.Core, fmt.Sprintf(`{"documents":[{"artifact_id":%q},{"document_id":"k","artifact_id":%q}]}`, ids[0], ids[3])),
		`documents[0] and documents[1] have the same id \"k\"`, tool.InvalidInput)
}

// TestCutOff proves that a call that is made again after a kill tells what a call does that was never cut off.
func TestCutOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	anew := func(s string) string { return strings.Replace(s, "{", `{"reindex":true,`, 1) }
	expect(t, "before", b.call(t, indexing.Core, batch("old", "One.", "same", "Two.")), `"indexed"`, "")
	same, _ := b.rows.Document("same")
	time.Sleep(time.Microsecond)
	b.again = time.Now()
	expect(t, "done before the kill", b.call(t, indexing.Core, batch("new", "Three.")), `"indexed"`, "")
	expect(t, "a batch", b.call(t, indexing.Core, batch("new", "Three.", "same", "Two.", "late", "Four.")),
		`{"documents":[{"document_id":"new","status":"indexed"},{"document_id":"same","status":"unchanged"},{"document_id":"late","status":"indexed"}],"retryable":false}`, "")
	for range 2 {
		expect(t, "a batch anew", b.call(t, indexing.Core, anew(batch("old", "Uno.", "new", "Three.", "last", "Five."))),
			`{"documents":[{"document_id":"old","status":"replaced"},{"document_id":"new","status":"indexed"},{"document_id":"last","status":"indexed"}],"retryable":false}`, "")
	}
	if now, _ := b.rows.Document("same"); now.No != same.No {
		t.Error("a document that stood there was written again")
	}
	nameless := `{"sections":[{"text":"Six."}]}`
	b.again = time.Time{}
	first := b.call(t, indexing.Structured, nameless)
	b.again = time.Now().Add(-time.Minute)
	expect(t, "a document without an id", b.call(t, indexing.Structured, nameless), string(first.Output), "")
}

// TestFull proves that documents that the store can't take are failures that may be sent again, and that errors of the service are
// told without a text, which the log has.
func TestFull(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rows.err = fault.Unavailable("storage_unavailable", "the disk is full")
	expect(t, "full", b.call(t, indexing.Core, batch("a", "One.")), `{"documents":[{"document_id":"a","status":"failed","error":"the disk is full"}],"retryable":true}`, tool.ExecutionError)
	expect(t, "full, structured", b.call(t, indexing.Structured, `{"document_id":"a","sections":[{"text":"One."}]}`), `{"error":"the disk is full"}`, tool.ExecutionError)
	b.secrets = map[string]string{"token": "hunter2hunter2"}
	b.rows.err = fmt.Errorf("table hunter2hunter2 is gone")
	expect(t, "broken", b.call(t, indexing.Core, batch("a", "One.")), "its log has the reason", tool.ExecutionError)
	if log := b.log.String(); !strings.Contains(log, "table **** is gone") || strings.Contains(log, "hunter2hunter2") {
		t.Error(log)
	}
	b.rows.err = nil
	expect(t, "room", b.call(t, indexing.Core, batch("a", "One.")), `"indexed"`, "")
	b.rows.Corpus.Enabled = false
	expect(t, "disabled", b.call(t, indexing.Core, batch("b", "One.")), `{"error":"FAILED_PRECONDITION: corpus shop is disabled; enable it to index documents"}`, tool.InvalidConfiguration)
}

// TestTime proves that a batch whose time is up tells what was done until then, and that the rest can be sent again; and that a
// deletion goes on after its call.
func TestTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rows.late = "b"
	expect(t, "a slow store", b.call(t, indexing.Core, batch("a", "One.", "b", "Two.")), `{"documents":[{"document_id":"a","status":"indexed"},
		{"document_id":"b","status":"failed","error":"the time of the call was up before; call again with the same arguments"}],"retryable":true}`, tool.Timeout)
	b.rows.late = ""
	expect(t, "again", b.call(t, indexing.Core, batch("a", "One.", "b", "Two.")), `"status":"indexed"`, "")
	held := make(chan struct{})
	b.rows.held = held
	b.limit = 1
	expect(t, "a slow deletion", b.call(t, indexing.Delete, `{"document_ids":["a"]}`), "", tool.Timeout)
	close(held)
	b.again = time.Now()
	expect(t, "the deletion again", b.call(t, indexing.Delete, `{"document_ids":["a"]}`), `{"deleted":1,"skipped":[],"failed":[]}`, "")
}

// TestMost proves that more than 10,000 documents are not deleted in one call.
func TestMost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 10_001 {
		d := &document.Document{ID: fmt.Sprint(i), Metadata: json.RawMessage(fmt.Sprintf(`{"year":%d}`, i))}
		if _, err := b.rows.Insert(t.Context(), b.rows.Corpus.No, b.rows.Corpus.Epoch, d); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, "all", b.call(t, indexing.Delete, `{"metadata_filter":"doc.year >= 0"}`), "selects more than 10,000 documents, which is the most at once; nothing was deleted", tool.InvalidInput)
	expect(t, "two of them", b.call(t, indexing.Delete, `{"metadata_filter":"doc.year < 2"}`), `{"deleted":2,"skipped":[],"failed":[]}`, "")
	if _, there := b.rows.Document("2"); !there {
		t.Error("a document is gone")
	}
}

// TestSecrets proves that secrets of the session are in no document, whether the model writes them or a file holds them.
func TestSecrets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.secrets = map[string]string{"token": "hunter2hunter2"}
	file := b.file(t, "notes.txt", "text/plain", "It is hunter2hunter2.")
	b.call(t, indexing.Core, strings.Replace(batch("a", "Say hunter2hunter2."), "]}", `,{"document_id":"f","artifact_id":"`+file+`"}]}`, 1))
	b.call(t, indexing.Core, fmt.Sprintf(`{"documents":[{"document":{"id":"a","metadata":{"key":"hunter2hunter2"},"document_parts":[{"text":"Say hunter2hunter2."}]}},{"document_id":"f","artifact_id":%q}]}`, file))
	b.call(t, indexing.Structured, `{"document_id":"s","title":"On hunter2hunter2","sections":[{"text":"Say hunter2hunter2."}]}`)
	for _, one := range []string{"a", "f", "s"} {
		d, there := b.rows.Document(one)
		raw, err := json.Marshal(d)
		if err != nil || !there || strings.Contains(string(raw), "hunter2hunter2") {
			t.Errorf("%s: %s, %v", one, raw, err)
		}
	}
}

// TestStructured proves documents with sections: images of files at any depth, members over those of a file, and what is refused.
func TestStructured(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	image := b.file(t, "plan.png", "image/png", "\x89PNG\r\n\x1a\n\xff")
	notes := b.file(t, "notes.txt", "text/plain", "Notes.")
	large := b.file(t, "large.png", "image/png", strings.Repeat("\xff", 4_000))
	whole := b.file(t, "doc.json", "application/json", `{"type":"structured","id":"in","title":"Old","metadata":{"year":1999,"by":"Ann"},"sections":[{"text":"Inside."}]}`)
	section := func(image string) string {
		return fmt.Sprintf(`{"document_id":"i","sections":[{"title":"S","text":"One.","sections":[{"text":"Two.","images":[{"title":"Plan","artifact_id":%q}]}]}]}`, image)
	}
	for _, c := range []struct {
		name, arguments, want string
		class                 tool.Class
	}{
		{"images", section(image), `{"document_id":"i","status":"indexed"}`, ""},
		{"images again", section(image), `{"document_id":"i","status":"unchanged"}`, ""},
		{"no image", section(notes), "sections[0].sections[0].images[0].artifact_id: " + notes + " is no image but text/plain", tool.InvalidInput},
		{"no file", section("art_x"), "sections[0].sections[0].images[0].artifact_id: artifact art_x does not exist", tool.NotFound},
		{"a large image", section(large), "max_json", tool.InvalidInput},
		{"a file", fmt.Sprintf(`{"artifact_id":%q,"title":"New","metadata":{"year":2001}}`, whole), `{"document_id":"in","status":"indexed"}`, ""},
		{"a file under another id", fmt.Sprintf(`{"artifact_id":%q,"document_id":"out"}`, whole), `{"document_id":"out","status":"indexed"}`, ""},
		{"no structured document", fmt.Sprintf(`{"artifact_id":%q}`, notes), "is no structured document as JSON", tool.InvalidInput},
		{"nothing", `{"title":"T"}`, "give sections", tool.InvalidInput},
		{"a bad section", `{"document_id":"x","sections":[{"id":1}]}`, "sections[0].text: must not be empty", tool.InvalidInput},
		{"a bad cut", `{"document_id":"x","sections":[{"text":"One."}],"chunking_strategy":{"type":"max_chars_chunking_strategy","max_chars_per_chunk":9}}`, "chunking_strategy.max_chars_per_chunk", tool.InvalidInput},
		{"an id that can't be", `{"document_id":"..","sections":[{"text":"One."}]}`, "document_id: must not be . or ..", tool.InvalidInput},
		{"other content", `{"document_id":"in","sections":[{"text":"One."}]}`, "Call again with reindex true", tool.ExecutionError},
		{"anew", `{"document_id":"in","reindex":true,"type":"document","title":null,"artifact_id":null,"sections":[{"text":"One."}]}`, `{"document_id":"in","status":"replaced"}`, ""},
	} {
		expect(t, c.name, b.call(t, indexing.Structured, c.arguments), c.want, c.class)
	}
	d, _ := b.rows.Document("i")
	if len(d.Images) != 1 || d.Images[0].ID != image || d.Images[0].MimeType != "image/png" || string(d.Images[0].Data) != "\x89PNG\r\n\x1a\n\xff" {
		t.Errorf("images %+v", d.Images)
	}
	if d, _ = b.rows.Document("out"); d.Title != "Old" || string(d.Metadata) != `{"year":1999,"by":"Ann"}` {
		t.Errorf("%s %s", d.Title, d.Metadata)
	}
}

// TestDelete proves which documents a call deletes, what it tells of the others, what is refused, and that a call which is made again
// after a kill tells of the deletion that it began before.
func TestDelete(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var all []string
	for i := range 10 {
		all = append(all, fmt.Sprintf(`{"document":{"id":"d%d","metadata":{"year":%d},"document_parts":[{"text":"One."}]}}`, i, 2000+i))
	}
	expect(t, "documents", b.call(t, indexing.Core, `{"documents":[`+strings.Join(all, ",")+`]}`), `"retryable":false`, "")
	time.Sleep(time.Millisecond) // behind them, for filters
	for i, c := range []struct {
		name, arguments, want string
		class                 tool.Class
	}{
		{"neither", `{}`, "give document_ids or metadata_filter", tool.InvalidInput},
		{"no ids", `{"document_ids":[],"metadata_filter":"doc.year > 0"}`, "names no document", tool.InvalidInput},
		{"a blank filter", `{"metadata_filter":" "}`, "give document_ids or metadata_filter", tool.InvalidInput},
		{"a bad filter", `{"metadata_filter":"doc.none = 1"}`, "metadata_filter: ", tool.InvalidInput},
		{"too many ids", `{"document_ids":[` + strings.Repeat(`"x",`, 1000) + `"y"]}`, "maxItems", tool.InvalidInput},
		{"no corpus", `{"corpus_key":"none","document_ids":["d1"]}`, `there is no corpus \"none\"`, tool.NotFound},
		{"named", `{"document_ids":["d1","x","d1","d2","x"]}`, `{"deleted":2,"skipped":["x"],"failed":[]}`, ""},
		{"null", `{"document_ids":null,"metadata_filter":null}`, "give document_ids or metadata_filter", tool.InvalidInput},
		{"filtered", `{"document_ids":null,"metadata_filter":"doc.year < 2005"}`, `{"deleted":3,"skipped":[],"failed":[]}`, ""},
		{"both", `{"document_ids":["d5","d6","x"],"metadata_filter":"doc.year = 2006"}`, `{"deleted":1,"skipped":["d5","x"],"failed":[]}`, ""},
		{"none", `{"document_ids":["x"]}`, `{"deleted":0,"skipped":["x"],"failed":[]}`, ""},
	} {
		b.event = id.Event(fmt.Sprint("aev_", i))
		expect(t, c.name, b.call(t, indexing.Delete, c.arguments), c.want, c.class)
		if c.class == "" {
			b.again = time.Now()
			expect(t, c.name+", made again", b.call(t, indexing.Delete, c.arguments), c.want, c.class)
			b.again = time.Time{}
		}
	}
	for i := range 10 {
		if _, there := b.rows.Document(fmt.Sprint("d", i)); there != (i == 5 || i > 6) {
			t.Errorf("document d%d is there: %v", i, there)
		}
	}
}

// TestNeeds proves that a corpus that a configuration names needs the right to change it, and that one of a reference doesn't.
func TestNeeds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for override, want := range map[string][]permit.Need{
		``: nil, `"corpus_key":"shop"`: {{Corpus: "shop", Level: permit.Edit}}, `"corpus_key":{"$ref":"session.metadata.corpus"}`: nil,
	} {
		for name, kind := range b.kit.Types {
			made, err := kind(json.RawMessage(`{"type":"` + name + `","argument_override":{` + override + `}}`))
			if err != nil || !cmp.Equal(made.Needs, want) || made.Repeat != tool.Repeatable || made.Output == nil {
				t.Errorf("%s with %s: %+v, %v", name, override, made, err)
			}
		}
	}
}
