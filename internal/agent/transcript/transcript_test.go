package transcript_test

import (
	"strings"
	"testing"

	"quarry/internal/agent/reminder"
	"quarry/internal/agent/session"
	"quarry/internal/agent/transcript"
	"quarry/internal/llm"
)

// plain returns messages, a word each.
func plain(all []llm.Message) string {
	var out []string
	for _, m := range all {
		out = append(out, string(m.Role)[:1]+":"+m.Plain())
	}
	return strings.Join(out, " | ")
}

// numbered gives events their places in the log.
func numbered(events ...session.Event) []session.Event {
	for i := range events {
		events[i].Ord = int64(i + 1)
	}
	return events
}

func input(parts ...session.Part) session.Event {
	return session.Event{Type: session.InputMessage, Body: session.Body{Parts: parts}}
}

func loaded(call, text string) session.Event {
	return session.Event{Type: session.SkillLoad, Body: session.Body{Skill: "s", CallID: call, Text: text}}
}

// TestSkillsOfInputs proves that parts that load skills are no text of their input, that an input of such parts alone is no message,
// and that the embedded generator reads contents before the question.
func TestSkillsOfInputs(t *testing.T) {
	t.Parallel()
	events := numbered(
		input(session.Part{Skill: "s"}, session.Part{Text: "a"}), loaded("", "S"), loaded("", "T"), session.Event{Type: session.AgentOutput, Body: session.Body{Text: "b"}},
		input(session.Part{Skill: "s"}), loaded("", "U"),
	)
	if got := plain(transcript.Messages(events)); got != "u:a | u:S | u:T | a:b | u:U" {
		t.Error(got)
	}
	if got := plain(transcript.Messages(transcript.Quotable(events))); got != "u:S | u:T | u:a | a:b | u:U" {
		t.Error(got)
	}
	if got := transcript.Question(events); got != "" {
		t.Error(got)
	}
}

// TestReminderCounts proves the firing rule: each hook is counted by itself over the visible events, and anew behind a compaction,
// also for the event that a model never reads; a reminder without a word is none.
func TestReminderCounts(t *testing.T) {
	t.Parallel()
	say := func(text string) session.Event { return input(session.Part{Text: text}) }
	output := session.Event{Type: session.ToolOutput, Body: session.Body{CallID: "c", Output: []byte("{}")}}
	events := numbered(
		say("0"), output, say("1"), say("2"), say("3"), session.Event{Type: session.Compaction, Body: session.Body{Text: "sum"}}, say("0"), say("1"), say("2"),
	)
	beside := func(every, skip int, text string) reminder.Ready {
		return reminder.Ready{Reminder: &reminder.Reminder{Hooks: []reminder.Hook{reminder.Input}, Every: every, Skip: skip}, Text: text}
	}
	for want, r := range map[string]reminder.Ready{
		"u:0 | u:1+ | u:2 | u:3+ | u:0 | u:1+ | u:2":     beside(2, 1, "+"),
		"u:0+ | u:1+ | u:2+ | u:3+ | u:0+ | u:1+ | u:2+": beside(1, 0, "+"),
		"u:0 | u:1 | u:2 | u:3+ | u:0 | u:1 | u:2":       beside(1, 3, "+"),
		"u:0 | u:1 | u:2 | u:3 | u:0 | u:1 | u:2":        beside(1, 0, " \n"),
	} {
		got := strings.ReplaceAll(plain(transcript.Messages(events, r)), "\n\n", "")
		if got = strings.TrimPrefix(got, "u:"+transcript.Before+"sum | "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
