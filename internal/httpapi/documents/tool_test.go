package documents_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/fault"
	"quarry/internal/httpapi/documents"
)

func TestReader(t *testing.T) {
	// Proves that tools read documents by the rules of the operation, and that faults name places within the document.
	t.Parallel()
	for _, c := range []struct{ name, raw, want string }{
		{"core", `{"type":"core","id":"a","metadata":{"n":1.50},"document_parts":[{"text":"One."}]}`, ""},
		{"structured", `{"type":"structured","id":"a","sections":[{"text":"One."}]}`, ""},
		{"no type", `{"id":"a","document_parts":[{"text":"One."}]}`, "type"},
		{"no parts", `{"type":"core","id":"a","document_parts":[]}`, "document_parts"},
		{"no text", `{"type":"core","id":"a","document_parts":[{"text":"One."},{}]}`, "document_parts[1].text"},
		{"not an integer", `{"type":"structured","id":"a","sections":[{"id":1.5,"text":"One."}]}`, "sections[0].id"},
		{"metadata", `{"type":"core","id":"a","metadata":7,"document_parts":[{"text":"One."}]}`, "metadata"},
		{"twice", `{"type":"core","id":"a","id":"b","document_parts":[{"text":"One."}]}`, "id"},
		{"no base64", `{"type":"core","id":"a","images":[{"id":"i","image_data":{"data":"!","mime_type":"image/png"}}],"document_parts":[{"text":"One."}]}`, "images[0].image_data.data"},
		{"no object", `[]`, ""},
	} {
		d, err := documents.Reader{}.Read(json.RawMessage(c.raw))
		f, _ := fault.As(err)
		switch {
		case c.want == "" && !strings.HasPrefix(c.raw, "["):
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			doc, err := d.Build(corpus.Corpus{})
			if err != nil || doc.ID != "a" || c.name == "core" && string(doc.Metadata) != `{"n":1.50}` {
				t.Errorf("%s: %+v, %v", c.name, doc, err)
			}
		case f == nil || !slices.Contains(slices.Collect(maps.Keys(f.Fields)), c.want):
			t.Errorf("%s: %v, want a fault of %q", c.name, err, c.want)
		}
	}
}
