package retrieve

import (
	"testing"

	"quarry/internal/corpus/document"
)

// parts are a title, then one section of four sentences split into three parts with the white space of their source,
// then another section.
func parts() []document.Part {
	return []document.Part{
		{Ord: 0, Text: "Pump manual", IsTitle: true},
		{Ord: 1, Text: "Open the valve. Wait a little.", Gap: " "},
		{Ord: 2, Text: "Start the pump.", Gap: "\n\n"},
		{Ord: 3, Text: "Watch the gauge.", Gap: "  "},
		{Ord: 4, Text: "Call for help.", Gap: " "},
	}
}

// TestContext proves what each setting adds around the part, with the white space of the source, and where the tags go.
func TestContext(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		c    Context
		want string
	}{
		{"none", Context{StartTag: "<b>", EndTag: "</b>"}, "<b>Start the pump.</b>"},
		{"one sentence each", Context{SentencesBefore: 1, SentencesAfter: 1}, "Wait a little.\n\nStart the pump.  Watch the gauge."},
		{"only before", Context{SentencesBefore: 2}, "Open the valve. Wait a little.\n\nStart the pump."},
		{"more than there is", Context{SentencesBefore: 9, SentencesAfter: 9}, "Pump manual\n\nOpen the valve. Wait a little.\n\nStart the pump.  Watch the gauge. Call for help."},
		{"characters reach whole sentences", Context{CharactersBefore: 3, CharactersAfter: 20}, "Wait a little.\n\nStart the pump.  Watch the gauge. Call for help."},
		{"sentences win over characters", Context{SentencesAfter: 1, CharactersBefore: 500}, "Start the pump.  Watch the gauge."},
		{"whole document", Context{Whole: true, StartTag: "[", EndTag: "]", SentencesBefore: 1}, "Pump manual\n\nOpen the valve. Wait a little.\n\n[Start the pump.]  Watch the gauge. Call for help."},
	} {
		if got := tc.c.text(tc.c.show(parts(), 2)); got != tc.want {
			t.Errorf("%s:\n got %q\nwant %q", tc.name, got, tc.want)
		}
	}
}

// TestOwnContext proves that a part's own context is the source of its surroundings.
func TestOwnContext(t *testing.T) {
	t.Parallel()
	p := []document.Part{{Text: "Start the pump.", Context: "Before it. Start the pump. After it. Much later."}, {Ord: 1, Text: "Other.", Gap: " "}}
	c := Context{SentencesBefore: 1, SentencesAfter: 1, StartTag: "<", EndTag: ">"}
	if got, want := c.text(c.show(p, 0)), "Before it. <Start the pump.> After it."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p[0].Text = "Not in there."
	if got, want := c.text(c.show(p, 0)), p[0].Context; got != want {
		t.Errorf("got %q, want the whole context %q", got, want)
	}
	if got, want := (Context{}).text(Context{}.show(p, 0)), "Not in there."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAround proves that the text without marks and the sentences on either side of it are known whatever the context, and that
// a title is not such a sentence.
func TestAround(t *testing.T) {
	t.Parallel()
	marks := Context{StartTag: "<b>", EndTag: "</b>"}
	one := Context{SentencesBefore: 1, SentencesAfter: 1, StartTag: "<b>", EndTag: "</b>"}
	own := []document.Part{{Text: "Start the pump.", Context: "Open it. Before it. Start the pump. After it. Much later."}}
	for _, tc := range []struct {
		name                  string
		c                     Context
		parts                 []document.Part
		at                    int
		plain, previous, next string
	}{
		{"none", marks, parts(), 2, "Start the pump.", "Wait a little.", "Watch the gauge."},
		{"one sentence each", one, parts(), 2, "Wait a little.\n\nStart the pump.  Watch the gauge.", "Open the valve.", "Call for help."},
		{"behind a title", marks, parts(), 1, "Open the valve. Wait a little.", "", "Start the pump."},
		{"at the end", marks, parts(), 4, "Call for help.", "Watch the gauge.", ""},
		{"whole document", Context{Whole: true, StartTag: "<b>"}, parts(), 2, "Pump manual\n\nOpen the valve. Wait a little.\n\nStart the pump.  Watch the gauge. Call for help.", "", ""},
		{"a context of its own", marks, own, 0, "Start the pump.", "Before it.", "After it."},
		{"and more of it", one, own, 0, "Before it. Start the pump. After it.", "Open it.", "Much later."},
	} {
		s := tc.c.show(tc.parts, tc.at)
		if s.plain() != tc.plain || s.previous != tc.previous || s.next != tc.next {
			t.Errorf("%s: %q between %q and %q", tc.name, s.plain(), s.previous, s.next)
		}
	}
}
