package httpapi

import (
	"slices"
	"testing"

	"quarry/internal/api"
)

// TestRecordings proves that each operation recorded in a way of its own exists and is no reading one.
func TestRecordings(t *testing.T) {
	t.Parallel()
	for id := range recordings {
		if op := api.OperationByID(id); op == nil || op.Method == "GET" {
			t.Errorf("%s is no operation that could change something", id)
		}
	}
	public := []string{}
	for _, op := range api.Operations {
		if op.Public && op.Method != "GET" && recordings[op.ID] != signing && recordings[op.ID] != failing {
			public = append(public, op.ID)
		}
	}
	if !slices.Equal(public, []string{}) {
		t.Errorf("anyone may fill the audit by %v", public)
	}
}
