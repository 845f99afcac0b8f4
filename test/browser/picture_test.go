package browser

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestPicture(t *testing.T) {
	// Proves that the picture of the guide can be taken from the console as it is. QUARRY_GENERATE takes it anew.
	t.Parallel()
	b := open(t, looks[0])
	owner := b.service.Client()
	owner.Must(t, 201, "POST", "/v2/corpora", map[string]any{"key": "pumps", "name": "Pump manuals", "description": "What the workshop needs to know"})
	for id, text := range map[string]string{
		"service.md": "The filter of the pump is replaced every 500 hours, or twice a year. A dirty filter makes the pump loud.",
		"seal.md":    "The seal of the pump is checked whenever the filter is replaced. A worn seal leaks oil.",
		"start.md":   "Open valve A before the pump starts. Wait until the gauge shows three bar.",
	} {
		owner.Must(t, 201, "POST", "/v2/corpora/pumps/documents", map[string]any{"id": id, "type": "core", "document_parts": []any{map[string]any{"text": text}}})
	}
	b.visit("/corpora/pumps?q=How+often+is+the+filter+replaced%3F")
	b.signIn()
	b.reads("Evidence: ")
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil || len(picture) < 10_000 {
		t.Fatalf("a picture of %d bytes: %v", len(picture), err)
	}
	const name = "../../docs/guide/pictures/console-answer.png"
	if os.Getenv("QUARRY_GENERATE") != "" {
		if err := os.WriteFile(name, picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(name); err != nil || len(kept) < 10_000 {
		t.Errorf("the guide has a picture of %d bytes (%v); QUARRY_GENERATE=1 takes it", len(kept), err)
	}
}
