package passage_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/extract"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin/passage"
)

var names = []string{"prose", "item", "code", "question", "label", "navigation", "boilerplate", "fragment"}

// lines returns pieces one per line: kind, text, and in brackets the term, the sentence that it leans on and whether it is alone.
func lines(pieces []passage.Piece) []string {
	var out []string
	for _, p := range pieces {
		s := fmt.Sprintf("%s: %s", names[p.Kind], p.Text)
		if p.Term != "" {
			s += fmt.Sprintf(" {%s}", p.Term)
		}
		if p.Leans {
			s += fmt.Sprintf(" <- %s", p.Before)
		}
		out = append(out, s)
	}
	return out
}

func TestPieces(t *testing.T) {
	// Proves of pages of each style what is prose, a value with its term, code, a label or nothing to quote.
	t.Parallel()
	for _, c := range []struct {
		name     string
		evidence llm.Evidence
		want     []string
	}{
		{"an option of a reference, its heading above", llm.Evidence{
			Text: "- Default: 1048576 (1 MiB)\n\nDefines the largest body that is accepted, in bytes.", Headings: []string{"Options", "bodyLimit"},
		}, []string{"item: Default: 1048576 (1 MiB) {bodyLimit}", "prose: Defines the largest body that is accepted, in bytes. {bodyLimit}"}},
		{"the same in a part of its own", llm.Evidence{Text: "- Default: 30 s", Before: "- `idle`"}, []string{"item: Default: 30 s {`idle`}"}},
		{"a definition list, as of a manual page", llm.Evidence{Text: "--all\n\nShow all. Default: no.\n\n--depth=N\n\nThe depth of folders that are read."}, []string{
			"label: --all", "prose: Show all. {--all}", "item: Default: no. {--all}", "label: --depth=N", "prose: The depth of folders that are read. {--depth=N}",
		}},
		{"nested items", llm.Evidence{Text: "- listen\n  - port: the port, 8080\n    It must be free.\n  - host: the address\n- log: where to write"}, []string{
			"label: listen", "item: port: the port, 8080\n    It must be free. {listen}", "item: host: the address {listen}", "item: log: where to write",
		}},
		{"two sentences of an item", llm.Evidence{Text: "- host: the name of the machine. Default: localhost"}, []string{
			"item: host: the name of the machine.", "item: Default: localhost {host}",
		}},
		{"a row of a table", llm.Evidence{Text: "part: pump; cost: 45 EUR; place: the store in Oslo", Headings: []string{"Prices"}}, []string{
			"item: part: pump; cost: 45 EUR; place: the store in Oslo {Prices}",
		}},
		{"code with an index is not quoted, since the index would become a citation", llm.Evidence{Text: "const a = open(b);\n\na[0] = close(b);"}, []string{
			"fragment: const a = open(b);\n\na[0] = close(b);",
		}},
		{"a sentence with references before lines of code", llm.Evidence{Text: "The résumé returns the budget [2, 3] every 59 hours.[4]\n\nbudget.closes(35);\n\npump.opens(0);"}, []string{
			"fragment: The résumé returns the budget [2, 3] every 59 hours.", "code: budget.closes(35);\n\npump.opens(0);",
		}},
		{"code is a block", llm.Evidence{Text: "Start the server like this.\n\nconst a = open({\n  limit: 10\n})\n\na.listen(3);\n\nThen look at its page."}, []string{
			"prose: Start the server like this.", "code: const a = open({\n  limit: 10\n})\n\na.listen(3);", "prose: Then look at its page.",
		}},
		{"commands", llm.Evidence{Text: "Install it first.\n\n$ quarry serve\nquarry ask --corpus docs"}, []string{
			"label: Install it first.", "code: $ quarry serve\nquarry ask --corpus docs",
		}},
		{"the synopsis of a manual page", llm.Evidence{Text: "ls [OPTION]... [FILE]...", Headings: []string{"SYNOPSIS"}}, []string{"code: ls [OPTION]... [FILE]... {SYNOPSIS}"}},
		{"synopses with operands and choices", llm.Evidence{Text: "crontab [ -u user ] [-n] file\ncrontab [ -u user ] {-l | -e | -r [-i]}\n\nlogrotate [--force] [--state file] config_file [config_file2 ...]"}, []string{
			"code: crontab [ -u user ] [-n] file\ncrontab [ -u user ] {-l | -e | -r [-i]}\n\nlogrotate [--force] [--state file] config_file [config_file2 ...]",
		}},
		{"brackets in sentences", llm.Evidence{Text: "mulch keeps the soil [mostly] moist\n\nsee [Snails] and [2]\n\nuse the option [-f] only where nothing else has helped"}, []string{
			"label: mulch keeps the soil [mostly] moist", "boilerplate: see [Snails] and {mulch keeps the soil [mostly] moist}", "prose: use the option [-f] only where nothing else has helped",
		}},
		{"a byte order mark", llm.Evidence{Text: "\ufeff- It: the pump, which is red.\n\nThe pump is new."}, []string{"item: It: the pump, which is red.", "prose: The pump is new."}},
		{"a byte order mark alone", llm.Evidence{Text: "\ufeff"}, nil},
		{"menus and tables of contents", llm.Evidence{Text: "Home | About us | Contact\n\nIntroduction .............. 3\n\nGetting Started Installation Configuration Reference Plugins Themes Help Community Blog"}, []string{
			"navigation: Home | About us | Contact", "navigation: Introduction ..............", "label: 3",
			"navigation: Getting Started Installation Configuration Reference Plugins Themes Help Community Blog",
		}},
		{"boilerplate", llm.Evidence{Text: "See also the page about pumps. Visit our website for all offers. Watch the video! Visit a doctor when the pain stays for a week."}, []string{
			"boilerplate: See also the page about pumps.", "boilerplate: Visit our website for all offers.", "boilerplate: Watch the video!",
			"prose: Visit a doctor when the pain stays for a week.",
		}},
		{"open brackets and quotation marks", llm.Evidence{Text: "The tank (of three litres is red. It was called \"the box by all of them. A 5\" pipe fits (mostly). Use „diese Form“ for names."}, []string{
			"fragment: The tank (of three litres is red.", "fragment: It was called \"the box by all of them.",
			"prose: A 5\" pipe fits (mostly).", "prose: Use „diese Form“ for names.",
		}},
		{"a quotation over two sentences", llm.Evidence{Text: "She wrote: \"The pump is old. Nobody oils it any more.\" The hall was sold."}, []string{
			"fragment: She wrote: \"The pump is old.", "prose: Nobody oils it any more.\" <- She wrote: \"The pump is old.", "prose: The hall was sold.",
		}},
		{"pronouns", llm.Evidence{Text: "The bridge is in Cologne. It opened in 1937. It is possible to walk over it. This is rare. This bridge has towers. It was painted."}, []string{
			"prose: The bridge is in Cologne.", "prose: It opened in 1937. <- The bridge is in Cologne.", "prose: It is possible to walk over it.",
			"prose: This is rare. <- It is possible to walk over it.", "prose: This bridge has towers.", "prose: It was painted. <- This bridge has towers.",
		}},
		{"a pronoun whose noun is the heading", llm.Evidence{Text: "It limits the body of requests.", Headings: []string{"bodyLimit"}}, []string{"prose: It limits the body of requests. {bodyLimit}"}},
		{"a pronoun whose noun is in another part", llm.Evidence{Text: "It limits the body of requests.", Before: "There is another setting."}, []string{
			"prose: It limits the body of requests. <- There is another setting.",
		}},
		{"few words", llm.Evidence{Text: "Which one? The left one. Never both at once, says the maker."}, []string{
			"question: Which one?", "prose: The left one. <- Which one?", "prose: Never both at once, says the maker.",
		}},
		{"marks like citations", llm.Evidence{Text: "Its colour is called international orange.[4] The span [2] is the longest of all."}, []string{
			"prose: Its colour is called international orange.", "fragment: The span [2] is the longest of all.",
		}},
		{"the same sentence again", llm.Evidence{Text: "The pump is old and red. THE  PUMP is “old” and red! The valve has 3.5 bar. The valve has 35 bar."}, []string{
			"prose: The pump is old and red.", "prose: The valve has 3.5 bar.", "prose: The valve has 35 bar.",
		}},
		{"scripts without blanks", llm.Evidence{Text: "过滤器每五百小时更换一次。大桥于一九三七年通车。"}, []string{"prose: 过滤器每五百小时更换一次。", "prose: 大桥于一九三七年通车。"}},
	} {
		if diff := cmp.Diff(c.want, lines(passage.Cut([]llm.Evidence{c.evidence}, "eng"))); diff != "" {
			t.Errorf("%s (-want +got): %s", c.name, diff)
		}
	}
}

