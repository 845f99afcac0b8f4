package browser

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quarry/internal/testkit"
)

// dot is a picture of one point.
const dot = "R0lGODlhAQABAAAAACwAAAAAAQABAAA="

func TestOneDocument(t *testing.T) {
	// Proves that a document is read as it was written, with headings, tables and pictures; that its parts are shown with their
	// metadata on demand; that metadata is changed with types, and what the service refuses stands at its field; that the later of
	// two people is told what the other one changed; that a model summarises it; and that it is deleted.
	t.Parallel()
	each(t, looks, func(t *testing.T, b *tab) {
		b.fills("pumps", 1)
		owner := b.service.Client()
		const id = "manuals/pump 100%/a,b.md"
		at := "/v2/corpora/pumps/documents/" + url.PathEscape(id)
		owner.Must(t, 201, "POST", "/v2/corpora/pumps/documents", map[string]any{
			"id": id, "type": "structured", "title": "The pump", "metadata": map[string]any{"title": "The pump", "year": 2024, "tags": []any{"a", "b"}},
			"sections": []any{map[string]any{
				"title": "Service", "text": "Replace the filter every 500 hours. Check the oil weekly.",
				"tables": []any{map[string]any{"id": "t", "title": "Costs", "data": map[string]any{
					"headers": []any{[]any{map[string]any{"text_value": "Item"}, map[string]any{"text_value": "Price"}}},
					"rows":    []any{[]any{map[string]any{"text_value": "Filter"}, map[string]any{"int_value": 12}}},
				}}},
				"images": []any{map[string]any{"id": "p/1", "title": "Cut", "image_data": map[string]any{"data": dot, "mime_type": "image/gif"}}},
			}},
		})
		b.visit("/corpora/pumps/documents")
		b.signIn()
		b.reads(id)
		b.do("open it", chromedp.Click(`a[href*="manuals"]`))
		b.reads("Replace the filter every 500 hours. Check the oil weekly.")
		b.waits("the picture", `document.querySelector('.picture img')?.naturalWidth === 1 && document.querySelector('.picture img').src.startsWith('blob:')`)
		if cells := eval[string](b, "read the table", `[...document.querySelectorAll('table th, table td')].map(c => c.innerText).join('|')`); cells != "Item|Price|Filter|12" {
			t.Errorf("the table reads %q", cells)
		}
		b.accessible("a document")
		b.do("load it again", chromedp.Navigate(eval[string](b, "read the address", `location.href`)))
		b.reads("Check the oil weekly.")
		b.tabTo("Show the parts it was cut into")
		b.types(" ")
		b.reads("Part 3 ·")
		b.accessible("its parts")

		b.press("Change the metadata")
		b.expect("status of 400")
		b.metadata("year", "soon", "text")
		b.press("Save")
		b.reads("must be integer")
		b.accessible("metadata that is refused")
		b.metadata("year", "2025", "number")
		owner.Must(t, 200, "PATCH", at, map[string]any{"metadata": map[string]any{"year": 1999, "tags": []any{"other"}}})
		b.press("Save")
		b.reads("Somebody else has changed this document meanwhile")
		b.reads("1999")
		b.accessible("what somebody else has changed")
		if got := metadataOf(t, owner, at); got["year"] != 1999.0 {
			t.Errorf("it was saved before anybody decided: %v", got)
		}
		b.press("Save my changes")
		b.reads("The metadata is saved.")
		if got, want := asJSON(metadataOf(t, owner, at)), `{"tags":["other"],"title":"The pump","year":2025}`; got != want {
			t.Errorf("metadata is %s, want %s", got, want)
		}

		b.press("Summary")
		b.press("Summarise")
		b.reads("The summary is complete.")
		b.accessible("a summary")
		b.press("Delete the document")
		b.reads("will be gone, for everybody.")
		b.do("confirm", chromedp.Click(`.dialog [data-kind=danger]`))
		b.reads("1 document\n")
		b.quiet(b.service.Key)
	})
}

// metadata sets type and value of a member in the form.
func (b *tab) metadata(key, value, kind string) {
	b.t.Helper()
	if !eval[bool](b, "set "+key, fmt.Sprintf(`(() => {
		const row = [...document.querySelectorAll('.metadata-row')].find(r => r.querySelector('input').value === %[1]q)
		if (!row) return false
		const set = (e, v) => {
			Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), 'value').set.call(e, v)
			e.dispatchEvent(new Event(e.tagName === 'SELECT' ? 'change' : 'input', {bubbles: true}))
		}
		set(row.querySelector('select'), %[3]q)
		set(row.querySelectorAll('input, textarea')[1], %[2]q)
		return true })()`, key, value, kind)) {
		b.fail("set "+key, errNever)
	}
}

func metadataOf(t *testing.T, c *testkit.Client, at string) map[string]any {
	t.Helper()
	return c.Must(t, 200, "GET", at, nil)["metadata"].(map[string]any)
}

