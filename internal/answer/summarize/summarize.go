// Package summarize has a language model summarise one stored document: it renders the prompt over the document, refuses a
// document that does not fit the model, and runs the model. Summaries come in events, so that streamed and whole ones are produced
// in the same way. The handlers of documents call it; it knows no transport. How the embedded generator chooses sentences is in
// package provider/builtin/summary.
package summarize

import (
	"context"
	_ "embed"
	"strings"
	"unicode"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/embed"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/prompt"
	"quarry/internal/llm/write"
)

// Request is the request for a summary.
type Request struct {
	Corpus, Document string // key and id
	LLM              string // registered name
	Template         string // of the prompt; "" is Default
	Parameters       llm.Parameters
	// Await, if not nil, is called before the request waits for a model outside this process. From then on it uses no
	// processor, so a server can admit another one. An error ends the request.
	Await func(ctx context.Context) error
}

// The fields of a Request that faults name.
const (
	modelField    = "llm_name"
	templateField = "prompt_template"
)

// Default is the template of the prompt where a request has none.
//
//go:embed default.vtl
var Default string

// Event is a piece of a summary: exactly one member is set. The first is Prompt, Chunks follow, then Done.
type Event struct {
	Prompt *string // the prompt of the model
	Chunk  string  // to be appended to the summary
	Done   bool    // the summary is complete
}

// Summary is the answer to a request.
type Summary struct {
	Text   string
	Prompt string // as the template rendered it
	// Warnings are what the caller should know: that the model was cut off.
	Warnings []string
}

// Documents reads documents; document.Service does.
type Documents interface {
	Get(ctx context.Context, corpusKey, id string) (corpus.Corpus, *document.Document, error)
	Whole(ctx context.Context, corpusKey, id string) (corpus.Corpus, *document.Document, error)
}

// Service summarises documents. It is safe for concurrent use.
type Service struct {
	documents Documents
	models    llm.Models
	encoders  *embed.Registry
}

// New returns a service.
func New(d Documents, m llm.Models, e *embed.Registry) *Service { return &Service{d, m, e} }

// Run summarises a document. emit gets the pieces as they come, and an error of it ends the call and is returned unchanged. What is
// wrong with the request, and a model over one of its bounds, is a fault before the first event; failures of the model are faults,
// too.
func (s *Service) Run(ctx context.Context, r Request, emit func(Event) error) (Summary, error) {
	model, err := s.model(ctx, r.LLM)
	if err != nil {
		return Summary{}, err
	}
	text := r.Template
	if text == "" {
		text = Default
	}
	template, err := prompt.Compile(text)
	if err != nil {
		return Summary{}, llm.Named(err, templateField)
	}
	d, err := s.read(ctx, &r, model)
	if err != nil {
		return Summary{}, err
	}
	rendered, err := template.Render(d.variables(), d.limits())
	if err != nil {
		return Summary{}, llm.Named(err, templateField)
	}
	call := llm.Request{Messages: rendered.Messages, Parameters: r.Parameters, Summarize: true}
	if model.Embedded {
		call.Language, call.Evidence = d.language(), d.evidence()
	} else if err := fits(&call, model, r.Document); err != nil {
		return Summary{}, err
	}
	if !model.Embedded && r.Await != nil {
		if err := r.Await(ctx); err != nil {
			return Summary{}, err
		}
	}
	if err := model.Admit(ctx); err != nil {
		return Summary{}, err
	}
	if err := emit(Event{Prompt: &rendered.Text}); err != nil {
		return Summary{}, err
	}
	out := Summary{Prompt: rendered.Text}
	err = out.run(ctx, model, call, emit)
	return out, err
}

// model returns the model of a name.
func (s *Service) model(ctx context.Context, name string) (*llm.Model, error) {
	if name == "" {
		return nil, fault.InvalidField(modelField, "must not be empty; GET /v2/llms lists the language models")
	}
	m, err := s.models.Model(ctx, name)
	return m, llm.Named(err, modelField)
}

// read reads the document, with its vectors where the model uses them: those of other encoders do not compare with those that the
// embedded generator knows.
func (s *Service) read(ctx context.Context, r *Request, model *llm.Model) (*material, error) {
	read := s.documents.Get
	if model.Embedded {
		read = s.documents.Whole
	}
	c, d, err := read(ctx, r.Corpus, r.Document)
	if err != nil {
		return nil, err
	}
	out := newMaterial(d)
	if _, space, _ := s.encoders.Resolve(""); model.Embedded && c.EncoderFingerprint == space && len(d.Parts) <= mostVectors {
		if err := out.unpack(); err != nil {
			return nil, err
		}
	}
	if text := out.content(); strings.TrimSpace(text) == "" || model.Embedded && !strings.ContainsFunc(text, spoken) {
		f := fault.Invalid()
		f.Text = "the document " + d.ID + " holds no text that could be summarised"
		return nil, f
	}
	return out, nil
}

// spoken reports whether a character is one of words and numbers. The embedded generator has nothing to choose from where there is none.
func spoken(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// fits refuses a prompt that is too long for the model.
func fits(call *llm.Request, model *llm.Model, id string) error {
	need, room := call.Tokens(), prompt.Room(model.Can.Context, call.Parameters.MaxTokens)
	if need <= room {
		return nil
	}
	return fault.InvalidSentence(modelField, "the document %s and its prompt need about %d tokens, and the language model %q takes %d beside its answer; "+
		"take a model with a larger context, the built-in extractive-1.0, which takes documents of any length, or a prompt_template that shows less of the document",
		id, need, model.Name, room)
}

// maxSummary bounds a summary, in bytes: a longer one comes from a model that does not end.
const maxSummary = 1 << 20

// run asks the model for the text. The embedded generator is not cut off: it chooses fewer sentences.
func (s *Summary) run(ctx context.Context, model *llm.Model, call llm.Request, emit func(Event) error) error {
	said, err := write.Run(ctx, model, call, maxSummary, func(piece string) error { return emit(Event{Chunk: piece}) })
	s.Text = said.Whole
	if said.Cut && !model.Embedded {
		s.Warnings = append(s.Warnings, "answer_cut_off: the model stopped at its token limit; raise max_tokens for the whole summary")
	}
	if err != nil {
		return err
	}
	return emit(Event{Done: true})
}
