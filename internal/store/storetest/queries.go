package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/clock"
	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/page"
	"quarry/internal/query/history"
	"quarry/internal/query/retrieve"
)

// everyone reads every record.
var everyone = history.Reader{All: true}

// query returns a record with every member set.
func query(started time.Time, corpora ...history.Corpus) history.Record {
	text, score := "The answer: ☃", 0.75
	span := func(t history.Type) history.Span {
		return history.Span{Type: t, Started: started.Add(time.Millisecond), Latency: 1500 * time.Microsecond}
	}
	rephrase, rewriting, search, rerank := span(history.Rephrase), span(history.Rewriting), span(history.Search), span(history.Rerank)
	rephrase.Rephrased = "What is it?"
	rewriting.CorpusKey, rewriting.Warnings = "a", []string{"failure"}
	rewriting.Extracted = &history.Extraction{Query: "rest", Filter: "doc.n = 1"}
	search.Results = []retrieve.Result{
		{
			Text: "<b>Text</b> & \"quotes\"", Score: 1e-7, DocumentID: "d/1", CorpusKey: "a", Source: 1,
			DocumentMetadata: json.RawMessage(`{"n":1.50,"s":"é<&>"}`), PartMetadata: json.RawMessage(`{"lang":"eng"}`),
			Table: &document.Table{ID: "t", Title: "T", Data: json.RawMessage(`{"headers":[]}`)},
			Image: &document.Image{ID: "i", Title: "I", Caption: "C", Description: "D", MimeType: "image/png"},
		},
		{DocumentMetadata: json.RawMessage(`{}`), PartMetadata: json.RawMessage(`{}`)},
	}
	rerank.Reranked = []retrieve.Reranked{
		{Text: "", Score: 0.5, Original: 0.25}, {Text: search.Results[0].Text, Score: 0, Original: 1}, {Text: "cut off", Score: -1},
	}
	generation, consistency := span(history.Generation), span(history.Consistent)
	generation.Prompt, generation.Generation = "Say it", text
	consistency.Score = score
	return history.Record{
		Summary: history.Summary{
			ID: id.NewQuery(), Text: strings.Repeat("😀", 2500) + "<&>", Corpora: corpora, Started: clock.Stored(started),
			Latency: 12345 * time.Microsecond, ChatID: "cht_1", AgentKey: "agent", SessionKey: "session", Generation: &text, Consistency: &score,
		},
		Request: json.RawMessage(`{"query":"q","search":{"corpora":[{"corpus_key":"a"}],"limit":3}}`),
		Spans:   []history.Span{rephrase, rewriting, search, rerank, generation, consistency},
	}
}

func save(t *testing.T, s Stores, r history.Record) history.Record {
	t.Helper()
	if err := s.Queries.Save(t.Context(), r); err != nil {
		t.Fatalf("save query: %v", err)
	}
	return r
}

// testSaveQuery proves that a record is read as it was saved, with every member set or none, also if a model has written
// what can't be kept as it is; an unknown id is not found.
func testSaveQuery(t *testing.T, s Stores) {
	now := clock.Now()
	bare := history.Record{Summary: history.Summary{ID: id.NewQuery(), Text: "q", Started: now}, Request: json.RawMessage(`{}`)}
	for _, want := range []history.Record{query(now, history.Corpus{No: 7, Key: "b"}, history.Corpus{No: 3, Key: "a"}), bare} {
		save(t, s, want)
		got, err := s.Queries.Get(t.Context(), string(want.ID), everyone)
		if err != nil {
			t.Fatal(err)
		}
		toMicros := cmp.Transformer("micros", func(x time.Time) int64 { return x.UnixMicro() })
		if diff := cmp.Diff(want, got, toMicros, cmpopts.EquateEmpty()); diff != "" {
			t.Error("record (-saved +read):", diff)
		}
	}
	written := "a\x00b\xff"
	odd := save(t, s, history.Record{Summary: history.Summary{ID: id.NewQuery(), Text: "q", Started: now, Generation: &written}, Request: json.RawMessage(`{}`)})
	if got, err := s.Queries.Get(t.Context(), string(odd.ID), everyone); err != nil || *got.Generation != "a\uFFFDb\uFFFD" {
		t.Errorf("an answer with characters that no text of a database holds: %+v, %v", got.Summary, err)
	}
	_, err := s.Queries.Get(t.Context(), "qry_none", everyone)
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindNotFound || f.Code != "query_not_found" || f.ID != "qry_none" {
		t.Errorf("unknown id: %v, want query_not_found", err)
	}
	if err := s.Queries.Save(t.Context(), bare); err == nil {
		t.Error("the same id was saved twice")
	}
}

