package browser

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// pumps starts a service with four pumps in a corpus, one for each year from 2021 on.
func pumps(t *testing.T) served {
	t.Helper()
	s := serve(t)
	owner := s.service.Client()
	attribute := func(name, kind string) map[string]any {
		return map[string]any{"name": name, "level": "document", "type": kind, "indexed": true}
	}
	owner.Must(t, 201, "POST", "/v2/corpora", map[string]any{
		"key": "pumps", "filter_attributes": []any{attribute("line", "text"), attribute("year", "integer"), attribute("tags", "list[text]")},
	})
	for year := 2021; year <= 2024; year++ {
		owner.Must(t, 201, "POST", "/v2/corpora/pumps/documents", map[string]any{
			"id": fmt.Sprintf("pump/%d", year), "type": "core", "metadata": map[string]any{"line": "<i>oil's</i>", "year": year},
			"document_parts": []any{map[string]any{"text": fmt.Sprintf("Replace the filters of the pump of %d.", year)}},
		})
	}
	return s
}

// labbed opens a tab over a service with pumps, signed in at an address of the lab.
func labbed(t *testing.T, s served, l look, address string) *tab {
	t.Helper()
	b := s.open(t, l, most)
	b.visit("/lab?" + address)
	b.signIn()
	b.reads("Where is my document?")
	return b
}

// keys presses keys one after the other.
func (b *tab) keys(what string, all ...string) {
	b.t.Helper()
	for _, k := range all {
		b.do(what, chromedp.KeyEvent(k))
	}
}

// holds fails the test where the field with the focus holds something else.
func (b *tab) holds(want string) {
	b.t.Helper()
	if got := eval[string](b, "read the field", `document.activeElement.value`); got != want {
		b.t.Fatalf("the field holds %q, want %q", got, want)
	}
}

func TestLabFilter(t *testing.T) {
	// Proves that somebody without a mouse writes a filter from what is offered, attribute, operator and value with a quote in
	// it; that the place of an error is marked; and that what is found then shows why: words marked, and parts of each score
	// that sum to it.
	t.Parallel()
	service := pumps(t)
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			b := labbed(t, service, l, "corpus=pumps")
			b.expect("status of 400")
			b.accessible("an empty lab")
			b.fill("Query", "which filter?")
			b.fill("Filter", "li")
			b.reads("doc.line")
			b.keys("take the attribute", kb.ArrowDown, kb.Enter)
			b.holds("doc.line ")
			b.keys("take the operator", kb.ArrowDown, kb.Enter)
			b.reads("4 times")
			b.keys("look at the value", kb.ArrowDown)
			b.accessible("values offered")
			b.keys("take the value", kb.Enter)
			b.holds("doc.line = '<i>oil''s</i>' ")
			b.keys("close what is offered", kb.Escape)
			b.types("and and")
			b.keys("search", kb.Escape, kb.Enter)
			b.reads("Syntax error at 1:31")
			if marked := eval[string](b, "see the mark", `document.querySelector('.filter-editor mark').innerText`); marked != "and" {
				t.Errorf("marked is %q", marked)
			}
			b.accessible("a filter that is refused")
			b.keys("take it back", kb.Backspace, kb.Backspace, kb.Backspace, kb.Backspace)
			b.types(" doc.year > 2022")
			b.keys("search again", kb.Escape, kb.Enter)
			b.reads("2 passages")
			if words := eval[string](b, "see the words", `[...document.querySelectorAll('.match mark')].map(m => m.innerText).join()`); words != "filters,filters" {
				t.Errorf("marked are %q", words)
			}
			b.press("What the score is made of")
			b.reads("Score so far")
			b.accessible("results")
			if sums := eval[bool](b, "add up", `(() => { const cells = [...document.querySelectorAll('.explained td:last-child')].map(c => c.innerText);
				return cells.length > 2 && cells.at(-1) === cells.at(-2) })()`); !sums {
				t.Error("the parts do not sum to the score")
			}
			b.quiet(b.service.Key)
		})
	}
}

// over replaces what a field holds, by typing over it.
func (b *tab) over(selector, text string) {
	b.t.Helper()
	b.do("go to "+selector, chromedp.Focus(selector))
	eval[bool](b, "select all", `(document.activeElement.select(), true)`)
	b.types(text)
}

