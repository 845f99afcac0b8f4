package draft

import (
	"encoding/json"
	"fmt"
	"strings"

	"quarry/internal/corpus/document"
	"quarry/internal/corpus/metadata"
	"quarry/internal/corpus/table"
)

// takeTable adds a table to the document and returns its id, which is made up when the client sent none.
func (b *builder) takeTable(path string, t document.Table) (string, *table.Data) {
	for n := len(b.tables) + 1; t.ID == ""; n++ {
		if id := fmt.Sprintf("table_%d", n); !b.tables[id] {
			t.ID = id
		}
	}
	if b.tables[t.ID] {
		b.bad(path+".id", "the table id %q is used twice", t.ID)
	}
	b.tables[t.ID] = true
	t.Page = 0
	data := table.Read(path+".data", t.Data, b.bad)
	b.doc.Tables = append(b.doc.Tables, t)
	return t.ID, data
}

// table adds a table of a section with its searchable forms: its title, a summary and its rows.
func (s *structure) table(at place, path string, t document.Table) {
	id, data := s.takeTable(path, t)
	at.page = t.Page
	meta := at.user.Over(at.serviceKeys()).Without("is_title", "vectara")
	put := func(text, heading, flag string, value json.RawMessage) {
		mark := metadata.Object{}.With("table_id", metadata.String(id)).With(flag, value)
		s.add(path, unfinished{
			document.Part{Text: text, Heading: heading, Dimensions: s.dims, TableID: id, Gap: " "},
			meta.With("vectara", mark.Encode()),
		})
	}
	yes := json.RawMessage("true")
	title := strings.TrimSpace(t.Title)
	if title != "" {
		put(title, document.JoinTitles(s.title, at.inForce), "is_table_title", yes)
	}
	heading := document.JoinTitles(s.title, at.inForce, title)
	summary := strings.TrimSpace(t.Description)
	if summary == "" {
		summary = data.Summary()
	}
	put(summary, heading, "is_table_summary", yes)
	for i, text := range data.RowTexts() {
		if text != "" {
			put(text, heading, "row_num", metadata.Int(i)) // the row's index in data.rows
		}
	}
}
