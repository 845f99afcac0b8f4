package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"quarry/internal/provider/scripted"
	"quarry/internal/provider/scripted/transcript"
)

// levels is how many levels of agents are below the first one.
const levels = 5

// chain makes agents of which each calls the next by the tool down, the last of them the agent bottom, and returns the key of the first.
func (b *bench) chain(name, bottom string, below int) (string, error) {
	if _, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/llms", map[string]any{
		"type": "openai-compatible", "name": name, "model": "told", "uri": b.at, "capabilities": map[string]any{"context_limit": 2_000_000},
	}); err != nil {
		return "", err
	}
	for range below {
		key := fmt.Sprintf("%s-%d", name, below)
		below--
		if _, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/agents", map[string]any{
			"key": key, "name": key, "model": map[string]any{"name": name},
			"tool_configurations": map[string]any{"down": map[string]any{
				"type": "sub_agent", "sub_agent_configuration": map[string]any{"agent_key": bottom, "session_mode": "persistent"},
			}},
		}); err != nil {
			return "", err
		}
		bottom = key
	}
	return bottom, nil
}

// down returns the message by which so many agents call the next one, the last of which is asked.
func down(below int) string {
	message := asked
	for range below {
		told, _ := json.Marshal([]any{ // always encodes
			map[string]any{"calls": []any{map[string]any{"name": "down", "arguments": map[string]any{"message": message}}}}, map[string]any{"text": "Done."},
		})
		message = string(told)
	}
	return message
}

func said(text string) map[string]any {
	return map[string]any{"stream_response": true, "messages": []any{map[string]any{"type": "text", "content": text}}}
}

// below measures what a call of another agent takes beside that agent's turn, and interrupts of five levels.
func (b *bench) below() error {
	b.provider.Model("quick", scripted.Reply{Text: "Every year."})
	first, err := b.chain("over", "quick", 1)
	if err != nil {
		return err
	}
	var alone, called []time.Duration
	own, above := "", ""
	for i := range b.rounds + b.rounds/10 {
		if i%20 == 0 {
			if own, err = b.session("quick"); err != nil {
				return err
			}
			if above, err = b.session(first); err != nil {
				return err
			}
		}
		began := time.Now()
		if _, err := b.Must(http.StatusCreated, http.MethodPost, own, input(fmt.Sprint(i), "", false)); err != nil {
			return err
		}
		turn := time.Since(began)
		s, err := b.stream(above, said(down(1)))
		if err != nil {
			return err
		}
		if err := s.until("tool_input"); err != nil {
			return err
		}
		began = time.Now()
		if err := s.until("tool_output"); err != nil {
			return err
		}
		call := time.Since(began)
		if err := s.until("end"); err != nil {
			return err
		}
		if s.close(); i >= b.rounds/10 { // before that it warms up
			alone, called = append(alone, turn), append(called, call)
		}
	}
	fmt.Printf("Calls of an agent by another, %d, one after another, 20 to a session:\n\n| | p50 | p95 |\n|---|---|---|\n", b.rounds)
	row("a turn of the agent that is called, sent by a client", alone)
	row("a call of it, from tool_input to tool_output in the stream", called)
	fmt.Printf("\nA call over the turn: %s p50 (bar: 5 ms)\n\n", ms(at(called, 0.5)-at(alone, 0.5)))
	return b.endBelow()
}

// endBelow measures interrupts of a session that waits for five levels of agents.
func (b *bench) endBelow() error {
	if err := b.agent("deepest"); err != nil { // before it is held, since its connection is tested
		return err
	}
	gate, came := scripted.NewGate(), make(chan bool, 1)
	defer gate.Open()
	b.provider.Respond("deepest", func(*transcript.Transcript) scripted.Reply {
		came <- true
		return scripted.Reply{Text: "Every year.", Held: gate}
	})
	first, err := b.chain("deep", "deepest", levels)
	if err != nil {
		return err
	}
	const rounds = 50
	var answered []time.Duration
	for range rounds {
		path, err := b.session(first)
		if err != nil {
			return err
		}
		s, err := b.stream(path, said(down(levels)))
		if err != nil {
			return err
		}
		<-came
		began := time.Now()
		if _, err := b.Must(http.StatusCreated, http.MethodPost, path, map[string]any{"type": "interrupt"}); err != nil {
			return err
		}
		answered = append(answered, time.Since(began))
		s.close()
	}
	fmt.Printf("Interrupts of a session that waits for %d levels of agents, %d (bar: 100 ms):\n\n| until | p50 | p95 | most |\n|---|---|---|---|\n", levels, rounds)
	most("the interrupt is answered, and all levels have ended", answered)
	fmt.Println()
	return nil
}
