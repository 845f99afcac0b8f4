package openai

import (
	"strings"

	"quarry/internal/provider"
)

// fence takes structured output out of a code block, as models write it whose servers do not enforce a form. Text that begins
// otherwise is passed on at once.
type fence struct {
	held    strings.Builder
	decided bool // it is known whether the text is fenced
	fenced  bool
}

const ticks = "```"

// text passes a piece of the answer on, or holds it back.
func (f *fence) text(b *provider.Builder, piece string) error {
	if !b.Structured() || f.decided && !f.fenced {
		return b.Text(piece)
	}
	f.held.WriteString(piece)
	if f.decided {
		return nil
	}
	begin := strings.TrimLeft(f.held.String(), " \t\r\n")
	if len(begin) < len(ticks) && strings.HasPrefix(ticks, begin) {
		return nil
	}
	f.decided, f.fenced = true, strings.HasPrefix(begin, ticks)
	if f.fenced {
		return nil
	}
	return b.Text(f.held.String())
}

// end passes on what was held back, without the fence.
func (f *fence) end(b *provider.Builder) error {
	if f.decided && !f.fenced {
		return nil
	}
	text := strings.TrimSpace(f.held.String())
	if inner, ok := strings.CutPrefix(text, ticks); ok {
		if first, rest, ok := strings.Cut(inner, "\n"); ok && !strings.ContainsAny(first, "{[\"") {
			inner = rest
		}
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(inner), ticks))
	}
	return b.Text(text)
}
