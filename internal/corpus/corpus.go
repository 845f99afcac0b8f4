// Package corpus manages the containers of documents: their settings, their filter attributes, their creation and
// deletion. Documents are in package document, search in packages replica and retrieve.
package corpus

import (
	"context"
	"regexp"
	"strconv"
	"time"

	"quarry/internal/id"
)

// Corpus is one container. Key is the client's name for it; No is the store's row number, never shown; Epoch is a
// random number of this generation of the corpus, so that an index is never used for another corpus or for the state
// before a reset or a restored backup.
type Corpus struct {
	No          int64
	Epoch       int64
	Seq         int64 // number of the last committed change; see document.Change
	ID          id.Corpus
	Key         string
	Name        string
	Description *string // nil when never given; "" is a value
	Enabled     bool    // false: indexing is refused, queries are answered
	SaveHistory bool

	QueriesAreAnswers     bool
	DocumentsAreQuestions bool
	EncoderName           string // the name that the client used, or that of the default
	EncoderFingerprint    string // embed.Encoder.Fingerprint of the vectors stored
	Attributes            []Attribute
	SchemaVersion         int64 // of Attributes; changes whenever they are replaced, so that an index knows which it was built for
	Dimensions            []Dimension
	IndexBuild            int64 // raised to have the index made anew: whoever has one of a lower number builds another beside it
	Usage                 Usage
	Created               time.Time
}

// Lane returns the lane of jobs that change a corpus; jobs of one lane run one after another.
func Lane(corpusNo int64) string { return "corpus:" + strconv.FormatInt(corpusNo, 10) }

// Attribute is a declared filter attribute. Type keeps the client's spelling; filter.ParseType reads it.
type Attribute struct {
	Name        string
	Level       string // "document" or "part"
	Type        string
	Description string
	Indexed     bool
}

// Dimension is a custom dimension: a number per part and per query whose products add to the score.
type Dimension struct {
	Name            string
	Description     string
	IndexingDefault float64
	QueryingDefault float64
}

// Usage counts what a corpus holds. Characters are Unicode code points of texts and of compact metadata JSON.
type Usage struct {
	Documents          int64
	Parts              int64
	Characters         int64
	MetadataCharacters int64
}

// List selects the corpora to list, newest first.
type List struct {
	Limit int
	After *Position      // the last one shown, nil for the first page
	IDs   []id.Corpus    // only these, when not empty
	Match *regexp.Regexp // searched in name and description, when not nil
	Since int64          // only those that have a change of this number or a later one, when not 0
}

// Position is the place of a corpus in the order of List: creation time in microseconds, then row number.
type Position struct{ Created, No int64 }

// Reader finds corpora by their keys.
type Reader interface {
	// Get returns the corpora with these keys in the order asked, in one statement; fault.KindNotFound with the first
	// missing key as its ID.
	Get(ctx context.Context, keys ...string) ([]Corpus, error)
}

// Find returns the corpus with a key.
func Find(ctx context.Context, all Reader, key string) (Corpus, error) {
	found, err := all.Get(ctx, key)
	if err != nil {
		return Corpus{}, err
	}
	return found[0], nil
}

// Store keeps corpora.
type Store interface {
	Reader
	Settings
	// Create writes c (No is set by the store); fault.KindConflict "corpus_exists" when the key is taken.
	Create(ctx context.Context, c Corpus) (Corpus, error)
	// Delete removes the corpus with everything in it.
	Delete(ctx context.Context, key string) error
	// ReplaceAttributes replaces the attributes of a corpus. version must follow the present one: fault.KindConflict
	// "corpus_changed" when it does not, or when the corpus was deleted.
	ReplaceAttributes(ctx context.Context, corpusNo int64, all []Attribute, version int64) (Corpus, error)
	// Reset removes every document, as one change of the corpus's sequence, and returns that number.
	Reset(ctx context.Context, key string) (Corpus, error)
}

// Settings are the operations on corpora that have no rule beyond those of the store.
type Settings interface {
	// List returns up to l.Limit corpora, newest first, and whether more follow.
	List(ctx context.Context, l List) (page []Corpus, more bool, err error)
	// Update changes the settings of p that are present.
	Update(ctx context.Context, key string, p Patch) (Corpus, error)
	// Recount counts documents, parts and characters in the rows and corrects the usage numbers where they differ.
	Recount(ctx context.Context, key string) (Corpus, error)
}
