package generate

import (
	"cmp"
	"encoding/json"

	"quarry/internal/corpus/document"
	"quarry/internal/expr/vtl"
	"quarry/internal/llm/prompt"
)

// Passage is one search result as prompts and citations see it.
type Passage struct {
	Text             string // with the context around it, and the marks that the query asked for
	Plain            string // Text without these marks; "" for one that has none
	Before, After    string // the sentences on either side of Text in its section; "" when they are not known
	Score            float64
	DocumentID       string
	Title            string // of the document; "" when it has none
	DocumentMetadata json.RawMessage
	PartMetadata     json.RawMessage
	Table            *document.Table // nil when the part is of none
	Vector           []float32       // of unit length; nil when it is not known
}

// plain returns the text without marks.
func (p *Passage) plain() string { return cmp.Or(p.Plain, p.Text) }

// Prompt is a compiled prompt template, safe for concurrent use.
type Prompt struct{ template *prompt.Template }

// PromptInput is what a template can refer to.
type PromptInput struct {
	Question   string
	Results    []Passage // best first
	Characters int       // how long the answer is to be; 0 leaves it open
	Language   string    // of the answer, three letters; "" leaves it open
}

// CompilePrompt compiles a template; see prompt.Compile.
func CompilePrompt(text string) (*Prompt, error) {
	t, err := prompt.Compile(text)
	if err != nil {
		return nil, err
	}
	return &Prompt{t}, nil
}

// Render returns the messages; see prompt.Template.
func (p *Prompt) Render(in PromptInput) (prompt.Rendered, error) {
	return p.template.Render(variables(in), vtl.Limits{})
}
