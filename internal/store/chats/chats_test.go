package chats_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/chat"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/page"
	"quarry/internal/store"
	"quarry/internal/store/chats"
	"quarry/internal/store/corpora"
	"quarry/internal/store/storetest"
)

// stores are those of one database.
type stores struct {
	chats   *chats.Store
	corpora *corpora.Store
}

// TestStore proves that the store keeps the promises of chat.Store on both databases.
func TestStore(t *testing.T) {
	t.Parallel()
	open := func(_ *testing.T, db *store.DB) stores { return stores{chats.New(db), corpora.New(db)} }
	storetest.Each(t, open, map[string]func(*testing.T, stores){
		"open": testOpenChat, "list": testListChats, "recent turns": testRecentTurns, "readers": testChatReaders,
		"delete and disable": testDeleteTurns, "at once": testTurnsAtOnce, "against a delete": testTurnsAgainstDelete,
		"against a disable": testTurnsAgainstDisable, "at random": testRandomChats,
	})
}

// makeCorpus makes a corpus and returns its row number.
func makeCorpus(t *testing.T, s stores, key string) int64 {
	t.Helper()
	c, err := s.corpora.Create(t.Context(), storetest.Corpus(key))
	if err != nil {
		t.Fatalf("create corpus %q: %v", key, err)
	}
	return c.No
}

var (
	anyone = chat.Reader{All: true}
	much   = chat.Bound{Turns: 1000, Bytes: 1 << 20}
)

// openChat opens a chat whose first question is text.
func openChat(t *testing.T, s stores, text string, corpora ...int64) chat.Turn {
	t.Helper()
	c, first := id.NewChat()
	turn := chat.Turn{ID: first, ChatID: c, Question: text, Answer: "answer to " + text, Enabled: true, Created: clock.Now()}
	if err := s.chats.Open(t.Context(), turn, corpora); err != nil {
		t.Fatalf("open chat: %v", err)
	}
	return turn
}

// next returns a turn to add to a chat.
func next(c id.Chat, text string) chat.Turn {
	return chat.Turn{ID: id.NewTurn(), ChatID: c, Question: text, Answer: "answer to " + text, Enabled: true, Created: clock.Now()}
}

func addTurn(t *testing.T, s stores, c id.Chat, text string, corpora ...int64) chat.Turn {
	t.Helper()
	turn := next(c, text)
	if err := s.chats.Add(t.Context(), turn, corpora); err != nil {
		t.Fatalf("add turn: %v", err)
	}
	return turn
}

// turns returns all turns of a chat.
func turns(t *testing.T, s stores, c id.Chat) []chat.Turn {
	t.Helper()
	found, err := s.chats.Turns(t.Context(), c)
	if err != nil {
		t.Fatalf("list turns: %v", err)
	}
	return found
}

func questions(all []chat.Turn) (out []string) {
	for _, x := range all {
		text := x.Question
		if !x.Enabled {
			text += " (disabled)"
		}
		out = append(out, text)
	}
	return out
}

func wantTurns(t *testing.T, when string, s stores, c id.Chat, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, questions(turns(t, s, c))); diff != "" {
		t.Errorf("%s: turns (-want +got): %s", when, diff)
	}
}

// wantMissing fails unless err says that an id names nothing.
func wantMissing(t *testing.T, what string, err error, code, missing string) {
	t.Helper()
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindNotFound || f.Code != code || f.ID != missing {
		t.Errorf("%s: %v, want %s of %s", what, err, code, missing)
	}
}