func TestLanguages(t *testing.T) {
	// Proves that the words of each language are looked for in it and in no other.
	t.Parallel()
	for language, text := range map[string]string{
		"deu": "Die Brücke steht in Köln. Sie wurde 1937 gebaut. Siehe auch die Seite der Stadt.",
		"fra": "Le pont est à Lyon depuis longtemps. Il a été construit en 1937. Voir aussi la page de la ville.",
		"spa": "El puente está en Sevilla. Él lo construyó en 1937. Véase también la página de la ciudad.",
		"por": "A ponte fica na cidade. Ela foi construída em 1937. Veja também a página da cidade.",
		"ita": "Il ponte si trova a Roma. Esso fu costruito nel 1937. Vedi anche la pagina della città.",
		"nld": "De brug staat in Arnhem. Hij werd in 1937 gebouwd. Zie ook de pagina van de stad.",
		"rus": "Мост находится в нашем городе. Он был построен в 1937 году. Смотрите также страницу города.",
	} {
		got := passage.Cut([]llm.Evidence{{Text: text}}, language)
		if len(got) != 3 || !got[1].Leans || got[1].Wide == "" || got[2].Kind != passage.Boilerplate {
			t.Errorf("%s: %q", language, lines(got))
		}
		got = passage.Cut([]llm.Evidence{{Text: text}}, "ell")
		if len(got) != 3 || got[1].Leans || got[2].Kind != passage.Prose {
			t.Errorf("without a language: %q", lines(got))
		}
	}
}

