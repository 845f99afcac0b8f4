package chat

import (
	"context"
	"strings"
	"time"

	"quarry/internal/answer/generate"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/query"
	"quarry/internal/query/history"
)

// Ask is a question of a chat. Its answer is always generated, with the default preset where Generation is nil, and its
// Search.Save is true where it is absent: false keeps neither the turn nor the record of the query.
type Ask struct {
	query.Ask
	Chat   id.Chat // that it continues; "" opens one
	Reader Reader  // which chats the caller may continue
	Store  bool    // whether the turn is kept
}

// Ref names a turn in its chat; the zero value names none.
type Ref struct {
	Chat id.Chat
	Turn id.Turn
}

// Answer is the answer to a question of a chat.
type Answer struct {
	query.Answer
	Stored Ref // the turn, once it is stored
}

// Event reports progress: one of the query, or after the first of these what the turn will be called, if it is to be stored.
type Event struct {
	query.Event
	Turn *Ref
}

// Querier answers queries; query.Service is one.
type Querier interface {
	Run(ctx context.Context, ask query.Ask, emit func(query.Event) error) (query.Answer, error)
}

// storeTimeout bounds the write of a turn, which does not end with its caller's context.
const storeTimeout = 10 * time.Second

// Ask answers a question from corpora and from the turns that its chat had when it was asked, as query.Service.Run does, and
// stores both as a turn once the answer is whole: before emit gets the event Done, and even if ctx ends then. A turn that
// fails until then is not stored; its record in the history names no chat. A chat that is deleted before the turn is stored
// is fault.KindNotFound and leaves no record. Faults name fields as those of query.Ask do.
func (s *Service) Ask(ctx context.Context, a Ask, emit func(Event) error) (Answer, error) {
	t := s.begin(&a)
	if emit == nil {
		emit = func(Event) error { return nil }
	}
	found, err := s.queries.Run(ctx, t.ask, func(e query.Event) error { return t.pass(ctx, e, emit) })
	return Answer{found, t.stored}, err
}

// asking is one question in progress.
type asking struct {
	store   Store
	ask     query.Ask
	opens   bool
	keep    bool // the turn is to be stored
	turn    Turn
	corpora []int64 // that the turn searched
	answer  strings.Builder
	stored  Ref
	gone    bool // the chat was deleted meanwhile
}

// begin completes the query.
func (s *Service) begin(a *Ask) *asking {
	t := &asking{store: s.store, ask: a.Ask, opens: a.Chat == "", turn: Turn{ChatID: a.Chat, Question: a.Search.Text, Enabled: true}}
	if save, given := a.Search.Save.Get(); !given {
		t.ask.Search.Save = opt.Some(true)
		t.keep = a.Store
	} else {
		t.keep = a.Store && save
	}
	g := generate.Request{Score: true}
	if a.Generation != nil {
		g = *a.Generation
	}
	g.Question = a.Search.Text
	if t.opens {
		t.turn.ChatID, t.turn.ID = id.NewChat()
	} else {
		t.turn.ID = id.NewTurn()
		g.Earlier = func(ctx context.Context, m generate.Memory) ([]generate.Exchange, error) {
			return s.earlier(ctx, a.Chat, a.Reader, Bound{Turns: m.Exchanges, Bytes: m.Bytes})
		}
	}
	t.ask.Generation, t.ask.Label = &g, t.label
	return t
}

// earlier reads what a turn builds on.
func (s *Service) earlier(ctx context.Context, chat id.Chat, r Reader, b Bound) ([]generate.Exchange, error) {
	turns, err := s.store.Recent(ctx, chat, r, b)
	out := make([]generate.Exchange, len(turns))
	for i, t := range turns {
		out[i] = generate.Exchange{Question: t.Question, Answer: t.Answer}
	}
	return out, err
}

// pass passes an event on, stores the turn before the event that says that the answer is whole, and tells what it will be
// called once something was found.
func (t *asking) pass(ctx context.Context, e query.Event, emit func(Event) error) error {
	t.answer.WriteString(e.Chunk)
	switch {
	case e.Found != nil:
		for _, c := range e.Found.Corpora {
			t.corpora = append(t.corpora, c.No)
		}
	case e.Done && t.keep:
		if err := t.put(ctx); err != nil {
			return err
		}
	}
	if err := emit(Event{Event: e}); err != nil || e.Found == nil || !t.keep {
		return err
	}
	return emit(Event{Turn: &Ref{t.turn.ChatID, t.turn.ID}})
}

// put stores the turn.
func (t *asking) put(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	t.turn.Answer, t.turn.Created = t.answer.String(), clock.Now()
	write := t.store.Add
	if t.opens {
		write = t.store.Open
	}
	err := write(ctx, t.turn, t.corpora)
	if err == nil {
		t.stored = Ref{t.turn.ChatID, t.turn.ID}
	}
	f, ok := fault.As(err)
	t.gone = ok && f.Kind == fault.KindNotFound
	return err
}

// label writes into a record which chat the query belongs to, once its turn is stored, and reports whether to keep the record.
func (t *asking) label(r *history.Record) bool {
	r.ChatID = string(t.stored.Chat)
	return !t.gone
}