// testOpenChat proves that chats and turns are read as they were written, also texts that PostgreSQL can't hold as they are,
// and that an unknown chat, an unknown turn and a turn of another chat are each not found.
func testOpenChat(t *testing.T, s stores) {
	c, first := id.NewChat()
	long := strings.Repeat("😀", 200_000)
	one := chat.Turn{ID: first, ChatID: c, Question: "What?", Answer: long, Enabled: true, Created: clock.Now()}
	if err := s.chats.Open(t.Context(), one, []int64{7, 7, 3}); err != nil {
		t.Fatal(err)
	}
	two := chat.Turn{ID: id.NewTurn(), ChatID: c, Question: "And <&>?", Enabled: true, Created: one.Created.Add(time.Microsecond)}
	three := chat.Turn{ID: id.NewTurn(), ChatID: c, Question: "a\x00b", Answer: "\xff", Enabled: true, Created: one.Created}
	for _, turn := range []chat.Turn{two, three} {
		if err := s.chats.Add(t.Context(), turn, []int64{3}); err != nil {
			t.Fatal(err)
		}
	}
	three.Question, three.Answer = "a\uFFFDb", "\uFFFD"
	if diff := cmp.Diff([]chat.Turn{one, two, three}, turns(t, s, c)); diff != "" {
		t.Error("turns (-written +read):", diff)
	}
	got, err := s.chats.Turn(t.Context(), c, three.ID)
	if diff := cmp.Diff(three, got); diff != "" || err != nil {
		t.Errorf("turn: %v (-written +read): %s", err, diff)
	}
	head, err := s.chats.Get(t.Context(), c, anyone)
	if diff := cmp.Diff(chat.Chat{ID: c, Question: "What?", Answer: long, Enabled: true, Created: one.Created}, head); diff != "" || err != nil {
		t.Errorf("chat: %v (-want +got): %s", err, diff)
	}
	other := openChat(t, s, "other")
	_, err = s.chats.Turn(t.Context(), c, other.ID)
	wantMissing(t, "a turn of another chat", err, "turn_not_found", string(other.ID))
	wantMissing(t, "deleting a turn of another chat", s.chats.DeleteFrom(t.Context(), c, other.ID), "turn_not_found", string(other.ID))
	_, err = s.chats.DisableFrom(t.Context(), c, other.ID)
	wantMissing(t, "disabling a turn of another chat", err, "turn_not_found", string(other.ID))
	testNoChat(t, s, "cht_none", first)
}

// testNoChat proves that every call on a chat that is not there says so.
func testNoChat(t *testing.T, s stores, c id.Chat, turn id.Turn) {
	t.Helper()
	calls := map[string]func() error{
		"get":     func() error { _, err := s.chats.Get(t.Context(), c, anyone); return err },
		"recent":  func() error { _, err := s.chats.Recent(t.Context(), c, anyone, much); return err },
		"turns":   func() error { _, err := s.chats.Turns(t.Context(), c); return err },
		"turn":    func() error { _, err := s.chats.Turn(t.Context(), c, turn); return err },
		"add":     func() error { return s.chats.Add(t.Context(), next(c, "x"), []int64{1}) },
		"delete":  func() error { return s.chats.Delete(t.Context(), c) },
		"cut":     func() error { return s.chats.DeleteFrom(t.Context(), c, turn) },
		"disable": func() error { _, err := s.chats.DisableFrom(t.Context(), c, turn); return err },
	}
	for name, call := range calls {
		wantMissing(t, name+" of no chat", call(), "chat_not_found", string(c))
	}
}

// listChats reads the whole list by pages of n and returns the questions.
func listChats(t *testing.T, s stores, n int) (out []string) {
	t.Helper()
	var after *page.Position
	for range 1000 {
		found, more, err := s.chats.List(t.Context(), after, n)
		if err != nil || len(found) > n {
			t.Fatalf("%d chats on a page of %d, %v", len(found), n, err)
		}
		for _, c := range found {
			out = append(out, c.Question)
			after = c.Position()
		}
		if !more {
			return out
		}
	}
	t.Fatal("the list does not end")
	return nil
}

// testListChats proves that the list has every chat once, newest first and those of one moment by id, whatever the size of
// the page, and that further turns change neither place nor text.
func testListChats(t *testing.T, s stores) {
	now := clock.Now()
	var made []chat.Turn
	for i := range 7 {
		c, first := id.NewChat()
		turn := chat.Turn{ID: first, ChatID: c, Question: fmt.Sprint("q", i), Enabled: true, Created: now.Add(time.Duration(i/3) * time.Microsecond)}
		if err := s.chats.Open(t.Context(), turn, []int64{1}); err != nil {
			t.Fatal(err)
		}
		made = append(made, turn)
	}
	addTurn(t, s, made[0].ChatID, "later")
	slices.SortFunc(made, func(a, b chat.Turn) int {
		if n := b.Created.Compare(a.Created); n != 0 {
			return n
		}
		return strings.Compare(string(b.ChatID), string(a.ChatID))
	})
	want := questions(made)
	for n := 1; n <= 8; n++ {
		if diff := cmp.Diff(want, listChats(t, s, n)); diff != "" {
			t.Errorf("pages of %d (-want +got): %s", n, diff)
		}
	}
}

