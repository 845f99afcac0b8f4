package schema_test

import (
	"encoding/json"
	"testing"

	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/tool/schema"
)

// TestBounds proves that what is outside a bound is told with the bound, written as people write it, however large.
func TestBounds(t *testing.T) {
	t.Parallel()
	s, err := schema.New(json.RawMessage(`{"properties":{"n":{"minimum":0.25,"maximum":10485760}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[float64]string{0: "n: must be at least 0.25", 10485761: "n: must be at most 10485760"} {
		if err := s.Check(map[string]any{"n": value}); err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %s", value, err, want)
		}
	}
}

// TestFind proves which paths can be arguments of a schema: closed and open objects, lists, and members of several types.
func TestFind(t *testing.T) {
	t.Parallel()
	s, err := schema.New(json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
		"name":{"type":"string"}, "id":{"type":["string","null"]}, "open":{"type":["object","null"]}, "any":{},
		"list":{"type":["array","null"],"items":{"type":"object","additionalProperties":false,"properties":{"n":{"type":"integer"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"name": true, "name.x": false, "name[0]": false, "id": true, "id.x": false, "id[0]": false, "open.x": true, "open[0]": false,
		"any.x": true, "any[0]": true, "list": true, "list[2].n": true, "list[2].m": false, "list.n": false, "none": false,
	} {
		steps, err := reference.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Find(steps); (err == nil) != want {
			t.Errorf("%s: %v, want it to be there: %v", path, err, want)
		}
	}
}