func TestLead(t *testing.T) {
	// Proves that the sentence that a piece leans on is found in its own passage with what is between, and in another.
	t.Parallel()
	got := passage.Cut([]llm.Evidence{
		{Text: "It opened to traffic in 1937.", Before: "The bridge  is in Cologne."}, {Text: "The bridge is in Cologne.\nIt has two towers of stone."},
	}, "eng")
	if len(got) != 3 || got[0].Lead != 1 || got[0].Wide != "" || got[2].Wide != "The bridge is in Cologne.\nIt has two towers of stone." || !got[0].Alone || got[1].Alone {
		t.Errorf("%+v", got)
	}
}

// held reports what a piece quotes that is not in its evidence.
func held(t *testing.T, evidence []llm.Evidence, pieces []passage.Piece) {
	t.Helper()
	for _, p := range pieces {
		e := &evidence[p.Passage]
		term := strings.Contains(e.Text, p.Term) || strings.Contains(e.Before, p.Term)
		for _, h := range e.Headings {
			term = term || h == p.Term
		}
		if p.Text == "" || !strings.Contains(e.Text, p.Text) || !strings.Contains(e.Text, p.Wide) || !term ||
			p.Before != "" && !strings.Contains(e.Text, p.Before) && !strings.Contains(e.Before, p.Before) {
			t.Fatalf("%+v is not of %q", p, e.Text)
		}
	}
}

