package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

func TestUnsaved(t *testing.T) {
	// Proves that whoever moves inside the console with something unsaved is asked first, by a link, the palette and the history of the
	// browser alike; that staying keeps it with the focus, that leaving goes on; and that nobody is asked where nothing was changed
	// or where it is saved.
	t.Parallel()
	each(t, []look{looks[0], looks[3]}, func(t *testing.T, b *tab) {
		b.fills("pumps", 1)
		b.visit("/corpora/pumps/documents")
		b.signIn()
		b.reads("doc/0000")
		b.do("open the document", chromedp.Click(`.grid-line .id a`))
		b.reads("The same text.")
		b.press("Change the metadata")
		b.reads("Add a value")
		b.press("Summary") // nothing was changed, so nobody asks
		b.reads("Summarise")
		b.press("Change the metadata")
		b.metadata("year", "2031", "number")
		asked := func(view string) {
			t.Helper()
			b.reads("What you have typed on this page is not saved.")
			if at := b.focused(); at == "" {
				t.Errorf("%s: the focus is nowhere", view)
			}
			b.press("Stay here")
			b.waits("the question to go", `!document.querySelector('.dialog')`)
			b.stillReads(view, "2031")
		}
		b.press("All documents")
		b.reads("What you have typed on this page is not saved.")
		b.accessible("asked before it is lost")
		asked("a link")
		if at := b.focused(); at != "All documents" {
			t.Errorf("after staying, the focus is on %q", at)
		}
		b.press("Summary")
		asked("another form")
		b.do("go back", chromedp.Evaluate[chromedp.Void](`history.back()`))
		asked("the history")
		b.do("press Ctrl-K", chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
		b.reads("Go to, or do")
		b.waits("the focus", `document.activeElement.role === 'combobox'`)
		b.types("Chats\r")
		asked("the palette")
		b.press("Save")
		b.reads("2031")
		b.waits("the form to go", `!document.querySelector('.metadata-row')`)

		b.press("Change the metadata")
		b.metadata("year", "2032", "number")
		b.do("go back", chromedp.Evaluate[chromedp.Void](`history.back()`))
		b.reads("What you have typed on this page is not saved.")
		b.press("Leave, and lose it")
		b.reads("1 document\n")
		b.quiet(b.service.Key)
	})
}

func TestUpgrade(t *testing.T) {
	// Proves that a page of an older version asks to be loaded anew, once the service was away and once one of its parts is missing;
	// that what was typed, and the form that it was typed into, are there afterwards; and that they are kept nowhere then.
	t.Parallel()
	each(t, []look{looks[0], looks[3]}, func(t *testing.T, b *tab) {
		b.fills("pumps", 1)
		b.expect("net::ERR_")
		b.expect("status of 404")
		p := b.putsBetween()
		b.visit("/presets")
		b.signIn()
		b.reads("comes with Quarry")
		b.press("New preset")
		b.fill("Name", "brief")
		b.fill("Prompt template", "Answer in one line.")

		// The service stops, and what starts has another page.
		p.answer(func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) })
		b.press("Save")
		b.reads("This page asks again by itself")
		p.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasPrefix(r.URL.Path, "/console/assets/") {
				http.NotFound(w, r)
				return true
			}
			if !strings.HasPrefix(r.URL.Path, "/console/") {
				return false
			}
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(`<script src="/console/assets/index-new.js"></script><div id="root"></div>`))
			return true
		})
		b.reads("The service has become another version.")
		b.accessible("an old page")
		p.answer(nil)
		b.press("Load the page anew")
		b.waits("the form", `document.querySelector('textarea')?.value === 'Answer in one line.'`)
		b.stillReads("after the page is loaded anew", "brief")
		b.accessible("a form that was kept")
		if eval[bool](b, "look into the storage", `JSON.stringify(sessionStorage).includes('Answer in one line')`) {
			t.Error("the form is still kept")
		}
		b.press("Save")
		b.reads("The preset is saved")

		// A part of the page that is of another version.
		p.says("GET", "/assets/chats-", 404, "Content-Type: application/json", "{}")
		b.press("Chats")
		b.reads("A part of this page could not be loaded.")
		b.accessible("a part that is missing")
		p.answer(nil)
		b.press("Load the page anew")
		b.reads("There is no chat yet")
		b.quiet(b.service.Key)
	})
}

func TestForbiddenStorage(t *testing.T) {
	// Proves that a browser that keeps nothing for the page can be used, is told that it keeps nothing, and is asked for the key
	// again after a load; and that an old page says that what was typed has to be copied, before it is lost.
	t.Parallel()
	b := open(t, looks[2])
	b.fills("pumps", 0)
	command(b, page.Enable, page.EnableParams{})
	command(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `for (const name of ['sessionStorage', 'localStorage']) Object.defineProperty(window, name, {get() { throw new DOMException('no', 'SecurityError') }})`,
	})
	p := b.putsBetween()
	b.visit("/corpora/pumps/settings")
	b.reads("This browser keeps nothing for this page")
	b.accessible("forbidden storage")
	b.signIn()
	b.reads("Takes new documents")
	b.set("What is in it", "Half typed")
	b.do("choose colours", chromedp.SetValue(`.bar select`, "dark"))
	b.expect("net::ERR_")
	p.answer(func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) })
	b.press("Save")
	b.reads("This page asks again by itself")
	p.says("GET", "/console/", 200, "Content-Type: text/html", `<div id="root"></div>`)
	b.reads("The service has become another version.")
	b.press("Load the page anew")
	b.reads("Copy what you have typed")
	b.stillReads("before the load", "Half typed")
	p.answer(nil)
	b.press("Save")
	b.reads("Saved.")
	b.visit("/corpora/pumps/settings")
	b.reads("This browser keeps nothing for this page")
	b.signIn()
	b.waits("what was saved", `[...document.querySelectorAll('input')].some(f => f.value === 'Half typed')`)
}

func TestLongNames(t *testing.T) {
	// Proves that names of 10,000 characters, of a corpus, in a form that is refused and in a list, neither widen the page nor break
	// it, and stand in the form until they are mended.
	t.Parallel()
	each(t, looks[2:], func(t *testing.T, b *tab) {
		owner := b.service.Client()
		long := strings.Repeat("w", 10_000)
		owner.Must(t, 201, "POST", "/v2/corpora", map[string]any{"key": "long", "name": long, "description": long})
		b.visit("/")
		b.signIn()
		b.reads("New corpus")
		b.waits("the list", `!!document.querySelector('.corpus')`)
		b.accessible("a list with a long name")
		b.visit("/corpora/long")
		b.reads("This corpus is empty")
		b.accessible("a corpus with a long name")
		b.do("press Ctrl-K", chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
		b.waits("the palette with it", `[...document.querySelectorAll('.command')].some(c => c.innerText.includes('www'))`)
		b.accessible("the palette with a long name")
		b.do("close it", chromedp.KeyEvent("\x1b"))
		b.expect("status of 400")
		b.visit("/access/keys")
		b.press("New key")
		b.do("see the form", chromedp.WaitVisible(`form.card`))
		eval[bool](b, "paste a name", `document.execCommand('insertText', false, 'k'.repeat(10000))`)
		b.press("Create the key")
		b.waits("what is wrong", `!!document.querySelector('form.card .bad, form.card .failed')`)
		b.accessible("a long name that is refused")
		b.stillReads("a long name", strings.Repeat("k", 10_000))
		b.quiet(b.service.Key)
	})
}
