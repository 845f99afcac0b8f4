package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"quarry/internal/answer/verify"
	"quarry/internal/query/evaluate"
)

// set is a collection of judged texts.
type set struct {
	name  string
	cases []*judged
	mean  [kinds]float64 // of the evidence
}

// judged is a text with its source and the judgement of people.
type judged struct {
	Source, Text string
	Supported    bool
	Refuted      bool       // contradicted by the source; other unsupported texts lack evidence
	sentences    []labelled // of the text, if each was judged
	found        []verify.Sentence
	labels       []bool // of found
}

type labelled struct {
	text       string
	consistent bool
}

func (c *judged) claim() verify.Claim {
	return verify.Claim{Text: c.Text, Sources: []string{c.Source}, Language: "eng", Any: true}
}

// examine computes the evidence for every text.
func (s *set) examine(ctx context.Context, v *verify.Service) error {
	for _, c := range s.cases {
		var err error
		if c.found, err = v.Examine(ctx, c.claim()); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for _, f := range c.found {
			c.labels = append(c.labels, c.label(c.Text[f.Start:f.End]))
		}
	}
	return nil
}

// label reports whether a sentence was judged to be supported.
func (c *judged) label(text string) bool {
	for _, s := range c.sentences {
		if strings.Contains(s.text, text) || strings.Contains(text, s.text) {
			return s.consistent
		}
	}
	return c.Supported
}

func readSets(data string) ([]*set, error) {
	qags := &set{name: "qags"}
	type summary struct {
		Source, Summary string
		Sentences       []struct {
			Sentence   string
			Consistent bool
		}
		Consistent bool
	}
	err := evaluate.Each(filepath.Join(data, "qags", "summaries.jsonl"), func(r summary) error {
		c := &judged{Source: r.Source, Text: r.Summary, Supported: r.Consistent}
		for _, s := range r.Sentences {
			c.sentences = append(c.sentences, labelled{s.Sentence, s.Consistent})
		}
		qags.cases = append(qags.cases, c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := []*set{qags}
	for _, name := range []string{"climate-fever-pairs", "scifact-claims"} {
		s := &set{name: name}
		type pair struct{ Source, Claim, Label string }
		err := evaluate.Each(filepath.Join(data, name, "pairs.jsonl"), func(r pair) error {
			s.cases = append(s.cases, &judged{
				Source: r.Source, Text: r.Claim, Supported: strings.HasPrefix(r.Label, "SUPPORT"),
				Refuted: r.Label == "REFUTES" || r.Label == "CONTRADICT",
			})
			return nil
		})
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
