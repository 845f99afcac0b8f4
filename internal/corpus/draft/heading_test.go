package draft_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/draft"
	"quarry/internal/corpus/metadata"
)

// leading lists the headings of a document that lead to text, as the search index marks them.
func leading(t *testing.T, d *document.Document) []string {
	t.Helper()
	of := make([]map[string]any, len(d.Parts))
	for i, p := range d.Parts {
		m, err := metadata.Values(p.Metadata)
		if err != nil {
			t.Fatal(err)
		}
		of[i] = m
	}
	var out []string
	for i, leads := range document.Leading(d.Parts, of) {
		if leads {
			out = append(out, d.Parts[i].Text)
		}
	}
	return out
}

// tree draws sections of every kind and appends the titles of those that have text to led. It reports whether any of them has.
func tree(r *rand.Rand, deep int, n *int, led *[]string) (all []draft.Section, text bool) {
	for range r.IntN(4) {
		*n++
		s := draft.Section{Text: "\n"}
		at := len(*led)
		if r.IntN(4) > 0 {
			s.Title = fmt.Sprintf("T%d", *n)
			*led = append(*led, s.Title)
		}
		has := r.IntN(3) == 0
		if has {
			s.Text = "A sentence."
		}
		switch id := fmt.Sprint("x", *n); r.IntN(8) {
		case 0:
			s.Tables, has = append(s.Tables, document.Table{ID: id, Data: json.RawMessage(`{"rows":[[{"text_value":"one"}]]}`)}), true
		case 1:
			s.Images = append(s.Images, document.Image{ID: id, MimeType: "image/png", Data: []byte{1}})
		case 2:
			s.Images, has = append(s.Images, document.Image{ID: id, Title: "A pump", MimeType: "image/png", Data: []byte{1}}), true
		}
		if deep > 0 {
			inner, below := tree(r, deep-1, n, led)
			s.Sections, has = inner, has || below
		}
		if s.Title != "" && !has {
			*led = slices.Delete(*led, at, at+1)
		}
		if s.Title != "" || has || len(s.Images)+len(s.Sections) > 0 {
			all, text = append(all, s), text || has
		}
	}
	return all, text
}

// TestLeading proves which headings count as leading to text: those of sections with text, a table or an image that has
// words, in them or in a section inside; in random documents.
func TestLeading(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(78, 1))
	for range 400 {
		var want []string
		cmd, n := draft.Structured{ID: "d"}, 0
		if r.IntN(2) == 0 {
			cmd.Title, want = "Whole", []string{"Whole"}
		}
		var text bool
		cmd.Sections, text = tree(r, 3, &n, &want)
		if len(cmd.Sections) == 0 {
			continue
		}
		if r.IntN(5) == 0 {
			cmd.Description, text = "About it.", true
		}
		if cmd.Title != "" && !text {
			want = want[1:]
		}
		if got := leading(t, build(t, cmd, corpus.Corpus{})); !slices.Equal(got, want) {
			t.Fatalf("%v lead to text, want %v\n%+v", got, want, cmd)
		}
	}
}

// TestLeadingCore proves the same of parts that a client made: a title heads what follows it, up to the next title of its
// depth, and what clients copy from other documents keeps its place.
func TestLeadingCore(t *testing.T) {
	t.Parallel()
	title := func(text, more string) draft.CorePart {
		return draft.CorePart{Text: text, Metadata: json.RawMessage(`{"is_title":true` + more + `}`)}
	}
	text := func(metadata string) draft.CorePart {
		return draft.CorePart{Text: "words", Metadata: json.RawMessage(metadata)}
	}
	for _, c := range []struct {
		parts []draft.CorePart
		want  string
	}{
		{[]draft.CorePart{title("A", ""), text("{}"), title("B", "")}, "A"},
		{[]draft.CorePart{title("A", ""), title("B", ""), text("{}")}, "B"},
		{[]draft.CorePart{text("{}"), title("A", "")}, ""},
		{[]draft.CorePart{title("A", `,"title":"A"`), text("{}")}, "A"},
		{[]draft.CorePart{title("A", `,"title":"A","section":3`), text(`{"section":3}`)}, "A"},
		{[]draft.CorePart{title("A", `,"title":"A","section":3`), text(`{"section":4}`)}, ""},
		{[]draft.CorePart{title("A", `,"section":1`), title("B", `,"section":2,"breadcrumb":["A"]`), text(`{"section":2,"breadcrumb":["A"]}`)}, "A B"},
		{[]draft.CorePart{title("A", `,"breadcrumb":"A","title":7`), text(`{"breadcrumb":[[]],"section":[1]}`)}, "A"},
		{[]draft.CorePart{title("A", ""), {ImageID: "m"}}, ""},
		{[]draft.CorePart{title("A", ""), {Text: "false friend", Metadata: json.RawMessage(`{"is_title":"true"}`)}}, "A"},
	} {
		cmd := draft.Core{ID: "d", Parts: c.parts, Images: []document.Image{{ID: "m", MimeType: "image/png", Data: []byte{1}}}}
		if got := strings.Join(leading(t, build(t, cmd, corpus.Corpus{})), " "); got != c.want {
			t.Errorf("%+v: %q lead to text, want %q", c.parts, got, c.want)
		}
	}
}
