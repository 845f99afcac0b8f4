package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestCorpusOfMany(t *testing.T) {
	// Proves that any of more corpora than a list shows is found by a part of its name or by its key, by keyboard: in the lab, in a
	// chat and in the palette; and that Escape takes the typing back.
	t.Parallel()
	each(t, []look{looks[0], looks[3]}, func(t *testing.T, b *tab) {
		owner := b.service.Client()
		for i := range 120 {
			owner.Must(t, 201, "POST", "/v2/corpora", map[string]any{"key": fmt.Sprintf("c%03d", i), "name": fmt.Sprintf("Volume %03d", i)})
		}
		owner.Must(t, 201, "POST", "/v2/corpora", map[string]any{"key": "nameless"})
		owner.Must(t, 200, "PATCH", "/v2/corpora/c005", map[string]any{"name": "Old volume"})
		b.visit("/lab")
		b.signIn()
		b.reads("Add a corpus")
		b.tabTo("Corpus")
		b.types("me 007")
		b.reads("Volume 007")
		b.accessible("corpora to choose from")
		b.do("take it back", chromedp.KeyEvent(kb.Escape))
		if at := eval[string](b, "read the field", `document.activeElement.value`); at != "nameless" {
			t.Errorf("after Escape the field holds %q", at)
		}
		b.do("type again", chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`))
		b.types("volume 007")
		b.waits("one", `document.querySelectorAll('[role=option]').length === 1`)
		b.do("take it", chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent("\r"))
		if at := eval[string](b, "read the field", `document.activeElement.value`); at != "c007" {
			t.Errorf("the field holds %q", at)
		}
		b.visit("/chats/new?corpus=c003")
		b.fill("Filter by name", "volume 01")
		b.waits("eleven", `document.querySelectorAll('.choice [type=checkbox]').length === 11`)
		b.tabTo("Volume 012")
		b.types(" ")
		b.waits("the address", `location.search === '?corpus=c003&corpus=c012'`)
		b.accessible("corpora of a chat")
		b.do("press Ctrl-K", chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
		b.reads("Go to, or do")
		b.types("nameless")
		b.waits("its name", `[...document.querySelectorAll('.command bdi')].some(b => b.innerText === 'nameless')`)
		b.do("clear it", chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`))
		b.types("c005")
		b.waits("the corpus of this key", `[...document.querySelectorAll('.command bdi')].some(b => b.innerText === 'Old volume')`)
		b.do("go there", chromedp.KeyEvent("\r"))
		b.reads("This corpus is empty")
		b.quiet(b.service.Key)
	})
}

func TestAddresses(t *testing.T) {
	// Proves that texts with marks of addresses, such as per cent signs, stay what they are in the address of a question, and that
	// the address of a document with such an id stays its address when something else of it changes.
	t.Parallel()
	b := open(t, looks[0])
	owner := b.service.Client()
	b.fills("odd", 1)
	for _, id := range []string{"a/b%2Fc", "100%25 d?e#f&g=h+i", "%", "ü ∆/../x"} {
		owner.Must(t, 201, "POST", "/v2/corpora/odd/documents", map[string]any{"id": id, "type": "core", "document_parts": []any{map[string]any{"text": "Text of " + id}}})
	}
	b.visit("/corpora/odd/documents")
	b.signIn()
	for _, id := range []string{"a/b%2Fc", "100%25 d?e#f&g=h+i", "%", "ü ∆/../x"} {
		b.waits("its row", fmt.Sprintf(`[...document.querySelectorAll('.grid a')].some(a => a.innerText === %q && (a.click(), true))`, id))
		b.reads("Text of " + id)
		before := eval[string](b, "read the path", `location.pathname`)
		b.tabTo("Show the parts it was cut into")
		b.types(" ")
		b.reads("Part 1")
		if after := eval[string](b, "read the path", `location.pathname`); after != before {
			t.Errorf("%s: the path was %s and is %s", id, before, after)
		}
		b.do("load it again", chromedp.Reload())
		b.reads("Part 1")
		b.reads("Text of " + id)
		b.do("go to the list", chromedp.Click(`.places a[href$="/documents"]`))
		b.reads("5 documents")
	}
	b.visit("/corpora/odd")
	const question = "100%41 + %2525 & a=b #c?"
	b.fill("Your question", question+"\r")
	b.reads("From")
	b.do("load it again", chromedp.Reload())
	b.waits("the question", `document.querySelector('.question input')?.value === '`+question+`'`)
	b.quiet(b.service.Key)
}
