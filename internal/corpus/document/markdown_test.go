package document_test

import (
	"encoding/json"
	"testing"

	"quarry/internal/corpus/document"
)

// A table prints as Markdown with its spans filled in, and nothing in a cell breaks the table.
func TestTableMarkdown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ data, want string }{
		{``, ""},
		{`{}`, ""},
		{`"no table"`, ""},
		{`{"headers":[[{"text_value":"Year"},{"text_value":"Sales"}]],"rows":[[{"int_value":2023},{"float_value":1.5}],[{"int_value":2024},{"text_value":"a|b\nc"}]]}`,
			"| Year | Sales |\n| --- | --- |\n| 2023 | 1.5 |\n| 2024 | a\\|b c |"},
		{`{"rows":[[{"text_value":"x","rowspan":2},{"bool_value":true}],[{"text_value":"y","colspan":2}]]}`,
			"|  |  |  |\n| --- | --- | --- |\n| x | true |  |\n| x | y | y |"},
		{`{"headers":[[{"text_value":"A"}]]}`, "| A |\n| --- |"},
	} {
		table := document.Table{Data: json.RawMessage(c.data)}
		if got := table.Markdown(); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.data, got, c.want)
		}
	}
}
