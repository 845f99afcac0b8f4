package browser

import (
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"quarry/internal/testkit"
)

// curls fails the test where curl is answered otherwise with a key, which it is told by its standard input.
func (b *tab) curls(t *testing.T, when, key, path string, want int) {
	t.Helper()
	t.Run(when, func(t *testing.T) {
		curl, err := exec.LookPath("curl")
		if err != nil {
			testkit.Skip(t, "there is no curl")
		}
		cmd := exec.CommandContext(t.Context(), curl, "--silent", "--output", os.DevNull, "--write-out", "%{http_code}", "--header", "@-", b.service.URL+path)
		cmd.Stdin = strings.NewReader("x-api-key: " + key)
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != strconv.Itoa(want) {
			t.Errorf("curl is answered %s (%v), want %d", out, err, want)
		}
	})
}

// takes reads what the window that is open shows once, sees that it can't be closed unread, and closes it.
func (b *tab) takes(view, label string) string {
	b.t.Helper()
	b.do("see the window", chromedp.WaitVisible(`.dialog .secret`))
	b.accessible(view)
	secret := eval[string](b, "read the secret", `[...document.querySelectorAll('.secret')].find(s => s.querySelector('label').innerText === '`+label+`').querySelector('input').value`)
	b.tabTo("I have copied it")
	b.do("press Escape", chromedp.KeyEvent("\x1b"))
	if !eval[bool](b, "see it stay", `!!document.querySelector('.secret') && [...document.querySelectorAll('.dialog button')].find(x => x.innerText === 'Close').disabled`) {
		b.t.Errorf("%s: closes before it is said to be copied", view)
	}
	b.types(" ")
	b.press("Close")
	b.do("see it close", chromedp.WaitNotPresent(`.dialog`))
	return secret
}

// confirms says yes to the question that an action asks.
func (b *tab) confirms(action, typed string) {
	b.t.Helper()
	b.press(action)
	b.do("see the question", chromedp.WaitVisible(`.dialog form`))
	b.accessible(action)
	b.tabTo("Close")
	if typed != "" {
		b.fill("To go on, type "+typed, typed)
	}
	b.press(action)
}

// set gives a field another value, as somebody does who replaces all of it.
func (b *tab) set(name, text string) {
	b.t.Helper()
	b.tabTo(name)
	eval[int](b, "select what is there", `document.activeElement.select() ?? 0`)
	b.types(text)
}

func TestKey(t *testing.T) {
	// Proves that somebody without a mouse makes a key for one corpus, sees it once, and finds in words what it opens; that it
	// opens the service until it is disabled, and again once it is enabled; and that it stands nowhere after its window is closed.
	t.Parallel()
	each(t, looks, func(t *testing.T, b *tab) {
		b.service.Client().Must(t, 201, "POST", "/v2/corpora", map[string]any{"key": "manuals", "name": "Manuals"})
		b.visit("/access")
		b.signIn()
		b.reads("owner key")
		b.accessible("keys")
		b.press("New key")
		b.do("see the form", chromedp.WaitVisible(`form.card`))
		b.types("Search page")
		b.press("Add a corpus")
		if at := b.focused(); at != "Key of the corpus" {
			t.Errorf("after a corpus is added, the focus is on %q", at)
		}
		b.expect("status of 400")
		b.expect("status of 404") // no corpus has this key
		b.types("nope")
		b.press("Create the key")
		b.reads("corpus nope does not exist")
		b.accessible("a corpus that does not exist")
		eval[int](b, "go back to the field", `document.querySelector('[aria-invalid]').focus() ?? 0`)
		b.set("Key of the corpus", "manuals")
		b.press("Create the key")
		secret := b.takes("a key that is shown", "Key")
		b.reads("What this opens")
		b.reads("In the corpus manuals")
		b.reads("search and ask")
		b.accessible("a key")
		b.quiet(secret)
		if eval[bool](b, "look into the storage", `JSON.stringify(sessionStorage).includes('`+secret+`')`) {
			t.Error("the key is kept in the storage of the tab")
		}
		b.curls(t, "with the key", secret, "/v2/corpora/manuals", 200)
		b.confirms("Disable the key", "")
		b.reads("Nothing while it is disabled")
		b.accessible("a disabled key")
		b.curls(t, "with the disabled key", secret, "/v2/corpora/manuals", 401)
		b.press("Enable the key")
		b.do("see it enabled", chromedp.WaitNotPresent(`.tag`))
		b.curls(t, "with the key that is enabled again", secret, "/v2/corpora/manuals", 200)
		b.confirms("Delete the key", "")
		b.reads("The key is deleted.")
		b.reads("owner key")
		b.quiet(b.service.Key)
	})
}

