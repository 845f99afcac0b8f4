package generate

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"time"

	"quarry/internal/answer/generate/cite"
	"quarry/internal/answer/verify"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

// DefaultResults is how many results a prompt shows if neither request nor preset states it (contract:
// generation-and-citations, section 1).
const DefaultResults = 25

// Request is the request for an answer. Absent members are those of the preset, and left to the model if the preset has none.
type Request struct {
	Question   string
	Earlier    Earlier // nil for a question without a conversation
	Preset     string  // "" is the default one
	Template   string  // in place of the preset's; "" for none
	LLM        *string // in place of the preset's
	MaxResults *int
	Characters int    // how long the answer should be; 0 leaves it open
	Language   string // of the answer, two or three letters; "" and "auto" take that of the question
	Parameters llm.Parameters
	Citations  cite.Options
	Score      bool // whether the answer is scored against the passages
}

// The fields of a Request that faults name.
const (
	presetField     = "generation_preset_name"
	templateField   = "prompt_template"
	modelField      = "model_parameters.llm_name"
	maxResultsField = "max_used_search_results"
)

// Finder finds presets by name, the default one by "". Unknown and disabled ones are fault.KindInvalid.
type Finder interface {
	Find(ctx context.Context, name string) (Preset, error)
}

// Scorer scores how well passages support a text.
type Scorer interface {
	Score(ctx context.Context, c verify.Claim) (verify.Score, error)
}

// Service answers. Safe for concurrent use.
type Service struct {
	presets Finder
	models  llm.Models
	scorer  Scorer
	log     *slog.Logger
}

// New returns a service; a nil scorer scores nothing.
func New(p Finder, m llm.Models, s Scorer, log *slog.Logger) *Service { return &Service{p, m, s, log} }

// Plan is a request that was checked as far as possible without results, and that the model has admitted. It is for one answer.
type Plan struct {
	service *Service
	request Request
	alone   string // the question as it stands by itself
	earlier []Exchange
	model   *llm.Model
	prompt  *Prompt
	results int // that the prompt shows at most
}

// Plan checks a request before anything is searched for. A name that does not exist is fault.KindInvalid of its field, and a
// model over one of its bounds is fault.KindLimited. An error of r.Earlier is returned as it is.
func (s *Service) Plan(ctx context.Context, r Request) (*Plan, error) {
	preset, err := s.presets.Find(ctx, r.Preset)
	if err != nil {
		return nil, llm.Named(err, presetField)
	}
	p := &Plan{service: s, request: r, alone: r.Question, results: DefaultResults}
	if err := p.open(ctx, preset); err != nil {
		return nil, err
	}
	template, field := preset.Template, presetField
	if r.Template != "" {
		template, field = r.Template, templateField
	}
	if p.prompt, err = CompilePrompt(template); err != nil {
		return nil, llm.Named(err, field)
	}
	if preset.MaxResults > 0 {
		p.results = preset.MaxResults
	}
	if r.MaxResults != nil {
		p.results = *r.MaxResults
	}
	p.request.Parameters = mergeParameters(r.Parameters, preset)
	if r.Earlier != nil {
		if p.earlier, err = r.Earlier(ctx, p.memory()); err != nil {
			return nil, err
		}
	}
	return p, p.model.Admit(ctx)
}

// open sets the model.
func (p *Plan) open(ctx context.Context, preset Preset) (err error) {
	name, field := preset.LLM, presetField
	if p.request.LLM != nil {
		name, field = *p.request.LLM, modelField
		if name == "" {
			return fault.InvalidField(field, "must not be empty; GET /v2/llms lists the language models")
		}
	}
	p.model, err = p.service.models.Model(ctx, name)
	return llm.Named(err, field)
}

// mergeParameters returns the parameters of a call: those of the request, and what they leave out those of the preset.
func mergeParameters(r llm.Parameters, p Preset) llm.Parameters {
	out := llm.Parameters{
		MaxTokens: cmp.Or(r.MaxTokens, p.MaxTokens), Temperature: cmp.Or(r.Temperature, p.Temperature),
		FrequencyPenalty: cmp.Or(r.FrequencyPenalty, p.FrequencyPenalty), PresencePenalty: cmp.Or(r.PresencePenalty, p.PresencePenalty),
	}
	if len(r.Extra)+len(p.Extra) > 0 {
		out.Extra = map[string]json.RawMessage{}
		maps.Copy(out.Extra, p.Extra)
		maps.Copy(out.Extra, r.Extra)
	}
	return out
}

// Remote reports whether the model is not inside the program: while a remote model answers, the caller needs no processor.
func (p *Plan) Remote() bool { return !p.model.Embedded }

// Model returns the registered name of the model that will answer.
func (p *Plan) Model() string { return p.model.Name }

// Parameters returns those of the answer's call.
func (p *Plan) Parameters() llm.Parameters { return p.request.Parameters }

// Restate sets the question as it stands by itself, without the conversation. The embedded generator answers it, and the
// score reads it; the prompt has the original wording.
func (p *Plan) Restate(question string) { p.alone = question }

// Vectors reports whether the model uses the vectors of passages.
func (p *Plan) Vectors() bool { return p.model.Embedded && p.results > 0 }

// Event is a piece of an answer: exactly one member is set. The first is Prompt, Chunks follow, then Done, and nothing
// but Score behind it.
type Event struct {
	Prompt *string // the prompt of the model
	Chunk  string  // to be appended to the summary
	Done   bool    // the summary is complete
	Score  *float64

	Evidence *float64 // with Done, of a summary that has it
}

// Answer is the answer to a request. With an error it holds what there was until then.
type Answer struct {
	Summary  string
	Prompt   string
	Language string   // three letters
	Score    *float64 // nil if it was not requested or there is none
	Evidence *float64 // how likely the first quotation is to answer; nil for models that write, and where nothing is quoted
	Warnings []string
	Steps    []Step // for the history
}

// Step is one step of an answer.
type Step struct {
	Name    string // "generation" or "fcs"
	Started time.Time
	Latency time.Duration
}

// The names of steps.
const (
	StepGeneration = "generation"
	StepScore      = "fcs"
)

// Answer renders the prompt over the results and runs the model; emit gets the pieces as they come, and an error of it ends
// the call. It is Draft and Run in one.
func (p *Plan) Answer(ctx context.Context, results []Passage, emit func(Event) error) (Answer, error) {
	d, err := p.Draft(results)
	if err != nil {
		return Answer{}, err
	}
	return d.Run(ctx, emit)
}
