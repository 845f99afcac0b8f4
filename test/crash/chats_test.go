package crash

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"

	"quarry/internal/provider/scripted"
	"quarry/internal/store/storetest"
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
// would have made up is empty in after. That holds for a turn whose answer was under way, too: it may have been stored
// before anybody was told, and then it is whole.
type attempt struct {
	place int
	after talk
}

// chatLoad is the load of one round. Each worker owns its chats, so that what it knows is exact; rooms belong to all.
type chatLoad struct {
	client *testkit.Client
	mu     sync.Mutex
	left   int    // acknowledgements until the kill; guarded by mu
	kill   func() // guarded by mu
	asked  [workers]int
	known  [workers][talks]talk
	lost   [workers]*attempt
	rooms  [rooms]room

	stored   map[string]string // the question of every turn that ever was there, by its id; guarded by mu
	chats    map[string]string // its chat, by its question; guarded by mu
	recorded map[string]bool   // questions whose answer came to its end: the history has them; guarded by mu
}

// TestKillChats proves that after any kill each chat has exactly the turns that were acknowledged, in their order and
// state, that the change in flight was made as a whole or not at all, that no id comes twice, and that the history names the
// chat of each turn that was stored and of no other. Questions are asked whole and as streams, of the embedded generator and
// of a model that takes its time or breaks off, also by all workers in the same chats.
func TestKillChats(t *testing.T) {
	t.Parallel()
	killChats(t, *rounds)
}

// TestKillChatsPostgres proves the same on PostgreSQL.
func TestKillChatsPostgres(t *testing.T) {
	t.Parallel()
	killChats(t, max(2, *rounds/9), "--database", storetest.Postgres(t))
}

