package table_test

import (
	"encoding/json"
	"testing"

	"quarry/internal/corpus/table"
)

// TestBeginning proves that rows go from the end, at least one each time, until none is left.
func TestBeginning(t *testing.T) {
	t.Parallel()
	const whole = `{"headers":[[{"text_value":"n"}]],"rows":[[{"int_value":1}],[{"int_value":2}],[{"int_value":3}],[{"int_value":4}]]}`
	for _, c := range []struct {
		data  string
		share float64
		want  string // "" for none
	}{
		{whole, 0.5, `{"headers":[[{"text_value":"n"}]],"rows":[[{"int_value":1}],[{"int_value":2}]]}`},
		{whole, 2, `{"headers":[[{"text_value":"n"}]],"rows":[[{"int_value":1}],[{"int_value":2}],[{"int_value":3}]]}`},
		{whole, -1, `{"headers":[[{"text_value":"n"}]],"rows":[]}`},
		{`{"rows":[[{"int_value":1}]]}`, 0.99, `{"rows":[]}`},
		{`{"headers":[[{"text_value":"n"}]],"rows":[]}`, 0.5, ""},
		{``, 0.5, ""},
		{`"no table"`, 0.5, ""},
	} {
		got, ok := table.Beginning(json.RawMessage(c.data), c.share)
		if ok != (c.want != "") || ok && string(got) != c.want {
			t.Errorf("%s, %g: %s, %v", c.data, c.share, got, ok)
		}
	}
}