// testRecentTurns proves that a turn reads the newest enabled turns within its bounds, the oldest first, the newest one
// however long it is, and that a chat whose first turn is disabled refuses.
func testRecentTurns(t *testing.T, s stores) {
	first := openChat(t, s, "1") // 1 + 11 bytes, like the others
	c := first.ChatID
	for _, text := range []string{"2", "3", "4"} {
		addTurn(t, s, c, text)
	}
	off := addTurn(t, s, c, "5")
	if _, err := s.chats.DisableFrom(t.Context(), c, off.ID); err != nil {
		t.Fatal(err)
	}
	last := addTurn(t, s, c, "6")
	for _, x := range []struct {
		bound chat.Bound
		want  []string
	}{
		{much, []string{"1", "2", "3", "4", "6"}},
		{chat.Bound{Turns: 5, Bytes: 60}, []string{"1", "2", "3", "4", "6"}},
		{chat.Bound{Turns: 5, Bytes: 59}, []string{"2", "3", "4", "6"}},
		{chat.Bound{Turns: 3, Bytes: 60}, []string{"3", "4", "6"}},
		{chat.Bound{Turns: 1, Bytes: 1 << 20}, []string{"6"}},
		{chat.Bound{Turns: 9, Bytes: 0}, []string{"6"}},
	} {
		got, err := s.chats.Recent(t.Context(), c, anyone, x.bound)
		if diff := cmp.Diff(x.want, questions(got)); diff != "" || err != nil {
			t.Errorf("%+v: %v (-want +got): %s", x.bound, err, diff)
		}
		if err == nil {
			if diff := cmp.Diff(last, got[len(got)-1]); diff != "" {
				t.Errorf("the newest turn (-written +read): %s", diff)
			}
		}
	}
	testManyRecent(t, s)
	if _, err := s.chats.DisableFrom(t.Context(), c, first.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.chats.Recent(t.Context(), c, anyone, much); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("turns of a disabled chat: %v", err)
	}
	if err := s.chats.Add(t.Context(), next(c, "7"), []int64{1}); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("a turn for a disabled chat: %v", err)
	}
	if got, err := s.chats.Get(t.Context(), c, anyone); err != nil || got.Enabled {
		t.Errorf("the chat is %+v, %v", got, err)
	}
}

// testManyRecent proves the same of a chat with more turns than are read at a time.
func testManyRecent(t *testing.T, s stores) {
	t.Helper()
	c := openChat(t, s, "000").ChatID // 3 + 13 bytes, like the others
	for i := 1; i < 110; i++ {
		addTurn(t, s, c, fmt.Sprintf("%03d", i))
	}
	for _, x := range []struct {
		bound chat.Bound
		want  int
	}{
		{much, 110}, {chat.Bound{Turns: 31, Bytes: 1 << 20}, 31}, {chat.Bound{Turns: 32, Bytes: 1 << 20}, 32}, {chat.Bound{Turns: 33, Bytes: 1 << 20}, 33},
		{chat.Bound{Turns: 110, Bytes: 16 * 96}, 96}, {chat.Bound{Turns: 110, Bytes: 16*97 - 1}, 96}, {chat.Bound{Turns: 96, Bytes: 16 * 96}, 96},
	} {
		got, err := s.chats.Recent(t.Context(), c, anyone, x.bound)
		if err != nil || len(got) != x.want {
			t.Fatalf("%+v: %d turns, %v; want %d", x.bound, len(got), err, x.want)
		}
		for i, turn := range got {
			if want := fmt.Sprintf("%03d", 110-x.want+i); turn.Question != want {
				t.Fatalf("%+v: turn %d is %s, want %s", x.bound, i, turn.Question, want)
			}
		}
	}
}

