package pages_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quarry/internal/api"
	"quarry/internal/testkit"
)

// entry is what the search knows of a place of the reference.
type entry struct {
	ID      string `json:"id"`
	Planned bool   `json:"planned"`
	Title   string `json:"title"`
	Text    string `json:"text"`

	raw string // its text as it stands
}

// entries reads the places of the reference as the script does.
func entries(t testing.TB) []entry {
	t.Helper()
	root, err := html.Parse(strings.NewReader(get(serve(t), "GET", "/docs").Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	var out []entry
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data != "article" {
			continue
		}
		e := entry{raw: text(n)}
		e.Text = strings.ToLower(e.raw)
		for _, a := range n.Attr {
			switch a.Key {
			case "id":
				e.ID = a.Val
			case "class":
				e.Planned = a.Val == "planned"
			}
		}
		for inner := range n.Descendants() {
			if inner.Data == "header" {
				e.Title = strings.ToLower(text(inner))
			}
		}
		out = append(out, e)
	}
	return out
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// TestReferenceShowsEveryOperation proves that each operation of the contract has a place under its id, with its method,
// path, summary, parameters and statuses, the schemas of its bodies, and a mark exactly where it is planned.
func TestReferenceShowsEveryOperation(t *testing.T) {
	t.Parallel()
	places := map[string]entry{}
	for _, e := range entries(t) {
		places[e.ID] = e
	}
	var schemas map[string]struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(api.Schemas, &schemas); err != nil {
		t.Fatal(err)
	}
	for _, op := range api.Operations {
		e, ok := places[op.ID]
		if !ok {
			t.Errorf("%s is not there", op.ID)
			continue
		}
		wanted := []string{op.ID, op.Method + op.Path, op.Summary}
		switch {
		case op.Public:
			wanted = append(wanted, "No credentials are needed.")
		case op.OpenTo != "":
			wanted = append(wanted, "Needs no role; every ")
		default:
			wanted = append(wanted, "Needs one of the ", " roles ")
		}
		for _, p := range op.Params {
			wanted = append(wanted, p.Name)
		}
		for _, status := range op.Statuses {
			wanted = append(wanted, fmt.Sprint(status))
		}
		for _, name := range []string{op.Body.JSON, op.Body.Form, op.Body.Multipart} {
			for member := range schemas[name].Properties {
				wanted = append(wanted, member)
			}
		}
		for _, want := range wanted {
			if !strings.Contains(e.raw, want) {
				t.Errorf("%s: %q is not in its place", op.ID, want)
			}
		}
		if e.Planned != op.Planned || strings.Contains(e.raw, "answers 501") != op.Planned {
			t.Errorf("%s is planned: %t, and marked: %t", op.ID, op.Planned, e.Planned)
		}
	}
	for place, wanted := range map[string][]string{
		"queryCorpus":                      {"corpus roles viewer", "Members of search", "lexical_interpolation", "1 to 1000; default 10"},
		"createCorpusDocument":             {"core: CoreDocument", `"document_parts": [`, "A document in sections"},
		"createCorpus":                     {"required", `"key": `},
		"schema-StructuredDocument":        {"sections", "list of StructuredDocumentSection"},
		"schema-SearchReranker":            {"mmr", "depends on type"},
		"schema-FilterAttribute":           {"one of document, part"},
		"schema-StructuredDocumentSection": {"list of StructuredDocumentSection"},
	} {
		for _, want := range wanted {
			if !strings.Contains(places[place].raw, want) {
				t.Errorf("%s: %q is not there:\n%s", place, want, places[place].raw)
			}
		}
	}
}

// TestSearch proves what the search of the reference finds first, with the script as it is served and the texts of the page.
func TestSearch(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		testkit.Skip(t, "node, which runs the script, is not on this machine")
	}
	dir := t.TempDir()
	places, err := json.Marshal(entries(t))
	if err != nil {
		t.Fatal(err)
	}
	script := get(serve(t), "GET", "/docs/search.js").Body.String()
	tests := []struct {
		query string
		first []string // the first hits
		some  []string // among the hits
		none  bool
	}{
		{query: "querycorpus", first: []string{"queryCorpus"}},
		{query: "delete corpus", first: []string{"deleteCorpus"}},
		{query: "POST /v2/corpora/{corpus_key}/query", first: []string{"queryCorpus"}},
		{query: "  Upload   FILE ", first: []string{"uploadFile"}},
		{query: "lexical_interpolation", some: []string{"queryCorpus", "schema-KeyedSearchCorpus"}},
		{query: "diversity_bias", some: []string{"schema-MMRReranker"}},
		{query: "no-such-word-anywhere", none: true},
		{query: "", none: true},
		{query: "corpus no-such-word-anywhere", none: true},
		{query: "<script> .* \\", none: true},
	}
	var queries []string
	for _, c := range tests {
		queries = append(queries, c.query)
	}
	asked, err := json.Marshal(queries)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "search.cjs")
	program := script + "\nconst places = " + string(places) + ";\nconsole.log(JSON.stringify(" + string(asked) +
		".map((q) => find(places, q).map((hit) => hit.id))));\n"
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), node, file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %.2000s", err, out)
	}
	var found [][]string
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatalf("%v: %.2000s", err, out)
	}
	for i, c := range tests {
		got := found[i]
		if c.none != (len(got) == 0) || len(got) < len(c.first) || !slices.Equal(got[:len(c.first)], c.first) {
			t.Errorf("%q finds %.10q, want first %q", c.query, got, c.first)
		}
		for _, want := range c.some {
			if !slices.Contains(got, want) {
				t.Errorf("%q finds %q, want %s among them", c.query, got, want)
			}
		}
	}
}
