package chat_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/answer/generate"
	"quarry/internal/chat"
	"quarry/internal/corpus"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/query"
	"quarry/internal/query/history"
	"quarry/internal/query/retrieve"
	"quarry/internal/store"
	"quarry/internal/store/chats"
	"quarry/internal/store/storetest"
)

// queries answers every question with the words of says and keeps what it was asked, with the record that the history gets.
type queries struct {
	says    []string
	fails   error // in place of the end
	asked   []query.Ask
	earlier [][]generate.Exchange // of each
	records []history.Record
	between func() // before the end
}

func (q *queries) Run(ctx context.Context, ask query.Ask, emit func(query.Event) error) (query.Answer, error) {
	var earlier []generate.Exchange
	if ask.Generation.Earlier != nil {
		var err error
		if earlier, err = ask.Generation.Earlier(ctx, generate.Memory{Exchanges: 2, Bytes: 1 << 20}); err != nil {
			return query.Answer{}, err
		}
	}
	q.asked, q.earlier = append(q.asked, ask), append(q.earlier, earlier)
	found := query.Answer{Results: []retrieve.Result{}, Corpora: []corpus.Corpus{{No: 7, Key: "a"}, {No: 9, Key: "b"}}}
	err := func() error {
		if err := emit(query.Event{Found: &found}); err != nil {
			return err
		}
		prompt := "the prompt"
		if err := emit(query.Event{Event: generate.Event{Prompt: &prompt}}); err != nil {
			return err
		}
		for _, s := range q.says {
			if err := emit(query.Event{Event: generate.Event{Chunk: s}}); err != nil {
				return err
			}
		}
		if q.between != nil {
			q.between()
		}
		if q.fails != nil {
			return q.fails
		}
		return emit(query.Event{Event: generate.Event{Done: true}})
	}()
	found.Generated = &generate.Answer{Summary: strings.Join(q.says, "")}
	r := history.Record{Summary: history.Summary{Text: ask.Search.Text}}
	if ask.Label(&r) {
		q.records = append(q.records, r)
	}
	return found, err
}

// talk is a service whose queries a test plays.
type talk struct {
	*chat.Service
	queries *queries
	rows    *chats.Store
}

func openTalk(t *testing.T) *talk {
	t.Helper()
	rows := chats.New(storetest.Open(t, store.Config{Dir: t.TempDir()}))
	q := &queries{says: []string{"Every ", "500 hours."}}
	return &talk{chat.New(chat.Config{Store: rows, Queries: q}), q, rows}
}

func asks(text string, continues id.Chat) chat.Ask {
	return chat.Ask{Ask: query.Ask{Search: retrieve.Query{Text: text}}, Chat: continues, Reader: chat.Reader{All: true}, Store: true}
}

