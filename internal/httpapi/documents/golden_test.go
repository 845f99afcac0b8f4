package documents

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/ingest"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
)

var update = flag.Bool("update", false, "write what the code gives as the wanted files")

func TestGolden(t *testing.T) {
	// Proves, for whole documents, what a read shows of what a create sent: every part with its metadata, heading, gap and language.
	t.Parallel()
	inputs, err := filepath.Glob("testdata/*.json")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("%d inputs, %v", len(inputs), err)
	}
	c := corpus.Corpus{Key: "manuals", Dimensions: []corpus.Dimension{{Name: "fresh", IndexingDefault: 0.25}, {Name: "trust"}}}
	for _, input := range inputs {
		t.Run(filepath.Base(input), func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile(input)
			if err != nil {
				t.Fatal(err)
			}
			draft, err := decodeDraft(body)
			if err != nil {
				t.Fatal(err)
			}
			d, err := draft.Build(c)
			if err != nil {
				t.Fatal(err)
			}
			type shown struct {
				Lang    string          `json:"lang"`
				Heading string          `json:"heading"`
				Gap     string          `json:"gap"`
				IsTitle bool            `json:"is_title,omitempty"`
				Part    json.RawMessage `json:"part"`
			}
			var parts []shown
			for i, p := range whole(&c, d).Parts {
				in := d.Parts[i]
				parts = append(parts, shown{in.Lang, in.Heading, in.Gap, in.IsTitle, raw(t, p)})
			}
			got := lines(t, created(&ingest.Added{Document: d}), parts)
			golden := strings.TrimSuffix(input, ".json") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

// raw is the JSON of v as a response has it.
func raw(t *testing.T, v any) json.RawMessage {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// lines is one line of JSON per value.
func lines[T any](t *testing.T, head documentOut, all []T) string {
	t.Helper()
	out := []string{string(raw(t, head))}
	for _, v := range all {
		out = append(out, string(raw(t, v)))
	}
	return strings.Join(out, "\n") + "\n"
}

func FuzzDraft(f *testing.F) {
	// Proves that no body makes the part rules panic, and that parts are numbered without gaps and hold JSON objects.
	inputs, err := filepath.Glob("testdata/*.json")
	if err != nil || len(inputs) == 0 {
		f.Fatalf("%d inputs, %v", len(inputs), err)
	}
	for _, input := range inputs {
		body, err := os.ReadFile(input)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	c := corpus.Corpus{Attributes: []corpus.Attribute{{Name: "kind", Level: "part", Type: "text"}, {Name: "rev", Level: "document", Type: "real"}}}
	f.Fuzz(func(t *testing.T, body []byte) {
		if httpapi.CheckJSON(body, "body") != nil {
			return
		}
		draft, err := decodeDraft(body)
		if err != nil {
			return
		}
		d, err := draft.Build(c)
		if err != nil {
			if _, ok := fault.As(err); !ok {
				t.Fatalf("a bad document is not an expected outcome: %v", err)
			}
			return
		}
		if len(d.Parts) == 0 {
			t.Fatal("a document without parts")
		}
		for i, p := range d.Parts {
			var m map[string]any
			if err := json.Unmarshal(p.Metadata, &m); err != nil || p.Ord != i || m == nil {
				t.Fatalf("part %d has place %d and metadata %s: %v", i, p.Ord, p.Metadata, err)
			}
		}
	})
}
