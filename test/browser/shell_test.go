package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func TestPalette(t *testing.T) {
	// Proves that Ctrl-K goes to a corpus by a part of its name from anywhere, that the focus is where people expect it, and that
	// what runs is found from every page.
	t.Parallel()
	b := open(t, looks[1])
	owner := b.service.Client()
	for _, name := range []string{"Pumps", "Old pumps", "Valves"} {
		owner.Must(t, 201, "POST", "/v2/corpora", map[string]any{"key": name[:3], "name": name})
	}
	b.visit("/chats")
	b.signIn()
	b.reads("There is no chat yet")
	b.do("press Ctrl-K", chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.reads("Go to, or do")
	b.accessible("the palette")
	b.types("pum")
	b.reads("Old pumps")
	b.accessible("the palette with what it finds")
	b.do("choose the first", chromedp.KeyEvent("\r"))
	b.reads("This corpus is empty")
	if at := eval[string](b, "read the address", `location.pathname`); at != "/console/corpora/Pum" {
		t.Errorf("the palette leads to %s", at)
	}
	b.drops(map[string]string{"a.md": "# A\n\nA pump.\n"})
	b.reads("1 of 1 added")
	b.do("go elsewhere", chromedp.Click(`nav a[href="/console/chats"]`))
	b.press("All done")
	b.reads("What runs")
	b.reads("1 of 1 added")
	b.accessible("what runs")
	b.quiet(b.service.Key)
}
