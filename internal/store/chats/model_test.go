package chats_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/chat"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
)

// memory is what a store of chats should hold: the turns of each chat in order.
type memory map[id.Chat][]chat.Turn

// from returns the place of a turn in its chat, or the fault of its absence.
func (m memory) from(c id.Chat, turn id.Turn) (int, error) {
	if m[c] == nil {
		return 0, fault.NotFound("chat_not_found", string(c), "")
	}
	if i := slices.IndexFunc(m[c], func(x chat.Turn) bool { return x.ID == turn }); i >= 0 {
		return i, nil
	}
	return 0, fault.NotFound("turn_not_found", string(turn), "")
}

func (m memory) add(turn chat.Turn) error {
	switch all := m[turn.ChatID]; {
	case all == nil:
		return fault.NotFound("chat_not_found", string(turn.ChatID), "")
	case !all[0].Enabled:
		return fault.Invalid()
	}
	m[turn.ChatID] = append(m[turn.ChatID], turn)
	return nil
}

func (m memory) deleteFrom(c id.Chat, turn id.Turn) error {
	i, err := m.from(c, turn)
	if err == nil {
		m[c] = m[c][:i:i]
	}
	if len(m[c]) == 0 {
		delete(m, c)
	}
	return err
}

func (m memory) disableFrom(c id.Chat, turn id.Turn) error {
	i, err := m.from(c, turn)
	if err == nil {
		for ; i < len(m[c]); i++ {
			m[c][i].Enabled = false
		}
	}
	return err
}

// list returns all chats, newest first.
func (m memory) list() (out []chat.Chat) {
	for c, all := range m {
		out = append(out, chat.Chat{ID: c, Question: all[0].Question, Answer: all[0].Answer, Enabled: all[0].Enabled, Created: all[0].Created})
	}
	slices.SortFunc(out, func(a, b chat.Chat) int {
		if a.Position().Precedes(b.Position()) {
			return -1
		}
		return 1
	})
	return out
}

// testRandomChats proves that after any sequence of calls, of which many are refused, the store holds and answers what the
// same calls leave in memory.
func testRandomChats(t *testing.T, s stores) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 14))
	want, at := memory{}, clock.Now()
	var known []chat.Turn // also those that are gone
	pick := func() chat.Turn {
		one := known[r.IntN(len(known))]
		if r.IntN(8) == 0 {
			one.ID = known[r.IntN(len(known))].ID // often of another chat
		}
		return one
	}
	same := func(step int, what string, want, got error) {
		t.Helper()
		a, _ := fault.As(want)
		b, _ := fault.As(got)
		if !cmp.Equal(a, b, cmpopts.IgnoreFields(fault.Fault{}, "Text"), cmpopts.IgnoreUnexported(fault.Fault{})) || (got != nil && b == nil) {
			t.Fatalf("seed %d, step %d, %s: %v, want %v", seed, step, what, got, want)
		}
	}
	for step := range 400 {
		at = at.Add(time.Duration(r.IntN(2)) * time.Microsecond)
		n := r.IntN(100)
		if len(known) == 0 {
			n = 0
		}
		switch {
		case n < 15:
			c, first := id.NewChat()
			turn := chat.Turn{ID: first, ChatID: c, Question: fmt.Sprint(step), Enabled: true, Created: at}
			same(step, "open", nil, s.chats.Open(t.Context(), turn, []int64{int64(n)}))
			want[c], known = []chat.Turn{turn}, append(known, turn)
		case n < 70:
			turn := next(pick().ChatID, fmt.Sprint(step))
			same(step, "add", want.add(turn), s.chats.Add(t.Context(), turn, []int64{int64(n), 1}))
			known = append(known, turn)
		case n < 80:
			x := pick()
			same(step, "delete from", want.deleteFrom(x.ChatID, x.ID), s.chats.DeleteFrom(t.Context(), x.ChatID, x.ID))
		case n < 90:
			x := pick()
			_, err := s.chats.DisableFrom(t.Context(), x.ChatID, x.ID)
			same(step, "disable from", want.disableFrom(x.ChatID, x.ID), err)
		case n < 93:
			c := pick().ChatID
			var missing error
			if want[c] == nil {
				missing = fault.NotFound("chat_not_found", string(c), "")
			}
			delete(want, c)
			same(step, "delete", missing, s.chats.Delete(t.Context(), c))
		default:
			x := pick()
			i, missing := want.from(x.ChatID, x.ID)
			got, err := s.chats.Turn(t.Context(), x.ChatID, x.ID)
			same(step, "turn", missing, err)
			if err == nil && got != want[x.ChatID][i] {
				t.Fatalf("seed %d, step %d: turn %+v, want %+v", seed, step, got, want[x.ChatID][i])
			}
		}
	}
	for c, all := range want {
		if diff := cmp.Diff(all, turns(t, s, c)); diff != "" {
			t.Errorf("seed %d: turns of %s (-want +got): %s", seed, c, diff)
		}
		enabled := slices.DeleteFunc(slices.Clone(all), func(x chat.Turn) bool { return !x.Enabled })
		got, err := s.chats.Recent(t.Context(), c, anyone, much)
		if all[0].Enabled {
			if diff := cmp.Diff(enabled, got); diff != "" || err != nil {
				t.Errorf("seed %d: recent turns of %s: %v (-want +got): %s", seed, c, err, diff)
			}
		} else if !fault.Is(err, fault.KindInvalid) {
			t.Errorf("seed %d: recent turns of the disabled %s: %v", seed, c, err)
		}
	}
	got, _, err := s.chats.List(t.Context(), nil, 1000)
	if diff := cmp.Diff(want.list(), got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("seed %d: list: %v (-want +got): %s", seed, err, diff)
	}
}
