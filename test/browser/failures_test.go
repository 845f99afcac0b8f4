package browser

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// settings opens the settings of a corpus and types a description, which then must not be lost.
func (b *tab) settings(corpus, typed string) {
	b.t.Helper()
	b.visit("/corpora/" + corpus + "/settings")
	b.signIn()
	b.reads("Takes new documents")
	b.set("What is in it", typed)
}

// stillReads fails the test unless a text still stands in a field.
func (b *tab) stillReads(view, typed string) {
	b.t.Helper()
	if !eval[bool](b, "read the fields", `[...document.querySelectorAll('input, textarea')].some(f => f.value === '`+typed+`')`) {
		b.t.Errorf("%s: %q is lost", view, typed)
	}
}

func TestAnswersInBetween(t *testing.T) {
	// Proves that whatever comes in place of an answer is told as a sentence with what to do, loses nothing that was typed and leaves
	// the focus on the button, at each look; and that saving works once the answer is right.
	t.Parallel()
	const html = "<html><h1>Bad gateway</h1><script>document.title='run'</script></html>"
	ours := func(message string) string { return `{"messages":["` + message + `"]}` }
	cases := []struct {
		status             int
		header, body, says string
		advice             string
	}{
		{413, "Content-Type: text/html", html, "(status 413) is not from Quarry", "Send less at once."},
		{415, "Content-Type: application/json", ours("Only JSON is read."), "Only JSON is read.", "Reload the page and try again."},
		{429, "Retry-After: 7", ours("Too many requests."), "Too many requests.", "Wait 7 seconds, then try again."},
		{502, "Content-Type: text/html", html, "(status 502) is not from Quarry", "Nothing you typed is lost."},
		{503, "Content-Type: application/json", ours("The service has much to do."), "The service has much to do.", "Nothing you typed is lost."},
		{504, "Content-Type: text/html", "", "(status 504) is not from Quarry", "Nothing you typed is lost."},
		{200, "Content-Type: text/html", html, "(status 200) is not from Quarry", "ask whoever runs the network"},
		{401, "Content-Type: text/html", html, "(status 401) is not from Quarry", "ask whoever runs the network"},
	}
	for i, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			b := open(t, l)
			b.fills("pumps", 0)
			p := b.putsBetween()
			b.settings("pumps", "All about pumps")
			for j, c := range cases {
				if j%len(looks) != i && i > 0 {
					continue // every case once, and each look with two of them
				}
				b.expect("status of " + strconv.Itoa(c.status))
				p.says("PATCH", "/v2/corpora/pumps", c.status, c.header, c.body)
				b.press("Save")
				b.reads(c.says)
				b.reads(c.advice)
				if at := b.focused(); at != "Save" {
					t.Errorf("after %d the focus is on %q", c.status, at)
				}
				b.stillReads(strconv.Itoa(c.status), "All about pumps")
				b.accessible(strconv.Itoa(c.status))
			}
			p.answer(nil)
			b.press("Save")
			b.reads("Saved.")
			if at := b.focused(); at != "Save" {
				t.Errorf("after saving, the focus is on %q", at)
			}
			if got := b.service.Client().Must(t, 200, "GET", "/v2/corpora/pumps", nil)["description"]; got != "All about pumps" {
				t.Errorf("the description is %q", got)
			}
			b.quiet(b.service.Key)
		})
	}
}