func TestPerson(t *testing.T) {
	// Proves that a person is made with roles, groups and metadata, gets a link that works once and stands nowhere afterwards,
	// and is changed, reset, disabled and deleted.
	t.Parallel()
	b := open(t, looks[2])
	owner := b.service.Client()
	b.visit("/access/people")
	b.signIn()
	b.reads("Add a person")
	b.accessible("people")
	b.press("Add a person")
	b.do("see the form", chromedp.WaitVisible(`form.card`))
	b.types("ann@x.test")
	b.fill("Username", "ann")
	b.tabTo("Viewer reads everything but people, clients and the audit")
	b.types(" ")
	b.fill("Groups", "staff, board")
	b.fill("Metadata", "{")
	b.reads("This is not JSON")
	b.accessible("metadata that is no JSON")
	b.set("Metadata", `{"desk": 12}`)
	b.press("Add the person")
	link := b.takes("a link that is shown", "Link")
	b.reads("What this opens")
	b.accessible("a person")
	at, err := url.Parse(link)
	if err != nil || at.Path != "/set_password" || "http://"+at.Host != b.service.URL {
		t.Fatalf("the link is %s (%v)", link, err)
	}
	b.quiet(at.Query().Get("code"))
	owner.Must(t, 204, "POST", "/v2/set_password", map[string]any{
		"username": at.Query().Get("username"), "one_time_code": at.Query().Get("code"), "password": "seven geese above the quiet lake",
	})
	made := owner.Must(t, 200, "GET", "/v2/users/ann", nil)
	if made["metadata"].(map[string]any)["desk"] != 12.0 || len(made["groups"].([]any)) != 2 || made["api_roles"].([]any)[0] != "viewer" {
		t.Errorf("made is %v", made)
	}
	b.set("Groups", "staff")
	b.press("Save")
	b.reads("Saved.")
	if got := owner.Must(t, 200, "GET", "/v2/users/ann", nil); len(got["groups"].([]any)) != 1 || got["metadata"] == nil {
		t.Errorf("changed is %v", got)
	}
	b.confirms("Reset the password", "")
	code := b.takes("a link after a reset", "Code alone")
	b.quiet(code)
	b.confirms("Disable the person", "")
	b.reads("Nothing while it is disabled")
	b.confirms("Delete the person", "ann")
	b.reads("The person is deleted.")
	if _, answer, err := owner.Do("GET", "/v2/users/ann", nil); err != nil || answer["code"] == nil {
		t.Errorf("the person is still there: %v %v", answer, err)
	}
	b.quiet(b.service.Key)
}

