package store_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/session"
	"quarry/internal/secret/seal"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
	"quarry/internal/store/sessions"
	"quarry/internal/store/storetest"
	"quarry/internal/store/traces"
	"quarry/internal/trace"
)

// TestTracesOfOldRows proves that traces of the version before, a row for each span, are read as they were written, with their texts, are
// found by the same things, are summed up with what still ends in them, and lose their texts with their session.
func TestTracesOfOldRows(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c store.Config) {
		driver, at := "sqlite", filepath.Join(c.Dir, "quarry.db")
		if c.URL != "" {
			driver, at = "pgx", c.URL
		}
		raw, err := sql.Open(driver, at)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.MigrateTo(t.Context(), raw, c.URL != "", 37); err != nil {
			t.Fatal(err)
		}
		key := seal.NewKey()
		want := oldTrace()
		for i := range want {
			insertOld(t, raw, key, &want[i])
		}
		entry := &want[0]
		const marks = "all\nstatus/error\noperation/chat\noperation/execute_tool\ntool/web_get"
		exec := func(query string, args ...any) {
			t.Helper()
			if _, err := raw.ExecContext(t.Context(), query, args...); err != nil {
				t.Fatal(err)
			}
		}
		exec(`INSERT INTO traces (id, started, duration, agent_no, agent_key, session_no, session_key, failed, input_tokens, output_tokens, marks)
			VALUES ($1, $2, 2000000, 1, 'desk', 1, 's', TRUE, 600, 300, $3)`, entry.Trace, entry.Started.UnixMicro(), marks)
		for _, mark := range []string{"all", "status/error", "operation/chat", "operation/execute_tool", "tool/web_get"} {
			exec(`INSERT INTO trace_marks (mark, started, trace_no, flags, duration, agent_no) SELECT $1, started, no, 2 + 4 + 8 + 16, duration, 1 FROM traces`, mark)
		}
		if err := raw.Close(); err != nil {
			t.Fatal(err)
		}
		db := open(t, c)
		kept := secretsWith(t, db, key)
		s := traces.New(db, kept)
		log := writeSession(t, db)
		if diff := cmp.Diff(want, readOld(t, s, entry.Trace)); diff != "" {
			t.Errorf("the spans (-want +got): %s", diff)
		}
		found := func(l trace.List) int {
			l.Limit, l.Reader.All = 10, true
			all, _, err := s.List(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		check := func(when string) {
			for name, l := range map[string]trace.List{
				"failed": {Failed: new(true)}, "chat": {Operation: trace.Chat}, "tool": {Tool: "web_get"}, "none": {}, "all of it": {Failed: new(true), Operation: trace.ExecuteTool, Tool: "web_get"},
			} {
				if n := found(l); n != 1 {
					t.Errorf("%s, %s: %d traces", when, name, n)
				}
			}
			if n := found(trace.List{Failed: new(false)}) + found(trace.List{Operation: trace.Thinking}); n != 0 {
				t.Errorf("%s: %d traces that are no such", when, n)
			}
		}
		check("as they were")
		late := trace.Span{Trace: entry.Trace, ID: trace.NewSpanID(), Parent: want[1].ID, Operation: trace.InvokeAgent, Started: entry.Started.Add(time.Minute), Ended: entry.Started.Add(time.Minute), Invocation: &trace.InvocationAttributes{}}
		if err := db.Write(t.Context(), func(tx *store.Tx) error { return s.Write(tx, []trace.Span{late}) }); err != nil {
			t.Fatal(err)
		}
		check("with a late turn")
		if got, err := s.Get(t.Context(), trace.Reader{All: true}, entry.Trace); err != nil || got.Input != 600 || got.Output != 300 {
			t.Errorf("%+v, %v; want the tokens of all chats", got, err)
		}
		if err := log.Delete(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		for more := true; more; {
			if err := db.Write(t.Context(), func(tx *store.Tx) (err error) { more, err = sessions.Sweeper{}.Sweep(tx); return err }); err != nil {
				t.Fatal(err)
			}
		}
		var n int
		if err := db.Reader(t.Context()).QueryRow(`SELECT (SELECT COUNT(*) FROM trace_blocks WHERE sealed IS NOT NULL) + (SELECT COUNT(*) FROM trace_texts)`).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows of texts after their session, %v", n, err)
		}
	})
}

