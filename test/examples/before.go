package examples

// Before is testdata/before.yaml: what examples need that they don't show.
type Before struct {
	// Provider is the address that examples show as that of a provider of language models.
	Provider string `yaml:"provider"`
	// Free are members of answers whose value differs from service to service.
	Free []string `yaml:"free"`
	// Examples has, by example, the examples that are sent before it.
	Examples map[string][]string `yaml:"examples"`
}
