package corpus_test

import (
	"slices"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/fault"
	"quarry/internal/opt"
	"quarry/internal/store"
	"quarry/internal/store/corpora"
	"quarry/internal/store/storetest"
)

// encoders knows one encoder under its name and as the default.
type encoders struct{}

func (encoders) Resolve(name string) (shown, fingerprint string, ok bool) {
	return "small", "f1", name == "" || name == "small"
}

// dropped collects the keys of corpora whose index is obsolete.
type dropped []string

func (d *dropped) Dropped(c corpus.Corpus) { *d = append(*d, c.Key) }

func open(t *testing.T) (*corpus.Service, *dropped) {
	t.Helper()
	var d dropped
	return corpus.New(corpora.New(storetest.Open(t, store.Config{Dir: t.TempDir()})), encoders{}, &d), &d
}

// TestCreateRefused proves that a command names each of its fields that is invalid, relative to itself, and that nothing
// is created.
func TestCreateRefused(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	text := corpus.Attribute{Name: "a", Level: "document", Type: "text"}
	for name, tc := range map[string]struct {
		cmd  corpus.Create
		want []string
	}{
		"key":                {corpus.Create{Key: "a b"}, []string{"key"}},
		"unknown encoder":    {corpus.Create{Key: "k", EncoderName: "large"}, []string{"encoder_name"}},
		"another encoder id": {corpus.Create{Key: "k", EncoderID: "enc_1"}, []string{"encoder_id"}},
		"attribute twice":    {corpus.Create{Key: "k", Attributes: []corpus.Attribute{text, text}}, []string{"filter_attributes[1].name"}},
		"attribute": {corpus.Create{Key: "k", Attributes: []corpus.Attribute{{Level: "page", Type: "date"}}},
			[]string{"filter_attributes[0].level", "filter_attributes[0].name", "filter_attributes[0].type"}},
		"dimensions":      {corpus.Create{Key: "", Dimensions: []corpus.Dimension{{Name: "d"}, {Name: "d"}}}, []string{"custom_dimensions[1].name", "key"}},
		"many attributes": {corpus.Create{Key: "k", Attributes: make([]corpus.Attribute, 1001)}, []string{"filter_attributes"}},
	} {
		_, err := s.Create(t.Context(), tc.cmd)
		if f, ok := fault.As(err); !ok || f.Kind != fault.KindInvalid || !slices.Equal(f.Paths(), tc.want) {
			t.Errorf("%s: %v, want faults of %v", name, err, tc.want)
		}
	}
	if all, more, err := s.List(t.Context(), corpus.List{Limit: 10}); len(all) > 0 || more || err != nil {
		t.Errorf("%d corpora, %v", len(all), err)
	}
}

// TestLifecycle proves that a corpus has its key as its name unless given another, keeps its settings when it is reset, and
// that reset and deletion each notify the listener once.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	s, obsolete := open(t)
	made, err := s.Create(t.Context(), corpus.Create{Key: "k", EncoderID: corpus.EncoderID("f1")})
	if err != nil || made.Name != "k" || made.EncoderName != "small" || !made.Enabled || made.Description != nil {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, err := s.Create(t.Context(), corpus.Create{Key: "k", Name: opt.Some("other")}); !fault.Is(err, fault.KindConflict) {
		t.Errorf("the key again: %v, want a conflict", err)
	}
	if _, err := s.Update(t.Context(), "k", corpus.Patch{Name: opt.Some("Pumps"), Enabled: opt.Some(false), Description: opt.Null[string]()}); err != nil {
		t.Fatal(err)
	}
	if err := s.Reset(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	after, err := s.Get(t.Context(), "k")
	if err != nil || after.Name != "Pumps" || after.Enabled || after.ID != made.ID || after.Epoch == made.Epoch {
		t.Errorf("after a reset: %+v, %v", after, err)
	}
	if err := s.Delete(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "k"); !fault.Is(err, fault.KindNotFound) || !fault.Is(s.Delete(t.Context(), "k"), fault.KindNotFound) {
		t.Errorf("after the deletion: %v", err)
	}
	if want := []string{"k", "k"}; !slices.Equal(*obsolete, want) {
		t.Errorf("notified of %v, want %v", *obsolete, want)
	}
}