// listAll reads a whole list with pages of n and returns the texts.
func listAll(t *testing.T, s Stores, l history.List) (texts []string) {
	t.Helper()
	for range 100 {
		found, more, err := s.Queries.List(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > l.Limit {
			t.Fatalf("%d queries on a page of %d", len(found), l.Limit)
		}
		for _, q := range found {
			texts = append(texts, q.Text)
		}
		if !more {
			return texts
		}
		last := found[len(found)-1]
		l.After = page.At(last.Started, last.ID)
	}
	t.Fatal("the list does not end")
	return nil
}

// asked saves a bare query of a text.
func asked(t *testing.T, s Stores, text string, started time.Time, corpora ...history.Corpus) history.Record {
	t.Helper()
	return save(t, s, history.Record{
		Summary: history.Summary{ID: id.NewQuery(), Text: text, Started: started.UTC(), Corpora: corpora}, Request: json.RawMessage(`{}`),
	})
}

// testListQueries proves that List returns every record once, newest first and those of one moment by id, whatever the
// size of the page; a limit of nothing returns nothing.
func testListQueries(t *testing.T, s Stores) {
	now := time.Now()
	var same []string
	for i, age := range []int{0, 2, 1, 1, 1, 3} {
		r := asked(t, s, fmt.Sprint("q", i), now.Add(-time.Duration(age)*time.Second), history.Corpus{No: int64(i), Key: "k"})
		if age == 1 {
			same = append(same, string(r.ID)+" "+r.Text)
		}
	}
	slices.Sort(same)
	want := []string{"q0"}
	for _, x := range slices.Backward(same) {
		want = append(want, x[strings.Index(x, " ")+1:])
	}
	want = append(want, "q1", "q5")
	for n := 1; n <= 7; n++ {
		if diff := cmp.Diff(want, listAll(t, s, history.List{Limit: n, Reader: everyone})); diff != "" {
			t.Errorf("pages of %d (-want +got): %s", n, diff)
		}
	}
	page, more, err := s.Queries.List(t.Context(), history.List{Reader: everyone})
	if len(page) > 0 || more || err != nil {
		t.Errorf("a page of no record: %v, %v, %v", page, more, err)
	}
	page, _, err = s.Queries.List(t.Context(), history.List{Limit: 1, Reader: everyone})
	if err != nil || len(page) != 1 || len(page[0].Corpora) != 1 || page[0].Corpora[0] != (history.Corpus{No: 0, Key: "k"}) {
		t.Errorf("first of the list: %+v, %v", page, err)
	}
}

// testQueryFilters proves that every filter keeps what it names, times are exclusive, several filters must all hold.
func testQueryFilters(t *testing.T, s Stores) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC)
	a, b := history.Corpus{No: 1, Key: "a"}, history.Corpus{No: 2, Key: "b"}
	asked(t, s, "of a", at.Add(-time.Microsecond), a)
	both := asked(t, s, "of both", at, a, b)
	asked(t, s, "of b", at.Add(time.Microsecond), b)
	chat := query(at.Add(time.Second), b)
	chat.Text, chat.ChatID = "chat", "cht_x"
	save(t, s, chat)
	for _, c := range []struct {
		name string
		list history.List
		want []string
	}{
		{"none", history.List{}, []string{"chat", "of b", "of both", "of a"}},
		{"first corpus", history.List{Corpus: "a"}, []string{"of both", "of a"}},
		{"second corpus", history.List{Corpus: "b"}, []string{"chat", "of b", "of both"}},
		{"unknown corpus", history.List{Corpus: "c"}, nil},
		{"after", history.List{StartedAfter: at}, []string{"chat", "of b"}},
		{"after, within a microsecond", history.List{StartedAfter: at.Add(-time.Nanosecond)}, []string{"chat", "of b", "of both"}},
		{"before", history.List{StartedBefore: at}, []string{"of a"}},
		{"before, within a microsecond", history.List{StartedBefore: at.Add(time.Nanosecond)}, []string{"of both", "of a"}},
		{"between", history.List{StartedAfter: at.Add(-time.Microsecond), StartedBefore: at.Add(time.Microsecond)}, []string{"of both"}},
		{"nothing between", history.List{StartedAfter: at, StartedBefore: at}, nil},
		{"chat", history.List{Chat: "cht_x"}, []string{"chat"}},
		{"unknown chat", history.List{Chat: "cht_"}, nil},
		{"id", history.List{ID: string(both.ID)}, []string{"of both"}},
		{"id of another corpus", history.List{ID: string(chat.ID), Corpus: "a"}, nil},
		{"all at once", history.List{
			ID: string(both.ID), Corpus: "b", StartedAfter: at.Add(-time.Hour), StartedBefore: at.Add(time.Hour),
		}, []string{"of both"}},
		{"part of an id", history.List{ID: "qry_"}, nil},
	} {
		c.list.Limit, c.list.Reader = 2, everyone
		if diff := cmp.Diff(c.want, listAll(t, s, c.list)); diff != "" {
			t.Errorf("%s (-want +got): %s", c.name, diff)
		}
	}
}