func TestStreamCut(t *testing.T) {
	// Proves that an answer that stops before its end, by a connection that is cut or one that ends early, or that is a page of a
	// proxy, keeps what came and says what to do, and that asking again works.
	t.Parallel()
	b := open(t, looks[1])
	b.fills("pumps", 1)
	p := b.putsBetween()
	b.visit("/corpora/pumps")
	b.signIn()
	b.reads("Add documents")
	begins := func(text string) string {
		return `data:{"type":"generation_chunk","generation_chunk":"` + text + `"}` + "\n\n"
	}
	shown := make(chan bool)
	streams := func(body string, cut bool) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/v2/query" {
				return false
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, body)
			_ = http.NewResponseController(w).Flush()
			if cut {
				<-shown
				panic(http.ErrAbortHandler)
			}
			return true
		}
	}
	b.expect("net::ERR_INCOMPLETE_CHUNKED_ENCODING")
	b.fill("Your question", "How long does the filter last?")
	for _, c := range []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request) bool
	}{
		{"An early end", streams(begins("An early end"), false)},
		{"A cut connection", streams(begins("A cut connection")+"data:{\"type\":\"gen", true)},
		{"Half a frame", streams(begins("Half a frame")+"data:{\"type\":\n\n", false)},
	} {
		p.answer(c.answer)
		b.press("Ask")
		b.reads(c.name)
		if c.name == "A cut connection" {
			close(shown)
		}
		b.reads("cut off before its end")
		b.reads(c.name)
		b.accessible(c.name)
	}
	p.says("POST", "/v2/query", 200, "Content-Type: text/html", "<html>Pay here</html>")
	b.press("Ask")
	b.reads("(status 200) is not from Quarry")
	p.answer(nil)
	b.press("Try again")
	b.reads("The same text.")
	b.quiet(b.service.Key)
}

// comesAsAnn makes an administrator of this name, and signs her in where a page asks for it.
func (b *tab) comesAsAnn(page string) {
	b.t.Helper()
	owner := b.service.Client()
	made := owner.Must(b.t, 201, "POST", "/v2/users", map[string]any{"email": "ann@x.test", "username": "ann", "api_roles": []any{"administrator"}})
	owner.Must(b.t, 204, "POST", "/v2/set_password", map[string]any{"username": "ann", "one_time_code": made["one_time_code"], "password": "a long password"})
	b.visit(page)
	b.reads("Sign in")
	b.press("With a password")
	b.fill("Name", "ann")
	b.fill("Password", "a long password\r")
}

func TestKeyEnds(t *testing.T) {
	// Proves that somebody whose sign-in or key ends in the middle of a form is asked again by keyboard, over what they were doing;
	// that Escape does not close the question, that a wrong key is told, that what was asked for is then done; and that somebody
	// else begins with an empty page.
	t.Parallel()
	each(t, looks, func(t *testing.T, b *tab) {
		b.fills("pumps", 0)
		owner := b.service.Client()
		b.comesAsAnn("/corpora/pumps/settings")
		b.reads("Takes new documents")
		b.set("What is in it", "Half typed")
		token := eval[string](b, "read the token", `JSON.parse(sessionStorage['quarry.session']).secret`)
		b.expect("status of 401")
		owner.Must(t, 200, "PATCH", "/v2/users/ann", map[string]any{"enabled": false})
		b.press("Save")
		b.reads("Sign in as ann to go on where you are")
		b.waits("the focus", `document.activeElement.name === 'secret'`)
		b.accessible("asked again")
		b.do("press Escape", chromedp.KeyEvent("\x1b"))
		b.types("a long password\r")
		b.waits("that she is shut out", `!!document.querySelector(".asks-again .failed")`)
		b.accessible("shut out")
		owner.Must(t, 200, "PATCH", "/v2/users/ann", map[string]any{"enabled": true})
		b.tabTo("Password")
		eval[int](b, "select what is there", `document.activeElement.select() ?? 0`)
		b.types("a long password\r")
		b.reads("Saved.")
		b.stillReads("after the sign-in", "Half typed")
		if at := b.focused(); at != "Save" {
			t.Errorf("after the sign-in, the focus is on %q", at)
		}
		if got := owner.Must(t, 200, "GET", "/v2/corpora/pumps", nil)["description"]; got != "Half typed" {
			t.Errorf("the description is %q", got)
		}

		// Over a question, and somebody else.
		b.set("What is in it", "Secret plans")
		owner.Must(t, 200, "PATCH", "/v2/users/ann", map[string]any{"enabled": false})
		b.press("Remove all documents")
		b.reads("To go on, type pumps")
		b.types("pumps\r")
		b.reads("Sign in as ann to go on where you are")
		b.waits("the focus", `document.activeElement.name === 'secret'`)
		b.accessible("asked again over a question")
		b.press("With an API key")
		b.fill("API key", "zqt_wrong\r")
		b.reads("does not know this key")
		b.tabTo("API key")
		eval[int](b, "select what is there", `document.activeElement.select() ?? 0`)
		b.types(b.service.Key + "\r")
		b.reads("New corpus")
		if eval[bool](b, "look for what was typed", `document.body.innerText.includes('Secret plans') || JSON.stringify(sessionStorage).includes('Secret plans')`) {
			t.Error("somebody else finds what was typed")
		}
		b.quiet(token)
		b.quiet(b.service.Key)
	})
}

