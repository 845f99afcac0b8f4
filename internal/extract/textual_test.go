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
