package chat_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/chat"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/page"
	"quarry/internal/store"
	"quarry/internal/store/chats"
	"quarry/internal/store/storetest"
)

// open returns a service over a database of its own, and a function that opens a chat in it.
func open(t *testing.T) (*chat.Service, func() chat.Turn) {
	t.Helper()
	rows := chats.New(storetest.Open(t, store.Config{Dir: t.TempDir()}))
	return chat.New(chat.Config{Store: rows}), func() chat.Turn {
		c, first := id.NewChat()
		turn := chat.Turn{ID: first, ChatID: c, Question: "q", Answer: "a", Enabled: true, Created: clock.Now()}
		if err := rows.Open(t.Context(), turn, []int64{1}); err != nil {
			t.Fatal(err)
		}
		return turn
	}
}

// TestUpdateTurn proves that a turn is disabled, that nothing enables it again, and that a change of nothing changes nothing.
func TestUpdateTurn(t *testing.T) {
	t.Parallel()
	s, begin := open(t)
	want := begin()
	for _, c := range []struct {
		change  chat.Change
		enabled bool // afterwards
		refused bool
	}{
		{chat.Change{}, true, false},
		{chat.Change{Enabled: opt.Null[bool]()}, true, false},
		{chat.Change{Enabled: opt.Some(true)}, true, true}, // also where it is enabled
		{chat.Change{Enabled: opt.Some(false)}, false, false},
		{chat.Change{Enabled: opt.Some(true)}, false, true},
		{chat.Change{}, false, false},
	} {
		got, err := s.UpdateTurn(t.Context(), want.ChatID, want.ID, c.change)
		want.Enabled = c.enabled
		if c.refused {
			if f, ok := fault.As(err); !ok || f.Kind != fault.KindInvalid || f.Fields["enabled"] == "" {
				t.Errorf("%+v: %v", c.change, err)
			}
		} else if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%+v: %v (-want +got): %s", c.change, err, diff)
		}
		kept, err := s.Turn(t.Context(), want.ChatID, want.ID)
		if diff := cmp.Diff(want, kept); diff != "" || err != nil {
			t.Errorf("after %+v: %v (-want +got): %s", c.change, err, diff)
		}
	}
}

// TestList proves that pages follow one another to the last one, which names no next.
func TestList(t *testing.T) {
	t.Parallel()
	s, begin := open(t)
	want := map[id.Chat]bool{}
	for range 5 {
		want[begin().ChatID] = true
	}
	pages := 0
	for after := (*page.Position)(nil); pages == 0 || after != nil; pages++ {
		found, next, err := s.List(t.Context(), after, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range found {
			if !want[c.ID] {
				t.Errorf("chat %s is listed twice", c.ID)
			}
			delete(want, c.ID)
		}
		after = next
	}
	if pages != 3 || len(want) > 0 {
		t.Errorf("%d pages without %v", pages, want)
	}
}
