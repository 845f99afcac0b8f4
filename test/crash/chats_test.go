package crash

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"

	"quarry/internal/testkit"
)

// talks is the number of chats that each worker has at a time: 200 in all.
const talks = 50

// said is a turn as the test knows it.
type said struct {
	id, question, answer string
	enabled              bool
}

// talk is a chat as the test knows it; the zero value is none.
type talk struct {
	id    string
	turns []said
}

// attempt is a change whose answer did not come: the chat at place is as before or, as a whole, as after. What the server
// would have made up is empty in after.
type attempt struct {
	place int
	after talk
}

// chatLoad is the load of one round. Each worker owns its chats, so that what it knows is exact.
type chatLoad struct {
	client *testkit.Client
	mu     sync.Mutex
	left   int    // acknowledgements until the kill; guarded by mu
	kill   func() // guarded by mu
	asked  [workers]int
	known  [workers][talks]talk
	lost   [workers]*attempt
}

// TestKillChats proves that after any kill each chat has exactly the turns that were acknowledged, in their order and
// state, and that the change in flight was made as a whole or not at all.
func TestKillChats(t *testing.T) {
	t.Parallel()
	dir, seed := t.TempDir(), rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	l := &chatLoad{}
	for round := range *rounds {
		p := testkit.StartBinary(t, dir)
		l.client = p.Client()
		if round == 0 {
			l.client.Must(t, http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": "crash"})
			l.client.Must(t, http.StatusCreated, "POST", corpus+"/documents", core(0, 0))
		}
		l.verify(t, round)
		l.left, l.kill = 10+r.IntN(90), p.Kill
		var group sync.WaitGroup
		for w := range workers {
			worker := rand.New(rand.NewPCG(seed, uint64(round*workers+w+1)))
			group.Go(func() { l.work(t, w, worker) })
		}
		group.Wait()
	}
	p := testkit.StartBinary(t, dir)
	l.client = p.Client()
	l.verify(t, *rounds)
	if err := p.Stop(); err != nil {
		t.Errorf("the last stop: %v\n%s", err, p.Log())
	}
}

// work changes chats until the program is dead.
func (l *chatLoad) work(t *testing.T, w int, r *rand.Rand) {
	for {
		place := r.IntN(talks)
		before := l.known[w][place]
		after, ok := l.change(t, w, before, r)
		if !ok {
			l.lost[w] = &attempt{place, after}
			return
		}
		l.known[w][place] = after
		l.mu.Lock()
		if l.left--; l.left == 0 {
			l.kill()
		}
		l.mu.Unlock()
	}
}

// change makes a random change of a chat and returns what it leaves; ok is false when no answer came.
func (l *chatLoad) change(t *testing.T, w int, c talk, r *rand.Rand) (after talk, ok bool) {
	path := "/v2/chats/" + c.id
	n := r.IntN(10)
	switch {
	case c.id == "":
		return l.ask(t, w, c, "/v2/chats")
	case n < 6 && c.turns[0].enabled:
		return l.ask(t, w, c, path+"/turns")
	case n == 6:
		return talk{}, l.send(t, http.StatusNoContent, "DELETE", path, nil)
	}
	i := r.IntN(len(c.turns))
	path += "/turns/" + c.turns[i].id
	after = talk{c.id, slices.Clone(c.turns)}
	if n < 8 {
		if after.turns = after.turns[:i]; i == 0 {
			after = talk{}
		}
		return after, l.send(t, http.StatusNoContent, "DELETE", path, nil)
	}
	for ; i < len(after.turns); i++ {
		after.turns[i].enabled = false
	}
	return after, l.send(t, http.StatusOK, "PATCH", path, map[string]any{"enabled": false})
}

// ask asks a question that no other turn has.
func (l *chatLoad) ask(t *testing.T, w int, c talk, path string) (after talk, ok bool) {
	l.asked[w]++
	question := fmt.Sprintf("At how many bar does valve %d of worker %d open?", l.asked[w], w)
	after = talk{c.id, append(slices.Clone(c.turns), said{question: question, enabled: true})}
	status, got, err := l.client.Do("POST", path, map[string]any{
		"query": question, "search": map[string]any{"limit": 1, "corpora": []any{map[string]any{"corpus_key": "crash"}}},
	})
	if err != nil {
		return after, false
	}
	if status != http.StatusOK {
		t.Errorf("POST %s: %d %v", path, status, got)
	}
	turn := &after.turns[len(c.turns)]
	after.id, _ = got["chat_id"].(string)
	turn.id, _ = got["turn_id"].(string)
	turn.answer, _ = got["answer"].(string)
	return after, true
}

// send reports whether an answer came, which must have a status.
func (l *chatLoad) send(t *testing.T, want int, method, path string, body any) bool {
	status, got, err := l.client.Do(method, path, body)
	if err == nil && status != want {
		t.Errorf("%s %s: %d %v, want %d", method, path, status, got, want)
	}
	return err == nil
}

// stored reads every chat, by its id.
func (l *chatLoad) stored(t *testing.T) map[string]talk {
	t.Helper()
	out := map[string]talk{}
	for _, c := range l.client.Must(t, http.StatusOK, "GET", "/v2/chats?limit=10000", nil)["chats"].([]any) {
		head := c.(map[string]any)
		c := talk{id: head["id"].(string)}
		for _, x := range l.client.Must(t, http.StatusOK, "GET", "/v2/chats/"+c.id+"/turns", nil)["turns"].([]any) {
			x := x.(map[string]any)
			c.turns = append(c.turns, said{x["id"].(string), x["query"].(string), x["answer"].(string), x["enabled"].(bool)})
		}
		if len(c.turns) == 0 || c.turns[0].question != head["first_query"] || c.turns[0].enabled != head["enabled"] {
			t.Fatalf("chat %v has the turns %+v", head, c.turns)
		}
		out[c.id] = c
	}
	return out
}

// is reports whether a chat is as an attempt would have left it.
func (c talk) is(after talk) bool {
	return (c.id == after.id || after.id == "" && len(after.turns) > 0) && slices.EqualFunc(c.turns, after.turns, func(a, b said) bool {
		if b.id == "" {
			return a.answer != "" && a.question == b.question && a.enabled == b.enabled
		}
		return a == b
	})
}

// verify compares what is known with what is stored, and settles what was in flight.
func (l *chatLoad) verify(t *testing.T, round int) {
	t.Helper()
	stored := l.stored(t)
	for w := range workers {
		if lost := l.lost[w]; lost != nil {
			l.settle(stored, w, lost)
			l.lost[w] = nil
		}
		for _, want := range l.known[w] {
			if got := stored[want.id]; !got.is(want) {
				t.Fatalf("round %d: chat %s is %+v, and was acknowledged as %+v", round, want.id, got.turns, want.turns)
			}
			delete(stored, want.id)
		}
	}
	for _, c := range stored {
		t.Fatalf("round %d: a chat is there that was deleted or never asked for: %+v", round, c)
	}
}

// settle takes what an attempt left for known if it was made.
func (l *chatLoad) settle(stored map[string]talk, w int, lost *attempt) {
	known := &l.known[w][lost.place]
	if lost.after.id != "" || len(lost.after.turns) == 0 {
		if got := stored[known.id]; got.is(lost.after) {
			*known = got
		}
		return
	}
	for _, got := range stored { // a chat that was opened, whose id nobody was told
		if got.is(lost.after) {
			*known = got
		}
	}
}
