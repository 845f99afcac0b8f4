package main

import (
	"context"
	"crypto/sha256"
	"strings"

	"quarry/bench/answer/own"
	"quarry/internal/provider/builtin"
	"quarry/internal/provider/builtin/confidence"
)

// example is a question with its passages or, not held, without those that answer it.
type example struct {
	Set, Language string
	Second        bool // half of the set, by a hash of the question
	Held          bool // the passages that answer are among those given
	Right         bool // the sentence that would be quoted first has the answer
	Best          []confidence.Features
}

// examine adds the examples of a question to those of the bench.
func (b *bench) examine(ctx context.Context, set string, a question) error {
	for _, held := range []bool{true, false} {
		j, err := b.generator.Judge(ctx, request(a, held))
		if err != nil {
			return err
		}
		b.add(set, a.text, held, held && a.answer != "" && strings.Contains(j.Text, a.answer), j)
	}
	return nil
}

func (b *bench) add(set, question string, held, right bool, j builtin.Judgement) {
	if len(j.Best) == 0 {
		return
	}
	second := sha256.Sum256([]byte(question))[0]&1 == 1
	b.examples = append(b.examples, example{set, j.Language, second, held, right, j.Best})
}

// ours adds the examples of our own questions, of both halves: the second is the unseen one.
func (b *bench) ours(ctx context.Context) error {
	return own.Judge(ctx, b.vectors, func(q own.Question, j builtin.Judgement) {
		b.add("own", q.Question, !q.None, q.Answers(j.Text), j)
	})
}
