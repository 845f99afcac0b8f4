package draft_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/draft"
	"quarry/internal/fault"
	"quarry/internal/opt"
)

// lines shows the parts of a document in a form that a test can state whole.
func lines(d *document.Document) []string {
	var out []string
	for i, p := range d.Parts {
		if p.Ord != i {
			out = append(out, fmt.Sprintf("part %d has Ord %d", i, p.Ord))
		}
		out = append(out, strings.Join([]string{p.Text, p.Heading, string(p.Metadata)}, " | "))
	}
	return out
}

func build(t *testing.T, d document.Draft, c corpus.Corpus) *document.Document {
	t.Helper()
	doc, err := d.Build(c)
	if err != nil {
		t.Fatalf("Build: %v", err)
	}
	return doc
}

// section is a section with one sentence.
func section(text string) draft.Section { return draft.Section{Text: text} }

func TestStructuredParts(t *testing.T) {
	// Proves the order, headings and generated metadata of parts (contract: Structured documents 1 to 3).
	t.Parallel()
	cmd := draft.Structured{
		ID: "pump-42", Title: "Pump 42 manual", Description: "How to run the pump.",
		Metadata: json.RawMessage(`{"line": "hydraulics", "rev": 3.0}`),
		Sections: []draft.Section{
			{Title: "Start-up", Text: "Open valve A slowly. Wait for 3 bar.", Metadata: json.RawMessage(`{"kind":"procedure"}`),
				Sections: []draft.Section{
					{Title: "Cold start", Text: "Warm the oil first.", Metadata: json.RawMessage(`{"kind":"warning","section":"intro"}`)},
					{Text: "Never run it dry."},
				}},
			{ID: opt.Some[int32](90), Title: "Shutdown", Sections: []draft.Section{section("Close the valve.")}},
		},
	}
	want := []string{
		`Pump 42 manual |  | {"section":0,"offset":0,"len":14,"is_title":true,"lang":"eng"}`,
		`How to run the pump. | Pump 42 manual | {"section":0,"offset":0,"len":20,"lang":"eng"}`,
		`Start-up |  | {"kind":"procedure","section":1,"title":"Start-up","offset":0,"len":8,"is_title":true,"lang":"eng"}`,
		`Open valve A slowly. | Pump 42 manual. Start-up | {"kind":"procedure","section":1,"title":"Start-up","offset":0,"len":20,"lang":"eng"}`,
		`Wait for 3 bar. | Pump 42 manual. Start-up | {"kind":"procedure","section":1,"title":"Start-up","offset":21,"len":15,"lang":"eng"}`,
		`Cold start |  | {"kind":"warning","section":"intro","title":"Cold start","breadcrumb":["Start-up"],"offset":0,"len":10,"is_title":true,"lang":"eng"}`,
		`Warm the oil first. | Pump 42 manual. Cold start | {"kind":"warning","section":"intro","title":"Cold start","breadcrumb":["Start-up"],"offset":0,"len":19,"lang":"eng"}`,
		`Never run it dry. | Pump 42 manual. Start-up | {"kind":"procedure","section":3,"breadcrumb":["Start-up"],"offset":0,"len":17,"lang":"eng"}`,
		`Shutdown |  | {"section":90,"title":"Shutdown","offset":0,"len":8,"is_title":true,"lang":"eng"}`,
		`Close the valve. | Pump 42 manual. Shutdown | {"section":5,"breadcrumb":["Shutdown"],"offset":0,"len":16,"lang":"eng"}`,
	}
	d := build(t, cmd, corpus.Corpus{})
	if diff := cmp.Diff(want, lines(d)); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if got, want := string(d.Metadata), `{"line":"hydraulics","rev":3.0}`; got != want {
		t.Errorf("metadata %s, want %s", got, want)
	}
	if d.Title != "Pump 42 manual" {
		t.Errorf("title %q", d.Title)
	}
	bytes := int64(len(d.Metadata))
	metadata := bytes
	for _, p := range d.Parts {
		bytes += int64(len(p.Text) + len(p.Metadata))
		metadata += int64(len(p.Metadata))
	}
	if want := (document.StorageUsage{Bytes: bytes, MetadataBytes: metadata}); d.Usage != want {
		t.Errorf("usage %+v, want %+v", d.Usage, want)
	}
}

