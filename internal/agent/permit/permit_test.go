package permit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/permit"
	"quarry/internal/fault"
)

// TestRule proves who decides what: the writer and the identity what a configuration names, the sender all else, each level for
// itself; an identity that decides alone decides everything.
func TestRule(t *testing.T) {
	t.Parallel()
	read, edit, use := permit.Need{Corpus: "c"}, permit.Need{Corpus: "c", Level: permit.Edit}, permit.Need{Agent: "a", Level: permit.Use}
	var none permit.Rights
	for _, c := range []struct {
		name   string
		rights permit.Rights
		need   permit.Need
		want   bool
	}{
		{"nothing", none, read, false},
		{"read", permit.Rights{Corpora: []string{"c"}}, read, true},
		{"read is not edit", permit.Rights{All: true}, edit, false},
		{"edit", permit.Rights{Edit: []string{"b", "c"}}, edit, true},
		{"edit everywhere", permit.Rights{EditAll: true}, edit, true},
		{"edit is not read", permit.Rights{EditAll: true}, read, false},
		{"another corpus", permit.Rights{Corpora: []string{"d"}}, read, false},
		{"use", permit.Rights{Use: []string{"a"}}, use, true},
		{"use of all", permit.Rights{UseAll: true}, use, true},
		{"corpora are no agents", permit.Rights{All: true, EditAll: true, Corpora: []string{"a"}}, use, false},
	} {
		all := permit.Rights{All: true, EditAll: true, UseAll: true}
		if err := permit.Written(c.rights, []permit.Need{c.need}); (err == nil) != c.want || err != nil && !fault.Is(err, fault.KindForbidden) {
			t.Errorf("%s, written: %v", c.name, err)
		}
		for who, call := range map[string]struct {
			named  []permit.Need
			self   permit.Identity
			sender permit.Rights
		}{
			"the sender":                     {[]permit.Need{{Corpus: "x"}}, permit.Identity{Rights: all}, c.rights},
			"the identity, named":            {[]permit.Need{use, edit, read}, permit.Identity{Rights: c.rights}, all},
			"the identity, alone":            {nil, permit.Identity{Alone: true, Rights: c.rights}, all},
			"the identity, alone and named":  {[]permit.Need{c.need}, permit.Identity{Alone: true, Rights: c.rights}, all},
			"the identity, nobody has asked": {[]permit.Need{c.need}, permit.Identity{Rights: c.rights}, none},
		} {
			if err := permit.Call(call.named, &call.self, call.sender, c.need); (err == nil) != c.want || err != nil && !fault.Is(err, fault.KindNotFound) {
				t.Errorf("%s, decided by %s: %v", c.name, who, err)
			}
		}
	}
	if err := permit.Call([]permit.Need{read}, &permit.Identity{}, none, edit); err == nil {
		t.Error("what is named for less may be changed")
	}
	if err := permit.Written(permit.Rights{All: true}, []permit.Need{read, edit}); !fault.Is(err, fault.KindForbidden) {
		t.Errorf("one of two is missing: %v", err)
	}
}

// TestPassed proves whose rights go with an input to another agent.
func TestPassed(t *testing.T) {
	t.Parallel()
	own, sender := permit.Rights{All: true}, permit.Rights{Use: []string{"a"}}
	for alone, want := range map[bool]permit.Rights{false: sender, true: own} {
		if self := (permit.Identity{Alone: alone, Rights: own}); !cmp.Equal(self.Passed(sender), want) {
			t.Errorf("alone %t: %+v", alone, self.Passed(sender))
		}
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
