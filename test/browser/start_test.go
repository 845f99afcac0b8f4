package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func TestStart(t *testing.T) {
	// Proves that the address of the service alone leads to the console, and that guide, reference and contract are found there
	// before anybody signs in, and lead back.
	t.Parallel()
	b := open(t, looks[2])
	b.do("open the service", chromedp.Navigate(b.service.URL))
	b.reads("Sign in")
	if at := eval[string](b, "read the address", `location.pathname`); at != "/console/" {
		t.Errorf("the address is %s", at)
	}
	b.accessible("sign in")
	for _, page := range []string{"Guide", "Reference"} {
		b.press(page)
		b.do("see the page", chromedp.WaitVisible(`a.home`))
		b.do("go back", chromedp.Click(`a.home`))
		b.reads("Sign in")
	}
	if n := eval[int](b, "fetch the contract", `fetch(document.querySelector('.elsewhere a:last-child').href).then(r => r.status)`); n != 200 {
		t.Errorf("the contract answers %d", n)
	}
	b.quiet(b.service.Key)
}