func TestStructuredPrecedence(t *testing.T) {
	// Proves which of the client's and the generated keys win, on text parts and on titles.
	t.Parallel()
	cmd := draft.Structured{ID: "d", Sections: []draft.Section{{
		Title: "T", Text: "One short sentence.",
		Metadata: json.RawMessage(`{"lang":"xxx","title":7,"breadcrumb":null,"section":"s","offset":"o","len":"l","is_title":"no","vectara":1}`),
	}}}
	want := []string{
		`T |  | {"lang":"xxx","title":7,"breadcrumb":null,"section":"s","vectara":1,"offset":0,"len":1,"is_title":true}`,
		`One short sentence. | T | {"lang":"xxx","title":7,"breadcrumb":null,"section":"s","vectara":1,"offset":0,"len":19}`,
	}
	d := build(t, cmd, corpus.Corpus{})
	if diff := cmp.Diff(want, lines(d)); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if d.Parts[0].Lang != "xxx" || !d.Parts[0].IsTitle || d.Parts[1].IsTitle {
		t.Errorf("lang %q, titles %v %v", d.Parts[0].Lang, d.Parts[0].IsTitle, d.Parts[1].IsTitle)
	}
}

func TestStructuredTables(t *testing.T) {
	// Proves the searchable forms of a table: title, summary and rows, and the mark that each carries.
	t.Parallel()
	data := `{"headers":[[{"text_value":"Item","rowspan":2},{"text_value":"Price","colspan":2}],[{"text_value":"net"},{"text_value":"gross"}]],
		"rows":[[{"text_value":"Oil"},{"int_value":7},{"float_value":8.40}],[{},{}],[{"text_value":"Both","colspan":2},{"bool_value":true}]]}`
	cmd := draft.Structured{ID: "d", Title: "D", Sections: []draft.Section{{
		Title: "S", Tables: []document.Table{
			{ID: "t1", Title: "Prices", Data: json.RawMessage(data)},
			{Description: "What it says.", Data: json.RawMessage(`{"rows":[]}`)},
		},
		Metadata: json.RawMessage(`{"vectara":"mine","offset":5}`),
	}}}
	meta := `{"offset":5,"section":1,"title":"S","vectara":{"table_id":"%s",%s},"lang":"eng"}`
	want := []string{
		`D |  | {"section":0,"offset":0,"len":1,"is_title":true,"lang":"eng"}`,
		`S |  | {"vectara":"mine","section":1,"title":"S","offset":0,"len":1,"is_title":true,"lang":"eng"}`,
		`Prices | D. S | ` + fmt.Sprintf(meta, "t1", `"is_table_title":true`),
		`Table with 3 rows and the columns Item, Price net, Price gross. | D. S. Prices | ` + fmt.Sprintf(meta, "t1", `"is_table_summary":true`),
		`Item: Oil; Price net: 7; Price gross: 8.40 | D. S. Prices | ` + fmt.Sprintf(meta, "t1", `"row_num":0`),
		`Item: Both; Price gross: true | D. S. Prices | ` + fmt.Sprintf(meta, "t1", `"row_num":2`),
		`What it says. | D. S | ` + fmt.Sprintf(meta, "table_2", `"is_table_summary":true`),
	}
	d := build(t, cmd, corpus.Corpus{})
	if diff := cmp.Diff(want, lines(d)); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if len(d.Tables) != 2 || d.Tables[1].ID != "table_2" || d.Parts[6].TableID != "table_2" {
		t.Errorf("tables %+v, last part of table %q", d.Tables, d.Parts[6].TableID)
	}
}

func TestStructuredImages(t *testing.T) {
	// Proves that an image of a section becomes one part with its words, behind the section's tables.
	t.Parallel()
	cmd := draft.Structured{ID: "d", Sections: []draft.Section{{Images: []document.Image{
		{ID: "i1", Title: "Valve", Caption: "Valve A", Description: "seen from above", MimeType: "image/png", Data: []byte{1}},
		{ID: "i2", MimeType: "image/png", Data: []byte{2}},
	}}}}
	d := build(t, cmd, corpus.Corpus{})
	want := []string{
		`Valve. Valve A. seen from above |  | {"section":1,"lang":"eng"}`,
		` |  | {"section":1,"lang":"eng"}`,
	}
	if diff := cmp.Diff(want, lines(d)); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if d.Parts[0].ImageID != "i1" || d.Parts[1].ImageID != "i2" || len(d.Images) != 2 {
		t.Errorf("images %q %q of %d", d.Parts[0].ImageID, d.Parts[1].ImageID, len(d.Images))
	}
}

