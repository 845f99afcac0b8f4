// Package verify scores how far sources support a text, as a number from 0 to 1. It compares sentences by meaning and by words
// and looks for numbers, names and negations that differ; a language model can judge instead. Packages generate, verify/correct
// and httpapi/consistency call it. It finds no sources and writes no answers.
package verify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"unicode/utf8"

	"quarry/internal/embed"
	"quarry/internal/llm"
)

// ErrLanguage is returned when text, question and sources are in languages that the score does not serve.
var ErrLanguage = errors.New("the language is not one that the consistency score serves")

// ErrTooLong is returned when text and sources together exceed Window.
var ErrTooLong = fmt.Errorf("text and sources together have more than %d tokens, the most that the consistency score takes", Window)

// Window is the most tokens of text and sources together.
const Window = 16 << 10

// The lowest and the highest score: it is never certain.
const lowest, highest = 0.001, 0.999

// Claim is a text with what should support it.
type Claim struct {
	Text     string
	Sources  []string
	Question string // that Text answers; "" for none. A short answer, such as "Yes.", is judged together with it
	Language string // ISO 639-3, of the question, for a text whose own can't be detected
	Any      bool   // a language that is not served is scored as well as possible
}

// Score is how far a text is supported.
type Score struct {
	Value float64 // the calibrated probability that all of it is, within 0.001..0.999
	By    string  // the language model that judged; "" for the embedded means
}

// Config is what a Service needs.
type Config struct {
	Encoder embed.Encoder // an embed.Reader sees words; with any other the score rests on sentences alone
	Models  llm.Models    // that may judge and correct; nil when there are none. The embedded one can do neither
	Judge   string        // the language model that scores, "" for the embedded means
	Log     *slog.Logger
}

// Service scores and corrects. It is safe for concurrent use.
type Service struct {
	cfg Config
}

// New returns the service.
func New(c Config) *Service {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{c}
}

// Score scores how far c.Text is supported by c.Sources. Errors: ErrLanguage, ErrTooLong, those of ctx, and failures of
// the encoder. A text that says nothing (no letter, no digit) is supported; without sources nothing is.
func (s *Service) Score(ctx context.Context, c Claim) (Score, error) {
	lang, err := Language(c)
	if err != nil {
		return Score{}, err
	}
	if s.TooLong(c) {
		return Score{}, ErrTooLong
	}
	if s.cfg.Judge != "" {
		score, err := s.judge(ctx, c)
		if err == nil || ctx.Err() != nil {
			return score, err
		}
		s.cfg.Log.WarnContext(ctx, "the language model gave no consistency score, the embedded means did", "model", s.cfg.Judge, "error", err)
	}
	found, err := s.examine(ctx, c, lang)
	if err != nil {
		return Score{}, fmt.Errorf("score consistency: %w", err)
	}
	return Score{Value: shipped.Text(found)}, nil
}

// TooLong reports whether a claim exceeds Window. It counts the encoder's tokens if the encoder can split texts, otherwise four
// characters as a token. Texts that certainly fit or do not fit are not counted.
func (s *Service) TooLong(c Claim) bool {
	texts := append([]string{c.Text, c.Question}, c.Sources...)
	bytes := 0
	for _, t := range texts {
		bytes += len(t)
	}
	if bytes <= Window {
		return false // a token covers a byte at the least
	}
	if bytes > 64*Window {
		return true
	}
	splitter, ok := s.cfg.Encoder.(embed.Splitter)
	n := 0
	for _, t := range texts {
		if !ok {
			n += utf8.RuneCountInString(t) / 4
			continue
		}
		_, tokens := splitter.Split(t)
		for _, k := range tokens {
			n += k
		}
	}
	return n > Window
}
