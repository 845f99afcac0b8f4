package corpus

import "quarry/internal/expr/filter"

// Schema returns the attributes of the corpus as a schema of the filter language.
func (c *Corpus) Schema() (*filter.Schema, error) {
	declared := make([]filter.Attribute, len(c.Attributes))
	for i, a := range c.Attributes {
		t, _ := filter.ParseType(a.Type) // checked on create
		level := filter.Document
		if a.Level == "part" {
			level = filter.Part
		}
		declared[i] = filter.Attribute{Level: level, Name: a.Name, Type: t}
	}
	return filter.NewSchema(declared)
}
