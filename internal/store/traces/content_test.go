package traces_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/session"
	"quarry/internal/fault"
	"quarry/internal/secret/seal"
	"quarry/internal/secret/vault"
	"quarry/internal/store"
	"quarry/internal/store/agents"
	"quarry/internal/store/secrets"
	"quarry/internal/store/sessions"
	"quarry/internal/store/storetest"
	"quarry/internal/store/traces"
	"quarry/internal/trace"
)

var all100 = trace.Spans{Limit: 100, Content: true, Reader: trace.Reader{All: true}}

// said is a trace of three spans with texts: an entry of one agent, its chat, and a turn of another agent.
type said struct {
	id           string
	entry, chat  trace.Span
	nested       trace.Span
	agent, other trace.Subject
}

// say writes a trace with texts in sessions that are there.
func (b bench) say(t *testing.T, at time.Time) said {
	t.Helper()
	log := sessions.New(b.db, nil)
	subject := func(key string) (agent, of trace.Subject) {
		agent.Key = key
		err := b.db.Write(t.Context(), func(tx *store.Tx) error {
			return tx.QueryRow(`INSERT INTO agents (key, revision, enabled, created, updated, deleted) VALUES ($1, 1, TRUE, 1, 1, 0)
				ON CONFLICT (key) DO UPDATE SET revision = 1 RETURNING no`, key).Scan(&agent.No)
		})
		if err != nil {
			t.Fatal(err)
		}
		made, err := log.Create(t.Context(), session.Session{
			Key: trace.NewSpanID(), AgentNo: agent.No, Name: "n", Metadata: json.RawMessage(`{}`), Enabled: true, Created: began, Updated: began,
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return agent, trace.Subject{No: made.No, Key: made.Key}
	}
	s := said{id: trace.NewID(at)}
	s.chat, s.entry = turn(s.id, at)
	s.agent, s.entry.Session = subject("desk")
	s.entry.Agent, s.chat.Agent, s.chat.Session = s.agent, s.agent, s.entry.Session
	s.chat.Content = nil
	s.entry.Content = &trace.Content{Input: "the hidden question", Output: `"an answer" <b>`, Thinking: "\x00 hm"}
	_, s.nested = turn(s.id, at)
	s.other, s.nested.Session = subject("night")
	s.nested.Agent, s.nested.Parent, s.nested.Content = s.other, s.chat.ID, &trace.Content{Input: "the hidden task"}
	b.write(t, s.nested, s.chat, s.entry)
	return s
}

// texts returns the texts of the spans of a trace that a reader sees.
func (b bench) texts(t *testing.T, id string, r trace.Reader) map[string]trace.Content {
	t.Helper()
	l := all100
	l.Trace, l.Reader = id, r
	out := map[string]trace.Content{}
	for _, s := range spans(t, b, l) {
		if s.Content != nil {
			out[s.ID] = *s.Content
		}
	}
	return out
}

// TestContent proves that texts are read as they were written, by those who may, when they are asked for; and that nobody reads them
// from the moment at which their session or its agent is deleted, after which the sweep removes them.
func TestContent(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, bench){"readers": testReaders, "deleted": testDeleted, "long": testLong, "wide": testWide})
}