func (s *talk) must(t *testing.T, a chat.Ask) chat.Answer {
	t.Helper()
	got, err := s.Ask(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// told returns the questions of the stored turns of a chat.
func (s *talk) told(t *testing.T, c id.Chat) (out []string) {
	t.Helper()
	turns, err := s.Turns(t.Context(), c)
	if err != nil {
		return nil
	}
	for _, one := range turns {
		out = append(out, one.Question)
	}
	return out
}

// TestAsk proves what the query of a turn is, which exchanges it has, that they are the newest that the model can read, and
// that turns of the chat that are disabled are not among them.
func TestAsk(t *testing.T) {
	t.Parallel()
	s := openTalk(t)
	first := s.must(t, asks("One?", ""))
	if first.Stored.Chat[4:] != id.Chat(first.Stored.Turn[4:]) {
		t.Errorf("chat %s begins with turn %s", first.Stored.Chat, first.Stored.Turn)
	}
	second := asks("Two?", first.Stored.Chat)
	second.Generation = &generate.Request{Preset: "mine", Question: "overwritten"}
	disabled := s.must(t, second).Stored
	if _, err := s.UpdateTurn(t.Context(), disabled.Chat, disabled.Turn, chat.Change{Enabled: opt.Some(false)}); err != nil {
		t.Fatal(err)
	}
	s.must(t, asks("Three?", first.Stored.Chat))
	s.must(t, asks("Four?", first.Stored.Chat))
	s.must(t, asks("Five?", first.Stored.Chat))
	var got [][]string
	for i, a := range s.queries.asked {
		one := []string{a.Generation.Question}
		for _, e := range s.queries.earlier[i] {
			one = append(one, e.Question, e.Answer)
		}
		got = append(got, one)
		if save, ok := a.Search.Save.Get(); !ok || !save {
			t.Errorf("%q is not for the history", a.Search.Text)
		}
	}
	const said = "Every 500 hours."
	if diff := cmp.Diff([][]string{{"One?"}, {"Two?", "One?", said}, {"Three?", "One?", said}, {"Four?", "One?", said, "Three?", said}, {"Five?", "Three?", said, "Four?", said}}, got); diff != "" {
		t.Errorf("asked (-want +got): %s", diff)
	}
	if g := s.queries.asked[0].Generation; !g.Score || g.Preset != "" {
		t.Errorf("without generation: %+v", g)
	}
	if g := s.queries.asked[1].Generation; g.Score || g.Preset != "mine" {
		t.Errorf("with generation: %+v", g)
	}
	if got := s.told(t, first.Stored.Chat); !slices.Equal(got, []string{"One?", "Two?", "Three?", "Four?", "Five?"}) {
		t.Errorf("stored: %q", got)
	}
	for _, r := range s.queries.records {
		if r.ChatID != string(first.Stored.Chat) {
			t.Errorf("the record of %q is of chat %q", r.Text, r.ChatID)
		}
	}
}

// TestStoring proves what is stored of a turn, which records carry its chat, and that whoever hears that the answer is whole
// finds it stored.
func TestStoring(t *testing.T) {
	t.Parallel()
	gone := errors.New("the client is gone")
	for _, c := range []struct {
		name    string
		change  func(*chat.Ask)
		fails   error
		leaves  func(chat.Event) bool // the client leaves with this event
		stored  bool
		records int
	}{
		{"as usual", func(*chat.Ask) {}, nil, nil, true, 1},
		{"history wanted", func(a *chat.Ask) { a.Search.Save = opt.Some(true) }, nil, nil, true, 1},
		{"no history", func(a *chat.Ask) { a.Search.Save = opt.Some(false) }, nil, nil, false, 1}, // the query service leaves it out
		{"not stored", func(a *chat.Ask) { a.Store = false }, nil, nil, false, 1},
		{"failed", func(*chat.Ask) {}, errors.New("broken"), nil, false, 1},
		{"left at the passages", func(*chat.Ask) {}, nil, func(e chat.Event) bool { return e.Found != nil }, false, 1},
		{"left at the name", func(*chat.Ask) {}, nil, func(e chat.Event) bool { return e.Turn != nil }, false, 1},
		{"left in the answer", func(*chat.Ask) {}, nil, func(e chat.Event) bool { return e.Chunk != "" }, false, 1},
		{"left when it was whole", func(*chat.Ask) {}, nil, func(e chat.Event) bool { return e.Done }, true, 1},
	} {
		for _, follows := range []bool{false, true} {
			s := openTalk(t)
			continues, before := id.Chat(""), 0
			if follows {
				continues, before = s.must(t, asks("One?", "")).Stored.Chat, 1
			}
			s.queries.fails, s.queries.records = c.fails, nil
			ask := asks("Two?", continues)
			c.change(&ask)
			var named chat.Ref
			ctx, leave := context.WithCancel(t.Context())
			got, err := s.Ask(ctx, ask, func(e chat.Event) error {
				if e.Turn != nil {
					named = *e.Turn
				}
				if e.Done && c.stored && len(s.told(t, named.Chat)) != before+1 {
					t.Errorf("%s: told that the answer is whole before it was stored", c.name)
				}
				if c.leaves != nil && c.leaves(e) {
					leave()
					return gone
				}
				return nil
			})
			leave()
			if (err != nil) != (c.fails != nil || c.leaves != nil) || c.leaves != nil && !errors.Is(err, gone) {
				t.Errorf("%s: %v", c.name, err)
			}
			if c.stored != (got.Stored != chat.Ref{}) || c.stored && got.Stored != named || follows && named.Chat != continues && named != (chat.Ref{}) {
				t.Errorf("%s: stored %v, named %v", c.name, got.Stored, named)
			}
			turns := s.told(t, named.Chat)
			if c.stored != slices.Contains(turns, "Two?") {
				t.Errorf("%s: the turns are %q", c.name, turns)
			}
			if keeps := ask.Store && !slices.Contains([]string{"no history"}, c.name); !keeps && named != (chat.Ref{}) {
				t.Errorf("%s: named %v", c.name, named)
			}
			if len(s.queries.records) != c.records || (s.queries.records[0].ChatID != "") != c.stored {
				t.Errorf("%s: records %+v", c.name, s.queries.records)
			}
			if save, _ := s.queries.asked[len(s.queries.asked)-1].Search.Save.Get(); save == (c.name == "no history") {
				t.Errorf("%s: history %v", c.name, save)
			}
		}
	}
}

// TestMeanwhile proves that a turn whose chat is deleted or disabled while it is answered is refused and not stored, and that
// only the deleted one leaves no record.
func TestMeanwhile(t *testing.T) {
	t.Parallel()
	for kind, change := range map[fault.Kind]func(*talk, chat.Ref) error{
		fault.KindNotFound: func(s *talk, r chat.Ref) error { return s.Delete(t.Context(), r.Chat) },
		fault.KindInvalid: func(s *talk, r chat.Ref) error {
			_, err := s.UpdateTurn(t.Context(), r.Chat, r.Turn, chat.Change{Enabled: opt.Some(false)})
			return err
		},
	} {
		s := openTalk(t)
		first := s.must(t, asks("One?", "")).Stored
		s.queries.records = nil
		s.queries.between = func() {
			if err := change(s, first); err != nil {
				t.Error(err)
			}
		}
		var whole bool
		got, err := s.Ask(t.Context(), asks("Two?", first.Chat), func(e chat.Event) error {
			whole = whole || e.Done
			return nil
		})
		f, ok := fault.As(err)
		if !ok || f.Kind != kind || whole || got.Stored != (chat.Ref{}) || slices.Contains(s.told(t, first.Chat), "Two?") {
			t.Errorf("%v: %v, stored %v, told that it is whole: %v", kind, err, got.Stored, whole)
		}
		if want := map[fault.Kind]int{fault.KindNotFound: 0, fault.KindInvalid: 1}[kind]; len(s.queries.records) != want || want > 0 && s.queries.records[0].ChatID != "" {
			t.Errorf("%v: records %+v", kind, s.queries.records)
		}
	}
}

// TestContinuing proves which chats a caller can't continue, before anything is asked.
func TestContinuing(t *testing.T) {
	t.Parallel()
	s := openTalk(t)
	open := s.must(t, asks("One?", "")).Stored
	disabled := s.must(t, asks("One?", "")).Stored
	if _, err := s.UpdateTurn(t.Context(), disabled.Chat, disabled.Turn, chat.Change{Enabled: opt.Some(false)}); err != nil {
		t.Fatal(err)
	}
	s.queries.asked = nil
	for _, c := range []struct {
		chat   id.Chat
		reader chat.Reader
		kind   fault.Kind
	}{
		{"cht_none", chat.Reader{All: true}, fault.KindNotFound},
		{disabled.Chat, chat.Reader{All: true}, fault.KindInvalid},
		{open.Chat, chat.Reader{}, fault.KindNotFound},
		{open.Chat, chat.Reader{Keys: []string{"a", "b"}}, fault.KindNotFound}, // rows 7 and 9 are not there any more
	} {
		a := asks("Two?", c.chat)
		a.Reader = c.reader
		_, err := s.Ask(t.Context(), a, nil)
		if f, ok := fault.As(err); !ok || f.Kind != c.kind || len(s.queries.asked) > 0 {
			t.Errorf("%s for %+v: %v, %d asked", c.chat, c.reader, err, len(s.queries.asked))
		}
	}
}