func TestDimensions(t *testing.T) {
	// Proves that every part holds one number per custom dimension of the corpus, by default the indexing default.
	t.Parallel()
	c := corpus.Corpus{Dimensions: []corpus.Dimension{{Name: "fresh", IndexingDefault: 0.5}, {Name: "trust"}}}
	d := build(t, draft.Structured{ID: "d", Dimensions: map[string]float64{"trust": 2}, Title: "T",
		Sections: []draft.Section{section("Text of it.")}}, c)
	for _, p := range d.Parts {
		if diff := cmp.Diff([]float64{0.5, 2}, p.Dimensions); diff != "" {
			t.Errorf("part %d: %s", p.Ord, diff)
		}
	}
	d = build(t, draft.Core{ID: "d", Parts: []draft.CorePart{
		{Text: "a", Dimensions: map[string]float64{"fresh": 1}}, {Text: "b"}}}, c)
	if diff := cmp.Diff([][]float64{{1, 0}, {0.5, 0}}, [][]float64{d.Parts[0].Dimensions, d.Parts[1].Dimensions}); diff != "" {
		t.Error(diff)
	}
	if d = build(t, draft.Core{ID: "d", Parts: []draft.CorePart{{Text: "a"}}}, corpus.Corpus{}); d.Parts[0].Dimensions != nil {
		t.Errorf("a corpus without dimensions gives %v", d.Parts[0].Dimensions)
	}
}

func nest(depth int, inner draft.Section) draft.Section {
	for range depth {
		inner = draft.Section{Sections: []draft.Section{inner}}
	}
	return inner
}