func asJSON(v any) string {
	raw, _ := json.Marshal(v) // what was read as JSON encodes
	return string(raw)
}

func TestHostileDocument(t *testing.T) {
	// Proves that a document whose id, title, text, metadata, cells and picture are markup, scripts, links that run, marks that turn
	// the direction, and a line of a megabyte, is text in the list and on its page, and that both keep their width.
	t.Parallel()
	service := serve(t)
	const markup, script, link = `<img src=x onerror="document.title='run'">`, `<script>document.title='run'</script>`, "javascript:document.title='run'"
	svg := base64.StdEncoding.EncodeToString([]byte(`<svg xmlns="http://www.w3.org/2000/svg">` + script + `</svg>`))
	owner := service.service.Client()
	owner.Must(t, 201, "POST", "/v2/corpora", map[string]any{"key": "evil"})
	owner.Must(t, 201, "POST", "/v2/corpora/evil/documents", map[string]any{
		"id": markup + "\u202e%2F../\u2066", "type": "structured", "title": script,
		"metadata": map[string]any{"title": script + "\u202e", markup: link, "long": strings.Repeat("w", 20_000), "list": []any{markup, map[string]any{script: link}}},
		"sections": []any{map[string]any{
			"title": markup, "text": script + " " + link + " \u202e " + strings.Repeat("x", 1_000_000),
			"tables": []any{map[string]any{"id": markup, "title": script, "data": map[string]any{"rows": []any{[]any{map[string]any{"text_value": markup}, map[string]any{"text_value": strings.Repeat("c", 10_000)}}}}}},
			"images": []any{
				map[string]any{"id": "../" + markup, "title": markup, "image_data": map[string]any{"data": svg, "mime_type": "image/svg+xml"}},
				map[string]any{"id": "fake", "title": "fake", "image_data": map[string]any{"data": svg, "mime_type": "image/png"}},
			},
		}},
	})
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			b := service.open(t, l, most)
			b.visit("/corpora/evil/documents")
			b.signIn()
			b.reads(markup)
			b.accessible("hostile documents")
			b.do("open it", chromedp.Click(`.grid-line .id a`))
			b.reads("more characters")
			b.reads("Pictures of the type image/svg+xml are not shown here.")
			b.reads("This picture can’t be shown.")
			b.accessible("a hostile document")
			b.do("show its parts", chromedp.Click(`.document > .row input`))
			b.reads("Part 2 ·")
			b.do("change its metadata", chromedp.Click(`.document > .row .button`))
			b.reads("Add a value")
			b.accessible("hostile metadata")
			if title := eval[string](b, "read the title", `document.title`); title == "run" {
				t.Error("a text of a document has run")
			}
			if n := eval[int](b, "count what should not be there", `document.querySelectorAll('[onerror], [href^="javascript:"], img[src="x"]').length`); n > 0 {
				t.Errorf("%d pieces of a document became markup", n)
			}
			b.quiet(b.service.Key)
		})
	}
}

func TestUploads(t *testing.T) {
	// Proves that of 300 files three are refused with their reasons, one of them unsent since it is too large; that the others get
	// in although the service is killed and starts again meanwhile; and that a document is kept where that was chosen.
	t.Parallel()
	each(t, looks, func(t *testing.T, b *tab) {
		b.fills("files", 0)
		b.expect("status of 415")
		b.expect("status of 409")
		b.expect("net::ERR_")
		files := map[string]string{"bad.bin": "\x00\x01\x02\xff\xfe", "worse.bin": "\x00\x01\x02\xff\xfe", "large.txt": strings.Repeat("large ", 2<<20)}
		for i := range 297 {
			files[fmt.Sprintf("%03d.md", i)] = fmt.Sprintf("# Page %d\n\nThis is the text of page %d.\n", i, i)
		}
		b.visit("/corpora/files")
		b.signIn()
		b.reads("Add documents")
		b.drops(files)
		b.waits("some files", `/\b[3-9]\d of 300 added/.test(document.body.innerText)`)
		b.accessible("files on their way")
		b.service.Kill()
		b.reads("can’t be reached")
		address := strings.TrimPrefix(b.service.URL, "http://")
		b.service = testkit.StartWith(t, b.data, nil, "--data", b.data, "--listen", address)
		b.waitsLong("all files", `document.body.innerText.includes('297 of 300 added, 3 refused')`)
		b.reads("was not sent: the service takes 10 MB. Its setting max_upload allows more.")
		b.accessible("files added")
		if n := b.service.Client().Must(t, 200, "GET", "/v2/corpora/files", nil)["limits"].(map[string]any)["used_docs"]; n != 297.0 {
			t.Errorf("%v documents are there", n)
		}
		b.press("Clear this list")
		b.do("keep what is there", chromedp.Focus(`.drop select`), chromedp.KeyEvent(kb.ArrowDown))
		b.drops(map[string]string{"001.md": "Something else."})
		b.reads("kept what is there")
		b.quiet(b.service.Key)
	})
}