func killChats(t *testing.T, kills int, args ...string) {
	t.Helper()
	dir, seed := t.TempDir(), rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	l := &chatLoad{stored: map[string]string{}, chats: map[string]string{}, recorded: map[string]bool{}}
	provider := writer(t)
	for round := range kills {
		p := testkit.StartBinary(t, dir, args...)
		l.client = p.Client()
		if round == 0 {
			l.furnish(t, provider)
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
	p := testkit.StartBinary(t, dir, args...)
	l.client = p.Client()
	l.verify(t, kills)
	l.verifyHistory(t)
	if err := p.Stop(); err != nil {
		t.Errorf("the last stop: %v\n%s", err, p.Log())
	}
}

// writer starts a model that writes for a tenth of a second, or breaks off in the middle where the question has the word.
func writer(t *testing.T) *scripted.Server {
	t.Helper()
	pieces := make([]string, 30)
	for i := range pieces {
		pieces[i] = fmt.Sprintf("%d bar ", i)
	}
	s := scripted.Start(t)
	s.Model("writer", scripted.Reply{Pieces: pieces, Pace: pace})
	s.On(breaks, scripted.Reply{Text: "At three bar, and then", Fault: scripted.Cut})
	return s
}

// furnish makes the corpus, the model, and the chats that all workers share.
func (l *chatLoad) furnish(t *testing.T, provider *scripted.Server) {
	t.Helper()
	l.client.Must(t, http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": "crash"})
	l.client.Must(t, http.StatusCreated, "POST", corpus+"/documents", core(0, 0))
	l.client.Must(t, http.StatusCreated, "POST", "/v2/llms", map[string]any{
		"type": "openai-compatible", "name": "writer", "model": "writer", "uri": provider.URL + "/v1/chat/completions",
	})
	for i := range l.rooms {
		q := question{text: fmt.Sprintf("What is said in room %d?", i)}
		turn, came, err := l.ask("/v2/chats", q)
		if err != nil || came != answered {
			t.Fatalf("room %d: %v, %v", i, came, err)
		}
		l.rooms[i] = room{id: l.note(t, turn), lines: []line{{said: turn.said}}}
	}
}

// work changes chats until the program is dead.
func (l *chatLoad) work(t *testing.T, w int, r *rand.Rand) {
	for {
		if r.IntN(4) == 0 {
			if !l.discuss(t, &l.rooms[r.IntN(rooms)], l.question(w, r)) {
				return
			}
		} else {
			place := r.IntN(talks)
			after, ok := l.change(t, w, l.known[w][place], r)
			if !ok {
				l.lost[w] = &attempt{place, after}
				return
			}
			l.known[w][place] = after
		}
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
		return l.extend(t, c, "/v2/chats", l.question(w, r))
	case n < 6 && c.turns[0].enabled:
		return l.extend(t, c, path+"/turns", l.question(w, r))
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

// extend asks a question in a chat, or opens one.
func (l *chatLoad) extend(t *testing.T, c talk, path string, q question) (after talk, ok bool) {
	after = c
	if !q.breaks() {
		after = talk{c.id, append(slices.Clone(c.turns), said{question: q.text, enabled: true})}
	}
	turn, came, err := l.ask(path, q)
	switch {
	case err != nil:
		t.Errorf("POST %s: %v", path, err)
		return c, true
	case came == broken:
		return c, true
	case came == answered:
		after.id, after.turns[len(c.turns)] = l.note(t, turn), turn.said
	}
	return after, came == answered
}

// note keeps what is known of a turn that is stored, and returns its chat.
func (l *chatLoad) note(t *testing.T, turn turn) (chat string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, ok := l.stored[turn.id]; ok && before != turn.question {
		t.Errorf("turn %s is %q, and was %q", turn.id, turn.question, before)
	}
	l.stored[turn.id], l.chats[turn.question] = turn.question, turn.chat
	if turn.ended {
		l.recorded[turn.question] = true
	}
	return turn.chat
}

// send reports whether an answer came, which must have a status.
func (l *chatLoad) send(t *testing.T, want int, method, path string, body any) bool {
	status, got, err := l.client.Do(method, path, body)
	if err == nil && status != want {
		t.Errorf("%s %s: %d %v, want %d", method, path, status, got, want)
	}
	return err == nil
}

// read reads every chat, by its id.
func (l *chatLoad) read(t *testing.T) map[string]talk {
	t.Helper()
	out := map[string]talk{}
	for _, c := range l.client.Must(t, http.StatusOK, "GET", "/v2/chats?limit=10000", nil)["chats"].([]any) {
		head := c.(map[string]any)
		c := talk{id: head["id"].(string)}
		for _, x := range l.client.Must(t, http.StatusOK, "GET", "/v2/chats/"+c.id+"/turns", nil)["turns"].([]any) {
			x := x.(map[string]any)
			one := said{x["id"].(string), x["query"].(string), x["answer"].(string), x["enabled"].(bool)}
			c.turns = append(c.turns, one)
			l.note(t, turn{said: one, chat: c.id})
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
	stored := l.read(t)
	for i := range l.rooms {
		l.rooms[i].settle(t, round, stored[l.rooms[i].id].turns)
		delete(stored, l.rooms[i].id)
	}
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

// verifyHistory compares the history with what was stored at any time, also of chats that were deleted: it names the chat of
// every turn whose answer came to its end, and none of a question that was not stored.
func (l *chatLoad) verifyHistory(t *testing.T) {
	t.Helper()
	page := "/v2/queries?limit=100"
	for next := page; next != ""; {
		answer := l.client.Must(t, http.StatusOK, "GET", next, nil)
		for _, q := range answer["queries"].([]any) {
			text := q.(map[string]any)["query"].(string)
			chat, _ := q.(map[string]any)["chat_id"].(string)
			if chat != l.chats[text] {
				t.Errorf("the history has %q in chat %q; it was asked in %q", text, chat, l.chats[text])
			}
			delete(l.recorded, text)
		}
		next = ""
		if key, _ := answer["metadata"].(map[string]any)["page_key"].(string); key != "" {
			next = page + "&page_key=" + key
		}
	}
	for text := range l.recorded {
		t.Errorf("the history lacks %q of chat %s", text, l.chats[text])
	}
}
