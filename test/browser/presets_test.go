package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func TestPresets(t *testing.T) {
	// Proves that a preset is made of one of the platform's, that its prompt is shown for a question before it is saved, that a
	// template with a mistake is refused at its field, and that it is deleted.
	t.Parallel()
	each(t, []look{looks[0], looks[3]}, func(t *testing.T, b *tab) {
		owner := b.service.Client()
		owner.Must(t, 201, "POST", "/v2/corpora", map[string]any{"key": "pumps"})
		owner.Must(t, 201, "POST", "/v2/corpora/pumps/documents", map[string]any{
			"id": "a", "type": "core", "document_parts": []any{map[string]any{"text": "The <b>red</b> pump takes oil."}},
		})
		b.visit("/presets")
		b.signIn()
		b.reads("comes with Quarry")
		b.accessible("presets")
		b.press("New preset")
		b.fill("Name", "brief")
		b.fill("Prompt template", "#if (true)Answer $vectaraQuery from $vectaraQueryResults[0].text()")
		b.accessible("a new preset")
		b.press("Save")
		b.expect("status of 400")
		b.reads("line 1")
		b.do("mend it", chromedp.SendKeys(`textarea`, "#end"))
		b.fill("Your question", "What does it take?")
		b.press("Show")
		b.reads("Answer What does it take? from The <b>red</b> pump takes oil.")
		b.accessible("a preview")
		b.press("Save")
		b.reads("The preset is saved")
		b.reads("brief")
		if found := owner.Must(t, 200, "GET", "/v2/generation_presets?filter=brief", nil)["generation_presets"].([]any); len(found) != 1 {
			t.Errorf("presets: %v", found)
		}
		b.do("delete it", chromedp.Click(`.preset [data-kind=danger]`))
		b.reads("Queries that name it are refused")
		b.do("confirm", chromedp.Click(`.dialog [data-kind=danger]`))
		b.do("see it gone", chromedp.WaitNotPresent(`.preset [data-kind=danger]`))
		b.quiet(b.service.Key)
	})
}