func TestRefusals(t *testing.T) {
	// Proves that each rule of documents refuses what breaks it, naming the field.
	t.Parallel()
	one := []draft.Section{section("Fine text.")}
	core := func(p draft.CorePart) draft.Core {
		return draft.Core{ID: "d", Parts: []draft.CorePart{{Text: "fine"}, p}}
	}
	png := document.Image{ID: "i", MimeType: "image/png", Data: []byte{1}}
	table := func(data string) draft.Structured {
		return draft.Structured{ID: "d", Sections: []draft.Section{{Tables: []document.Table{{ID: "t", Data: json.RawMessage(data)}}}}}
	}
	tests := []struct {
		name  string
		draft document.Draft
		path  string
	}{
		{"no id", draft.Structured{Sections: one}, "id"},
		{"id of 1025 bytes", draft.Structured{ID: strings.Repeat("é", 512) + "x", Sections: one}, "id"},
		{"NUL in id", draft.Structured{ID: "a\x00b", Sections: one}, "id"},
		{"id not UTF-8", draft.Core{ID: "a\xff", Parts: []draft.CorePart{{Text: "x"}}}, "id"},
		{"no sections", draft.Structured{ID: "d"}, "sections"},
		{"metadata no object", draft.Structured{ID: "d", Metadata: json.RawMessage(`[1]`), Sections: one}, "metadata"},
		{"section metadata no object", draft.Structured{ID: "d", Sections: []draft.Section{{Text: "x", Metadata: json.RawMessage(`"a"`)}}},
			"sections[0].metadata"},
		{"empty inner section", draft.Structured{ID: "d", Sections: []draft.Section{section("x"),
			{Title: "T", Sections: []draft.Section{{Text: " \n"}}}}}, "sections[1].sections[0].text"},
		{"chunks of 99", draft.Structured{ID: "d", Sections: one, Chunking: draft.Chunking{MaxChars: 99}},
			"chunking_strategy.max_chars_per_chunk"},
		{"unknown dimension", draft.Structured{ID: "d", Sections: one, Dimensions: map[string]float64{"no": 1}}, "custom_dimensions.no"},
		{"sections too deep", draft.Structured{ID: "d", Sections: []draft.Section{nest(100, section("x"))}},
			"sections[0]" + strings.Repeat(".sections[0]", 100)},
		{"table id twice", draft.Structured{ID: "d", Sections: []draft.Section{{Tables: []document.Table{{ID: "t"}, {ID: "t"}}}}},
			"sections[0].tables[1].id"},
		{"image id twice", draft.Structured{ID: "d", Sections: []draft.Section{{Images: []document.Image{png, png}}}},
			"sections[0].images[1].id"},
		{"two values in a cell", table(`{"rows":[[{"int_value":1},{"int_value":1,"text_value":"a"}]]}`), "sections[0].tables[0].data.rows[0][1]"},
		{"colspan 0", table(`{"headers":[[{"colspan":0}]]}`), "sections[0].tables[0].data.headers[0][0].colspan"},
		{"rowspan -1", table(`{"rows":[[{"rowspan":-1}]]}`), "sections[0].tables[0].data.rows[0][0].rowspan"},
		{"table no cells", table(`{"rows":[[1]]}`), "sections[0].tables[0].data"},
		{"core without parts", draft.Core{ID: "d"}, "document_parts"},
		{"core text empty", core(draft.CorePart{}), "document_parts[1].text"},
		{"core metadata no object", core(draft.CorePart{Text: "x", Metadata: json.RawMessage(`3`)}), "document_parts[1].metadata"},
		{"core unknown table", core(draft.CorePart{Text: "x", TableID: "t"}), "document_parts[1].table_id"},
		{"core unknown image", core(draft.CorePart{Text: "x", ImageID: "t"}), "document_parts[1].image_id"},
		{"core unknown dimension", core(draft.CorePart{Text: "x", Dimensions: map[string]float64{"a": 0}}), "document_parts[1].custom_dimensions.a"},
		{"core unknown image mode", core(draft.CorePart{Text: "x", ImageMode: "both"}), "document_parts[1].image_part_mode"},
		{"core image mode without image", core(draft.CorePart{Text: "x", ImageMode: "image_and_text"}), "document_parts[1].image_part_mode"},
		{"core image without data", draft.Core{ID: "d", Images: []document.Image{{ID: "i", MimeType: "a/b"}},
			Parts: []draft.CorePart{{ImageID: "i"}}}, "images[0].image_data.data"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tt.draft.Build(corpus.Corpus{Key: "c"})
			f, ok := fault.As(err)
			if !ok || f.Kind != fault.KindInvalid {
				t.Fatalf("Build: %v, want an invalid input", err)
			}
			if diff := cmp.Diff([]string{tt.path}, f.Paths()); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
}

func TestManyParts(t *testing.T) {
	// Proves that thousands of parts work and that there is an end, with a clear refusal.
	t.Parallel()
	d := build(t, draft.Structured{ID: "d", Sections: []draft.Section{section(strings.Repeat("It is so. ", 5000))}}, corpus.Corpus{})
	if len(d.Parts) != 5000 {
		t.Errorf("%d parts, want 5000", len(d.Parts))
	}
	parts := make([]draft.CorePart, 150_001)
	for i := range parts {
		parts[i].Text = "x"
	}
	_, err := draft.Core{ID: "d", Parts: parts}.Build(corpus.Corpus{})
	f, ok := fault.As(err)
	if !ok || !strings.Contains(f.Fields["document_parts[150000]"], "150000 parts") {
		t.Errorf("150,001 parts: %v", err)
	}
	_, err = draft.Core{ID: "d", Parts: make([]draft.CorePart, 100)}.Build(corpus.Corpus{})
	if f, ok := fault.As(err); !ok || len(f.Fields) != 25 {
		t.Errorf("100 empty parts: %v, want the first 25 named", err)
	}
	long := strings.Repeat("é", 600)
	d = build(t, draft.Structured{ID: "d", Title: long, Sections: []draft.Section{section("Text.")}}, corpus.Corpus{})
	if d.Parts[0].Text != long || utf8.RuneCountInString(d.Parts[1].Heading) != 500 {
		t.Errorf("a title of 600 characters is a part of %d and a heading of %d", utf8.RuneCountInString(d.Parts[0].Text), utf8.RuneCountInString(d.Parts[1].Heading))
	}
	heavy := json.RawMessage(`{"k":"` + strings.Repeat("x", 1<<20) + `"}`)
	_, err = draft.Structured{ID: "d", Sections: []draft.Section{{Metadata: heavy, Text: strings.Repeat("It is so. ", 200)}}}.Build(corpus.Corpus{})
	if f, ok := fault.As(err); !ok || !strings.Contains(f.Fields["sections[0]"], "exceed") {
		t.Errorf("200 MB of inherited metadata: %v", err)
	}
}

func TestNoTextLost(t *testing.T) {
	// Proves that the parts of a section, joined by their gaps, are the section's text, and that offset and len say
	// where each stands.
	t.Parallel()
	piece := rapid.SampledFrom([]string{"It is so. ", "Warum nicht? ", "这是一个句子。", "\n\n", " ", "\t", "word ", "e.g. ", "😀",
		strings.Repeat("long ", 40), "No! ", "\"Quoted.\" ", "a", "é"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 1, 60).Draw(t, "text"), "")
		if strings.TrimSpace(text) == "" {
			t.Skip("nothing to cut")
		}
		size := rapid.SampledFrom([]int{0, 100, 150, 1000}).Draw(t, "max_chars")
		d, err := draft.Structured{ID: "d", Sections: []draft.Section{section(text)}, Chunking: draft.Chunking{MaxChars: size}}.Build(corpus.Corpus{})
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		runes := []rune(text)
		for i, p := range d.Parts {
			if i > 0 {
				all.WriteString(p.Gap)
			}
			all.WriteString(p.Text)
			var at struct{ Offset, Len int }
			if err := json.Unmarshal(p.Metadata, &at); err != nil {
				t.Fatal(err)
			}
			if got := string(runes[at.Offset : at.Offset+at.Len]); got != p.Text {
				t.Fatalf("part %d is %q, its offset and len say %q", i, p.Text, got)
			}
			if size > 0 && utf8.RuneCountInString(p.Text) > size {
				t.Fatalf("part %d has more than %d characters", i, size)
			}
		}
		if got, want := all.String(), strings.TrimSpace(text); got != want {
			t.Fatalf("joined parts\n%q\nwant\n%q", got, want)
		}
	})
}

