package browser

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"quarry/internal/provider/scripted"
)

// What a text may hold that is not to become more than a text: markup, a script, a link that runs, marks that turn the direction
// in which it is read, and letters that are read from the right.
const (
	evilMarkup = `<img src=x onerror="document.title='run'">`
	evilScript = `<script>document.title='run'</script>`
	evilLink   = `javascript:document.title='run'`
	evilTurn   = "\u202eturned\u2066 \u05d0\u05d1\u05d2"
)

// evilAnswer is Markdown that tries to run, to load and to break out, and ends within an open fence.
var evilAnswer = strings.Join([]string{
	"# " + evilMarkup + " pump " + evilTurn,
	evilScript + " said [1] and [99] and [-1].",
	"[click](" + evilLink + ") [click](JAVASCRIPT:alert(1)) [click](java\tscript:alert(1)) [click](data:text/html,x) [click](vbscript:x)",
	"![picture](https://elsewhere.test/track.png) [good.test](https://good.test@elsewhere.test/) <https://elsewhere.test/auto>",
	"[turned](https://elsewhere.test/\u202egnp.exe) [x](https://elsewhere.test/\" onclick=\"document.title='run')",
	"[ref]: " + evilLink + "\n[ref]",
	"- a\n  - b\n    - c\n      - d\n        - e\n          - f\n            - g\n              - h\n                - i\n                  - " + evilMarkup,
	strings.Repeat("> ", 40) + "deep",
	"| " + evilMarkup + " | " + strings.Repeat("c", 300) + " |\n|---|---|\n| " + evilScript + " | [1] |",
	"**" + strings.Repeat("long", 2000) + "** `" + strings.Repeat("w", 3000) + "`",
	"<iframe src=\"https://elsewhere.test/\"></iframe><style>body{display:none}</style><a href=\"" + evilLink + "\">x</a>",
	"&lt;b&gt; &#60;script&#62; \\<b\\> \u0000 \u0002",
	"```html\n" + evilScript + "\n" + strings.Repeat("code", 500),
}, "\n\n")

// evilID is the id of a document.
const evilID = evilMarkup + "\u202e%2F../\u2066"

// evil starts a service in which everything that somebody can name or write is hostile.
func evil(t *testing.T) served {
	t.Helper()
	models := scripted.Start(t)
	models.Model("evil", scripted.Reply{Text: evilAnswer})
	s := serve(t)
	owner := s.service.Client()
	name := evilMarkup + evilTurn
	owner.Must(t, 201, "POST", "/v2/corpora", map[string]any{
		"key": "evil", "name": name, "description": evilScript + evilLink + strings.Repeat("d", 3000), "save_history": true,
		"filter_attributes": []any{
			map[string]any{"name": "kind", "level": "document", "type": "text", "indexed": true, "description": evilScript + evilTurn},
			map[string]any{"name": evilMarkup, "level": "document", "type": "text", "indexed": true},
		},
		"custom_dimensions": []any{map[string]any{"name": evilMarkup, "indexing_default": 0, "querying_default": 1}},
	})
	for id, text := range map[string]string{
		evilID:                           evilScript + " pump " + evilLink + evilTurn,
		"long":                           "pump " + strings.Repeat("x", 1_000_000),
		"\u05de\u05e9\u05d0\u05d1\u05d4": "pump \u05d4\u05de\u05e1\u05e0\u05df \u05e9\u05dc \u05d4\u05de\u05e9\u05d0\u05d1\u05d4.",
		"marks":                          "pump \u0001a\u0003b\u0002c",
	} {
		owner.Must(t, 201, "POST", "/v2/corpora/evil/documents", map[string]any{
			"id": id, "type": "core", "metadata": map[string]any{
				"title": evilScript + evilTurn, "kind": evilMarkup + "' or 1=1 --", evilMarkup: evilLink, "long": strings.Repeat("w", 20_000), "list": []any{evilMarkup},
			},
			"document_parts": []any{map[string]any{"text": text, "context": evilScript, "metadata": map[string]any{"breadcrumb": []any{evilMarkup, evilTurn}, evilScript: evilMarkup}}},
		})
	}
	owner.Must(t, 201, "POST", "/v2/llms", map[string]any{
		"type": "openai-compatible", "name": name, "model": "evil", "uri": models.URL + "/v1/chat/completions", "description": evilScript,
	})
	owner.Must(t, 201, "POST", "/v2/generation_presets", map[string]any{
		"name": name, "description": evilScript, "llm_name": name, "prompt_template": `[{"role":"user","content":"` + evilLink + ` $vectaraQuery"}]`,
	})
	owner.Must(t, 201, "POST", "/v2/users", map[string]any{
		"email": "evil@x.test", "username": evilMarkup, "description": evilScript + evilTurn, "api_roles": []string{"viewer"},
		"metadata": map[string]any{evilMarkup: evilLink}, "groups": []string{evilScript},
	})
	owner.Must(t, 201, "POST", "/v2/app_clients", map[string]any{"type": "client_credentials", "name": name, "description": evilScript, "api_roles": []string{"corpus_viewer"}})
	owner.Must(t, 201, "POST", "/v2/api_keys", map[string]any{"name": name, "api_roles": []string{"corpus_viewer"}})
	return s
}