// oldTrace returns the spans of a trace by their starts: the turn, a call of a tool, and 300 chats.
func oldTrace() []trace.Span {
	began := time.Date(2026, 5, 1, 7, 0, 0, 0, time.UTC)
	id, desk, of := trace.NewID(began), trace.Subject{No: 1, Key: "desk"}, trace.Subject{No: 1, Key: "s"}
	span := func(i int, operation trace.Operation) trace.Span {
		return trace.Span{
			Trace: id, ID: fmt.Sprintf("%016x", i), Operation: operation, Started: began.Add(time.Duration(i) * time.Millisecond), Ended: began.Add(time.Second), Agent: desk, Session: of,
		}
	}
	entry, call := span(0, trace.InvokeAgent), span(1, trace.ExecuteTool)
	entry.Failed, entry.Class, entry.Message, entry.Invocation = true, trace.Internal, `it "failed"`, &trace.InvocationAttributes{AgentName: "Desk"}
	entry.Content = &trace.Content{Input: "the question", Output: "\x00 <b>"}
	call.Parent, call.Event, call.Call, call.Content = entry.ID, "evt_1", &trace.CallAttributes{Tool: "web_get", Key: "k", Corpora: []string{"a"}}, &trace.Content{Arguments: "{}"}
	all := []trace.Span{entry, call}
	for i := range 300 {
		chat := span(2+i, trace.Chat)
		chat.Parent, chat.Step, chat.Chat = entry.ID, "first", &trace.ChatAttributes{Model: "m", InputTokens: 2, OutputTokens: 1, Temperature: new(0.25)}
		all = append(all, chat)
	}
	return all
}

// insertOld writes a span as version 37 did.
func insertOld(t *testing.T, raw *sql.DB, key seal.Key, s *trace.Span) {
	t.Helper()
	body := map[string]any{"ended": s.Ended.UnixMicro(), "agent": s.Agent.Key, "session": s.Session.Key}
	for name, v := range map[string]string{"message": s.Message, "step": s.Step, "event": string(s.Event)} {
		if v != "" {
			body[name] = v
		}
	}
	tool, in, out := "", int64(0), int64(0)
	switch {
	case s.Invocation != nil:
		body["attributes"] = s.Invocation
	case s.Call != nil:
		body["attributes"], tool = s.Call, s.Call.Tool
	case s.Chat != nil:
		body["attributes"], in, out = s.Chat, s.Chat.InputTokens, s.Chat.OutputTokens
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.ExecContext(t.Context(), `INSERT INTO spans (trace, started, id, parent, operation, agent_no, session_no, failed, class, tool, input_tokens, output_tokens, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		s.Trace, s.Started.UnixMicro(), s.ID, s.Parent, string(s.Operation), s.Agent.No, s.Session.No, s.Failed, string(s.Class), tool, in, out, string(text)); err != nil {
		t.Fatal(err)
	}
	if s.Content == nil {
		return
	}
	plain, err := json.Marshal(s.Content)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := seal.NewKeyring([]seal.Key{key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := ring.Seal("content/"+s.Trace+"/"+s.ID, plain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.ExecContext(t.Context(), `INSERT INTO span_contents (session_no, trace, span, sealed) VALUES ($1, $2, $3, $4)`, s.Session.No, s.Trace, s.ID, sealed); err != nil {
		t.Fatal(err)
	}
}

// secretsWith returns the secrets of an installation, the key of traces among them.
func secretsWith(t *testing.T, db *store.DB, key seal.Key) *secrets.Store {
	t.Helper()
	s := storetest.Secrets(t, db)
	if err := db.Write(t.Context(), func(tx *store.Tx) error { return s.Put(tx, "trace/content", []byte(key.Text())) }); err != nil {
		t.Fatal(err)
	}
	return s
}

// writeSession writes the session that the old spans are of, which is the first one.
func writeSession(t *testing.T, db *store.DB) *sessions.Store {
	t.Helper()
	var agent int64
	err := db.Write(t.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(`INSERT INTO agents (key, revision, enabled, created, updated, deleted) VALUES ('desk', 1, TRUE, 1, 1, 0) RETURNING no`).Scan(&agent)
	})
	if err != nil {
		t.Fatal(err)
	}
	log, now := sessions.New(db, nil), time.Now()
	made, err := log.Create(t.Context(), session.Session{Key: "s", AgentNo: agent, Name: "n", Metadata: json.RawMessage(`{}`), Enabled: true, Created: now, Updated: now}, nil)
	if err != nil || made.No != 1 {
		t.Fatalf("the session %d, %v; want the first one", made.No, err)
	}
	return log
}

// readOld reads the spans of a trace with their texts, page by page.
func readOld(t *testing.T, s *traces.Store, id string) (out []trace.Span) {
	t.Helper()
	l := trace.Spans{Trace: id, Limit: 70, Content: true, Reader: trace.Reader{All: true}}
	for {
		found, more, err := s.Spans(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		for i := range found {
			if found[i].Parental != (found[i].Parent == "") {
				t.Errorf("span %s has children: %t", found[i].ID, found[i].Parental)
			}
			out = append(out, found[i].Span)
		}
		if !more {
			return out
		}
		l.After = found[len(found)-1].Place()
	}
}