// testChatReaders proves that a reader of some corpora sees a chat while every corpus that its turns searched stands under
// one of the reader's keys, as the row that it was then; disabled turns count and deleted ones don't.
func testChatReaders(t *testing.T, s stores) {
	a, b := makeCorpus(t, s, "a"), makeCorpus(t, s, "b")
	ofA, ofBoth, ofNone := openChat(t, s, "a", a), openChat(t, s, "both", a), openChat(t, s, "none")
	addTurn(t, s, ofA.ChatID, "again", a, a)
	second := addTurn(t, s, ofBoth.ChatID, "b", b, a)
	addTurn(t, s, ofBoth.ChatID, "b again", b)
	if _, err := s.chats.DisableFrom(t.Context(), ofBoth.ChatID, second.ID); err != nil {
		t.Fatal(err)
	}
	check := func(when string, keys []string, want ...string) {
		t.Helper()
		var got []string
		for _, turn := range []chat.Turn{ofA, ofBoth, ofNone} {
			r := chat.Reader{Keys: keys}
			_, err := s.chats.Get(t.Context(), turn.ChatID, r)
			_, begun := s.chats.Recent(t.Context(), turn.ChatID, r, much)
			if (err == nil) != (begun == nil) {
				t.Errorf("%s, reader of %v: read %v, continued %v", when, keys, err, begun)
			}
			if err == nil {
				got = append(got, turn.Question)
				continue
			}
			wantMissing(t, when, err, "chat_not_found", string(turn.ChatID))
			wantMissing(t, when, begun, "chat_not_found", string(turn.ChatID))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, reader of %v (-want +got): %s", when, keys, diff)
		}
	}
	check("at first", nil)
	check("at first", []string{"a"}, "a")
	check("at first", []string{"b", "c"})
	check("at first", []string{"b", "a"}, "a", "both")
	if err := s.chats.DeleteFrom(t.Context(), ofBoth.ChatID, second.ID); err != nil {
		t.Fatal(err)
	}
	check("turns deleted", []string{"a"}, "a", "both")
	addTurn(t, s, ofBoth.ChatID, "b once more", b)
	check("turn added", []string{"a"}, "a")
	if err := s.corpora.Delete(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	check("b deleted", []string{"a", "b"}, "a")
	makeCorpus(t, s, "b")
	check("another b", []string{"a", "b"}, "a")
	if got := listChats(t, s, 9); len(got) != 3 {
		t.Errorf("who reads everything sees %v", got)
	}
}

// testDeleteTurns proves that a turn takes the later ones along, deleted or disabled, that the first one takes the chat, and
// that turns can be added afterwards.
func testDeleteTurns(t *testing.T, s stores) {
	first := openChat(t, s, "1")
	c := first.ChatID
	other := openChat(t, s, "other")
	addTurn(t, s, other.ChatID, "other 2")
	two := addTurn(t, s, c, "2")
	three := addTurn(t, s, c, "3")
	addTurn(t, s, c, "4")
	got, err := s.chats.DisableFrom(t.Context(), c, three.ID)
	three.Enabled = false
	if diff := cmp.Diff(three, got); diff != "" || err != nil {
		t.Errorf("disabled turn: %v (-want +got): %s", err, diff)
	}
	five := addTurn(t, s, c, "5")
	wantTurns(t, "disabled", s, c, "1", "2", "3 (disabled)", "4 (disabled)", "5")
	if _, err := s.chats.DisableFrom(t.Context(), c, three.ID); err != nil {
		t.Errorf("disabled twice: %v", err)
	}
	wantTurns(t, "disabled twice", s, c, "1", "2", "3 (disabled)", "4 (disabled)", "5 (disabled)")
	if err := s.chats.DeleteFrom(t.Context(), c, five.ID); err != nil {
		t.Fatal(err)
	}
	wantTurns(t, "last deleted", s, c, "1", "2", "3 (disabled)", "4 (disabled)")
	if err := s.chats.DeleteFrom(t.Context(), c, two.ID); err != nil {
		t.Fatal(err)
	}
	wantMissing(t, "deleted twice", s.chats.DeleteFrom(t.Context(), c, three.ID), "turn_not_found", string(three.ID))
	addTurn(t, s, c, "6")
	wantTurns(t, "added", s, c, "1", "6")
	if err := s.chats.DeleteFrom(t.Context(), c, first.ID); err != nil {
		t.Fatal(err)
	}
	testNoChat(t, s, c, first.ID)
	wantTurns(t, "the other chat", s, other.ChatID, "other", "other 2")
	if err := s.chats.Delete(t.Context(), other.ChatID); err != nil {
		t.Fatal(err)
	}
	testNoChat(t, s, other.ChatID, other.ID)
}

// testTurnsAtOnce proves that turns added at once are all kept, each after those that were acknowledged before it began.
func testTurnsAtOnce(t *testing.T, s stores) {
	c := openChat(t, s, "first").ChatID
	const callers, each = 8, 12
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			for n := range each {
				if err := s.chats.Add(t.Context(), next(c, fmt.Sprint(i, " ", n)), []int64{int64(i), 99}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	got := questions(turns(t, s, c))
	if len(got) != 1+callers*each || got[0] != "first" {
		t.Fatalf("%d turns, %v first; want %d", len(got), got[0], 1+callers*each)
	}
	for i := range callers {
		var own []string
		for _, text := range got[1:] {
			if caller, n, _ := strings.Cut(text, " "); caller == fmt.Sprint(i) {
				own = append(own, n)
			}
		}
		for n := range each {
			if n >= len(own) || own[n] != fmt.Sprint(n) {
				t.Fatalf("the turns of caller %d stand as %v", i, own)
			}
		}
	}
}

// testTurnsAgainstDelete proves that a chat that is deleted while turns are added is gone as a whole: later ones are refused, and
// nothing is left.
func testTurnsAgainstDelete(t *testing.T, s stores) {
	for range 5 {
		first := openChat(t, s, "first", 1)
		c := first.ChatID
		acknowledged := against(t, s, c, func() error { return s.chats.Delete(t.Context(), c) }, fault.KindNotFound)
		testNoChat(t, s, c, first.ID)
		for _, turn := range append(acknowledged, first) { // ids are unique, so one that was left would be refused
			turn.ChatID, _ = id.NewChat()
			if err := s.chats.Open(t.Context(), turn, nil); err != nil {
				t.Errorf("turn %s is left: %v", turn.ID, err)
			}
		}
	}
}

// testTurnsAgainstDisable proves that no turn is added to a chat after its first one was disabled.
func testTurnsAgainstDisable(t *testing.T, s stores) {
	for range 5 {
		first := openChat(t, s, "first", 1)
		c := first.ChatID
		acknowledged := against(t, s, c, func() error {
			_, err := s.chats.DisableFrom(t.Context(), c, first.ID)
			return err
		}, fault.KindInvalid)
		all := turns(t, s, c)
		if len(all) != 1+len(acknowledged) {
			t.Errorf("%d turns, want the first and %d", len(all), len(acknowledged))
		}
		for _, turn := range all {
			if turn.Enabled {
				t.Errorf("turn %q is enabled in a disabled chat", turn.Question)
			}
		}
	}
}

// against adds turns from several goroutines until each is refused with a kind of fault, which end brings about. It returns
// the turns that were acknowledged.
func against(t *testing.T, s stores, c id.Chat, end func() error, refused fault.Kind) (acknowledged []chat.Turn) {
	t.Helper()
	var mu sync.Mutex
	var group sync.WaitGroup
	begun := make(chan struct{}, 4)
	for range cap(begun) {
		group.Go(func() {
			for n := 0; ; n++ {
				if n == 5000 {
					t.Error("turns are taken without an end")
					return
				}
				turn := next(c, fmt.Sprint(n))
				if err := s.chats.Add(t.Context(), turn, []int64{int64(n)}); err != nil {
					if !fault.Is(err, refused) {
						t.Errorf("a turn that came too late: %v", err)
					}
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, turn)
				mu.Unlock()
				if n == 2 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range cap(begun) {
		<-begun
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	group.Wait()
	return acknowledged
}
