package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quarry/internal/testkit"
)

// signsIn signs in with a key at an address.
func (b *tab) signsIn(key, path string) {
	b.t.Helper()
	b.visit(path)
	b.reads("Sign in")
	b.fill("API key", key)
	b.press("Sign in")
}

// keyWith makes a key with roles.
func keyWith(t *testing.T, owner *testkit.Client, roles map[string]any) string {
	t.Helper()
	roles["name"] = "mine"
	return owner.Must(t, 201, "POST", "/v2/api_keys", roles)["secret_key"].(string)
}

// areasOf returns what the bar offers of the console.
func areasOf(b *tab) []string {
	return eval[[]string](b, "read the bar", `[...document.querySelectorAll('.bar nav a[href^="/console"]')].map(a => a.innerText)`)
}

// Pages where a viewer sees what an owner sees, and is not offered what would be refused.
var pagesOfBoth = []struct {
	path, shown string
	owners      []string // what is offered to an owner alone
}{
	{"/corpora", "Pump manuals", []string{"New corpus"}},
	{"/corpora/pumps", "is answered", []string{"Add documents", "choose files"}},
	{"/corpora/pumps/documents", "doc/0001", []string{"Add documents", "Choose documents, or filter them"}},
	{"/corpora/pumps/documents/doc%2F0001", "The same text.", []string{"Change the metadata", "Delete the document"}},
	{"/corpora/pumps/attributes", "year", []string{"Change the attributes"}},
	{"/corpora/pumps/settings", "Characters", []string{"Save", "Remove all documents", "Delete the corpus"}},
	{"/lab?q=text&corpus=pumps", "passages", nil},
	{"/lab/history", "What is the same?", nil},
	{"/chats", "What is the same?", nil},
	{"/presets", "comes with Quarry", []string{"New preset", "Copy"}},
	{"/access/keys", "New key", []string{"owner key"}},
}

func TestViewerBesideOwner(t *testing.T) {
	// Proves that a viewer sees in every area what an owner sees, without what only the owner may do; that an address behind which
	// there is nothing for them says which roles would do; and that somebody with a role on one corpus alone finds that one.
	t.Parallel()
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			b := open(t, l)
			owner := b.service.Client()
			b.fills("pumps", 3)
			owner.Must(t, 200, "PATCH", "/v2/corpora/pumps", map[string]any{"name": "Pump manuals"})
			owner.Must(t, 201, "POST", "/v2/corpora", map[string]any{"key": "valves", "name": "Valves"})
			chat := owner.Must(t, 200, "POST", "/v2/chats", map[string]any{"query": "What is the same?", "search": map[string]any{"corpora": []any{map[string]any{"corpus_key": "pumps"}}}})
			viewer := keyWith(t, owner, map[string]any{"api_roles": []string{"viewer"}})
			one := keyWith(t, owner, map[string]any{"corpus_roles": []any{map[string]any{"corpus_key": "pumps", "role": "viewer"}}})
			beside := b.another(l)
			b.signsIn(b.service.Key, "/corpora")
			beside.signsIn(viewer, "/corpora")
			pages := append(slices.Clone(pagesOfBoth), struct {
				path, shown string
				owners      []string
			}{"/chats/" + chat["chat_id"].(string), "What is the same?", []string{"Delete the chat", "Delete from here on", "Leave out from here on"}})
			for _, p := range pages {
				b.visit(p.path)
				b.reads(p.shown)
				for _, offered := range p.owners {
					b.reads(offered)
				}
				beside.visit(p.path)
				beside.reads(p.shown)
				beside.accessible("a viewer at " + p.path)
				shown := eval[string](beside, "read the page", `document.querySelector('main').innerText`)
				for _, offered := range p.owners {
					if strings.Contains(shown, offered) {
						t.Errorf("at %s, a viewer is offered %q:\n%s", p.path, offered, shown)
					}
				}
			}
			if got, want := areasOf(b), []string{"Corpora", "Search lab", "Chats", "Presets", "Access"}; !slices.Equal(got, want) {
				t.Errorf("an owner is offered %q", got)
			}
			if got, want := areasOf(beside), []string{"Corpora", "Search lab", "Chats", "Access"}; !slices.Equal(got, want) {
				t.Errorf("a viewer is offered %q", got)
			}
			beside.expect("status of 403")
			for _, path := range []string{"/access/people", "/access/clients", "/access/audit"} {
				beside.visit(path)
				beside.reads("needs one of the API roles administrator, owner")
				beside.accessible("a viewer at " + path)
			}
			beside.quiet(viewer)

			third := b.another(l)
			third.signsIn(one, "/")
			third.reads("Pump manuals")
			third.accessible("the one corpus")
			if got := areasOf(third); !slices.Equal(got, []string{"Corpora", "Search lab"}) {
				t.Errorf("somebody with one corpus is offered %q", got)
			}
			if shown := eval[string](third, "read the page", `document.querySelector('main').innerText`); strings.Contains(shown, "Valves") || strings.Contains(shown, "New corpus") {
				t.Errorf("somebody with one corpus is shown:\n%s", shown)
			}
			third.visit("/corpora/pumps?q=What+is+the+same%3F")
			third.reads("The answer is complete.")
			third.accessible("an answer of the one corpus")
			third.expect("status of 403")
			for path, why := range map[string]string{"/corpora/valves": "getCorpus needs", "/chats": "listChats needs", "/presets": "listGenerationPresets needs", "/access": "listApiKeys needs"} {
				third.visit(path)
				third.reads(why)
				third.accessible("somebody with one corpus at " + path)
			}
			third.quiet(one)
			b.quiet(b.service.Key)
		})
	}
}

