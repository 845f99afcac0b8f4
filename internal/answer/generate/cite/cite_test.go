package cite_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/answer/generate/cite"
)

// sources are five passages; the second has a title of its document alone.
var sources = []cite.Source{
	{DocumentID: "pump-42", DocumentMetadata: json.RawMessage(`{"title":"Pump manual","url":"https://x.test/a b?p=1&q=%20","year":2020,"meta":{"owner":"Ada"},"a.b":"dotted"}`), PartMetadata: json.RawMessage(`{"section":7,"lang":"eng"}`)},
	{DocumentID: "d 2/ü", Title: "Structured [v2"},
	{DocumentID: "evil", DocumentMetadata: json.RawMessage(`{"title":"<b>\"A&B\"</b>","url":" JavaScript:alert(1)"}`)},
	{DocumentID: "paren)", DocumentMetadata: json.RawMessage(`{"title":null,"paren":"a_(b)"}`)},
	{DocumentID: "lines", DocumentMetadata: json.RawMessage(`{"title":"two\n\nlines\t\u0000here"}`)},
}

func TestStyles(t *testing.T) {
	// Proves how each style writes marks, what it leaves out, and what it leaves alone.
	t.Parallel()
	md := func(url, text string) cite.Options { return cite.Options{Style: cite.Markdown, URL: url, Text: text} }
	html := func(url, text string) cite.Options { return cite.Options{Style: cite.HTML, URL: url, Text: text} }
	for _, c := range []struct {
		name      string
		o         cite.Options
		in, wants string
	}{
		{"nothing asked for", cite.Options{}, "Weekly [1].", "Weekly [1]."},
		{"blanks inside", cite.Options{}, "Weekly [ 1 ].", "Weekly [1]."},
		{"list", cite.Options{}, "Weekly [2, 5][1].", "Weekly [2][5][1]."},
		{"semicolons", cite.Options{}, "Weekly [2;5 ; 1].", "Weekly [2][5][1]."},
		{"range", cite.Options{}, "Weekly [1-3] [4–5].", "Weekly [1][2][3] [4][5]."},
		{"range backwards", cite.Options{}, "Weekly [3-2].", "Weekly [2][3]."},
		{"said twice", cite.Options{}, "Weekly [2, 2, 1-3].", "Weekly [2][1][3]."},
		{"invented", cite.Options{}, "Weekly [6], monthly [0] or  [99] [7, 2].", "Weekly, monthly or [2]."},
		{"range over the end", cite.Options{}, "Weekly [4-1000000].", "Weekly [4][5]."},
		{"far out", cite.Options{}, "Weekly [12345678901234567890, 1] [99999999999999999999999].", "Weekly [1]."},
		{"leading zero", cite.Options{}, "Weekly [01].", "Weekly [1]."},
		{"no mark", cite.Options{}, "a[x] [] [^1] [1a] [1,] [-1] [1 [2] [1\n2] 【1】 [see 1]", "a[x] [] [^1] [1a] [1,] [-1] [1 [2] [1\n2] 【1】 [see 1]"},
		{"escaped", cite.Options{}, `\[1\] and [\1]`, `\[1\] and [\1]`},
		{"invented at the start of a line", cite.Options{}, "[9] One.\n  [8]  Two.\n[1] Three.", "One.\nTwo.\n[1] Three."},
		{"blanks at the end", cite.Options{}, "One.  \nTwo  ", "One.  \nTwo  "},
		{"one inside another", cite.Options{}, "[[9]7] [ 7, [8] 6 ] [[1]9]", "[[]7] [ 7, [] 6 ] [[1]9]"},
		{"invented before another", cite.Options{}, "One [9][8, 1] two [9] [2], three [9],[3].", "One [1] two [2], three,[3]."},
		{"invented in parentheses", cite.Options{}, "Weekly ([99]). Daily ( [9], [8] ) here([7]).", "Weekly. Daily here."},
		{"some invented in parentheses", cite.Options{}, "A ([1], [99]) b ([99]; [2]) c ([1], [9]; [ 2, 8 ]) d ([9] [3]) e ([9,1])", "A ([1]) b ([2]) c ([1]; [2]) d ([3]) e ([1])"},
		{"parentheses that stay", cite.Options{}, "( [1], [2] ) () (see [9]) ([9] there) ([9],) ([9]", "( [1], [2] ) () (see) ( there) (,) ("},
		{"parentheses within a bracket", cite.Options{}, "[([9])7] [ ([8]) 2] ([[9]]) (([9]))", "[()7] [ () 2] ([[]]) ()"},
		{"parentheses at the start of a line", cite.Options{}, "([9]) One.\n ([8]) Two.", "One.\nTwo."},
		{"nothing but invented", cite.Options{}, " [9] ", ""},

		{"none", cite.Options{Style: cite.None}, "Weekly [1] [2], daily[3].\n\n[4] Hourly [5]\n", "Weekly, daily.\n\nHourly\n"},

		{"none in parentheses", cite.Options{Style: cite.None}, "Weekly ([1], [2]).", "Weekly."},
		{"parentheses in code", cite.Options{}, "Use `f([9])` here ([9]).", "Use `f([9])` here."},
		{"links in parentheses", cite.Options{Style: cite.Markdown, URL: "u"}, "Weekly ([9], [1], [2]).", "Weekly ([1](u), [2](u))."},

		{"block of code", cite.Options{}, "A [9]\n```go\nx[9] = y[1, 2]\n```\nB [9]", "A\n```go\nx[9] = y[1, 2]\n```\nB"},
		{"block of code in a list", cite.Options{}, "- A\n    ~~~\n    x [9]\n    ~~~~\n [9]B", "- A\n    ~~~\n    x [9]\n    ~~~~\nB"},
		{"shorter fence inside", cite.Options{}, "````\n```\nx [9]\n````\n[9]", "````\n```\nx [9]\n````\n"},
		{"block without end", cite.Options{}, "```\nx [9]", "```\nx [9]"},
		{"span of code", cite.Options{}, "Use `x [9]` and ``y ` [9]`` here [9].", "Use `x [9]` and ``y ` [9]`` here."},
		{"three backticks within a line", cite.Options{}, "```x [9]``` [9].", "```x [9]```."},
		{"backtick without another", cite.Options{}, "don`t [9]\nwon`t [9]", "don`t\nwon`t"},
		{"tildes", cite.Options{}, "~~[9] ~~~[9]", "~~ ~~~"},

		{"markdown", md("https://x.test/{doc.id}", "{doc.title}"), "Weekly [1].", "Weekly [Pump manual](https://x.test/pump-42)."},
		{"markdown without patterns", md("", ""), "Weekly [1].", "Weekly [1]()."},
		{"links side by side", md("u", ""), "Weekly [1, 2][3] [4].", "Weekly [1](u) [2](u) [3](u) [4](u)."},
		{"title of the document", md("https://x.test/{doc.id}", "{doc.title}"), "[2]", `[Structured \[v2](https://x.test/d%202/%C3%BC)`},
		{"legal characters stay", md("{doc.url}", ""), "[1]", "[1](https://x.test/a%20b?p=1&q=%20)"},
		{"parentheses", md("{doc.id}/{doc.paren}", ""), "[4]", "[4](paren%29/a_(b))"},
		{"several placeholders", md("/{doc.id}/{part.section}/{doc.year}", "{doc.title} §{part.section} {doc.meta.owner} {doc.a.b} {doc.meta}"), "[1]", `[Pump manual §7 Ada dotted {"owner":"Ada"}](/pump-42/7/2020)`},
		{"nothing there", md("/{doc.none}/{part.none}", "{doc.none} "), "[1]", "[1](//)"},
		{"null is nothing", md("", "{doc.title}"), "[4]", "[4]()"},
		{"no placeholder", md("/{x}/{doc}/{doc.}/{user.id}/{/{{doc.id}}", "{"), "[1]", "[{](/{x}/{doc}/{doc.}/{user.id}/{/{pump-42})"},
		{"one line", md("", "{doc.title}"), "[5]", "[two lines here]()"},
		{"html", html("https://x.test/{doc.id}?a=1&b=2", "{doc.title}"), "Weekly [1].", `Weekly <a href="https://x.test/pump-42?a=1&b=2">Pump manual</a>.`},
		{"html escapes", html("{doc.title}", "{doc.title}"), "[3]", `<a href="%3Cb%3E%22A&amp;B%22%3C/b%3E">&lt;b&gt;&quot;A&amp;B&quot;&lt;/b&gt;</a>`},
		{"a program is no address", html("{doc.url}", ""), "[3]", `<a href="">3</a>`},
	} {
		if got := cite.All(c.in, c.o, sources); got != c.wants {
			t.Errorf("%s (-want +got): %s", c.name, cmp.Diff(c.wants, got))
		}
	}
}

