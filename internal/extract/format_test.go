package extract_test

import (
	"os"
	"strings"
	"testing"

	"quarry/internal/extract"
)

// TestFormatsInDocs proves that the documentation names the formats of the table, all and in its order.
func TestFormatsInDocs(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"README.md", "docs/guide/documents.md"} {
		raw, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		if list := strings.Join(extract.Formats(), ", "); !strings.Contains(strings.Join(strings.Fields(string(raw)), " "), list) {
			t.Errorf("%s does not have the list %q", page, list)
		}
	}
}

// TestFormatTable proves that the guide has a row for each format, with all of its endings.
func TestFormatTable(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/guide/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range extract.Formats() {
		if row := "| " + name + " | `" + strings.Join(extract.AllEndings(i), " ") + "`"; !strings.Contains(string(raw), "\n"+row) {
			t.Errorf("docs/guide/formats.md does not have the row\n%s", row)
		}
	}
}
