package table_test

import (
	"encoding/json"
	"testing"

	"quarry/internal/corpus/table"
)

// TestMarkdown proves that spans are filled in and that nothing in a cell breaks the table.
func TestMarkdown(t *testing.T) {
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
		if got := table.Markdown(json.RawMessage(c.data)); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.data, got, c.want)
		}
	}
}
