package attribute

import "quarry/internal/expr/filter"

// Pick is what a pass reads of metadata.
func Pick(schema *filter.Schema, l filter.Level, raw []byte) (map[string]any, error) {
	return newPicker(schema, l).pick(raw)
}