func TestAttributesUnderSearch(t *testing.T) {
	// Proves that when somebody replaces the attributes of a corpus, who sees how far the job is, the search that somebody else has
	// open with a filter on an old one is refused with its place marked and with nothing typed lost; and that the filter is then
	// completed from the new ones, without loading the page again.
	t.Parallel()
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			b := labbed(t, pumps(t), l, "q=filter&corpus=pumps&filter=doc.year+%3E+2022")
			b.reads("2 passages")
			b.fill("Filter", "")
			owner := b.another(l)
			owner.signsIn(b.service.Key, "/corpora/pumps/attributes")
			owner.reads("whole number")
			owner.press("Change the attributes")
			owner.do("remove one", chromedp.Click(`.grid-row:nth-of-type(2) button`))
			owner.press("Add an attribute")
			owner.do("name another", chromedp.SendKeys(`.grid-row:nth-of-type(3) input`, "made"))
			owner.press("Replace the attributes")
			owner.waits("the job", `/Replace the attributes\s+(waiting|running|done)/.test(document.querySelector('.job')?.innerText)`)
			owner.reads("3 filter attributes in use")
			owner.accessible("attributes replaced")

			b.expect("status of 400")
			b.do("search again", chromedp.Click(`[type=submit]`))
			b.reads("The service refuses the settings.")
			if marked := eval[string](b, "see the mark", `document.querySelector('.filter-editor mark').innerText`); !strings.Contains(marked, "year") {
				t.Errorf("marked is %q", marked)
			}
			b.accessible("a filter whose attribute is gone")
			b.tabTo("Filter")
			b.holds("doc.year > 2022")
			b.over(`.filter-editor input`, "ma")
			b.reads("doc.made")
			b.keys("take it", kb.ArrowDown, kb.Enter)
			b.holds("doc.made ")
			b.over(`.filter-editor input`, "doc.line = '<i>oil''s</i>'\r")
			b.reads("4 passages")
			b.accessible("a search with what is left")
			owner.quiet(b.service.Key)
			b.quiet(b.service.Key)
		})
	}
}
