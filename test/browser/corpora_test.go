package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func TestCorpora(t *testing.T) {
	// Proves that a corpus is made with an attribute and a dimension, that a value of its attributes narrows the counts, that its
	// attributes are replaced by a job whose end is told, that it is changed, and that it goes only once its key was typed.
	t.Parallel()
	each(t, []look{looks[0], looks[3]}, func(t *testing.T, b *tab) {
		b.visit("/")
		b.signIn()
		b.reads("Your first corpus")
		b.fill("Name", "Pumps")
		b.do("open the details", chromedp.Click(`summary`))
		b.press("Add an attribute")
		b.fill("Metadata key", "kind")
		b.press("Add a dimension")
		b.accessible("a new corpus with everything")
		b.do("name the dimension", chromedp.SendKeys(`fieldset:nth-of-type(2) input`, "popularity"))
		b.press("Create")
		b.reads("This corpus is empty")
		owner := b.service.Client()
		for id, kind := range map[string]string{"a": "<b>oil</b>", "b": "oil's", "c": "oil's"} {
			owner.Must(t, 201, "POST", "/v2/corpora/pumps/documents", map[string]any{
				"id": id, "type": "core", "metadata": map[string]any{"kind": kind}, "document_parts": []any{map[string]any{"text": "Pump " + id + "."}},
			})
		}
		b.press("Attributes")
		b.reads("<b>oil</b>")
		b.accessible("attributes")
		b.do("narrow", chromedp.Click(`.bars li:first-child button`))
		b.reads("doc.kind = 'oil''s'")
		b.press("Count everything")
		b.press("Change the attributes")
		b.press("Add an attribute")
		b.do("name it", chromedp.SendKeys(`.grid-row:nth-of-type(2) input`, "year"))
		b.accessible("attributes being changed")
		b.press("Replace the attributes")
		b.reads("2 filter attributes in use")
		b.press("Settings")
		b.reads("popularity")
		b.fill("What is in it", "Everything about pumps")
		b.press("Save")
		b.reads("Saved.")
		b.accessible("settings")
		b.press("Delete the corpus")
		b.reads("To go on, type pumps")
		b.accessible("a deletion to be confirmed")
		b.do("type something else", chromedp.SendKeys(`.dialog input`, "pump"))
		if !eval[bool](b, "see the button", `document.querySelector('.dialog [data-kind=danger]').disabled`) {
			t.Error("the corpus can be deleted before its key was typed")
		}
		b.do("type the rest", chromedp.SendKeys(`.dialog input`, "s\r"))
		b.reads("Your first corpus")
		if found := owner.Must(t, 200, "GET", "/v2/corpora", nil)["corpora"].([]any); len(found) > 0 {
			t.Errorf("there still is %v", found)
		}
		b.quiet(b.service.Key)
	})
}
