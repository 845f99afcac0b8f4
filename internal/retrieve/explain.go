package retrieve

// Absent says which step kept a document out of the results.
type Absent struct {
	DocumentID string
	Stage      string // one of the Stage constants
	Detail     string // a sentence for people
}
