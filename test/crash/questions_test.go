package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quarry/internal/sse"
)

const (
	// breaks is the word at which the model breaks off.
	breaks = "unanswerable"
	// pace is the time between two words of the model.
	pace = 3 * time.Millisecond
	// rooms is the number of chats in which all workers ask.
	rooms = 4
)

// question is a question that is asked once.
type question struct {
	text              string
	written, streamed bool // by the model outside; as events
}

func (q question) breaks() bool { return strings.Contains(q.text, breaks) }

// question returns a question that no other turn has.
func (l *chatLoad) question(w int, r *rand.Rand) question {
	l.asked[w]++
	q := question{text: fmt.Sprintf("At how many bar does valve %d of worker %d open?", l.asked[w], w), streamed: r.IntN(2) == 0}
	switch r.IntN(10) {
	case 0:
		q.written, q.text = true, q.text+" It is "+breaks+"."
	case 1, 2:
		q.written = true
	}
	return q
}

// turn is a turn that is stored.
type turn struct {
	said
	chat  string
	ended bool // its answer came to its end
}

// reply is how a question ended.
type reply int

const (
	none     reply = iota // nobody was told: the program is dead
	broken                // the model broke off: nothing is stored
	answered              // it is stored
)

// ask asks a question. err is an answer that the question should not have.
func (l *chatLoad) ask(path string, q question) (turn, reply, error) {
	body := map[string]any{
		"query": q.text, "search": map[string]any{"limit": 1, "corpora": []any{map[string]any{"corpus_key": "crash"}}}, "stream_response": q.streamed,
	}
	if q.written {
		body["generation"] = map[string]any{"model_parameters": map[string]any{"llm_name": "writer"}}
	}
	if q.streamed {
		return l.stream(path, q, body)
	}
	status, got, err := l.client.Do("POST", path, body)
	switch {
	case err != nil:
		return turn{}, none, nil
	case q.breaks() && status == http.StatusBadGateway:
		return turn{}, broken, nil
	case q.breaks() || status != http.StatusOK:
		return turn{}, none, fmt.Errorf("%q is answered with %d %v", q.text, status, got)
	}
	out := turn{said: said{question: q.text, enabled: true}, ended: true}
	out.chat, _ = got["chat_id"].(string)
	out.id, _ = got["turn_id"].(string)
	out.answer, _ = got["answer"].(string)
	return out, answered, nil
}

// stream asks for events. A turn is acknowledged by generation_end, whatever follows.
func (l *chatLoad) stream(path string, q question, body map[string]any) (out turn, came reply, err error) {
	raw, _ := json.Marshal(body) // strings always encode
	req, err := http.NewRequest("POST", l.client.URL+path, bytes.NewReader(raw))
	if err != nil {
		return out, none, err
	}
	req.Header.Set("x-api-key", l.client.Key)
	req.Header.Set("Content-Type", "application/json")
	res, err := l.client.HTTP.Do(req)
	if err != nil {
		return out, none, nil
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return out, none, fmt.Errorf("the stream of %q begins with %d", q.text, res.StatusCode)
	}
	out.said = said{question: q.text, enabled: true}
	events := sse.NewReader(res.Body, sse.Limits{})
	for {
		e, err := events.Next()
		if err != nil {
			return out, came, nil
		}
		var in struct {
			Chat  string `json:"chat_id"`
			Turn  string `json:"turn_id"`
			Chunk string `json:"generation_chunk"`
		}
		if err := json.Unmarshal(e.Data, &in); err != nil {
			return out, came, err
		}
		switch e.Name {
		case "chat_info":
			out.chat, out.id = in.Chat, in.Turn
		case "generation_chunk":
			out.answer += in.Chunk
		case "generation_end":
			came = answered
		case "error":
			came = broken
		case "end":
			out.ended = true
			if (came == broken) != q.breaks() {
				err = fmt.Errorf("the stream of %q ends with %s", q.text, e.Data)
			}
			return out, came, err
		}
	}
}

// clock counts what happens in rooms.
var clock atomic.Int64

// room is a chat in which all workers ask.
type room struct {
	id    string
	mu    sync.Mutex
	lines []line // guarded by mu
}

// line is a turn of a room. began and ended are when it was asked and acknowledged.
type line struct {
	said
	began, ended int64
}

// discuss asks in a room, and reports whether an answer came.
func (l *chatLoad) discuss(t *testing.T, r *room, q question) bool {
	began := clock.Add(1)
	turn, came, err := l.ask("/v2/chats/"+r.id+"/turns", q)
	if err != nil {
		t.Errorf("in a room: %v", err)
		return true
	}
	if came == answered && l.note(t, turn) != r.id {
		t.Errorf("turn %s of room %s is told as one of %s", turn.id, r.id, turn.chat)
	}
	if came == broken || q.breaks() {
		return came != none
	}
	one := line{said: said{question: q.text, enabled: true}, began: began}
	if came == answered {
		one.said, one.ended = turn.said, clock.Add(1)
	}
	r.mu.Lock()
	r.lines = append(r.lines, one)
	r.mu.Unlock()
	return came == answered
}

// settle compares a room with what is stored of it: every line that was acknowledged, in an order in which nothing stands
// before what was acknowledged before it was asked; and of the others some, whole. What is stored is known from then on.
func (r *room) settle(t *testing.T, round int, stored []said) {
	t.Helper()
	kept := make([]line, 0, len(stored))
	for _, s := range stored {
		i := slices.IndexFunc(r.lines, func(l line) bool { return l.question == s.question })
		if i < 0 || r.lines[i].id != "" && r.lines[i].said != s || s.answer == "" || !s.enabled {
			t.Fatalf("round %d: room %s has the turn %+v", round, r.id, s)
		}
		one := r.lines[i]
		r.lines = slices.Delete(r.lines, i, i+1)
		one.said = s
		for _, before := range kept {
			if one.ended > 0 && one.ended < before.began {
				t.Fatalf("round %d: in room %s %q stands before %q, which was there when it was asked", round, r.id, before.question, s.question)
			}
		}
		kept = append(kept, one)
	}
	for _, gone := range r.lines {
		if gone.id != "" {
			t.Fatalf("round %d: room %s lost %+v", round, r.id, gone.said)
		}
	}
	for i := range kept {
		if kept[i].ended == 0 {
			kept[i].ended = clock.Add(1)
		}
	}
	r.lines = kept
}
