package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"quarry/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// signIn signs in with the owner's key, without a mouse.
func (b *tab) signIn() {
	b.t.Helper()
	b.reads("Sign in")
	b.fill("API key", b.service.Key)
	b.press("Sign in")
}

// drops gives the page files, as somebody does who chooses them.
func (b *tab) drops(files map[string]string) {
	b.t.Helper()
	dir := b.t.TempDir()
	var paths []string
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.t.Fatal(err)
		}
		paths = append(paths, path)
	}
	b.do("choose files", chromedp.SetUploadFiles(`input[type=file]`, paths))
}

func TestFirstRun(t *testing.T) {
	// Proves that somebody without a mouse gets from an empty service to a cited answer: signs in, names a corpus, adds files,
	// of which one is refused with its reason, asks, and goes from a citation to its passage; and that the address leads
	// there again.
	t.Parallel()
	each(t, looks, func(t *testing.T, b *tab) {
		b.visit("/")
		b.reads("Sign in")
		b.accessible("sign in")
		b.signIn()
		b.reads("Your first corpus")
		b.accessible("first run")
		b.fill("Name", "Pump manuals")
		b.press("Create")
		b.reads("This corpus is empty")
		b.accessible("an empty corpus")
		b.expect("status of 415")
		b.drops(map[string]string{
			"service.md": "# Service\n\nReplace the filter every 500 hours.\n", "bad.bin": "\x00\x01\x02\xff\xfe",
			"markup.html": "<title><script>alert(1)</script></title><p>Store the pump dry, says &lt;b&gt;the maker&lt;/b&gt;.</p>",
		})
		b.reads("2 of 3 added, 1 refused")
		b.accessible("files added")
		b.fill("Your question", "How often is the filter replaced?")
		b.press("Ask")
		b.reads("Replace the filter every 500 hours.")
		b.reads("Evidence: ")
		b.accessible("an answer")
		at := eval[string](b, "read the address", `location.href`)
		b.press("Passage 1, from Service")
		if !eval[bool](b, "see the passage", `document.activeElement.dataset.shown === 'true' && document.activeElement.innerText.includes('500 hours')`) {
			t.Error("the citation does not lead to its passage")
		}
		b.do("come back", chromedp.Navigate(at))
		b.reads("Evidence: ")
		b.do("go to the list", chromedp.Click(`nav a`))
		b.reads("New corpus")
		b.accessible("the list")
		b.quiet(b.service.Key)
	})
}

func TestSample(t *testing.T) {
	// Proves that somebody without documents gets an answer from the guide with one press. No other test runs meanwhile: thousands of
	// passages are encoded, and that gets only what busy browsers leave of the processors.
	b := open(t, looks[0])
	b.visit("/")
	b.signIn()
	b.reads("Your first corpus")
	b.press("Try it with the guide of Quarry")
	b.do("wait for the first documents", chromedp.WaitVisible(`.question input`))
	b.reads("Clear this list")
	b.fill("Your question", "Which key opens the credentials in a copy of the database?\r")
	b.reads("secret.key")
	b.quiet(b.service.Key)
}