// harmless fails the test where a text of a view has become more than a text.
func (b *tab) harmless(view string) {
	b.t.Helper()
	b.accessible(view)
	if eval[string](b, "read the title", `document.title`) == "run" {
		b.t.Fatalf("%s: a text has run", view)
	}
	if found := eval[[]string](b, "look for what should not be there", `[
		...[...document.querySelectorAll('[onerror], [onclick], [onload], iframe, object, embed, style, base, body script, body link, main img')],
		...[...document.querySelectorAll('a')].filter(a => !/^https?:$/.test(a.protocol) || (a.host !== location.host && (a.target !== '_blank' || a.nextElementSibling?.innerText !== a.host))),
		].map(e => e.outerHTML.slice(0, 200))`); len(found) > 0 {
		b.t.Errorf("%s: this is no text: %q", view, found)
	}
	if turned := eval[[]string](b, "look for what is turned", `(() => {
		const out = [], all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
		while (all.nextNode()) {
			const n = all.currentNode, text = n.data.trim(), at = n.data.indexOf(text)
			if (!/^[a-z0-9][ -~]*[a-z0-9]$/i.test(text) || n.parentElement.closest('bdi, [dir=auto], pre, .passages p, textarea, select, script, style')) continue
			const place = i => { const r = document.createRange(); r.setStart(n, i); r.setEnd(n, i + 1); return r.getClientRects()[0] }
			const first = place(at), last = place(at + text.length - 1)
			if (first && last && first.width && Math.abs(first.top - last.top) < 2 && first.left > last.left) out.push(text)
		}
		return out })()`); len(turned) > 0 {
		b.t.Errorf("%s: a text before it turns %q", view, turned)
	}
}

