package file_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/tool"
	"quarry/internal/fault"
)

// picture is a PNG of 3 × 2 pixels.
func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Proves that image_read confirms an image, known by its bytes and not by its name, and has the model see it; and what it refuses, each with
// its reason, without showing anything.
func TestImage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.images = true
	const configuration = `{"type":"image_read"}`
	whole := picture(t)
	for arguments, detail := range map[string]string{`{"artifact_id":"ID"}`: "auto", `{"artifact_id":"ID","detail":"high"}`: "high"} {
		out, work := b.call(t, configuration, string(whole), arguments)
		got := members(t, out)
		if out.Failed || got["filename"] != "notes.txt" || got["mime_type"] != "image/png" || got["width"] != 3.0 || got["height"] != 2.0 || got["detail"] != detail {
			t.Errorf("%s", out.Output)
		}
		if shown := work.Shown(); len(shown) != 1 || shown[0] != (artifact.Shown{ID: got["artifact_id"].(string), Detail: detail}) {
			t.Errorf("shown: %+v", shown)
		}
	}
	bomb := picture(t)
	binary.BigEndian.PutUint32(bomb[16:], 100_000)
	binary.BigEndian.PutUint32(bomb[20:], 100_000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	refused := func(content, arguments, want string) {
		t.Helper()
		out, work := b.call(t, configuration, content, arguments)
		if !out.Failed || !strings.Contains(string(out.Output), want) || len(work.Shown()) > 0 {
			t.Errorf("%s, want %q; shown: %v", out.Output, want, work.Shown())
		}
	}
	const id = `{"artifact_id":"ID"}`
	refused(string(whole), `{"artifact_id":"art_none"}`, "art_none")
	refused(string(whole), `{"artifact_id":"ID","detail":"close"}`, "detail")
	refused("GIF, not really", id, "is no PNG, JPEG, GIF or WebP image")
	refused(string(bomb), id, "100000 × 100000 pixels, more than the 50 million")
	refused(string(whole[:40]), id, "damaged image (image/png)")
	refused(strings.Repeat("x", 2<<20+1), id, "more than the 2 MiB")
	b.images = false
	refused(string(whole), id, "image_support")
}

// Proves what artifact_jq returns: one result, several, none, those that fit; of JSON Lines, too; with numbers as they were written.
func TestQuery(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const orders = `{"orders":[{"id":12345678901234567890,"total":1.50},{"id":2,"total":300}]}`
	for _, c := range []struct{ content, expression, want string }{
		{orders, `.orders | length`, `"result":2,"result_count":1}`},
		{orders, `.orders[].id`, `"result":[12345678901234567890,2],"result_count":2}`},
		{orders, `[.orders[].total]`, `"result":[1.50,300],"result_count":1}`},
		{orders, `.orders[] | select(.total > 1000)`, `"result":[],"result_count":0}`},
		{orders, `.none`, `"result":null,"result_count":1}`},
		{"\xEF\xBB\xBF{\"a\":1}\n{\"a\":2}\n\n", `map(.a) | add`, `"result":3,`},
		{`"a<b"`, `.`, `"result":"a<b",`},
		{"[]", `range(3000000)`, `"truncated":true`},
		{"[]", `[range(10)] | map("x" * 100000)[]`, `"result_count":10}`},
	} {
		raw, _ := json.Marshal(c.expression)
		out, _ := b.call(t, `{"type":"artifact_jq"}`, c.content, `{"artifact_id":"ID","expression":`+string(raw)+`}`)
		if out.Failed || !strings.Contains(string(out.Output), c.want) {
			t.Errorf("%s: %.300s, want %s", c.expression, out.Output, c.want)
		}
	}
}

// Proves what artifact_jq refuses, in a call and in a configuration.
func TestQueryRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct{ content, expression, want string }{
		{`{}`, `.a |`, "expression is no jq program"},
		{`{}`, strings.Repeat(" ", 4097), "expression"},
		{`{}`, `input`, "is no jq program"},
		{`{}`, `error("broken")`, "expression can't be run: error: broken"},
		{`{}`, `error("y" * 100000)`, "…"},
		{`{}`, `"x" * 2000000`, "more than 1024 KiB"},
		{`{"a":`, `.`, "is no JSON"},
		{``, `.`, "is empty"},
		{`{"a":1} nonsense`, `.`, "is no JSON"},
		{"\x89PNG", `.`, "is no JSON"},
		{"[" + strings.Repeat("[],", 500_000) + "[]]", `.`, "more than 64 MiB of memory"},
		{strings.Repeat("[", 200_000), `.`, "is no JSON"},
		{`{"a":` + strings.Repeat("9", 10_001) + `}`, `.a + 1`, "a number of 10001 digits"},
	} {
		raw, _ := json.Marshal(c.expression)
		out, _ := b.call(t, `{"type":"artifact_jq"}`, c.content, `{"artifact_id":"ID","expression":`+string(raw)+`}`)
		if !out.Failed || !strings.Contains(string(out.Output), c.want) || len(out.Output) > 5000 {
			t.Errorf("%.40s: %.300s, want %s", c.expression, out.Output, c.want)
		}
	}
	for configuration, field := range map[string]string{
		`{"type":"artifact_jq","argument_override":{"expression":".a |"}}`: "argument_override.expression",
		`{"type":"artifact_jq","argument_override":{"program":"."}}`:       "argument_override.program",
		`{"type":"artifact_jq","tool_configuration":{"x":1}}`:              "tool_configuration",
	} {
		_, err := compile(configuration)
		if f, ok := fault.As(err); !ok || f.Fields["tool_configurations.t."+field] == "" {
			t.Errorf("%s: %v", configuration, err)
		}
	}
	if _, err := compile(`{"type":"artifact_jq","argument_override":{"expression":{"$ref":"session.metadata.q"}}}`); err != nil {
		t.Error(err)
	}
}