func testReaders(t *testing.T, b bench) {
	s := b.say(t, began)
	entry, nested := map[string]trace.Content{s.entry.ID: *s.entry.Content}, map[string]trace.Content{s.entry.ID: *s.entry.Content, s.nested.ID: *s.nested.Content}
	for _, c := range []struct {
		reader trace.Reader
		want   map[string]trace.Content
	}{
		{trace.Reader{All: true}, nested}, {trace.Reader{Agents: []string{"desk", "night"}}, nested}, {trace.Reader{Agents: []string{"desk"}}, entry},
	} {
		if diff := cmp.Diff(c.want, b.texts(t, s.id, c.reader)); diff != "" {
			t.Errorf("%v (-want +got): %s", c.reader, diff)
		}
		for _, content := range []bool{true, false} {
			got, err := b.Span(t.Context(), c.reader, s.id, s.nested.ID, content)
			if _, sees := c.want[s.nested.ID]; err != nil || (got.Content != nil) != (sees && content) {
				t.Errorf("%v, with content %v: %v, %v", c.reader, content, got.Content, err)
			}
		}
	}
	foreign := trace.Reader{Agents: []string{"night"}} // took part, and is not the entry's
	_, errGet := b.Get(t.Context(), foreign, s.id)
	_, errSpan := b.Span(t.Context(), foreign, s.id, s.nested.ID, true)
	_, _, errSpans := b.Spans(t.Context(), trace.Spans{Trace: s.id, Limit: 1, Reader: foreign})
	for _, err := range []error{errGet, errSpan, errSpans} {
		if f, _ := fault.As(err); f == nil || f.Code != "trace_not_found" {
			t.Errorf("of a trace that another agent entered: %v", err)
		}
	}
	if _, err := b.Span(t.Context(), trace.Reader{All: true}, b.say(t, began).id, s.chat.ID, true); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("a span of another trace: %v", err)
	}
}