func TestNoSources(t *testing.T) {
	// Proves that nothing is cited when no passage was given to the model.
	t.Parallel()
	if got := cite.All("Weekly [1], [2-3].", cite.Options{}, nil); got != "Weekly,." {
		t.Errorf("got %q", got)
	}
}

func TestEarly(t *testing.T) {
	// Proves that what can be said is said at once, and that what is held back is bounded whatever never ends.
	t.Parallel()
	w := cite.New(cite.Options{}, sources)
	for _, c := range []struct{ in, wants string }{
		{"Wee", "Wee"}, {"kly", "kly"}, {" ", ""}, {"[", ""}, {"1", ""}, {"]", " [1]"}, {". Å"[:3], ". "}, {". Å"[3:], "Å"},
		{" `x", ""}, {"[9]`", ""}, {"!", " `x[9]`!"},
	} {
		if got := w.Push(c.in); got != c.wants {
			t.Errorf("%q gives %q, want %q", c.in, got, c.wants)
		}
	}
	for _, piece := range []string{"1,", "`", "x`y", "~", "1-", "([1],", "([1], [2] "} {
		w := cite.New(cite.Options{}, sources)
		in, out := len(w.Push("\n[`")), 0
		for range 3000 {
			out += len(w.Push(piece))
			if in += len(piece); in-out > 1100 {
				t.Fatalf("%q: %d bytes are held back", piece, in-out)
			}
		}
	}
}

