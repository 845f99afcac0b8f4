package examples

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Before is testdata/before.yaml: what examples need that they don't show.
type Before struct {
	// Provider is the address that examples show as that of a provider of language models.
	Provider string `yaml:"provider"`
	// Tools is the address that examples show as that of a tool server.
	Tools string `yaml:"tools"`
	// Moments are, by moments that examples show, how long after the present the ones are that stand in for them.
	Moments map[string]time.Duration `yaml:"moments"`
	// Free are members of answers whose value differs from service to service.
	Free []string `yaml:"free"`
	// Examples has, by example, the examples that are sent before it.
	Examples map[string][]string `yaml:"examples"`
	// Tokens has, by example, the access token that it is sent with instead of the owner's key, as an example shows it.
	Tokens map[string]string `yaml:"tokens"`
	// Refusals has, by shared response of the contract, a request that gets it.
	Refusals map[string]Refusal `yaml:"refusals"`
}

// Refusal is an example that is sent with something wrong about it.
type Refusal struct {
	Of     string            `yaml:"of"`
	Status int               `yaml:"status"`
	After  []string          `yaml:"after"` // sent after the examples that Of builds on
	Key    string            `yaml:"key"`   // instead of the owner's, as an example shows it
	Params map[string]string `yaml:"params"`
	Body   any               `yaml:"body"`
}

// refuse sends what r describes and compares the refusal with the one that the contract shows.
func (s *service) refuse(all map[string]*Example, r Refusal, shown any) error {
	of := all[r.Of]
	if of == nil {
		return fmt.Errorf("there is no example %s", r.Of)
	}
	for _, earlier := range slices.Concat(s.before.Examples[r.Of], r.After) {
		if err := s.run(all, earlier); err != nil {
			return err
		}
	}
	wrong := *of
	wrong.Status, wrong.Answer, wrong.Events = r.Status, shown, nil
	wrong.Params = maps.Clone(of.Params)
	maps.Copy(wrong.Params, r.Params)
	if r.Body != nil {
		wrong.Body = r.Body
	}
	if r.Key != "" {
		s.key = s.standIns.text(r.Key)
	}
	return s.send(&wrong)
}
