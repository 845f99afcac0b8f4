package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func TestSignInByCode(t *testing.T) {
	// Proves that an address with a code signs in, loses the code at once, and does so only once; that signing out everywhere voids
	// the token; and that somebody else, with another key, starts anew.
	t.Parallel()
	b := open(t, looks[3])
	owner := b.service.Client()
	code := owner.Must(t, 201, "POST", "/v2/sign_in/codes", nil)["code"].(string)
	b.visit("/corpora?filter=x#code=" + code)
	b.reads("No corpus has a name like this")
	if at := eval[string](b, "read the address", `location.href`); at != b.service.URL+"/console/corpora?filter=x" {
		t.Errorf("the address is %s", at)
	}
	token := eval[string](b, "read the token", `JSON.parse(sessionStorage['quarry.session']).secret`)
	b.press("Sign out ▾")
	b.do("see the menu", chromedp.WaitVisible(`.menu`))
	b.accessible("the menu")
	b.do("sign out everywhere", chromedp.Click(`.menu-item:last-child`))
	b.reads("Sign in")
	eval[int](b, "wait until the tab has forgotten the token", `new Promise(r => { const look = () => sessionStorage['quarry.session'] ? setTimeout(look, 20) : r(0); look() })`)
	b.quiet(token)
	b.expect("status of 401")
	b.visit("/#code=" + code)
	b.reads("With an API key")
	b.do("see why", chromedp.WaitVisible(`.failed`))
	b.accessible("a code that was used")
	b.quiet(code)
	made := owner.Must(t, 201, "POST", "/v2/api_keys", map[string]any{"name": "mine", "api_roles": []any{"administrator"}})
	b.fill("API key", made["secret_key"].(string))
	b.press("Sign in")
	b.reads("Your first corpus")
	owner.Must(t, 204, "DELETE", "/v2/api_keys/"+made["id"].(string), nil)
	b.fill("Name", "Half typed")
	b.press("Create")
	b.reads("no longer accepts your key")
	b.accessible("asked again")
	b.do("sign in with another key", chromedp.SendKeys(`[role=dialog] input`, b.service.Key+"\r"))
	b.do("see the page start anew", chromedp.WaitNotPresent(`[role=dialog]`))
	b.reads("Your first corpus")
	if left := eval[string](b, "read the form", `document.querySelector('form input').value`); left != "" {
		t.Errorf("somebody else finds %q", left)
	}
	b.quiet(made["secret_key"].(string))
}