func testDeleted(t *testing.T, b bench) {
	s, other := b.say(t, began), b.say(t, began)
	log := sessions.New(b.db, nil)
	mine, err := log.Get(t.Context(), s.agent.No, s.entry.Session.Key)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Delete(t.Context(), mine.No); err != nil {
		t.Fatal(err)
	}
	seen := func(id string) int { return len(b.texts(t, id, trace.Reader{All: true})) }
	if n := seen(s.id); n != 1 {
		t.Errorf("%d texts of a trace whose session is deleted, want that of the other session", n)
	}
	rows := func() (n int) {
		if err := b.db.Reader(t.Context()).QueryRow(`SELECT COUNT(*) FROM trace_blocks WHERE sealed IS NOT NULL`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for more := true; more; {
		err := b.db.Write(t.Context(), func(tx *store.Tx) (err error) {
			more, err = sessions.Sweeper{}.Sweep(tx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := rows(); n != 3 {
		t.Errorf("%d rows of texts after the sweep, want the three of the other sessions", n)
	}
	if err := agents.New(b.db).Delete(t.Context(), s.other.No, began); err != nil {
		t.Fatal(err)
	}
	if n := seen(other.id); n != 1 {
		t.Errorf("%d texts of a trace one of whose agents is deleted, want that of the other one", n)
	}
	if found, err := b.Get(t.Context(), trace.Reader{All: true}, s.id); err != nil || found.ID != s.id {
		t.Errorf("the trace itself: %v", err)
	}
}

// testLong proves that a page ends where its texts are long, that the next one goes on there, and that one long text is read.
func testLong(t *testing.T, b bench) {
	s := b.say(t, began)
	var many []trace.Span
	for i := range 70 {
		c, _ := turn(s.id, began.Add(time.Duration(i+1)*time.Millisecond))
		c.Parent, c.Session, c.Agent = s.entry.ID, s.entry.Session, s.agent
		c.Content = &trace.Content{Thinking: fmt.Sprint(i, strings.Repeat("x", trace.MaxContent-2))}
		many = append(many, c)
	}
	b.write(t, many...)
	l := all100
	l.Trace = s.id
	page, more, err := b.Spans(t.Context(), l)
	if err != nil || !more || len(page) < 25 || len(page) > 40 {
		t.Errorf("the first page has %d spans, more %v, %v", len(page), more, err)
	}
	whole := spans(t, b, l)
	if len(whole) != 73 {
		t.Fatalf("%d spans, want 73", len(whole))
	}
	for i, got := range whole[3:] {
		if diff := cmp.Diff(many[i].Content, got.Content); diff != "" {
			t.Fatal(i, diff)
		}
	}
}

// testWide proves that texts which take many bytes as JSON are written: one of control characters alone without them, since it would not fit,
// and quotes beside one another as they are.
func testWide(t *testing.T, b bench) {
	s := b.say(t, began)
	var many []trace.Span
	for i, text := range []string{"\x01", `"`, `"`, `"`, "<"} {
		c, _ := turn(s.id, began.Add(time.Duration(i+1)*time.Millisecond))
		c.Parent, c.Session, c.Agent, c.Content = s.entry.ID, s.entry.Session, s.agent, &trace.Content{Thinking: strings.Repeat(text, trace.MaxContent)}
		many = append(many, c)
	}
	b.write(t, many...)
	got := b.texts(t, s.id, trace.Reader{All: true})
	many[0].Content.Thinking = strings.Repeat("\uFFFD", trace.MaxContent)
	for i, one := range many {
		if got[one.ID] != *one.Content {
			t.Errorf("text %d has %d bytes, want %d as they were", i, len(got[one.ID].Thinking), len(one.Content.Thinking))
		}
	}
}

// TestSealed proves that no text stands in the files of the database, that a rotation of the installation's keys leaves texts as they
// are and readable, by its new key alone, and that the next process reads them, too.
func TestSealed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := storetest.Open(t, store.Config{Dir: dir})
	file := seal.NewFile(filepath.Join(t.TempDir(), "keys"))
	v, err := vault.Open(t.Context(), vault.Config{Rows: secrets.NewRows(db), File: file})
	if err != nil {
		t.Fatal(err)
	}
	sealing := secrets.New(db, v.Keyring())
	b := bench{traces.New(db, sealing), db, sealing}
	s := b.say(t, began)
	sealed := func() (out []byte) {
		if err := db.Reader(t.Context()).QueryRow(`SELECT sealed FROM trace_blocks WHERE trace = $1 AND session_no = $2`, s.id, s.entry.Session.No).Scan(&out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := sealed()
	if p, err := v.Rotate(t.Context()); err != nil || !p.Done {
		t.Fatalf("rotate: %+v, %v", p, err)
	}
	if !bytes.Equal(before, sealed()) {
		t.Error("the rotation has written texts anew")
	}
	later := b.say(t, began)
	if v, err = vault.Open(t.Context(), vault.Config{Rows: secrets.NewRows(db), File: file}); err != nil {
		t.Fatal(err)
	}
	next := bench{traces.New(db, secrets.New(db, v.Keyring())), db, nil}
	for _, id := range []string{s.id, later.id} {
		if n := len(next.texts(t, id, trace.Reader{All: true})); n != 2 {
			t.Errorf("%d texts after the rotation, want 2", n)
		}
	}
	files, err := filepath.Glob(dir + "/*")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte("hidden question")) || bytes.Contains(raw, []byte("hidden task")) {
			t.Errorf("%s has a text in clear", filepath.Base(f))
		}
	}
}

// TestKeyMadeOnce proves that a write that is rolled back does not leave a key behind that seals what nobody can open, and that the
// first texts, when several writers have them at once, are under one key.
func TestKeyMadeOnce(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, bench){
		"rolled back": func(t *testing.T, b bench) {
			chat, _ := turn(trace.NewID(began), began)
			refused := errors.New("refused")
			err := b.db.Write(t.Context(), func(tx *store.Tx) error {
				b.Write(tx, []trace.Span{chat})
				return refused
			})
			if !errors.Is(err, refused) {
				t.Fatal(err)
			}
			s := b.say(t, began)
			next := bench{traces.New(b.db, b.sealed), b.db, b.sealed}
			if n := len(next.texts(t, s.id, trace.Reader{All: true})); n != 2 {
				t.Errorf("%d texts, want 2", n)
			}
		},
		"at once": func(t *testing.T, b bench) {
			failed := make(chan error)
			ids := make([]said, 8)
			for i := range ids {
				ids[i] = said{id: trace.NewID(began)}
				ids[i].chat, ids[i].entry = turn(ids[i].id, began)
			}
			for i := range ids {
				go func() {
					failed <- b.db.Write(t.Context(), func(tx *store.Tx) error { b.Write(tx, []trace.Span{ids[i].chat, ids[i].entry}); return nil })
				}()
			}
			for range ids {
				if err := <-failed; err != nil {
					t.Error(err)
				}
			}
			var keys int
			if err := b.db.Reader(t.Context()).QueryRow(`SELECT COUNT(*) FROM secrets`).Scan(&keys); err != nil || keys != 1 {
				t.Errorf("%d keys, %v", keys, err)
			}
		},
	})
}
