package generate

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"quarry/internal/llm"
)

// Exchange is an earlier question of a conversation with its answer.
type Exchange struct{ Question, Answer string }

// messages returns what was said.
func (e Exchange) messages() []llm.Message {
	return []llm.Message{llm.Text(llm.User, e.Question), llm.Text(llm.Assistant, e.Answer)}
}

// Memory is how much of a conversation a model can read. What is beyond it need not be read from anywhere.
type Memory struct {
	Exchanges int
	Bytes     int // of questions and answers together
}

// Earlier returns the exchanges of the conversation that a question belongs to, oldest first: the newest ones, as many as m
// admits.
type Earlier func(ctx context.Context, m Memory) ([]Exchange, error)

const (
	// mostQuoted is how many exchanges, the last ones, the embedded generator gets: it reads all of them for each answer, and
	// a long conversation must not make it slower and slower.
	mostQuoted = 30
	// bytesPerToken is the most that any text has, as package llm estimates it, and exchangeTokens the least that an exchange
	// takes.
	bytesPerToken  = 8
	exchangeTokens = 16
)

// memory returns how much of a conversation the model can read: nothing that would fit its context is left out.
func (p *Plan) memory() Memory {
	m := Memory{p.model.Can.Context / exchangeTokens, p.model.Can.Context * bytesPerToken}
	if p.model.Embedded {
		m.Exchanges = min(m.Exchanges, mostQuoted)
	}
	return m
}

// Earlier returns the exchanges that the plan was made with, oldest first.
func (p *Plan) Earlier() []Exchange { return p.earlier }

// remember puts earlier exchanges before the last message of the prompt: as many as fit in the room, in tokens, each as a
// whole, the last ones first. With any of them the text of the prompt is its messages as JSON, since the template does not
// show them.
func (d *Draft) remember(room int) {
	all := d.plan.earlier
	first := len(all)
	for ; first > 0; first-- {
		if room -= llm.MessageTokens(all[first-1].messages()...); room < 0 {
			break
		}
	}
	if first == len(all) {
		return
	}
	last := len(d.rendered.Messages) - 1
	messages := slices.Clone(d.rendered.Messages[:last])
	for _, e := range all[first:] {
		messages = append(messages, e.messages()...)
	}
	d.rendered.Messages = append(messages, d.rendered.Messages[last])
	d.rendered.Text = written(d.rendered.Messages)
}

// written returns messages in the form of the JSON that templates write.
func written(all []llm.Message) string {
	type message struct {
		Role    llm.Role `json:"role"`
		Content string   `json:"content"`
	}
	out := make([]message, len(all))
	for i, m := range all {
		out[i] = message{m.Role, m.Plain()}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(out) // strings always encode
	return string(bytes.TrimSpace(b.Bytes()))
}

// earlierShare is the score of what the user has said before, as a share of the best passage's.
const earlierShare = 0.6

// statements returns what the user has said before, the last first, as evidence without a number behind the passages: the
// embedded generator takes the statements from it and leaves the questions.
func (d *Draft) statements() []llm.Evidence {
	all := d.plan.earlier
	if len(all) == 0 || len(d.used) == 0 {
		return nil
	}
	score := d.used[0].Score * earlierShare
	for i := range d.used {
		score = min(score, d.used[i].Score)
	}
	out := make([]llm.Evidence, 0, len(all))
	for _, e := range slices.Backward(all) {
		out = append(out, llm.Evidence{Text: e.Question, Score: score})
	}
	return out
}