func TestHostile(t *testing.T) {
	// Proves that nothing of a service in which every name and text is markup, a script, a link that runs, marks that turn the
	// direction, or longer than any line, becomes more than a text in any area: nothing runs, nothing is loaded from elsewhere, links
	// of an answer lead to web pages alone and show their host, and pages keep their width.
	t.Parallel()
	service := evil(t)
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			b := service.open(t, l, most)
			name := evilMarkup + evilTurn
			b.visit("/corpora")
			b.signIn()
			b.reads(evilMarkup)
			b.harmless("the list of corpora")
			b.do("press Ctrl-K", chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
			b.reads("Go to, or do")
			b.types("<img")
			b.waits("what the palette finds", `document.querySelector('[role=option]')?.innerText.includes('onerror')`)
			b.harmless("the palette")

			b.visit("/corpora/evil?q=" + url.QueryEscape("pump "+evilMarkup) + "&preset=" + url.QueryEscape(name))
			b.reads("is answered")
			b.reads("How far the passages support this answer")
			b.harmless("an answer")
			if links := eval[string](b, "read the links", `[...document.querySelectorAll('.answer a')].map(a => a.host).join()`); links != strings.Repeat("elsewhere.test,", 4)+"elsewhere.test" {
				t.Errorf("the answer has links to %s", links) // two of them are addresses in texts that are no links
			}
			if marks := eval[int](b, "count the citations", `document.querySelectorAll('.answer .mark').length`); marks != 2 {
				t.Errorf("the answer has %d citations", marks)
			}
			b.press("What the model was told")
			b.harmless("a prompt")
			b.visit("/corpora/evil/attributes")
			b.reads("or 1=1")
			b.harmless("values of attributes")
			b.visit("/corpora/evil/settings")
			b.reads("Delete the corpus")
			b.harmless("settings")
			b.press("Delete the corpus")
			b.reads("To go on, type")
			b.harmless("a deletion")

			lab := "q=" + url.QueryEscape("pump "+evilMarkup) + "&corpus=evil&missing=" + url.QueryEscape("no "+evilMarkup)
			b.expect("status of 400") // a dimension of this name is not one of the other corpus
			b.visit("/lab?" + lab)
			b.reads("4 passages")
			b.press("What the score is made of")
			b.press("Metadata")
			b.harmless("results")
			b.press("This query as a program")
			b.harmless("programs")
			b.visit("/lab?q=pump&missing=" + url.QueryEscape(evilID) + "&corpus=evil&limit=1&filter=" + url.QueryEscape("part.is_title = true") +
				"&or=1&corpus=evil&limit=3&weigh=" + url.QueryEscape(evilMarkup+":1"))
			b.waits("both lines about the document", `document.querySelectorAll('.missing[data-old=false]').length === 2 && document.querySelectorAll('.results > li').length > 0`)
			b.harmless("two settings compared, and a document that one of them lost")
			b.visit("/lab/history")
			b.reads("pump <img")
			b.harmless("the history")
			b.do("open the last one", chromedp.Click(`.histories a`))
			b.reads("What happened")
			b.do("unfold all", chromedp.Evaluate[chromedp.Void](`document.querySelectorAll('main summary').forEach(s => s.click())`))
			b.harmless("a query that was kept")

			b.visit("/chats/new?corpus=evil&preset=" + url.QueryEscape(name))
			b.reads("Search in")
			b.fill("Your question", "pump "+evilScript+"\r")
			b.reads("Delete from here on")
			b.harmless("a chat")
			b.do("load it again", chromedp.Reload())
			b.reads("Delete from here on")
			b.harmless("a chat that was stored")
			b.visit("/chats")
			b.reads("pump <script>")
			b.harmless("the list of chats")

			b.silent(b.service.Key)
		})
	}
}

func TestHostileNames(t *testing.T) {
	// Proves the same of presets, and of keys, people, clients and what they did, and of addresses that somebody else has written.
	t.Parallel()
	service := evil(t)
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			b := service.open(t, l, most)
			b.visit("/presets")
			b.signIn()
			b.reads(evilMarkup)
			b.harmless("presets")
			b.do("change it", chromedp.Evaluate[chromedp.Void](`document.querySelector('.preset:has([data-kind=danger]) .button').click()`))
			b.reads("Prompt template")
			b.harmless("a preset")
			b.visit("/access/keys")
			b.reads(evilMarkup)
			b.harmless("keys")
			for _, place := range []string{"keys", "people", "clients"} {
				b.visit("/access/" + place)
				b.waits(place, `[...document.querySelectorAll('main li a, main td a')].some(a => a.innerText.includes('onerror'))`)
				b.harmless(place)
				b.do("open it", chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('main li a, main td a')].find(a => a.innerText.includes('onerror')).click()`))
				b.reads("What this opens")
				b.harmless("one of " + place)
			}
			b.visit("/access/audit")
			b.reads("createUser")
			b.harmless("the audit")
			b.visit("/access/people/" + url.PathEscape(evilMarkup) + "?x=" + url.QueryEscape(evilScript) + "#" + evilScript)
			b.reads("What this opens")
			b.harmless("an address")
			b.expect("status of 404")
			for _, place := range []string{"/corpora/", "/chats/", "/lab/history/", "/access/keys/", "/corpora/evil/documents/", "/"} {
				b.visit(place + url.PathEscape(evilScript+evilTurn))
				b.waits("an answer", `document.querySelector('main h1') && document.querySelector('main').innerText.length > 20`)
				b.harmless(fmt.Sprintf("nothing at %s", place))
			}
			b.silent(b.service.Key)
		})
	}
}
