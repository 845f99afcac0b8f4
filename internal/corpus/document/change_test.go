package document_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus/document"
	"quarry/internal/corpus/document/documenttest"
	"quarry/internal/corpus/metadata"
	"quarry/internal/fault"
)

func wantKind(t *testing.T, what string, err error, kind fault.Kind, code string) *fault.Fault {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Kind != kind || f.Code != code {
		t.Errorf("%s: %v, want kind %d, code %s", what, err, kind, code)
		return &fault.Fault{}
	}
	return f
}

func TestAmend(t *testing.T) {
	// Proves that an update waits for searches to follow, is a success when they can't now, and refuses what it can't do.
	t.Parallel()
	m, s := newMemory(t, 2)
	m.Behind = errors.New("busy")
	d, err := s.Amend(t.Context(), "c", "d0001", json.RawMessage(`{"even":true,"x":1}`), true)
	if err != nil || string(d.Metadata) != `{"even":true,"x":1}` || d.Parts != nil {
		t.Fatalf("Amend: %+v, %v", d, err)
	}
	if diff := cmp.Diff([]int64{3}, m.Indexed()); diff != "" {
		t.Errorf("sequence numbers waited for: %s", diff)
	}
	if d, err = s.Amend(t.Context(), "c", "d0001", nil, false); err != nil || string(d.Metadata) != `{}` {
		t.Errorf("replace by nothing: %+v, %v", d, err)
	}
	for _, id := range []string{"none", "", "a\x00b", "\xff"} {
		_, err := s.Amend(t.Context(), "c", id, json.RawMessage(`{"even":3}`), true)
		wantKind(t, fmt.Sprintf("update of %q", id), err, fault.KindNotFound, "document_not_found")
	}
	_, err = s.Amend(t.Context(), "c", "d0000", json.RawMessage(`{"even":3}`), true)
	wantKind(t, "a value of another type", err, fault.KindInvalid, "invalid_request")
	_, err = s.Amend(t.Context(), "other", "d0000", nil, true)
	wantKind(t, "update in no corpus", err, fault.KindNotFound, "corpus_not_found")
}

func TestAmendAtOnce(t *testing.T) {
	// Proves that a second update of the same document is told to come again while the first is under way, and that
	// other documents, and the same one afterwards, are not held up.
	t.Parallel()
	m, s := newMemory(t, 2)
	entered, leave := make(chan bool), make(chan bool)
	m.Hold = func() { entered <- true; <-leave }
	amend := func(id string, done chan<- error) {
		_, err := s.Amend(t.Context(), "c", id, json.RawMessage(`{"x":1}`), true)
		done <- err
	}
	first, second := make(chan error, 1), make(chan error, 1)
	go amend("d0000", first)
	<-entered
	_, err := s.Amend(t.Context(), "c", "d0000", nil, true)
	if f := wantKind(t, "the same document", err, fault.KindLimited, "document_busy"); f.RetryAfter <= 0 {
		t.Error("the refusal does not say when to try again")
	}
	go amend("d0001", second)
	<-entered
	close(leave)
	for _, done := range []chan error{first, second} {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	m.Hold = nil
	if _, err := s.Amend(t.Context(), "c", "d0000", nil, true); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestManyDeletes(t *testing.T) {
	// Proves that the 65th deletion at once in a corpus is told to come again, and that there is room again afterwards.
	t.Parallel()
	m, s := newMemory(t, 66)
	entered, leave := make(chan bool), make(chan bool)
	m.Hold = func() { entered <- true; <-leave }
	done := make(chan error)
	for i := range 64 {
		go func() { done <- s.Delete(t.Context(), "c", fmt.Sprintf("d%04d", i)) }()
		<-entered
	}
	err := s.Delete(t.Context(), "c", "d0065")
	f := wantKind(t, "the 65th", err, fault.KindLimited, "too_many_deletes")
	if f.RetryAfter <= 0 || !strings.Contains(f.Text, "64") {
		t.Errorf("refusal %q, again after %v", f.Text, f.RetryAfter)
	}
	close(leave)
	for range 64 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	m.Hold = nil
	if err := s.Delete(t.Context(), "c", "d0065"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if _, ok := m.Document("d0064"); !ok {
		t.Error("a document that nobody deleted is gone")
	}
}

func TestDeleteChanged(t *testing.T) {
	// Proves that a document that was changed, or whose corpus was reset, between receipt and removal stays, with a
	// refusal that asks for another try.
	t.Parallel()
	for name, meanwhile := range map[string]func(*documenttest.Memory){
		"document_changed": func(m *documenttest.Memory) {
			a, err := metadata.NewAmendment(m.Corpus, json.RawMessage(`{"x":1}`), true)
			if err != nil {
				t.Error(err)
			}
			if _, err := m.Amend(context.Background(), m.Corpus.No, m.Corpus.Epoch, []document.Edit{{ID: "d0000", Amendment: a}}); err != nil {
				t.Error(err)
			}
		},
		"corpus_changed": func(m *documenttest.Memory) { m.Corpus.Epoch++ },
	} {
		m, s := newMemory(t, 1)
		m.Hold = func() { m.Hold = nil; meanwhile(m) }
		wantKind(t, name, s.Delete(t.Context(), "c", "d0000"), fault.KindConflict, name)
		if _, ok := m.Document("d0000"); !ok {
			t.Errorf("%s: the document is gone", name)
		}
	}
}

func TestDeleteTimeout(t *testing.T) {
	// Proves that a removal that is not certain when its time is up is neither success nor failure: read first.
	synctest.Test(t, func(t *testing.T) {
		m, s := newMemory(t, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		m.Slow = func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("wait for the disk: %w", ctx.Err()) }
		err := s.Delete(ctx, "c", "d0000")
		f := wantKind(t, "a slow disk", err, fault.KindTimeout, "timeout")
		if !strings.Contains(f.Text, "not confirmed in time") || !strings.Contains(f.Text, "read the document first") {
			t.Errorf("the refusal says %q", f.Text)
		}
		// The disk is fast enough and the index is not: the removal stands, and its answer comes too late all the same.
		ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		m.Slow, m.Hold = nil, func() { <-ctx.Done() }
		wantKind(t, "a removal that ends late", s.Delete(ctx, "c", "d0000"), fault.KindTimeout, "timeout")
		if _, ok := m.Document("d0000"); ok {
			t.Error("the document is still there")
		}
	})
}

func TestSelect(t *testing.T) {
	// Proves that steps through a selection see every document that matches, once.
	t.Parallel()
	m, s := newMemory(t, 25)
	for _, limit := range []int{1, 7, 25, 100} {
		var got []string
		for after, steps := "", 0; steps < 100; steps++ {
			found, next, err := s.Select(t.Context(), m.Corpus, document.Selection{Filter: "doc.even", After: after, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range found {
				got = append(got, d.ID)
			}
			if after = next; after == "" {
				break
			}
		}
		if len(got) != 13 || got[0] != "d0000" || got[12] != "d0024" {
			t.Errorf("steps of %d: %v, want the even ones", limit, got)
		}
	}
	if err := document.CheckSelection(m.Corpus, "part.kind = 'x'"); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("a filter over parts: %v", err)
	}
	if err := document.CheckSelection(m.Corpus, "doc.even"); err != nil {
		t.Error(err)
	}
}
