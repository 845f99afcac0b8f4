package trace

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"quarry/internal/cli/command"
)

// span is a step of a trace.
type span struct {
	ID         string                     `json:"span_id"`
	Parent     string                     `json:"parent_span_id"`
	Operation  string                     `json:"operation"`
	Started    string                     `json:"started_at"`
	Duration   int64                      `json:"duration_ms"`
	Status     string                     `json:"status"`
	Message    string                     `json:"error_message"`
	Error      string                     `json:"error_type"`
	ToolError  string                     `json:"tool_error_type"`
	Step       string                     `json:"step_name"`
	Event      string                     `json:"event_id"`
	Attributes map[string]json.RawMessage `json:"attributes"`
	Content    map[string]string          `json:"content"`
}

// failure returns why a span failed, "" if it did not.
func (s *span) failure() string {
	if s.Status != "error" {
		return ""
	}
	return strings.Trim(s.Error+s.ToolError+": "+s.Message, ": ")
}

// text returns an attribute that is a text, "" without it.
func (s *span) text(name string) (out string) {
	_ = json.Unmarshal(s.Attributes[name], &out) // anything else shows as nothing
	return out
}

func (s *span) number(name string) (out int64) {
	_ = json.Unmarshal(s.Attributes[name], &out)
	return out
}

// title returns what a span is, in a few words.
func (s *span) title() string {
	words := []string{s.Operation}
	switch s.Operation {
	case "invoke_agent":
		words = append(words, s.text("agent_name"))
	case "chat":
		words = append(words, s.text("model"))
	case "execute_tool":
		words = append(words, s.text("tool_name"))
		if key := s.text("tool_key"); key != s.text("tool_name") && key != "" {
			words = append(words, "("+key+")")
		}
	case "step_transition":
		words = append(words, s.text("from_step"), "→", s.text("to_step"))
	case "image_read":
		words = append(words, s.text("artifact_id"))
	case "compaction":
		words = append(words, command.Count(s.number("turns_compacted"), "turn"))
	}
	title := strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	if failure := s.failure(); failure != "" {
		title += "  ✗ " + failure
	}
	return title
}

// tokens returns what a model read and wrote in a span, "" where it is of none.
func (s *span) tokens() (read, written string) {
	if s.Operation != "chat" {
		return "", ""
	}
	return command.Short(s.number("input_tokens")), command.Short(s.number("output_tokens"))
}

// printTree prints spans as a tree, those of one parent in the order in which they began. A span whose parent is not there is a root.
func printTree(e *command.Env, all []span) {
	known, children := map[string]bool{}, map[string][]*span{}
	for i := range all {
		known[all[i].ID] = true
	}
	for i := range all {
		s := &all[i]
		parent := s.Parent
		if !known[parent] {
			parent = ""
		}
		children[parent] = append(children[parent], s)
	}
	var first time.Time
	if len(all) > 0 {
		first, _ = time.Parse(time.RFC3339, all[0].Started) // they come in this order
	}
	fmt.Fprintf(e.Out, "\n%8s %8s %6s %6s  STEP\n", "AT", "TOOK", "READ", "WROTE")
	t := tree{e, children, first}
	for _, s := range children[""] {
		t.print(s, "", "")
	}
}

// tree prints spans below one another.
type tree struct {
	env      *command.Env
	children map[string][]*span
	first    time.Time
}

// print prints a span behind the lines of the branches that lead to it, and its children behind those that go on.
func (t *tree) print(s *span, branch, on string) {
	at, _ := time.Parse(time.RFC3339, s.Started) // an instant of the service
	read, written := s.tokens()
	head := fmt.Sprintf("%8s %8s %6s %6s  %s", took(max(0, at.Sub(t.first).Milliseconds())), took(s.Duration), read, written, branch)
	fmt.Fprintln(t.env.Out, command.Line(t.env.Out, head, s.title()))
	below := t.children[s.ID]
	for _, name := range sorted(s.Content) {
		if s.Content[name] == "" {
			continue
		}
		bar := on + "   "
		if len(below) > 0 {
			bar = on + "│  "
		}
		for line := range strings.Lines(name + ": " + command.Prose(s.Content[name])) {
			command.WrapAfter(t.env.Out, strings.Repeat(" ", 33)+bar, strings.TrimRight(line, "\n"))
		}
	}
	for i, child := range below {
		if i < len(below)-1 {
			t.print(child, on+"├─ ", on+"│  ")
		} else {
			t.print(child, on+"└─ ", on+"   ")
		}
	}
}

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// plain returns a value as text: a text without its quotes, everything else as JSON, nothing for null and what is empty.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	if s := string(raw); s != "null" && s != "[]" {
		return s
	}
	return ""
}
