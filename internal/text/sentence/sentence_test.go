package sentence_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quarry/internal/text/sentence"
)

func TestSplit(t *testing.T) {
	t.Parallel() // Proves where sentences end: stops, abbreviations, numbers, blank lines, lists, scripts.
	tests := map[string][]string{
		"":                                      nil,
		" \n\t ":                                nil,
		"No stop":                               {"No stop"},
		"Open valve A. Wait for 3 bar.":         {"Open valve A.", "Wait for 3 bar."},
		"Dr. Smith came. He sat.":               {"Dr. Smith came.", "He sat."},
		"It began in Jan. 2020 and ended.":      {"It began in Jan. 2020 and ended."},
		"It began in Jan. The end.":             {"It began in Jan.", "The end."},
		"Use a tool, e.g. Pandoc, for it. Yes.": {"Use a tool, e.g. Pandoc, for it.", "Yes."},
		"J. R. R. Tolkien wrote. A lot.":        {"J. R. R. Tolkien wrote.", "A lot."},
		"It costs 3.50 dollars. Or 4.":          {"It costs 3.50 dollars.", "Or 4."},
		"1. Open it. 2. Close it.":              {"1. Open it.", "2. Close it."},
		"The U.S. Army left. In the U.S. The law differs.":      {"The U.S. Army left.", "In the U.S.", "The law differs."},
		"See Fig. 3 and No. 5. Done.":                           {"See Fig. 3 and No. 5.", "Done."},
		"He said no. 5 Men came.":                               {"He said no.", "5 Men came."},
		"\"Why?\" he asked. \"Go!\" She went.":                  {"\"Why?\" he asked.", "\"Go!\"", "She went."},
		"wrapped\nline. Next\r\nline":                           {"wrapped\nline.", "Next\r\nline"},
		"Heading\n\nText here":                                  {"Heading", "Text here"},
		"Heading\r\n \r\nText":                                  {"Heading", "Text"},
		"List:\n- one\n- two\n3) three":                         {"List:", "- one", "- two", "3) three"},
		"Am 3. Oktober 1990. Danach":                            {"Am 3. Oktober 1990.", "Danach"},
		"Seit dem 19. Jahrhundert gilt es. Gut.":                {"Seit dem 19. Jahrhundert gilt es.", "Gut."},
		"压力下降。阀门打开！好吗？":                                         {"压力下降。", "阀门打开！", "好吗？"},
		"圧力が下がる。開く。":                                            {"圧力が下がる。", "開く。"},
		"वाल्व खुलता है। ठीक है।":                               {"वाल्व खुलता है।", "ठीक है।"},
		"Wait... Then go. ...":                                  {"Wait...", "Then go. ..."},
		"Really?! Yes.":                                         {"Really?!", "Yes."},
		"Bind \"?123\" or ?1000. See a.com/?q=1 too.":           {"Bind \"?123\" or ?1000.", "See a.com/?q=1 too."},
		"Use *, ? or [ as patterns. Really?yes":                 {"Use *, ? or [ as patterns.", "Really?yes"},
		"It is called orange.[4] The span is long.":             {"It is called orange.[4]", "The span is long."},
		"It opened in 1937).[12][13, 14] It is long.[2]":        {"It opened in 1937).[12][13, 14]", "It is long.[2]"},
		"It ended.[Note 7]":                                     {"It ended.[Note 7]"},
		"It is approx.[3] ten metres long.[a] Yes.":             {"It is approx.[3] ten metres long.[a] Yes."},
		"He said \"yes.\"[4] [5] It was so. [6] Then he went.":  {"He said \"yes.\"[4]", "[5] It was so.", "[6] Then he went."},
		"Pourquoi ? Parce que.":                                 {"Pourquoi ?", "Parce que."},
		"They match (see the Note). cron(8) looks each minute.": {"They match (see the Note).", "cron(8) looks each minute."},
		"It needs no method. nodemon is a wrapper. h2c is not.": {"It needs no method.", "nodemon is a wrapper.", "h2c is not."},
		"The port it listens on. blackd will then print.":       {"The port it listens on.", "blackd will then print."},
		"It is owned (usually by root). user names it.":         {"It is owned (usually by root).", "user names it."},
		"He has cats etc. and dogs approx. ten of them.":        {"He has cats etc. and dogs approx. ten of them."},
		"Smith (ed.). and others (approx.). then went.":         {"Smith (ed.). and others (approx.). then went."},
		"Der Wert (evtl.). das ist inkl. der Steuer. dann":      {"Der Wert (evtl.). das ist inkl. der Steuer. dann"},
		"Version 1.2.3 is out. Get it at example.com. Now":      {"Version 1.2.3 is out.", "Get it at example.com.", "Now"},
	}
	for text, want := range tests {
		var got []string
		for _, s := range sentence.Split(text) {
			got = append(got, text[s.Start:s.End])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Split(%q) (-want +got):\n%s", text, diff)
		}
	}
}

// check fails the test unless the spans are in order, trimmed, and leave out only white space.
func check(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) {
	t.Helper()
	at := 0
	for _, s := range sentence.Split(text) {
		if s.Start < at || s.End <= s.Start || s.End > len(text) {
			t.Fatalf("span %v after %d in %q", s, at, text)
		}
		if lost := text[at:s.Start]; strings.TrimFunc(lost, unicode.IsSpace) != "" {
			t.Fatalf("lost %q of %q", lost, text)
		}
		if part := text[s.Start:s.End]; part != strings.TrimFunc(part, unicode.IsSpace) {
			t.Fatalf("span %q is not trimmed", part)
		}
		at = s.End
	}
	if lost := text[at:]; strings.TrimFunc(lost, unicode.IsSpace) != "" {
		t.Fatalf("lost %q of %q", lost, text)
	}
}

func TestSplitLosesNothing(t *testing.T) {
	t.Parallel() // Proves that spans cover all text but white space, whatever the pieces.
	pieces := []string{
		"Dr.", " ", "\n", "\n\n", "\r\n", "a", "B.", "1.", "...", "?", "!\"", "。", "汉", "é", "\u2028", "\u0085",
		"- ", "\x00", "\xff", "e.g.", "U.S.", "The", "(", ")", "😀", "\u0301",
	}
	rapid.Check(t, func(rt *rapid.T) {
		check(rt, strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(rt, "pieces"), ""))
	})
}

func FuzzSplit(f *testing.F) {
	f.Add("Dr. Smith came. He sat.\n\n- x\n- y")
	f.Add("\xff\u2028.\u0085A")
	f.Fuzz(func(t *testing.T, text string) { check(t, text) })
}

func BenchmarkSplit(b *testing.B) {
	text := strings.Repeat("Dr. Smith opened the valve and waited for a pressure of 3.5 bar. Then he left. ", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		sentence.Split(text)
	}
}

// TestEnded proves which texts end as sentences do.
func TestEnded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"It is.": true, `He said "no."`: true, "Why?": true, "她来了。": true, "(Really!)": true, "Well…": true,
		"Torque": false, "M6: 10": false, "": false, "»": false,
	} {
		if got := sentence.Ended(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
