package permit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/permit"
	"quarry/internal/fault"
)

// TestRule proves who decides what: the writer what a configuration names, the sender all else, each level for itself.
func TestRule(t *testing.T) {
	t.Parallel()
	read, edit, use := permit.Need{Corpus: "c"}, permit.Need{Corpus: "c", Level: permit.Edit}, permit.Need{Agent: "a", Level: permit.Use}
	for _, c := range []struct {
		name   string
		named  []permit.Need
		rights permit.Rights
		need   permit.Need
		writer bool // may write a configuration that names it
		call   bool
	}{
		{"nothing", nil, permit.Rights{}, read, false, false},
		{"read", nil, permit.Rights{Corpora: []string{"c"}}, read, true, true},
		{"read is not edit", nil, permit.Rights{All: true}, edit, false, false},
		{"edit", nil, permit.Rights{Edit: []string{"b", "c"}}, edit, true, true},
		{"edit everywhere", nil, permit.Rights{EditAll: true}, edit, true, true},
		{"edit is not read", nil, permit.Rights{EditAll: true}, read, false, false},
		{"another corpus", nil, permit.Rights{Corpora: []string{"d"}}, read, false, false},
		{"use", nil, permit.Rights{Use: []string{"a"}}, use, true, true},
		{"use of all", nil, permit.Rights{UseAll: true}, use, true, true},
		{"corpora are no agents", nil, permit.Rights{All: true, EditAll: true, Corpora: []string{"a"}}, use, false, false},
		{"named", []permit.Need{use, edit}, permit.Rights{}, edit, false, true},
		{"named for less", []permit.Need{read}, permit.Rights{}, edit, false, false},
	} {
		if err := permit.Written(c.rights, []permit.Need{c.need}); (err == nil) != c.writer || err != nil && !fault.Is(err, fault.KindForbidden) {
			t.Errorf("%s, written: %v", c.name, err)
		}
		if err := permit.Call(c.named, c.rights, c.need); (err == nil) != c.call || err != nil && !fault.Is(err, fault.KindNotFound) {
			t.Errorf("%s, called: %v", c.name, err)
		}
	}
	if err := permit.Written(permit.Rights{All: true}, []permit.Need{read, edit}); !fault.Is(err, fault.KindForbidden) {
		t.Errorf("one of two is missing: %v", err)
	}
}

// TestSorted proves that each need stands once, in one order.
func TestSorted(t *testing.T) {
	t.Parallel()
	a, b, c := permit.Need{Corpus: "a"}, permit.Need{Corpus: "b"}, permit.Need{Corpus: "a", Level: permit.Edit}
	if got := permit.Sorted([]permit.Need{c, b, a, b}); !cmp.Equal(got, []permit.Need{a, b, c}) {
		t.Error(got)
	}
}
