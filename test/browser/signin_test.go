package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestSignInByCode(t *testing.T) {
	// Proves that an address with a code signs in, loses the code at once, and does so only once; that signing out everywhere voids
	// the token; and that somebody else, with another key, starts anew.
	t.Parallel()
	each(t, looks, func(t *testing.T, b *tab) {
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
	})
}

func TestSignIn(t *testing.T) {
	// Proves that somebody without a mouse signs in by password and stays signed in when the page is loaded again; that when all of
	// their sign-ins are voided from elsewhere in the middle of a form, they are asked again, and what was typed is saved; and that
	// whoever comes after them signs in by key, after a wrong one was refused with what to do.
	t.Parallel()
	const password = "seven geese above the quiet lake"
	service := serve(t)
	owner := service.service.Client()
	for i, l := range looks {
		name := fmt.Sprintf("ann%d", i)
		made := owner.Must(t, 201, "POST", "/v2/users", map[string]any{"email": name + "@x.test", "username": name, "api_roles": []string{"administrator"}})
		owner.Must(t, 204, "POST", "/v2/set_password", map[string]any{"username": name, "one_time_code": made["one_time_code"], "password": password})
		owner.Must(t, 201, "POST", "/v2/corpora", map[string]any{"key": name})
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			b := service.open(t, l, most)
			b.expect("status of 401")
			b.visit("/corpora/" + name + "/settings")
			b.reads("Sign in")
			b.press("With a password")
			b.fill("Name", name)
			b.fill("Password", "seven")
			b.press("Sign in")
			b.waits("why not", `!!document.querySelector('.failed')`)
			b.accessible("a wrong password")
			b.set("Password", password)
			b.press("Sign in")
			b.reads("Takes new documents")
			b.accessible("signed in")
			b.do("load it again", chromedp.Reload())
			b.reads("Takes new documents")
			b.set("What is in it", "Half typed")
			token := eval[string](b, "read the token", `JSON.parse(sessionStorage['quarry.session']).secret`)
			if status := eval[int](b, "sign out as another device does", `fetch('/v2/sign_out', {method: 'POST', headers: {Authorization: 'Bearer `+token+`'}}).then(r => r.status)`); status != 204 {
				t.Fatalf("signing out is answered %d", status)
			}
			b.press("Save")
			b.reads("Sign in as " + name + " to go on where you are")
			b.waits("the focus", `document.activeElement.name === 'secret'`)
			b.accessible("asked again")
			b.types(password + "\r")
			b.reads("Saved.")
			b.stillReads("after the sign-in", "Half typed")
			if at := b.focused(); at != "Save" {
				t.Errorf("after the sign-in, the focus is on %q", at)
			}
			if got := owner.Must(t, 200, "GET", "/v2/corpora/"+name, nil)["description"]; got != "Half typed" {
				t.Errorf("the description is %q", got)
			}
			b.quiet(token)

			b.press("Sign out ▾")
			b.do("see the menu", chromedp.WaitVisible(`.menu`), chromedp.Click(`.menu-item`))
			b.reads("With an API key")
			b.press("With an API key")
			b.fill("API key", "zqt_wrong")
			b.press("Sign in")
			b.reads("does not know this key")
			b.accessible("a wrong key")
			b.set("API key", b.service.Key)
			b.press("Sign in")
			b.reads("New corpus")
			b.accessible("signed in by key")
			b.quiet(token)
			b.quiet(password)
			b.quiet(b.service.Key)
		})
	}
}
