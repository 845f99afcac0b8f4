package index

import (
	"testing"

	"quarry/internal/cli/command"
)

// TestReason proves that a refusal is told in words of the command line: no path of a request, no word of the protocol.
func TestReason(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]command.Refused{
		"the file must not be empty": {
			Status: 400, Messages: []string{"INVALID_ARGUMENT: body.file must not be empty"}, Fields: map[string]string{"body.file": "must not be empty"},
		},
		"the PDF is damaged":                    {Status: 400, Messages: []string{"INVALID_ARGUMENT: the PDF is damaged"}, Fields: map[string]string{"body.file": "the PDF is damaged"}},
		"custom_dimensions.trust: is not known": {Status: 400, Fields: map[string]string{"body.file.custom_dimensions.trust": "is not known"}},
		"the service answers 502 Bad Gateway":   {Status: 502},
	} {
		if got := reason(&r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestMisused proves that a refusal of what a flag asks for is told apart from that of a file, and names the flag.
func TestMisused(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"body.chunking_strategy.max_chars_per_chunk":              "--chars must be at least 100",
		"body.table_extraction_config.generation.llm_name":        "--tables-llm: must be at least 100",
		"body.table_extraction_config.generation.prompt_template": "--tables-template: must be at least 100",
		"body.file": "",
	} {
		if got := misused(&command.Refused{Status: 400, Fields: map[string]string{field: "must be at least 100"}}); got != want {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
}

// TestSettings proves which flags about tables have a file sent again, and that those of earlier versions are remembered as they were.
func TestSettings(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i, f := range []tableFlags{{}, {Tables: true}, {DescribeTables: true}, {TablesLLM: "a"}, {TablesTemplate: "a"}, {TablesLLM: "a", TablesTemplate: "a"}} {
		x, err := f.extraction()
		if err != nil {
			t.Fatal(err)
		}
		got := (&Cmd{Chars: 900}).settings(x)
		if want := []string{"chars=900", "chars=900 tables"}; seen[got] || i < len(want) && got != want[i] {
			t.Errorf("%+v: %q", f, got)
		}
		seen[got] = true
	}
	one, _ := (&tableFlags{Tables: true, DescribeTables: true, TablesLLM: "a"}).extraction() // without a file there is no error
	other, _ := (&tableFlags{TablesLLM: "a"}).extraction()
	if one.settings() != other.settings() {
		t.Error("flags that ask for the same have a file sent again")
	}
}
