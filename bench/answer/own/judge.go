package own

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"quarry/internal/answer/generate"
	"quarry/internal/httpapi/queries"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin"
	"quarry/internal/query"
)

// Judge asks the questions of all sets with nothing but defaults and calls f with what the embedded generator would quote first.
func Judge(ctx context.Context, vectors string, f func(Question, builtin.Judgement)) error {
	return eachSet(ctx, vectors, func(s *service, set Set) error {
		j := &model{provider: builtin.New(s.encoders)}
		planner := generate.New(preset{}, j, nil, slog.New(slog.DiscardHandler))
		asked := query.New(query.Config{Searcher: s.evaluation.Retrieve(), Planner: planner, Models: j})
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
		return nil
	})
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
