package deeds_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/tool"
	"quarry/internal/fault"
	"quarry/internal/httpapi/deeds"
	"quarry/internal/id"
	"quarry/internal/identity/audit"
)

// events are recorded in lines.
type events struct {
	lines []string
	fail  error
}

func (e *events) Intend(_ context.Context, x audit.Event) (id.Audit, error) {
	e.lines = append(e.lines, fmt.Sprint(x.Actor, x.Action, x.Target, x.RequestID))
	return "aud_1", e.fail
}

func (e *events) SetOutcome(_ context.Context, which id.Audit, status int, _ map[string]string) {
	e.lines = append(e.lines, fmt.Sprint(which, status))
}

func (e *events) Note(context.Context, audit.Event) { panic("nothing is noted") }

// TestDeeds proves which operations are recorded with and without the setting audit_content, by whom and with which outcome, and that what
// can't be recorded is refused.
func TestDeeds(t *testing.T) {
	t.Parallel()
	for operation, want := range map[string][2]bool{ // without content and with it
		"bulkDeleteCorpusDocuments": {true, true}, "createCorpusDocument": {false, true}, "createAgentSession": {false, true},
		"createAgentInput": {false, true}, "queryCorpus": {false, false}, "none": {false, false},
	} {
		if got := [2]bool{deeds.New(nil, false).Records(operation), deeds.New(nil, true).Records(operation)}; got != want {
			t.Errorf("%s: %v, want %v", operation, got, want)
		}
	}
	seen := &events{}
	r, by := deeds.New(seen, true), tool.Doer{ClientID: "agc_1", Agent: "worker", Call: "aev_1"}
	deed := tool.Deed{Operation: "bulkDeleteCorpusDocuments", Target: map[string]string{"corpus_key": "a", "metadata_filter": "doc.x = 'zut_0123456789abcdefghijABCDEFGHIJ_-345678'"}}
	var want []string
	for _, c := range []struct {
		err    error
		status int
	}{{nil, 200}, {fault.NotFound("corpus_not_found", "a", "gone"), 404}, {fault.Conflict("x", "y"), 409}, {errors.New("broken"), 500}} {
		done, err := r.Intend(t.Context(), by, deed)
		if err != nil {
			t.Fatal(err)
		}
		done(c.err)
		want = append(want, "{agent agc_1 worker agc_1}bulkDeleteCorpusDocumentsmap[corpus_key:a query.metadata_filter:doc.x = 'zut_****']aev_1", fmt.Sprint("aud_1", c.status))
	}
	if diff := cmp.Diff(want, seen.lines); diff != "" {
		t.Error(diff)
	}
	ctx, leave := context.WithCancel(t.Context())
	done, err := r.Intend(ctx, by, deed)
	if err != nil {
		t.Fatal(err)
	}
	leave()
	if done(nil); len(seen.lines) != len(want)+1 {
		t.Errorf("a call that was cut off has an outcome: %q", seen.lines[len(want):])
	}
	seen.fail = fault.Unavailable("audit_unavailable", "full")
	if _, err := r.Intend(t.Context(), by, deed); !errors.Is(err, seen.fail) {
		t.Errorf("the audit can't be written: %v", err)
	}
}
