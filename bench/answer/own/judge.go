package own

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"quarry/internal/answer/generate"
	"quarry/internal/httpapi/queries"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin"
	"quarry/internal/query"
)

// Judge asks the questions of all sets with nothing but defaults and calls f with what the embedded generator would quote first.
// A set whose documents can't be had is left out.
func Judge(ctx context.Context, vectors string, f func(Question, builtin.Judgement)) (err error) {
	sets, err := Sets()
	if err != nil {
		return err
	}
	dir, err := Folder()
	if err != nil {
		return err
	}
	s, err := open(ctx, vectors)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	j := &model{provider: builtin.New(s.encoders)}
	planner := generate.New(preset{}, j, nil, slog.New(slog.DiscardHandler))
	asked := query.New(query.Config{Searcher: s.evaluation.Retrieve(), Planner: planner, Models: j})
	for _, set := range sets {
		documents, err := set.Documents(ctx, dir, true)
		if missing := new(MissingError); errors.As(err, &missing) {
			fmt.Printf("skipped: set %s: %s\n", set.Name, missing.Text)
			continue
		}
		if err == nil {
			err = s.fill(ctx, set.Name, documents)
		}
		if err != nil {
			return err
		}
		for _, q := range set.Questions {
			body, err := json.Marshal(ask(set.Name, q.Question))
			if err != nil {
				return err
			}
			r, err := queries.ParseChat(body)
			if err != nil {
				return err
			}
			j.last = builtin.Judgement{}
			if _, err := asked.Run(ctx, r.Ask, nil); err != nil {
				return fmt.Errorf("%s: %w", q.ID, err)
			}
			f(q, j.last)
		}
	}
	return nil
}

// preset is the one preset of a Judge. Its prompt is not looked at.
type preset struct{}

func (preset) Find(context.Context, string) (generate.Preset, error) {
	return generate.Preset{Template: "$vectaraQuery"}, nil
}

// model is the embedded generator as the only model, which judges in place of answering.
type model struct {
	provider *builtin.Provider
	last     builtin.Judgement
}

func (j *model) Model(context.Context, string) (*llm.Model, error) {
	return &llm.Model{Provider: j, Embedded: true, Can: llm.Abilities{Context: 1 << 20}}, nil
}

func (j *model) Stream(ctx context.Context, r llm.Request, emit func(llm.Event) error) (a llm.Answer, err error) {
	if j.last, err = j.provider.Judge(ctx, r); err != nil {
		return a, err
	}
	return a, emit(llm.Event{Text: "-"})
}