var marks = regexp.MustCompile(`\[(\d{1,400})\]`)

// FuzzSplits proves for any text that its pieces, however it is split, give together what the whole gives, each in
// whole characters, and that outside of code no number is cited that names no source.
func FuzzSplits(f *testing.F) {
	for _, s := range []string{
		"Weekly [1].", "a [9] [2, 5][1-3]", "```\n[9]\n```\n[9]", "`[9] [9]` [3]", "a ([9]) b ([1], [9]) [([9])7]", "(([9, 2] ; [8]))[1]", "~~~\n~~~ [2–3]", "é [1] 日本[2]", "  [9]  x", "[1\xe2\x80", "\xff\xfe[2]",
	} {
		f.Add(s, []byte{1, 2, 3}, uint8(0))
	}
	styles := []cite.Options{
		{}, {Style: cite.None}, {Style: cite.Markdown, URL: "https://x.test/{doc.id}", Text: "{doc.title}"}, {Style: cite.HTML, Text: "{doc.title}"},
	}
	f.Fuzz(func(t *testing.T, text string, sizes []byte, style uint8) {
		o := styles[int(style)%len(styles)]
		want := cite.All(text, o, sources)
		w, got, rest := cite.New(o, sources), strings.Builder{}, text
		for i := 0; rest != ""; i++ {
			n := 1
			if len(sizes) > 0 {
				n = 1 + int(sizes[i%len(sizes)])%700
			}
			n = min(n, len(rest))
			piece := w.Push(rest[:n])
			if utf8.ValidString(text) && !utf8.ValidString(piece) {
				t.Fatalf("piece %q is not whole characters", piece)
			}
			got.WriteString(piece)
			rest = rest[n:]
		}
		got.WriteString(w.Close())
		if got.String() != want {
			t.Fatalf("pieces give %q, the whole gives %q", got.String(), want)
		}
		if strings.ContainsAny(text, "`~") || o.Style == cite.Markdown || o.Style == cite.HTML {
			return
		}
		for _, m := range marks.FindAllStringSubmatch(want, -1) {
			if n, err := strconv.Atoi(m[1]); err != nil || n < 1 || n > len(sources) {
				t.Fatalf("%q cites %d", want, n)
			}
		}
	})
}
