package glossary_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/text/glossary"
)

// of returns an index of terms that stand for themselves.
func of(terms ...string) *glossary.Index {
	var all []glossary.Entry
	for _, term := range terms {
		all = append(all, glossary.Entry{Term: term, Expansion: "=" + term})
	}
	return new(glossary.Index).With(all)
}

// found returns the terms that a text has.
func found(x *glossary.Index, text string) string {
	var out []string
	for _, m := range x.Find(text, 100) {
		out = append(out, m.Term)
	}
	return strings.Join(out, "|")
}

// TestFind proves what a term is found in: whole words in whatever case and width, over any white space, with its punctuation, in
// scripts with and without spaces, the longest first, each once.
func TestFind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ terms, text, want string }{
		{"hpu", "The HPU, an hpu.", "hpu"},
		{"hpu", "hpus chpu hpu2", ""},
		{"hpu", "hpu-3, my_hpu, hpu's, (hpu)", "hpu"},
		{"valve", "valves are opened", ""},
		{"ＨＰＵ|café", "hpu CAFE\u0301 cafe", "ＨＰＵ|café"},
		{"straße", "STRASSE Straße", "straße"},
		{"pressure relief valve|valve|pressure", "The pressure \n relief\u00a0valve; a valve", "pressure relief valve|valve"},
		{"a b|b c d|a", "a b c d", "a|b c d"},
		{"a b|b c", "a b c", "a b"},
		{"b c|a", "a b c d", "a|b c"},
		{"C++|C|C#", "C++ and C# and C and c++11", "C++|C#|C"},
		{"R&D", "our R&D-team, R & D", "R&D"},
		{".NET", "the .NET runtime, asp.net", ".NET"},
		{"e.g.|e", "e.g. this, E.G. that", "e.g."},
		{"AT&T|AT", "at&t", "AT&T"},
		{"O’Brien", "o'brien", "O’Brien"},
		{"x‑ray", "X-Ray", "x‑ray"},
		{"C＋＋", "c++", "C＋＋"},
		{"x", "x² ①x", "x"},
		{"kg", "5㎏", ""},
		{"京都|东京|京", "东京都", "东京"},
		{"东京都|京都", "在东京都内", "东京都"},
		{"组", "A组", "组"},
		{"コーヒー", "ｺｰﾋｰを飲む", "コーヒー"},
		{"ガス", "ｶﾞｽ", "ガス"},
		{"밸브", "밸브가 열", "밸브"},
		{"한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8어", "한국"},
		{"ความดัน", "วัดความดันน้ำ", "ความดัน"},
		{"น้ำ", "ดื่มน\u0e49\u0e4d\u0e32เย็น", "น้ำ"},
		{"น", "น้ำ", ""},
		{"ความดัน", "ความ\u200bดัน", "ความดัน"},
		{"ab", "a\u200bb a\u00adb", "ab"},
		{"a", "a\u200bb", "a"},
		{"दबाव", "दबाव है", "दबाव"},
		{"दबा", "दबाव", ""},
		{"كتاب", "كِتَابٌ", "كتاب"},
		{"насос", "НАСОС, насосы", "насос"},
		{"αγοράς", "ΑΓΟΡΆΣ", "αγοράς"},
		{"e", "e\u0301", ""},
		{"hpu", "⚙️HPU", "hpu"},
		{"⚙️", "⚙", "⚙️"},
		{"${x}|#foreach", "a ${x} #foreach($i in $l)", "${x}|#foreach"},
		{"a", "\xff\x00a\xff", "a"},
		{"", "anything", ""},
		{"a", "", ""},
	} {
		if got := found(of(strings.Split(tt.terms, "|")...), tt.text); got != tt.want {
			t.Errorf("%q in %q: found %q, want %q", tt.terms, tt.text, got, tt.want)
		}
	}
}

// TestCase proves that of terms which differ in case alone, or in width, the one is found that is written as the text has it, else the
// first, and each of them where it is written so.
func TestCase(t *testing.T) {
	t.Parallel()
	x := of("us", "US", "new york", "New  York")
	for text, want := range map[string]string{
		"tell us": "us", "the US": "US", "Us": "US", "ＵＳ": "US", "US or us, US": "US|us", "New\nYork": "New  York", "new\tyork": "new york", "NEW YORK": "New  York",
	} {
		if got := found(x, text); got != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
}

// TestMost proves that no more terms are found than were asked for, the first ones of the text, each once.
func TestMost(t *testing.T) {
	t.Parallel()
	x := of("a", "b", "c")
	got := x.Find("c a c b a", 2)
	want := []glossary.Match{{Entry: glossary.Entry{Term: "c", Expansion: "=c"}, Start: 0, End: 1}, {Entry: glossary.Entry{Term: "a", Expansion: "=a"}, Start: 2, End: 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := x.Find("a", 0); got != nil {
		t.Errorf("none were asked for: %v", got)
	}
}

// TestWith proves that a changed index has what is new, the new expansions of terms that it had, and all others, and that the one before
// stays as it was.
func TestWith(t *testing.T) {
	t.Parallel()
	before := new(glossary.Index).With([]glossary.Entry{{"b", "1"}, {"B", "2"}, {"d", "3"}, {"d", "4"}})
	after := before.With([]glossary.Entry{{"a", "5"}, {"b", "6"}, {"ｂ", "7"}, {"e", "8"}})
	text := "a b B ｂ d e"
	list := func(x *glossary.Index) (out []glossary.Entry) {
		for _, m := range x.Find(text, 9) {
			out = append(out, m.Entry)
		}
		return out
	}
	if diff := cmp.Diff([]glossary.Entry{{"b", "1"}, {"B", "2"}, {"d", "4"}}, list(before)); diff != "" || before.Len() != 3 {
		t.Errorf("before, %d entries: %s", before.Len(), diff)
	}
	if diff := cmp.Diff([]glossary.Entry{{"a", "5"}, {"b", "6"}, {"B", "2"}, {"ｂ", "7"}, {"d", "4"}, {"e", "8"}}, list(after)); diff != "" || after.Len() != 6 {
		t.Errorf("after, %d entries: %s", after.Len(), diff)
	}
	if after.Size() <= before.Size() || before.Size() <= 0 {
		t.Errorf("the sizes are %d and %d", before.Size(), after.Size())
	}
}
