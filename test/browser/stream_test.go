package browser

import (
	"testing"
	"time"

	"quarry/internal/provider/scripted"
)

func TestSlowAnswer(t *testing.T) {
	// Proves that nothing jumps while a slow model writes, in a corpus and in a chat; that its passages can be had meanwhile; and
	// that Escape stops it.
	t.Parallel()
	each(t, []look{looks[0], looks[3]}, func(t *testing.T, b *tab) {
		provider := scripted.Start(t)
		provider.Model("slow", scripted.Reply{Pieces: answer()[:300], Pace: 10 * time.Millisecond})
		provider.Model("endless", scripted.Reply{Pieces: answer(), Pace: 50 * time.Millisecond})
		b.fills("pumps", 20)
		for _, name := range []string{"slow", "endless"} {
			b.service.Client().Must(t, 201, "POST", "/v2/llms", map[string]any{
				"type": "openai-compatible", "name": name, "model": name, "uri": provider.URL + "/v1/chat/completions",
				"auth": map[string]any{"type": "bearer", "token": "sk-test-0123456789"},
			})
		}
		b.visit("/corpora/pumps?score=0&llm=slow&q=What%20about%20the%20pump%3F")
		b.signIn()
		b.reads("Passages")
		b.quiet(b.service.Key)
		b.visit("/chats/new?corpus=pumps&score=0&llm=slow")
		b.fill("Your question", "What about the pump?\r")
		b.reads("Delete from here on")
		b.quiet(b.service.Key)
		b.visit("/corpora/pumps?score=0&llm=endless")
		b.fill("Your question", "What about the pump?\r")
		b.press("Show the passages")
		b.reads("The same text.")
		b.fill("Your question", "\x1b")
		b.reads("You stopped this answer.")
		b.accessible("an answer that was stopped")
	})
}