// testQueryReaders proves that a reader of some corpora sees a record when every corpus it searched still stands under
// one of the reader's keys; a later corpus of a key opens nothing. Who reads everything sees the records of deleted
// corpora.
func testQueryReaders(t *testing.T, s Stores) {
	a, b := create(t, s, "a"), create(t, s, "b")
	inA, inB := history.Corpus{No: a.No, Key: "a"}, history.Corpus{No: b.No, Key: "b"}
	now := time.Now()
	ofA := asked(t, s, "of a", now, inA)
	asked(t, s, "of both", now.Add(time.Second), inA, inB)
	ofB := asked(t, s, "of b", now.Add(2*time.Second), inB)
	asked(t, s, "of none", now.Add(3*time.Second)) // such as of a chat over nothing
	check := func(when string, keys []string, want ...string) {
		t.Helper()
		got := listAll(t, s, history.List{Limit: 1, Reader: history.Reader{Keys: keys}})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, reader of %v (-want +got): %s", when, keys, diff)
		}
	}
	check("at first", nil)
	check("at first", []string{"a"}, "of a")
	check("at first", []string{"b", "c"}, "of b")
	check("at first", []string{"a", "b"}, "of b", "of both", "of a")
	if _, err := s.Queries.Get(t.Context(), string(ofA.ID), history.Reader{Keys: []string{"a"}}); err != nil {
		t.Errorf("own record: %v", err)
	}
	if _, err := s.Queries.Get(t.Context(), string(ofB.ID), history.Reader{Keys: []string{"a"}}); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("record of another corpus: %v, want not found", err)
	}
	if err := s.Corpora.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	check("a deleted", []string{"a", "b"}, "of b")
	create(t, s, "a")
	check("another a", []string{"a", "b"}, "of b")
	if got := listAll(t, s, history.List{Limit: 10, Reader: everyone}); len(got) != 4 {
		t.Errorf("who reads everything sees %v", got)
	}
}

// testExpireQueries proves that expire removes the oldest records of before a moment, as many as it is told, and leaves
// nothing of them behind.
func testExpireQueries(t *testing.T, s Stores) {
	at := clock.Now()
	for i := range 5 {
		asked(t, s, fmt.Sprint("q", i), at.Add(time.Duration(i)*time.Microsecond), history.Corpus{No: 1, Key: "k"})
	}
	for _, c := range []struct {
		before time.Time
		limit  int
		gone   int
		left   []string
	}{
		{at, 9, 0, []string{"q4", "q3", "q2", "q1", "q0"}},
		{at.Add(3 * time.Microsecond), 2, 2, []string{"q4", "q3", "q2"}},
		{at.Add(3 * time.Microsecond), 2, 1, []string{"q4", "q3"}},
		{at.Add(3 * time.Microsecond), 2, 0, []string{"q4", "q3"}},
		{at.Add(time.Hour), 9, 2, nil},
	} {
		gone, err := s.Queries.Expire(t.Context(), c.before, c.limit)
		if err != nil || gone != c.gone {
			t.Errorf("expire %d before %v: %d gone, %v; want %d", c.limit, c.before.Sub(at), gone, err, c.gone)
		}
		if diff := cmp.Diff(c.left, listAll(t, s, history.List{Limit: 9, Corpus: "k", Reader: everyone})); diff != "" {
			t.Errorf("left (-want +got): %s", diff)
		}
	}
}