func TestClientAndAudit(t *testing.T) {
	// Proves that a client is made and its secret gets a token; and that the audit lists it to the second, tells what a change
	// took the place of, is filtered by an address, and holds no secret.
	t.Parallel()
	b := open(t, looks[1])
	owner := b.service.Client()
	b.visit("/access/clients")
	b.signIn()
	b.reads("There is no application client yet")
	b.accessible("no clients")
	b.press("New client")
	b.do("see the form", chromedp.WaitVisible(`form.card`))
	b.types("Nightly import")
	b.press("Create the client")
	secret := b.takes("a client's secret that is shown", "Client secret")
	b.reads("What this opens")
	b.accessible("a client")
	b.quiet(secret)
	id := eval[string](b, "read the identifier", `document.querySelector('.facts code').innerText`)
	owner.Must(t, 200, "POST", "/oauth2/token", map[string]any{"grant_type": "client_credentials", "client_id": id, "client_secret": secret})
	owner.Must(t, 201, "POST", "/v2/users", map[string]any{"email": "ann@x.test", "username": "ann", "description": "old <b>words</b>"})
	owner.Must(t, 200, "PATCH", "/v2/users/ann", map[string]any{"description": "new words"})
	b.expect("request elsewhere: data:image/svg+xml") // the browser's own picture in a field of a date
	b.visit("/access/audit")
	b.reads("createAppClient")
	b.accessible("the audit")
	if was := eval[string](b, "read what was before", `document.querySelector('.changes del').lastChild.textContent`); was != "old <b>words</b>" {
		t.Errorf("before the change was %q", was)
	}
	if when := eval[string](b, "read the time", `document.querySelector('.event time').innerText`); !regexp.MustCompile(`\d:\d\d:\d\d`).MatchString(when) {
		t.Errorf("the time is %s", when)
	}
	b.fill("Operation", "createAppClient\r")
	b.do("see one alone", chromedp.WaitNotPresent(`.event:nth-child(2)`))
	b.reads("Nightly import")
	if at := eval[string](b, "read the address", `location.search`); at != "?action=createAppClient" {
		t.Errorf("the address is %s", at)
	}
	b.quiet(secret)
	b.quiet(b.service.Key)
}

func TestViewer(t *testing.T) {
	// Proves that a viewer's console offers what a viewer may do, where an owner's offers all; that an address which they may not
	// see names the roles that would do; and so does a form whose role is taken away meanwhile.
	t.Parallel()
	b := open(t, looks[3])
	owner := b.service.Client()
	made := owner.Must(t, 201, "POST", "/v2/users", map[string]any{"email": "ann@x.test", "username": "ann", "api_roles": []string{"viewer"}})
	owner.Must(t, 204, "POST", "/v2/set_password", map[string]any{"username": "ann", "one_time_code": made["one_time_code"], "password": "seven geese above the quiet lake"})
	pages := func() []string {
		return eval[[]string](b, "read the pages", `[...document.querySelectorAll('.access .places a')].map(a => a.innerText)`)
	}
	b.visit("/access")
	b.reads("Sign in")
	b.press("With a password")
	b.fill("Name", "ann")
	b.fill("Password", "seven geese above the quiet lake")
	b.press("Sign in")
	b.reads("Your personal keys")
	b.accessible("a viewer's keys")
	if got := pages(); !slices.Equal(got, []string{"Keys"}) {
		t.Errorf("a viewer is offered %q", got)
	}
	b.expect("status of 403")
	b.visit("/access/people")
	b.reads("needs one of the API roles administrator, owner")
	b.accessible("what a viewer may not see")
	if eval[bool](b, "look for what is offered", `document.body.innerText.includes('Add a person')`) {
		t.Error("a viewer is offered to add a person")
	}
	b.visit("/access/keys")
	b.reads("Your personal keys")
	b.press("New key")
	b.do("see the form", chromedp.WaitVisible(`form.card`))
	roles := eval[[]string](b, "read the roles", `[...document.querySelectorAll('.roles .check')].map(r => r.innerText)`)
	if len(roles) != 2 || !strings.HasPrefix(roles[0], "Viewer of corpora") || !strings.HasPrefix(roles[1], "Viewer ") {
		t.Errorf("a viewer can give %q", roles)
	}
	b.types("Half typed")
	owner.Must(t, 200, "PATCH", "/v2/users/ann", map[string]any{"api_roles": []string{}})
	b.press("Create the key")
	b.reads("createApiKey needs one of the API roles")
	b.accessible("a role that was taken away")
	if left := eval[string](b, "read the form", `document.querySelector('form input').value`); left != "Half typed" {
		t.Errorf("the form holds %q", left)
	}
	b.press("Sign out ▾")
	b.do("see the menu", chromedp.WaitVisible(`.menu`), chromedp.Click(`.menu-item`))
	b.reads("What you have typed on this page is not saved.")
	b.press("Leave, and lose it")
	b.reads("With an API key")
	b.visit("/access")
	b.signIn()
	b.reads("owner key")
	if got := pages(); !slices.Equal(got, []string{"Keys", "People", "Application clients", "Audit"}) {
		t.Errorf("an owner is offered %q", got)
	}
	b.quiet(b.service.Key)
}