func TestTakenAway(t *testing.T) {
	// Proves that a role that is taken away, and a corpus that is deleted, while the page is open, are told with what would help, and
	// that what was typed stays, also when the page reads anew.
	t.Parallel()
	each(t, []look{looks[0], looks[3]}, func(t *testing.T, b *tab) {
		b.fills("pumps", 0)
		owner := b.service.Client()
		b.comesAsAnn("/corpora/pumps/settings")
		b.reads("Takes new documents")
		b.set("What is in it", "Half typed")
		owner.Must(t, 200, "PATCH", "/v2/users/ann", map[string]any{"api_roles": []any{"corpus_viewer"}})
		b.expect("status of 403")
		b.press("Save")
		b.reads("needs one of the API roles")
		b.reads("can give you one of these roles")
		b.accessible("a role that is gone")
		b.do("leave", chromedp.Click(`a[href$="/attributes"]`))
		b.reads("What you have typed on this page is not saved.")
		b.press("Leave, and lose it")
		b.waits("the form to go", `!document.querySelector('form')`)
		b.visit("/corpora/pumps/settings") // what can't be done is no longer offered
		b.reads("boomerang")
		if eval[bool](b, "look for the form", `!!document.querySelector('form')`) {
			t.Error("a viewer is offered to change the settings")
		}
		owner.Must(t, 200, "PATCH", "/v2/users/ann", map[string]any{"api_roles": []any{"administrator"}})
		b.visit("/corpora/pumps/settings")
		b.reads("Takes new documents")
		b.set("What is in it", "Half typed")
		owner.Must(t, 204, "DELETE", "/v2/corpora/pumps", nil)
		b.expect("status of 404")
		b.press("Save")
		b.reads("It may have been deleted meanwhile.")
		b.waits("the corpus to be read anew, since somebody comes back to the tab",
			`(document.dispatchEvent(new Event('visibilitychange', {bubbles: true})), document.body.innerText.includes('This corpus is not there any more'))`)
		b.stillReads("after the corpus is gone", "Half typed")
		b.accessible("a corpus that is gone")
		b.quiet(b.service.Key)
	})
}

// offline takes the network away from the page, or gives it back.
func (b *tab) offline(on bool) {
	b.t.Helper()
	command(b, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: on, DownloadThroughput: -1, UploadThroughput: -1}},
	})
	command(b, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: on, DownloadThroughput: -1, UploadThroughput: -1})
}

func TestAway(t *testing.T) {
	// Proves that a service that restarts, and a device that is offline, are told on every page, that the page goes on by itself once
	// they are back, and that nothing typed is lost.
	t.Parallel()
	each(t, []look{looks[1], looks[2]}, func(_ *testing.T, b *tab) {
		b.fills("pumps", 0)
		b.expect("net::ERR_")
		p := b.putsBetween()
		b.settings("pumps", "Half typed")
		p.answer(func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) })
		b.press("Save")
		b.reads("This page asks again by itself")
		b.reads("could not be reached")
		b.accessible("a service that is away")
		b.do("go to the attributes, which can't be read", chromedp.Click(`a[href$="/attributes"]`))
		b.reads("What you have typed on this page is not saved.")
		b.press("Leave, and lose it")
		b.reads("Try again")
		b.accessible("a page that can't be read")
		p.answer(nil)
		b.reads("year") // by itself
		b.waits("the notice to go", `!document.querySelector('.notice')`)

		b.press("Settings")
		b.set("What is in it", "Typed again")
		b.offline(true)
		b.reads("This device is offline.")
		b.press("Save")
		b.reads("Try again once it has a network.")
		b.accessible("offline")
		b.stillReads("offline", "Typed again")
		b.offline(false)
		b.waits("the notice to go", `!document.querySelector('.notice')`)
		b.press("Save")
		b.reads("Saved.")
		b.quiet(b.service.Key)
	})
}

