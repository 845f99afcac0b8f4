package builtin_test

import (
	"testing"

	"quarry/internal/llm"
)

// manual is a page on one subject, a result for each sentence.
var manual = []string{
	"The pump is fitted below the tank and held by two brackets.",
	"Replace the oil filter of the pump every 500 hours of operation.",
	"The tank holds 40 litres of rain water and must be emptied before frost.",
	"A red lamp shows that the motor of the pump is too hot.",
	"Let it cool for half an hour before it is started again.",
	"The hose between tank and pump must not be longer than three metres.",
	"Spare brackets and hoses are sold by every dealer of garden machines.",
	"Close the valve below the tank before the hose is taken off.",
	"The motor runs at 230 volts and draws 600 watts.",
	"In winter the pump is kept in a dry room.",
}

// Proves that questions which the results answer are answered, and that questions about the same subject to which they hold no answer are refused.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		question string
		none     bool
	}{
		{question: "How often is the oil filter of the pump replaced?"},
		{question: "How much water does the tank hold?"},
		{question: "What does the red lamp show?"},
		{question: "How long may the hose between tank and pump be?"},
		{question: "Where is the pump kept in winter?"},
		{question: "Who sells spare brackets?"},
		{"Who designed the pump?", true},
		{"When was the company founded?", true},
		{"What is the capital of Portugal?", true},
		{"How much does the pump weigh?", true},
		{"Which paint is used for the tank?", true},
		{"What is the telephone number of the service?", true},
	} {
		r := llm.Request{Question: c.question}
		for i, text := range manual {
			r.Evidence = append(r.Evidence, llm.Evidence{N: i + 1, Text: text, Score: 0.6 - 0.05*float64(i)})
		}
		if got := complete(t, r).Text; llm.IsNoAnswer(got) != c.none {
			t.Errorf("%q is answered by\n%s", c.question, got)
		}
	}
}
