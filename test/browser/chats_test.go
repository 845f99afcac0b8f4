package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func TestChats(t *testing.T) {
	// Proves that a chat of three turns is held by keyboard, that a follow-up shows what was searched for in its place, that the last
	// turn is taken back, that a chat is gone on with from the list with the corpora that it searched, and that it is deleted.
	t.Parallel()
	each(t, looks, func(t *testing.T, b *tab) {
		owner := b.service.Client()
		owner.Must(t, 201, "POST", "/v2/corpora", map[string]any{"key": "pumps", "name": "Pumps <i>all</i>"})
		for id, text := range map[string]string{
			"filter": "The filter of the red pump is replaced every 500 hours.", "oil": "The oil of the red pump is changed every 90 days.",
			"blue": "The filter of the blue pump lasts two years.",
		} {
			owner.Must(t, 201, "POST", "/v2/corpora/pumps/documents", map[string]any{"id": id, "type": "core", "document_parts": []any{map[string]any{"text": text}}})
		}
		b.visit("/chats")
		b.signIn()
		b.reads("There is no chat yet")
		b.accessible("no chats")
		b.press("New chat")
		b.reads("Search in")
		b.tabTo("Pumps <i>all</i>")
		b.types(" ")
		b.accessible("a new chat")
		b.fill("Your question", "How often is the filter of the red pump replaced?\r")
		b.reads("every 500 hours")
		b.reads("Delete from here on")
		b.reads("Passages")
		b.fill("Ask on", "And the oil?\r")
		b.reads("every 90 days")
		b.reads("Searched for")
		b.accessible("a chat of two turns")
		b.fill("Ask on", "How long does the filter of the blue pump last?\r")
		b.reads("lasts two years")
		b.do("wait until it is stored", chromedp.WaitVisible(`.exchange:nth-child(3) .turn-actions`))
		b.do("take the last turn back", chromedp.Click(`.exchange:nth-child(3) .turn-actions button:last-child`))
		b.do("wait until it is gone", chromedp.WaitNotPresent(`.exchange:nth-child(3)`))
		b.do("leave the second turn out", chromedp.Click(`.exchange:nth-child(2) .turn-actions button:first-child`))
		b.reads("Later questions do not build on this")
		b.accessible("a chat with a turn left out")
		b.do("go to the list", chromedp.Click(`nav a[href="/console/chats"]`))
		b.reads("New chat")
		b.accessible("the list of chats")
		b.do("open the chat", chromedp.Click(`.chat a`))
		b.reads("Delete the chat")
		if !eval[bool](b, "see the corpora", `new Promise(seen => { let n = 0; const look = () => document.querySelector('.choice input')?.checked ? seen(true) : ++n > 200 ? seen(false) : setTimeout(look, 50); look() })`) {
			t.Error("the corpora that the chat searched are not chosen")
		}
		chats := owner.Must(t, 200, "GET", "/v2/chats", nil)["chats"].([]any)
		turns := owner.Must(t, 200, "GET", "/v2/chats/"+chats[0].(map[string]any)["id"].(string)+"/turns", nil)["turns"].([]any)
		if len(chats) != 1 || len(turns) != 2 || turns[1].(map[string]any)["enabled"] != false {
			t.Errorf("%d chats, turns %v", len(chats), turns)
		}
		b.press("Delete the chat")
		b.reads("The history of its queries stays")
		b.tabTo("Delete the chat")
		b.types("\r")
		b.reads("There is no chat yet")
		b.quiet(b.service.Key)
	})
}