// content returns the bytes of the file that a conversion has made.
func content(t *testing.T, work *artifact.Workspace, out tool.Output) (artifact.Artifact, string) {
	t.Helper()
	if out.Failed {
		t.Fatalf("%s", out.Output)
	}
	a, data, err := work.Open(t.Context(), members(t, out)["artifact_id"].(string))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = data.Close() }()
	all, err := io.ReadAll(data)
	if err != nil {
		t.Fatal(err)
	}
	return a, string(all)
}

// Proves that document_conversion writes what uploads read, in both formats, with what it was made of in the metadata, and what a file without
// an ending and one of a type that only its name tells become.
func TestConversion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const page = "<title>Mill</title><h1>Stones</h1><p>Dress them.<h2>Belts</h2><table><tr><th>Belt<th>mm<tr><td>a<td>3</table>"
	for _, c := range []struct{ name, mime, content, arguments, file, format, original, want string }{
		{"mill.page.html", "text/html", page, `{"artifact_id":"ID"}`, "mill.page.md", "markdown", "html",
			"# Mill\n\n## Stones\n\nDress them.\n\n### Belts\n\n| Belt | mm |\n| --- | --- |\n| a | 3 |\n"},
		{"mill.html", "text/html", page, `{"artifact_id":"ID","output_format":"structured_document","description":"For the corpus"}`, "mill.json", "structured_document", "html",
			`"id": "mill.html",`},
		{"upload", "text/html", page, `{"artifact_id":"ID","output_format":"markdown"}`, "upload.md", "markdown", "html", "## Stones"},
		{"Zahlen.csv", "text/csv", "a,b\n# c\n", `{"artifact_id":"ID"}`, "Zahlen.md", "markdown", "csv", "| a | b |\n| --- | --- |\n| # c |  |\n"},
		{"notes", "application/octet-stream", "Just text.", `{"artifact_id":"ID"}`, "notes.md", "markdown", "txt", "Just text.\n"},
	} {
		b.name, b.mime = c.name, c.mime
		out, work := b.call(t, `{"type":"document_conversion"}`, c.content, c.arguments)
		a, text := content(t, work, out)
		got := members(t, out)
		if a.Filename != c.file || got["filename"] != c.file || !strings.Contains(text, c.want) {
			t.Errorf("%s: %s\n%s", c.name, out.Output, text)
		}
		want := map[string]any{"output_format": c.format, "original_format": c.original, "original_artifact_id": got["original_artifact_id"]}
		var kept map[string]any
		if err := json.Unmarshal(a.Metadata, &kept); err != nil || cmp.Diff(want, kept) != "" || got["original_format"] != c.original || got["output_format"] != c.format {
			t.Errorf("%s: the metadata is %s, the output %s; want %v", c.name, a.Metadata, out.Output, want)
		}
	}
}

// Proves that secrets are masked in what is written.
func TestConversionMasks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.name, b.mime, b.secrets = "a.txt", "text/plain", map[string]string{"k": "geheimnis"}
	for _, format := range []string{"markdown", "structured_document"} {
		out, work := b.call(t, `{"type":"document_conversion"}`, "the key is geheimnis", `{"artifact_id":"ID","output_format":"`+format+`"}`)
		if _, text := content(t, work, out); strings.Contains(text, "geheimnis") || !strings.Contains(text, "the key is ****") {
			t.Error(text)
		}
	}
}

// Proves what can't be converted, with the reason.
func TestConversionRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct{ name, mime, content, want string }{
		{"a.mp4", "video/mp4", "\x00\x00ftyp", "can't be converted: it is video/mp4, and files that can be read are plain text, Markdown"},
		{"a.png", "image/png", "\x89PNG", "could not be parsed"},
		{"a.pdf", "application/pdf", "%PDF-1.7", "could not be parsed"},
		{"a.docx", "", "PK\x03\x04", "could not be parsed"},
		{"a.txt", "text/plain", "\x00\x01", "could not be parsed"},
		{"a.txt", "text/plain", "", "must not be empty"},
		{"a.txt", "text/plain", " \n ", "holds no text"},
		{"a.json", "application/json", "{}", "it is application/json"},
		{"a.txt", "text/plain", strings.Repeat("x", 10<<20+1), "the setting max_upload"},
	} {
		b.name, b.mime = c.name, c.mime
		out, work := b.call(t, `{"type":"document_conversion"}`, c.content, `{"artifact_id":"ID"}`)
		if !out.Failed || !strings.Contains(string(out.Output), c.want) || len(work.Take()) != 1 {
			t.Errorf("%s: %s, want %q", c.name, out.Output, c.want)
		}
	}
}
