package builtin

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/internal/clip"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin/tool"
	"quarry/internal/text/analysis"
	"quarry/internal/text/lang"
	"quarry/internal/text/sentence"
)

// conversation is the question of a request and the passages to answer it from.
type conversation struct {
	question string
	passages []llm.Evidence // best first
	given    bool           // the passages came as Request.Evidence
	called   bool           // a tool was called since the question was asked

	told struct{ from, to int } // the passages that messages of the system hold, see weed
	// Of the passages from before the question those that begin at past are what the user said, and those that begin at found
	// are results of tools.
	past, found int
}

// How many earlier messages are read, and the score of what they hold beside what was found for the question.
const (
	mostMessages = 60
	earlier      = 0.6
)

// parse returns the question and the passages of a request. Of evidence without a number, which is what the user said
// before, the statements are passages. Without Request.Evidence the passages are, in this order: the results
// of tools that were called for the question, the text around the question in its message, that of the system, and earlier
// statements and results, the last first. Messages of the model are not evidence.
func parse(r llm.Request) conversation {
	t := conversation{question: strings.TrimSpace(r.Question), passages: said(r.Evidence), given: len(r.Evidence) > 0}
	last := askedAt(r)
	for _, m := range r.Messages[last+1:] {
		t.called = t.called || m.Role == llm.Result || len(m.Calls) > 0
	}
	if t.given {
		if t.question == "" && last >= 0 {
			t.question, _ = findQuestion(r.Messages[last].Plain())
		}
		return t
	}
	for _, m := range r.Messages[last+1:] {
		if m.Role == llm.Result {
			for _, p := range readResult(m.Plain()) {
				if p.N > 0 {
					p.N = 1 + t.numbered()
				}
				t.passages = append(t.passages, p)
			}
		}
	}
	t.past, t.found = len(t.passages), len(t.passages)
	if last < 0 {
		return t
	}
	asked, around := findQuestion(r.Messages[last].Plain())
	if t.question == "" || t.question == strings.TrimSpace(r.Messages[last].Plain()) { // all of a message is rarely the question alone
		t.question = asked
	}
	for _, text := range around {
		t.passages = append(t.passages, llm.Evidence{Text: text, Score: 1})
	}
	t.tell(r.Messages)
	t.before(r.Messages[max(0, last-mostMessages):last])
	return t
}

// askedAt returns the index of the message that asks: the last of the user or, if the request has a question, the last one of
// those that holds it, since the steps of an agent hand over to each other in messages of the user. It returns -1 for none.
func askedAt(r llm.Request) int {
	last := -1
	for i, m := range slices.Backward(r.Messages) {
		text := m.Plain()
		if m.Role != llm.User || strings.TrimSpace(text) == "" {
			continue
		}
		if strings.Contains(text, r.Question) {
			return i
		}
		last = max(last, i)
	}
	return last
}

// numbered returns how many passages have a number.
func (t *conversation) numbered() int {
	n := 0
	for _, p := range t.passages {
		n = max(n, p.N)
	}
	return n
}

// before adds the statements of the user and the results of tools before the question.
func (t *conversation) before(messages []llm.Message) {
	t.past = len(t.passages)
	for _, m := range slices.Backward(messages) {
		if m.Role == llm.User {
			for _, text := range statements(m.Plain()) {
				t.passages = append(t.passages, llm.Evidence{Text: text, Score: earlier})
			}
		}
	}
	t.found = len(t.passages)
	for _, m := range slices.Backward(messages) {
		if m.Role == llm.Result {
			for _, p := range readResult(m.Plain()) {
				t.passages = append(t.passages, llm.Evidence{Text: p.Text, Score: earlier})
			}
		}
	}
}

const label = `\s*(?:question|query|q|frage|pregunta|context|kontext|contexto|contexte|passages?|documents?|sources?|text)\s*[:：]\s*`

// labels matches the label of a question or a context at the beginning of a text, lineLabels that of each line.
var (
	labels     = regexp.MustCompile(`(?i)^` + label)
	lineLabels = regexp.MustCompile(`(?im)^` + label)
)

// The longest message that is a question as a whole, and the longest last paragraph that is one, in bytes.
const (
	longQuestion  = 400
	longParagraph = 300
)

// findQuestion returns the question in a message and the texts around it: what ends in a question mark, else the last paragraph if
// that is short, else the first.
func findQuestion(text string) (asked string, around []string) {
	if asked, around = questionMarks(text); asked == "" {
		asked, around = shortParagraph(text)
	}
	return strings.TrimSpace(labels.ReplaceAllString(asked, "")), around
}

// questionMarks returns the sentences that end in a question mark, and the texts around them.
func questionMarks(text string) (asked string, around []string) {
	start := 0
	for _, s := range sentence.Split(text) {
		if last, _ := utf8.DecodeLastRuneInString(text[s.Start:s.End]); strings.ContainsRune("?？؟", last) {
			around = addAround(around, text[start:s.Start])
			asked = strings.TrimSpace(asked + " " + text[s.Start:s.End])
			start = s.End
		}
	}
	return asked, addAround(around, text[start:])
}

func shortParagraph(text string) (asked string, around []string) {
	var paragraphs []string
	for line := range strings.SplitSeq(text, "\n") {
		paragraphs = addAround(paragraphs, line)
	}
	switch n := len(paragraphs); {
	case n == 0:
		return "", nil
	case n == 1 && len(text) <= longQuestion:
		return strings.TrimSpace(text), nil
	case n == 1:
		spans := sentence.Split(text)
		return text[spans[0].Start:spans[0].End], addAround(nil, text[spans[0].End:])
	case len(paragraphs[n-1]) <= longParagraph:
		return paragraphs[n-1], paragraphs[:n-1]
	default:
		return clip.Head(paragraphs[0], longQuestion), paragraphs[1:]
	}
}

func addAround(out []string, text string) []string {
	if text = strings.TrimSpace(labels.ReplaceAllString(text, "")); text == "" {
		return out
	}
	return append(out, text)
}

// call returns the call that a request needs, nil for none: of a search tool, once for each question, or of any tool if the
// request requires one.
func (t conversation) call(r llm.Request) *llm.ToolCall {
	if len(r.Tools) == 0 || t.called {
		return nil
	}
	chosen, ok := tool.Choose(r.Tools, r.Choice, !t.given && worthSearching(t.question))
	if !ok {
		return nil
	}
	sum := sha256.Sum256(append([]byte(t.question+"\x00"+chosen.Name+"\x00"), byte(len(r.Messages))))
	return &llm.ToolCall{ID: "call_" + hex.EncodeToString(sum[:8]), Name: chosen.Name, Arguments: tool.Arguments(chosen, t.searchText(r))}
}

// worthSearching reports whether a message has words to search for: "thanks" has none.
func worthSearching(text string) bool {
	_, polite := greets(text)
	return !polite && len(analysis.Query(text, lang.Of(text, "")).Stems) > 0
}

// searchText returns the text to search for: the question, after the one before it if it has at most one word of its own.
func (t conversation) searchText(r llm.Request) string {
	if len(analysis.Query(t.question, lang.Of(t.question, "")).Stems) > 1 {
		return t.question
	}
	users := 0
	for _, m := range slices.Backward(r.Messages) {
		if m.Role != llm.User {
			continue
		}
		if users++; users == 2 {
			if before, _ := findQuestion(m.Plain()); before != "" {
				return before + " " + t.question
			}
		}
	}
	return t.question
}