func TestPacedUploads(t *testing.T) {
	// Proves that files wait as long as the service asks for, by 429 and by 503, then go one at a time at first, and all get in; and
	// that a file that a proxy refuses is told with what to do.
	t.Parallel()
	b := open(t, looks[3])
	b.fills("files", 0)
	p := b.putsBetween()
	var mu sync.Mutex
	var n, active int
	var refused time.Time
	p.answer(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/upload_file") {
			return false
		}
		if r.ContentLength > 50_000 {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return true
		}
		mu.Lock()
		defer mu.Unlock()
		n++
		if n > 3 && n <= 5 && (active > 0 || time.Since(refused) < time.Second) {
			t.Errorf("file %d is sent %v after a refusal, beside %d others", n, time.Since(refused), active)
		}
		status := map[int]int{1: 429, 2: 429, 3: 429, 4: 503}[n]
		if status == 0 {
			active++
			mu.Unlock()
			p.pass.ServeHTTP(w, r)
			mu.Lock()
			active--
			return true
		}
		refused = time.Now()
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(status)
		return true
	})
	files := map[string]string{}
	for i := range 12 {
		files[strconv.Itoa(i)+".md"] = "# Page " + strconv.Itoa(i) + "\n\nText.\n"
	}
	b.expect("status of 429")
	b.expect("status of 503")
	b.expect("status of 413")
	b.visit("/corpora/files")
	b.signIn()
	b.reads("Add documents")
	b.drops(files)
	b.reads("waiting, the service has much to do")
	b.reads("12 of 12 added")
	b.drops(map[string]string{"big.md": strings.Repeat("Some text. ", 10_000)})
	b.reads("(status 413) is not from Quarry")
	b.reads("12 of 13 added, 1 refused")
	b.accessible("files after a refusal")
	b.quiet(b.service.Key)
}

// beside opens another tab of the same browser, signed in as well.
func (b *tab) beside(path string) *tab {
	b.t.Helper()
	o := b.another(looks[0])
	o.visit(path)
	o.signIn()
	return o
}

func TestTwoTabs(t *testing.T) {
	// Proves that of two tabs that edit the metadata of one document the later one is told what the first one changed, and that what
	// both have changed is there in the end.
	t.Parallel()
	b := open(t, looks[0])
	b.fills("pumps", 1)
	const path = "/corpora/pumps/documents/doc%2F0000"
	b.visit(path)
	b.signIn()
	b.reads("The same text.")
	o := b.beside(path)
	o.reads("The same text.")
	for _, one := range []*tab{b, o} {
		one.do("change the metadata", chromedp.Click(`.document > .row .button`))
		one.reads("Add a value")
	}
	b.metadata("year", "2031", "number")
	b.press("Save")
	b.waits("the form to go", `!document.querySelector('.metadata-row')`)
	o.metadata("title", "Another title", "text")
	o.press("Save")
	o.reads("Somebody else has changed this document meanwhile")
	o.reads("2031")
	o.accessible("the later of two tabs")
	o.press("Save my changes")
	o.waits("the form to go", `!document.querySelector('.metadata-row')`)
	if got, want := asJSON(metadataOf(t, b.service.Client(), "/v2/corpora/pumps/documents/doc%2F0000")), `{"kind":"\u003cb\u003ek\u003c/b\u003e","title":"Another title","year":2031}`; got != want {
		t.Errorf("metadata is %s, want %s", got, want)
	}
	b.quiet(b.service.Key)
}
