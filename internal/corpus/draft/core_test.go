package draft_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/draft"
)

func TestCoreParts(t *testing.T) {
	// Proves that core parts stay as the client made them: metadata wins over platform keys, lang is added when absent,
	// nothing else is, and the heading comes from the part's title or else the document's.
	t.Parallel()
	cmd := draft.Core{
		ID: "d", Metadata: json.RawMessage(`{"title":"Whole","lang":"my own"}`),
		Tables: []document.Table{{ID: "t"}},
		Images: []document.Image{{ID: "i", Caption: "A valve", MimeType: "image/png", Data: []byte{1}}},
		Parts: []draft.CorePart{
			{Text: "First. Second, not split.", Context: "around", Metadata: json.RawMessage(`{ "section": "intro", "n": 1e2 }`)},
			{Text: "deutsch", Metadata: json.RawMessage(`{"lang":"deu","title":"Own","is_title":true}`), TableID: "t"},
			{Text: "odd", Metadata: json.RawMessage(`{"lang":7,"title":9}`)},
			{ImageID: "i", ImageMode: "image"},
		},
	}
	d := build(t, cmd, corpus.Corpus{})
	want := []string{
		`First. Second, not split. | Whole | {"section":"intro","n":1e2,"lang":"eng"}`,
		`deutsch | Own | {"lang":"deu","title":"Own","is_title":true}`,
		`odd | Whole | {"lang":7,"title":9}`,
		` | Whole. A valve | {"lang":"eng"}`,
	}
	if diff := cmp.Diff(want, lines(d)); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if got, want := string(d.Metadata), `{"title":"Whole","lang":"my own"}`; got != want {
		t.Errorf("metadata %s, want %s", got, want)
	}
	p := d.Parts
	if p[0].Context != "around" || p[1].TableID != "t" || !p[1].IsTitle || p[1].Lang != "deu" || p[2].Lang != "eng" || p[3].ImageID != "i" {
		t.Errorf("parts %+v", p)
	}
}

func TestDigest(t *testing.T) {
	// Proves that the digest tells contents apart and does not depend on the order of JSON members.
	t.Parallel()
	digest := func(metadata string, texts ...string) string {
		cmd := draft.Core{ID: "d", Metadata: json.RawMessage(metadata)}
		for _, s := range texts {
			cmd.Parts = append(cmd.Parts, draft.CorePart{Text: s})
		}
		return build(t, cmd, corpus.Corpus{}).Digest
	}
	same := digest(`{"a":1,"b":{"c":2,"d":3}}`, "one", "two")
	if got := digest(`{ "b":{"d":3,"c":2}, "a":1 }`, "one", "two"); got != same {
		t.Error("the order of members changes the digest")
	}
	for name, other := range map[string]string{
		"another number": digest(`{"a":1.0,"b":{"c":2,"d":3}}`, "one", "two"),
		"another cut":    digest(`{"a":1,"b":{"c":2,"d":3}}`, "onet", "wo"),
		"another order":  digest(`{"a":1,"b":{"c":2,"d":3}}`, "two", "one"),
		"structured": build(t, draft.Structured{ID: "d", Metadata: json.RawMessage(`{"a":1,"b":{"c":2,"d":3}}`),
			Sections: []draft.Section{section("one"), section("two")}}, corpus.Corpus{}).Digest,
	} {
		if other == same || other == "" {
			t.Errorf("%s gives the same digest", name)
		}
	}
	file := draft.FileDigest([]byte("bytes"), json.RawMessage(`{"a":1}`), nil)
	if file == draft.FileDigest([]byte("bytes"), nil, json.RawMessage(`{"a":1}`)) || file == draft.FileDigest([]byte("byte"), json.RawMessage(`{"a":1}`), nil) {
		t.Error("a file's digest ignores an option or a byte")
	}
}