func TestWordForWord(t *testing.T) {
	// Proves that all that can be quoted is in its evidence byte for byte, over random HTML and Markdown as they are extracted, and
	// over random text with the line breaks and broken bytes of PDF files.
	t.Parallel()
	words := strings.Fields(`The pump opens the valve. It (is) "old 3.5 bar [1] [2,3] # ## - -- * <p> </p> <li> <pre> </pre> <dl> <dt> <dd> <h2> <td> | --- : := => {
		} ; ... 7 Default: „x“ ) 大桥。 é 😀 Visit See also www.example.org \` + "``` ` " + `> 1. a) Home? $ const`)
	random := rand.New(rand.NewPCG(20, 3))
	between := []string{" ", " ", " ", "\n", "\n\n", "\n  ", "\r\n", "\x00", "\xff", ""}
	text := func() string {
		var b strings.Builder
		for range random.IntN(60) {
			b.WriteString(words[random.IntN(len(words))] + between[random.IntN(len(between))])
		}
		return b.String()
	}
	for i := range 3000 {
		evidence := []llm.Evidence{{Text: text(), Before: text(), Headings: []string{text()}}}
		for _, name := range []string{"a.html", "a.md"} {
			if d, err := extract.Read(extract.Input{Name: name, Data: []byte(text())}); i%3 == 0 && err == nil {
				for _, s := range d.Sections {
					evidence = append(evidence, llm.Evidence{Text: s.Text, Headings: []string{s.Title}})
				}
			}
		}
		held(t, evidence, passage.Cut(evidence, []string{"eng", "deu", ""}[i%3]))
	}
}

func TestCutPassage(t *testing.T) {
	// Proves that a sentence in which the reading of a long passage ends is no piece to quote, and that the one before it is.
	t.Parallel()
	filler := strings.Repeat(strings.Repeat("w", 60)+"\n\n", 1056)
	whole, broken := "The bridge opened to traffic in 1937.", "The tower stands on the southern bank of the river. It is new."
	text := filler + whole + " " + broken
	if i := strings.Index(text, broken); i > 64<<10 || i+len(broken) < 64<<10 {
		t.Fatalf("the sentence stands at %d", i)
	}
	quotable := map[string]bool{}
	for _, p := range passage.Cut([]llm.Evidence{{Text: text}}, "eng") {
		if strings.HasPrefix(p.Text, "The ") {
			quotable[p.Text] = p.Kind.Quotable()
		}
	}
	if len(quotable) != 2 || !quotable[whole] {
		t.Errorf("got %v", quotable)
	}
	for text, may := range quotable {
		if text != whole && may {
			t.Errorf("%q may be quoted", text)
		}
	}
}

func TestHostile(t *testing.T) {
	// Proves that huge and strange passages end in pieces of their text, none of them longer than what is quoted.
	t.Parallel()
	for name, text := range map[string]string{
		"one word":        strings.Repeat("bridge ", 10_000),
		"brackets":        strings.Repeat("([{", 10_000),
		"closed brackets": strings.Repeat("()", 10_000),
		"emoji":           strings.Repeat("😀 ", 10_000),
		"no end":          strings.Repeat("the bridge over the river and ", 5_000),
		"1 MB":            strings.Repeat("The bridge opened in 1937. ", 1<<20/27),
		"marks":           strings.Repeat("[1] ", 10_000),
		"items":           strings.Repeat("- a: b\n", 10_000),
		"indented items":  strings.Repeat(" ", 20_000) + "- a: b\n",
		"colons":          strings.Repeat(": ", 10_000),
		"dots":            strings.Repeat(". ", 10_000),
		"pronouns":        strings.Repeat("It is. ", 10_000),
		"lines of code":   strings.Repeat("a = b;\n", 10_000),
		"blank lines":     strings.Repeat("\n\n", 10_000),
		"broken":          strings.Repeat("\xff\xfe[1", 10_000),
	} {
		evidence := []llm.Evidence{{Text: text, Before: text, Headings: []string{text}}}
		pieces := passage.Cut(evidence, "eng")
		held(t, evidence, pieces)
		for _, p := range pieces {
			if p.Kind.Quotable() && (len(p.Text) > 4<<10 || len(p.Wide) > 900) {
				t.Errorf("%s: a piece of %d bytes", name, len(p.Text))
			}
		}
	}
}
