package summarize

import (
	"encoding/json"
	"strings"

	"quarry/internal/corpus/document"
	"quarry/internal/expr/vtl"
	"quarry/internal/llm"
	"quarry/internal/llm/prompt"
)

// mostVectors is for how many parts vectors are held in memory, 1.5 kB each. Longer documents are summarised by their words.
const mostVectors = 32_768

// material is the document of a request.
type material struct {
	*document.Document
	text    string      // of all parts; "" until content
	vectors [][]float32 // by part; nil when they are not used
	tables  map[string]*document.Table
}

func newMaterial(d *document.Document) *material {
	m := &material{Document: d, tables: make(map[string]*document.Table, len(d.Tables))}
	for i := range d.Tables {
		m.tables[d.Tables[i].ID] = &d.Tables[i]
	}
	m.describeImages()
	return m
}

// unpack reads the vectors and lets go of their stored form.
func (m *material) unpack() error {
	m.vectors = make([][]float32, len(m.Parts))
	for i := range m.Parts {
		v, err := m.Parts[i].Values()
		if err != nil {
			return err
		}
		m.vectors[i], m.Parts[i].Vector = v, nil
	}
	return nil
}

// describeImages sets the text of parts that stand for an image and have none.
func (m *material) describeImages() {
	images := make(map[string]*document.Image, len(m.Images))
	for i := range m.Images {
		images[m.Images[i].ID] = &m.Images[i]
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if shown := images[p.ImageID]; p.ImageID != "" && shown != nil && strings.TrimSpace(p.Text) == "" {
			p.Text = shown.Words()
		}
	}
}

// content returns the plain text of all parts, with titles as paragraphs of their own.
func (m *material) content() string {
	if m.text == "" {
		m.text = m.Text()
	}
	return m.text
}

// variables are what a template can refer to (contract: corpora-and-documents, section 2.14).
func (m *material) variables() map[string]vtl.Value {
	out := prompt.Names(map[string]vtl.Value{"Document": &documentValue{of: m}})
	out["document_content"] = m.content()
	return out
}

// limits returns the limits of a rendering: those of prompts, and more for a document that is longer than prompts usually are, so that
// a template may go through it a few times.
func (m *material) limits() vtl.Limits {
	size := len(m.Metadata)
	for i := range m.Parts {
		size += len(m.Parts[i].Text) + len(m.Parts[i].Metadata)
	}
	for i := range m.Tables {
		size += len(m.Tables[i].Data)
	}
	more := min(rounds*size, max(mostMore, 2*len(m.content())))
	d := vtl.Defaults
	return vtl.Limits{
		Loops: d.Loops + rounds*len(m.Parts), Steps: d.Steps + rounds*(stepsPerPart*len(m.Parts)+size/bytesPerStep),
		Output: d.Output + more, Memory: d.Memory + more,
	}
}

// What limits adds: how often a template may go through a document, the steps that it may take for each part, the bytes of a value
// that count as a step, and the most bytes that are added, if the plain text fits.
const (
	rounds       = 4
	stepsPerPart = 50
	bytesPerStep = 64
	mostMore     = 64 << 20
)

// evidence returns the parts for a model that chooses sentences of them.
func (m *material) evidence() []llm.Evidence {
	out := make([]llm.Evidence, len(m.Parts))
	section, inside := 0, int64(0)
	for i := range m.Parts {
		p := &m.Parts[i]
		s := standing(p)
		if i > 0 && (p.IsTitle || s.Section != inside) {
			section++
		}
		inside = s.Section
		out[i] = llm.Evidence{Text: p.Text, Title: m.Title, Label: p.IsTitle || p.ImageID != "" || m.names(p, s), Section: section}
		if m.vectors != nil {
			out[i].Vector = m.vectors[i]
		}
	}
	return out
}

// place is where a part stands, from the metadata that the service adds.
type place struct {
	Section int64 `json:"section"`
	Of      struct {
		Title   bool   `json:"is_table_title"`
		Summary bool   `json:"is_table_summary"`
		Row     *int64 `json:"row_num"`
	} `json:"vectara"`
}

func standing(p *document.Part) (out place) {
	_ = json.Unmarshal(p.Metadata, &out) // keys of the client may have other types
	return out
}

// names reports whether a part of a table is no sentence of the document: a title, a row, or our own summary of a table without a
// description.
func (m *material) names(p *document.Part, s place) bool {
	if !s.Of.Summary {
		return s.Of.Title || s.Of.Row != nil
	}
	t := m.tables[p.TableID]
	return t == nil || strings.TrimSpace(t.Description) == ""
}

// language returns the language of most of the text, "" if it is not known.
func (m *material) language() (most string) {
	bytes := map[string]int{}
	for i := range m.Parts {
		p := &m.Parts[i]
		if bytes[p.Lang] += len(p.Text); p.Lang != "" && bytes[p.Lang] > bytes[most] {
			most = p.Lang
		}
	}
	return most
}
