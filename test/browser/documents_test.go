package browser

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// fills makes a corpus with documents, numbered from 0.
func (b *tab) fills(corpus string, n int) {
	b.t.Helper()
	owner := b.service.Client()
	owner.Must(b.t, 201, "POST", "/v2/corpora", map[string]any{
		"key": corpus, "filter_attributes": []any{map[string]any{"name": "year", "level": "document", "type": "integer"}},
	})
	for i := range n {
		owner.Must(b.t, 201, "POST", "/v2/corpora/"+corpus+"/documents", map[string]any{
			"id": fmt.Sprintf("doc/%04d", i), "type": "core", "metadata": map[string]any{"title": fmt.Sprintf("Title %d", i), "year": 2000 + i%3, "kind": "<b>k</b>"},
			"document_parts": []any{map[string]any{"text": "The same text."}},
		})
	}
}

// rows returns how many rows of documents are in the page.
func (b *tab) rows() int {
	b.t.Helper()
	return eval[int](b, "count the rows", `document.querySelectorAll('[role=rowgroup] [role=row]').length`)
}

// waits waits until an expression is true in the page.
func (b *tab) waits(what, expression string) {
	b.t.Helper()
	b.waitsFor(90_000, what, expression)
}

// waitsLong is waits for what takes a while.
func (b *tab) waitsLong(what, expression string) {
	b.t.Helper()
	b.waitsFor(240_000, what, expression)
}

func (b *tab) waitsFor(milliseconds int, what, expression string) {
	b.t.Helper()
	if !eval[bool](b, "wait for "+what, `new Promise(seen => {
		const last = performance.now() + `+strconv.Itoa(milliseconds)+`
		const look = () => `+expression+` ? seen(true) : performance.now() > last ? seen(false) : setTimeout(look, 20)
		look() })`) {
		b.fail("wait for "+what, errNever)
	}
}

func TestDocuments(t *testing.T) {
	// Proves that somebody without a mouse gets through a list of documents that is longer than the page, of which only the rows
	// that are seen are there; that a wrong filter is shown with its place, and a right one narrows the list; that address holds
	// filter and columns; and that documents are changed and deleted by choice and by filter, after their number was told.
	t.Parallel()
	each(t, looks, func(t *testing.T, b *tab) {
		b.fills("many", 450)
		owner := b.service.Client()
		b.visit("/corpora/many/documents")
		b.signIn()
		b.reads("450 documents")
		b.reads("doc/0000")
		b.accessible("documents")
		b.tabTo("doc/0000")
		b.do("go to the last that was read", chromedp.KeyEvent(kb.End))
		b.waits("the next page", `document.querySelector('.grid .all').offsetHeight > 400 * 40`)
		for b.focused() != "doc/0449" { // the end is that of the pages that were read so far
			b.do("go to the last", chromedp.KeyEvent(kb.End))
		}
		if n := b.rows(); n < 5 || n > 100 {
			t.Errorf("%d rows are in the page", n)
		}

		b.expect("status of 400")
		b.do("go to the filter", chromedp.Focus(`.filter-field input`))
		b.types("doc.year >= and\r")
		b.reads(`expected a value`)
		if at := eval[string](b, "see the place", `document.querySelector('.filter-editor mark').innerText`); at != "and" {
			t.Errorf("%q is marked in the filter", at)
		}
		b.accessible("a wrong filter")
		b.do("select it", chromedp.Evaluate[chromedp.Void](`document.querySelector('.filter-field input').select()`))
		b.types("doc.year = 2001\r")
		b.reads("150 documents")
		b.do("choose columns", chromedp.Click(`.columns summary`), chromedp.Click(`.columns label:last-of-type`))
		b.accessible("columns")
		at := eval[string](b, "read the address", `location.href`)
		if !strings.Contains(at, "filter=doc.year+%3D+2001") || !strings.Contains(at, "column=year") || strings.Contains(at, "column=kind") {
			t.Errorf("the address is %s", at)
		}
		b.do("load it again", chromedp.Navigate(at))
		b.reads("150 documents")

		b.tabTo("Choose doc/0001")
		b.types(" ")
		b.reads("1 chosen")
		b.press("Delete documents")
		b.reads("One document will be gone")
		b.accessible("a deletion to be confirmed")
		b.press("Delete 1 document")
		b.reads("149 documents")
		b.press("Change metadata")
		b.reads("The metadata of 149 documents will be changed.")
		b.accessible("metadata of many to be changed")
		b.fill("Key", "year")
		b.fill("Value", "soon")
		b.press("Change 149 documents")
		b.reads("must be integer")
		b.do("remove the value", chromedp.Click(`.metadata-row .button`))
		b.press("Add a value")
		b.types("checked")
		b.fill("Value", "yes")
		b.press("Change 149 documents")
		b.reads("149 updated, 0 skipped, 0 failed")
		changed := owner.Must(t, 200, "GET", "/v2/corpora/many/documents/doc%2F0004", nil)["metadata"].(map[string]any)
		if changed["checked"] != "yes" || changed["title"] != "Title 4" {
			t.Errorf("metadata is %v", changed)
		}
		b.quiet(b.service.Key)
	})
}
