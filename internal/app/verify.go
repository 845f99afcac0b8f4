package app

import (
	"context"

	"quarry/internal/answer/verify"
)

// verifier builds the service that scores and corrects texts.
func (a *App) verifier() *verify.Service {
	e, _ := a.encoders.Find("") // the default is always there
	return verify.New(verify.Config{
		Encoder: e, Judge: a.cfg.ConsistencyJudge, Log: a.log,
		Models: func(ctx context.Context, name string) (verify.Model, error) {
			m, err := a.Models.Model(ctx, name)
			if err != nil {
				return verify.Model{}, err
			}
			return verify.Model{Provider: m, Name: m.LLM.Name, Quotes: m.LLM.Platform}, nil
		},
	})
}
