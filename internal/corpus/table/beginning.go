package table

import "encoding/json"

// Beginning returns cells with about this share of their rows, the first ones, fewer than before. It returns false where no row is left
// to leave out.
func Beginning(raw json.RawMessage, share float64) (json.RawMessage, bool) {
	var data struct {
		Headers json.RawMessage   `json:"headers,omitempty"`
		Rows    []json.RawMessage `json:"rows"`
	}
	if json.Unmarshal(raw, &data) != nil || len(data.Rows) == 0 {
		return raw, false
	}
	n := int(float64(len(data.Rows)) * max(share, 0))
	data.Rows = data.Rows[:min(n, len(data.Rows)-1)]
	out, err := json.Marshal(data)
	return out, err == nil
}