func TestLabCompared(t *testing.T) {
	// Proves that two settings give one list with what rose, fell, came and went; that stages are moved by keys, with the focus
	// where the stage goes; that the place of an error in a function is marked; and that the address holds all of it.
	t.Parallel()
	service := pumps(t)
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			b := labbed(t, service, l, "q=filter&corpus=pumps&filter="+url.QueryEscape("doc.year < 2024")+
				"&rank=userfn&function="+url.QueryEscape("3000 - get('$.document_metadata.year')"))
			b.expect("status of 400")
			b.reads("3 passages")
			b.press("Compare two settings")
			second := `fieldset.settings ~ fieldset.settings `
			b.over(second+`.filter-editor input`, "doc.year > 2021")
			b.over(second+`textarea`, "get('$.document_metadata.year') + nothing(1)")
			b.do("search", chromedp.Click(`[type=submit]`))
			b.reads("no function is named 'nothing'")
			if marked := eval[string](b, "see the mark", `document.querySelector('.stages mark').innerText`); marked != "nothing" {
				t.Errorf("marked is %q", marked)
			}
			b.accessible("a function that is refused")
			b.over(second+`textarea`, "get('$.document_metadata.year')")
			b.do("search", chromedp.Click(`[type=submit]`))
			b.reads("1 rose, 1 fell, 1 came, 1 went, 0 stayed")
			b.accessible("two settings compared")
			list := eval[string](b, "read the list", `[...document.querySelectorAll('.results > li')].map(r => r.dataset.change + ' ' + r.querySelector('h3').innerText).join()`)
			if want := "came pump/2024,went pump/2021,rose pump/2023,fell pump/2022"; list != want {
				t.Errorf("the list is %s, want %s", list, want)
			}
			b.do("come back", chromedp.Navigate(eval[string](b, "read the address", `location.href`)))
			b.reads("1 rose, 1 fell, 1 came, 1 went, 0 stayed")
			b.do("add a stage", chromedp.Focus(second+`.stages + button`))
			b.keys("add a stage", kb.Enter)
			b.do("go to it", chromedp.Focus(second+`.stages li:nth-child(2) [data-way=up]`))
			b.keys("move it up", kb.Enter)
			if at := b.focused(); at != "Move stage 1 down" {
				t.Errorf("the focus is at %q", at)
			}
			if types := eval[string](b, "see the stages", "[...document.querySelectorAll(`"+second+".stages select`)].map(s => s.value).join()"); types != "customer_reranker,,userfn" {
				t.Errorf("the stages are %s", types)
			}
			b.do("stop comparing", chromedp.Click(`[aria-pressed=true]`))
			b.reads("3 passages")
			b.quiet(b.service.Key)
		})
	}
}

func TestLabMissing(t *testing.T) {
	// Proves that the lab names the step that lost a document, the filter and then the limit, and leads to settings that find it;
	// that the query is shown as programs without the key; and that a query that was kept comes back into the lab from its history.
	t.Parallel()
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			b := labbed(t, pumps(t), l, "q=pump&missing="+url.QueryEscape("pump/2021")+"&corpus=pumps&filter="+url.QueryEscape("doc.year > 2021")+
				"&limit=1&rank=userfn&function="+url.QueryEscape("get('$.document_metadata.year')")+"&save=1")
			b.reads("No passage of it passes the filter")
			b.accessible("a lost document")
			b.press("Search without the filters")
			b.reads("stands behind the last result")
			b.press("Ask for 100 results, from the first on")
			b.reads("pump/2021 is among the results, at rank 4.")
			b.pressBefore("This query as a program")
			for name, want := range map[string]string{"Python": "client.query(", "TypeScript": "streamQueryV2({", "quarry": "--missing=pump/2021"} {
				b.do("see it in "+name, chromedp.Click(`//button[@role="tab"][.="`+name+`"]`))
				b.reads(want)
			}
			b.accessible("a query as a program")
			b.visit("/lab/history?corpus_key=pumps")
			b.reads("pumps")
			b.accessible("the history")
			b.do("open the last one", chromedp.Click(`.histories a`))
			b.reads("What happened")
			b.accessible("a query that was kept")
			b.press("Open in the lab")
			b.reads("4 passages")
			b.visit("/lab/history/qry_none")
			b.expect("status of 404")
			b.reads("There is no such query")
			b.quiet(b.service.Key)
		})
	}
}
