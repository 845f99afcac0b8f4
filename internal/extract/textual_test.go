package extract_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"quarry/internal/extract"
)

// TestTextual proves that files of the textual kinds are looked for and read as plain text, whatever they begin with,
// and that no ending stands twice.
func TestTextual(t *testing.T) {
	t.Parallel()
	seen := extract.Endings()
	for _, kind := range extract.Textuals() {
		var names []string
		for _, ending := range kind.Endings {
			names = append(names, "a"+ending, "A"+strings.ToUpper(ending))
		}
		for _, name := range kind.Names {
			names = append(names, name, strings.ToUpper(name))
		}
		for _, name := range names {
			if !extract.ReadsName(name) || !extract.ReadsName("x/"+name) {
				t.Errorf("%s is not looked for", name)
			}
			doc, err := extract.Read(extract.Input{Name: name, Data: []byte("<html> %PDF-1.4")})
			if err != nil || doc.Metadata["Content-Type"] != "text/plain" || doc.Sections[0].Text != "<html> %PDF-1.4" {
				t.Errorf("%s is read as %v, %v", name, doc, err)
			} else if got := len(doc.Sections[0].Code) == 1; got != kind.Code {
				t.Errorf("%s is code: %v, want %v", name, got, kind.Code)
			}
		}
		for _, ending := range kind.Endings {
			if slices.Contains(seen, ending) {
				t.Errorf("%s stands twice", ending)
			}
			seen = append(seen, ending)
		}
	}
	for _, name := range []string{"a.mp4", "a.json", "a", "readme.exe", ".csv/x", "csv", "a.csv.gz"} {
		if extract.ReadsName(name) {
			t.Errorf("%s is looked for", name)
		}
	}
}

// TestSourceCode proves that source code is one section with its lines as they are, and that its pieces begin at the margin, whichever way the file is
// known to be code.
func TestSourceCode(t *testing.T) {
	t.Parallel()
	function := "// It runs. Then it stops.\nfunc run() {\n\tcall(1)\n\n\tcall(2)\n}\n" + strings.Repeat("// more\n", 80)
	source := "package a\n\nimport \"b\"\n\n" + function + "\n" + function + "\nvar x = 1\n"
	for _, in := range []extract.Input{
		{Name: "a.go"}, {Name: "a.go", ContentType: "text/plain"}, {Name: "a", ContentType: "text/x-go; charset=utf-8"}, {Name: "Makefile"}, {Name: "a.yaml"},
	} {
		in.Data = []byte(strings.ReplaceAll(source, "\n", "\r\n"))
		doc, err := extract.Read(in)
		if err != nil {
			t.Errorf("%s %s: %v", in.Name, in.ContentType, err)
			continue
		}
		s := doc.Sections[0]
		var got []string
		for _, c := range s.Code {
			got = append(got, s.Text[c.Start:c.End])
		}
		if want := []string{"package a\n\nimport \"b\"\n\n" + function + "\n", function + "\n", "var x = 1"}; !slices.Equal(got, want) || s.Title != "" || len(doc.Sections) != 1 {
			t.Errorf("%s %s has the pieces %q, want %q", in.Name, in.ContentType, got, want)
		}
	}
}

// TestTextualInDocs proves that the guide lists the textual kinds with their endings, all and in order.
func TestTextualInDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/guide/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(string(page)), " ")
	for _, kind := range extract.Textuals() {
		row := "| " + kind.Name + " | `" + strings.Join(append(slices.Clone(kind.Endings), kind.Names...), " ") + "` |"
		if !strings.Contains(flat, row) {
			t.Errorf("docs/guide/formats.md does not have the row\n%s", row)
		}
	}
}
