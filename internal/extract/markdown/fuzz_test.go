package markdown_test

import (
	"errors"
	"testing"

	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/markdown"
	"quarry/internal/extract/outline"
)

// FuzzRead proves that no text makes the reader panic or end otherwise than in a tree or a refusal.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"---\na: [1, .nan]\n---\n# x\n- a\n  1. b\n\n|a|b|\n|-|-|\n|c|d|\n<b>\n```go\nx\n```\n",
		"!!! note \"x\"\n    y\n\n:::{tip}\nz\n:::\n\n> q\n> > r\n\n[a]: b\n![c](data:image/png;base64,iVBORw0KGgo=) {#id .c}\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := markdown.Read(text, outline.Options{Pictures: true})
		if err != nil {
			if !errors.Is(err, outline.ErrUnparsable) {
				t.Fatal(err)
			}
			return
		}
		extracttest.Dump(t, doc)
	})
}
