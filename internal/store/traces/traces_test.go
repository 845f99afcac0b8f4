package traces_test

import (
	"slices"
	"testing"
	"time"

	"quarry/internal/store"
	"quarry/internal/store/secrets"
	"quarry/internal/store/storetest"
	"quarry/internal/store/traces"
	"quarry/internal/trace"
)

// bench is a store over an empty database.
type bench struct {
	*traces.Store
	db     *store.DB
	sealed *secrets.Store
}

func each(t *testing.T, tests map[string]func(*testing.T, bench)) {
	open := func(t *testing.T, db *store.DB) bench {
		sealed := storetest.Secrets(t, db)
		return bench{traces.New(db, sealed), db, sealed}
	}
	storetest.Each(t, open, tests)
}

var began = time.Date(2026, 5, 1, 7, 0, 0, 0, time.UTC)

func (b bench) write(t *testing.T, spans ...trace.Span) {
	t.Helper()
	if err := b.db.Write(t.Context(), func(tx *store.Tx) error { b.Write(tx, spans); return nil }); err != nil {
		t.Fatal(err)
	}
}

// turn returns the spans of a turn of one chat: the chat, then the entry.
func turn(id string, at time.Time) (chat, entry trace.Span) {
	desk, session := trace.Subject{No: 1, Key: "desk"}, trace.Subject{No: 1, Key: "ase_1"}
	entry = trace.Span{
		Trace: id, ID: trace.NewSpanID(), Operation: trace.InvokeAgent, Started: at, Ended: at.Add(2 * time.Second), Agent: desk, Session: session,
		Invocation: &trace.InvocationAttributes{},
	}
	chat = trace.Span{
		Trace: id, ID: trace.NewSpanID(), Parent: entry.ID, Operation: trace.Chat, Started: at, Ended: at.Add(time.Second), Agent: desk, Session: session,
		Chat:    &trace.ChatAttributes{Model: "m", InputTokens: 7, OutputTokens: 3},
		Content: &trace.Content{Thinking: "a \x00 b"},
	}
	return chat, entry
}

// TestWrite proves that spans can be written one by one and twice, and that a trace has its row when its entry has ended.
func TestWrite(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, bench){
		"a turn": func(t *testing.T, b bench) {
			chat, entry := turn(trace.NewID(began), began)
			b.write(t, chat)
			b.write(t, chat)
			var n, in int64
			if err := b.db.Reader(t.Context()).QueryRow(`SELECT COUNT(*) FROM traces`).Scan(&n); err != nil || n != 0 {
				t.Fatalf("%d traces before the entry has ended, %v", n, err)
			}
			b.write(t, entry)
			b.write(t, entry)
			if err := b.db.Reader(t.Context()).QueryRow(`SELECT COUNT(*), SUM(input_tokens) FROM traces`).Scan(&n, &in); err != nil || n != 1 || in != 7 {
				t.Fatalf("%d traces, %d tokens, %v", n, in, err)
			}
		},
	})
}

// TestLate proves that a turn which ends behind the entry of its trace counts for it, in its tokens and for what it is found by.
func TestLate(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, bench){"a turn": func(t *testing.T, b bench) {
		id := trace.NewID(began)
		chat, entry := turn(id, began)
		b.write(t, chat, entry)
		late, nested := turn(id, began.Add(time.Minute))
		nested.Parent, late.Parent, nested.Invocation.Depth = chat.ID, nested.ID, 1
		tool := nested
		tool.ID, tool.Operation, tool.Parent, tool.Invocation, tool.Call = trace.NewSpanID(), trace.ExecuteTool, nested.ID, nil, &trace.CallAttributes{Tool: "web_get"}
		b.write(t, late, tool)
		b.write(t, nested)
		found, _, err := b.List(t.Context(), trace.List{Limit: 10, Tool: "web_get", Reader: trace.Reader{All: true}})
		if err != nil || len(found) != 1 || found[0].Input != 14 || found[0].Output != 6 || !found[0].Started.Equal(began) {
			t.Errorf("%+v, %v; want the trace with the tokens of both chats", found, err)
		}
	}})
}

// TestExpire proves that what began before a time goes, with its texts and all that it was found by, also spans whose trace never
// ended, in steps; and that what began at that time stays.
func TestExpire(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, bench){"at a time": func(t *testing.T, b bench) {
		var stay []string
		for i := range 20 {
			at := began.Add(time.Duration(i-10) * time.Hour)
			chat, entry := turn(trace.NewID(at), at)
			b.write(t, chat)
			if i%2 == 0 {
				b.write(t, entry)
				if i >= 10 {
					stay = append([]string{entry.Trace}, stay...)
				}
			}
		}
		for steps := 0; ; steps++ {
			n, err := b.Expire(t.Context(), began, 3)
			if err != nil || n > 3 || steps > 20 {
				t.Fatal(steps, n, err)
			}
			if n == 0 {
				break
			}
		}
		var got []string
		found, _, err := b.List(t.Context(), trace.List{Limit: 100, Reader: trace.Reader{All: true}})
		for _, f := range found {
			got = append(got, f.ID)
		}
		if err != nil || !slices.Equal(got, stay) {
			t.Errorf("%v, %v; want %v", got, err, stay)
		}
		for query, want := range map[string]int{
			`SELECT COUNT(*) FROM traces`: 5, `SELECT COUNT(*) FROM trace_blocks`: 15, `SELECT COUNT(*) FROM trace_blocks WHERE sealed IS NOT NULL`: 10, `SELECT COUNT(*) FROM trace_texts`: 10,
			`SELECT COUNT(*) FROM trace_marks WHERE mark = 'all'`: 5, `SELECT COUNT(DISTINCT trace_no) FROM trace_marks`: 5,
		} {
			var n int
			if err := b.db.Reader(t.Context()).QueryRow(query).Scan(&n); err != nil || n != want {
				t.Errorf("%s: %d, %v; want %d", query, n, err, want)
			}
		}
	}})
}
