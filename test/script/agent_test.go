package script

import (
	"strings"
	"testing"

	"quarry/internal/provider/scripted"
	"quarry/internal/provider/scripted/transcript"
	"quarry/internal/testkit"
)

func TestAgentOnATerminal(t *testing.T) {
	// Proves that a person sees thoughts, calls and answers of an agent, can interrupt a turn without ending the chat, and goes on
	// with the session later.
	t.Parallel()
	models := scripted.Start(t)
	env, quarry := pump(t)
	rounds := scripted.Rounds(
		scripted.Reply{Reasoning: "A filter it is.", Calls: []scripted.Call{{Name: "search", Pieces: []string{`{"query":"filter"}`}}}},
		scripted.Reply{Text: "Every 500 hours [1]."},
	)
	models.Respond("thoughtful", func(said *transcript.Transcript) scripted.Reply {
		if strings.Contains(said.Question(), "forever") {
			return scripted.Named("pace:100:100000", nil)
		}
		return rounds(said)
	})
	quarry("llm", "add", "mine", "--uri", models.URL+"/v1/chat/completions", "--model", "thoughtful", "--default")
	quarry("agent", "create", "helper", "--corpus", "pump")

	p, cmd := sit(t, env, testkit.Binary(t), "agent", "chat", "helper")
	p.await("mine answers")
	p.await("helper> ")
	p.press("wait forever" + enter)
	p.await("word word")
	p.press(ctrlC)
	p.await("interrupts the turn; Ctrl-C again leaves")
	p.await("\r\ninterrupted")
	p.await("helper> ")
	p.press("/sources" + enter)
	p.await("the last answer cites no passage")
	p.await("helper> ")
	p.press("Which?" + enter)
	p.await("thinks: A filter it is.")
	p.await(`calls search {"query":"filter"}`)
	p.await("search answered after ")
	p.await("Every 500 hours [1].")
	p.await("[1] a.md")
	p.await("helper> ")
	p.press(ctrlD)
	p.await("--session ")
	key, _, _ := strings.Cut(p.await("\r\n"), "\r")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the chat ends with %v", err)
	}
	if log := quarry("session", "events", "helper", key); !strings.Contains(log, "agent_output   word word") || !strings.Contains(log, "Every 500 hours [1].") {
		t.Errorf("the session is %.1000s", log)
	}

	p, cmd = sit(t, env, testkit.Binary(t), "agent", "chat", "helper", "--session", key)
	p.await("2 questions so far")
	p.await("> Which?")
	p.await("helper> ")
	p.press("/end" + enter)
	p.await("--session " + key)
	if err := cmd.Wait(); err != nil {
		t.Errorf("the chat ends with %v", err)
	}
}