func TestAttributeTypes(t *testing.T) {
	// Proves that declared attributes are type-checked at their level when a document comes, and that what a parser
	// extracted is not.
	t.Parallel()
	c := corpus.Corpus{Key: "c", Attributes: []corpus.Attribute{
		{Name: "year", Level: "document", Type: "integer"}, {Name: "tags", Level: "document", Type: "list[text]"},
		{Name: "a.b", Level: "document", Type: "real"}, {Name: "kind", Level: "part", Type: "text"}}}
	doc := func(metadata string) document.Draft {
		return draft.Structured{ID: "d", Metadata: json.RawMessage(metadata), Sections: []draft.Section{section("x")}}
	}
	tests := []struct {
		draft document.Draft
		path  string // "" = accepted
	}{
		{doc(`{"year":2024,"tags":["a"],"a":{"b":1},"kind":7}`), ""},
		{doc(`{"year":null,"tags":[]}`), ""},
		{doc(`{"year":"2024"}`), "metadata.year"},
		{doc(`{"year":2024.5}`), "metadata.year"},
		{doc(`{"tags":["a",1]}`), "metadata.tags"},
		{doc(`{"a":{"b":"x"}}`), "metadata.a.b"},
		{draft.Structured{ID: "d", Sections: []draft.Section{{Title: "T", Sections: []draft.Section{{Text: "x", Metadata: json.RawMessage(`{"kind":7}`)}}}}},
			"sections[0].sections[0].metadata.kind"},
		{draft.Core{ID: "d", Parts: []draft.CorePart{{Text: "a"}, {Text: "x", Metadata: json.RawMessage(`{"kind":true}`)}}},
			"document_parts[1].metadata.kind"},
		{draft.Structured{ID: "d", Extracted: json.RawMessage(`{"year":"MMXX"}`), Sections: []draft.Section{section("x")}}, ""},
	}
	for _, tt := range tests {
		_, err := tt.draft.Build(c)
		f, ok := fault.As(err)
		if tt.path == "" && err != nil || tt.path != "" && (!ok || cmp.Diff([]string{tt.path}, f.Paths()) != "") {
			t.Errorf("%+v: %v, want %q", tt.draft, err, tt.path)
		}
	}
}
