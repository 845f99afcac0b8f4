package llm

import "context"

// Offer is a model that an address says it serves.
type Offer struct {
	Model        string
	Capabilities Capabilities // as far as the address tells
}

// Catalog is what an address says it serves.
type Catalog struct {
	URI    string // what a registration of these models takes as its uri
	Offers []Offer
}

// Prober asks addresses which models they serve. Package provider implements it.
type Prober interface {
	// Catalog asks the address c.URI for its models in the way of the wire format c.Type; c.Model is empty. c.URI may be
	// the root of a provider, the base of its interface or one of its endpoints. An address that does not speak the wire
	// format, or whose answer is no list of models, is an *Error: Broken, or Rejected with the status.
	Catalog(ctx context.Context, c Connection) (Catalog, error)
}
