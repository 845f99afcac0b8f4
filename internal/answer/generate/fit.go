package generate

import (
	"errors"
	"fmt"
	"slices"

	"quarry/internal/clip"
	"quarry/internal/expr/vtl"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/prompt"
	"quarry/internal/text/lang"
)

// Draft is a prompt that is ready for the model.
type Draft struct {
	plan     *Plan
	used     []Passage // those that the prompt shows
	rendered prompt.Rendered
	language string
	asked    string // the likely language of the question
	warnings []string
	nothing  bool // there are no results: the model is not asked
}

// WarningFitted begins the warning that a prompt shows fewer results than requested.
const WarningFitted = "prompt_fitted_to_context"

// Draft renders the prompt over the results, best first, and leaves results out from the end until it fits the model. Earlier
// exchanges have the room that is left. A template that gives no prompt, and a prompt that does not fit with the first result
// alone, are fault.KindInvalid.
func (p *Plan) Draft(results []Passage) (*Draft, error) {
	asking := p.asking()
	d := &Draft{
		plan: p, language: ResponseLanguage(p.request.Language, asking, results), asked: ResponseLanguage("", asking, results),
		nothing: len(results) == 0,
	}
	if d.nothing {
		return d, nil
	}
	if p.model.Embedded {
		results = beginnings(results)
	}
	room := prompt.Room(p.model.Can.Context, p.request.Parameters.MaxTokens)
	need, err := d.fit(results, room)
	if err != nil {
		return nil, err
	}
	d.remember(room - need)
	return d, nil
}

// mostRead is how much of a result the embedded model is given, in bytes. It reads the beginning of long passages, less than that,
// and has an answer to results of any length.
const mostRead = 128 << 10

// beginnings returns results with the beginnings of their texts.
func beginnings(results []Passage) []Passage {
	out := slices.Clone(results)
	for i := range out {
		out[i].Text, out[i].Plain = clip.Head(out[i].Text, mostRead), clip.Head(out[i].Plain, mostRead)
	}
	return out
}

// asking returns the text that shows the language of the question: its original wording, and for one that does not show it,
// such as "And in Oslo?", the question as it stands by itself.
func (p *Plan) asking() string {
	if _, confidence := lang.Detect(p.request.Question); lang.Sure(confidence) {
		return p.request.Question
	}
	return p.alone
}

// fit renders the prompt over as many results as the room in tokens admits, and returns about how many tokens it has.
func (d *Draft) fit(results []Passage, room int) (need int, err error) {
	p := d.plan
	wanted := min(p.results, len(results))
	need, err = d.render(results[:wanted])
	switch {
	case err != nil && wanted <= 1:
		return 0, p.renderFault(d, err)
	case err == nil && need <= room:
		return need, nil
	}
	most := d.largest(results[:wanted-1], room)
	if most == 0 {
		if need, err = d.render(results[:1]); err != nil {
			return 0, p.renderFault(d, err)
		}
		return 0, p.tooLong(d, need, room)
	}
	if need, err = d.render(results[:most]); err != nil {
		return 0, err
	}
	d.warnings = append(d.warnings, fmt.Sprintf("%s: the prompt holds the first %d of %d results, as many as the language model %q can take",
		WarningFitted, most, wanted, p.model.Name))
	return need, nil
}

// largest returns how many results fit, by bisection: more of them make a longer prompt, whatever the template. A template
// that fails may have too many of them, since its output and its steps are bounded.
func (d *Draft) largest(results []Passage, room int) (most int) {
	for low, high := 1, len(results); low <= high; {
		n := (low + high) / 2
		if need, err := d.render(results[:n]); err == nil && need <= room {
			most, low = n, n+1
		} else {
			high = n - 1
		}
	}
	return most
}

// tooLong returns the fault of a prompt that does not fit with one result: either the result or the rest is too long.
func (p *Plan) tooLong(d *Draft, need, room int) error {
	field, what := maxResultsField, "with the first result alone"
	if bare, err := d.render(nil); err == nil && bare > room {
		field, what, need = templateField, "without any result", bare
	}
	return fault.InvalidSentence(field, "the prompt needs about %d tokens %s, and the language model %q takes %d beside its answer; "+
		"ask for less text around each result, or for another model", need, what, p.model.Name, room)
}

// renderFault returns the fault of a prompt with at most one result. The template is not at fault if it works without that result.
func (p *Plan) renderFault(d *Draft, err error) error {
	var limit *vtl.LimitError
	if !errors.As(err, &limit) || limit.Limit != "output" && limit.Limit != "memory" || len(d.used) == 0 {
		return err
	}
	if _, bare := d.render(nil); bare != nil {
		return err
	}
	return fault.InvalidSentence(maxResultsField, "the first result alone is longer than a prompt may be (%d bytes); ask for less text around each result", vtl.Defaults.Output)
}

// render renders the prompt over some results and returns about how many tokens it has.
func (d *Draft) render(results []Passage) (tokens int, err error) {
	r := &d.plan.request
	d.used = results
	d.rendered, err = d.plan.prompt.Render(PromptInput{
		Question: r.Question, Results: results, Characters: r.Characters, Language: d.language,
	})
	if err != nil {
		return 0, llm.Named(err, templateField)
	}
	return (&llm.Request{Messages: d.rendered.Messages}).Tokens(), nil
}
