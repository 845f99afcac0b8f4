package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"quarry/internal/testkit"
)

// look is how a page is seen.
type look struct {
	name   string
	width  int64
	scheme string // of colours
}

var looks = []look{{"wide light", 1280, "light"}, {"wide dark", 1280, "dark"}, {"narrow light", 360, "light"}, {"narrow dark", 360, "dark"}}

// most bounds one journey; nothing waits that long but a test that fails.
const most = 5 * time.Minute

// tab is a tab of the browser over a service.
type tab struct {
	t       testing.TB
	ctx     context.Context
	service *testkit.Process
	data    string // the folder of the service
	axe     string
	most    time.Duration // how long it may take

	mu       sync.Mutex
	noise    []string // what the browser complained about
	expected []string // what it may complain about: answers that the journey asks for
	shifts   []shift
}

// open opens an empty tab over a service of its own, for one journey.
func open(t testing.TB, l look) *tab {
	t.Helper()
	return openFor(t, l, most)
}

// each makes a journey in each of some looks, all at once, with a service and a browser for each.
func each(t *testing.T, in []look, journey func(*testing.T, *tab)) {
	t.Helper()
	for _, l := range in {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			journey(t, open(t, l))
		})
	}
}

// openFor is open for as long as a benchmark takes.
func openFor(t testing.TB, l look, most time.Duration) *tab {
	t.Helper()
	return serve(t).open(t, l, most)
}

// served is a service that the looks of a journey share.
type served struct {
	service *testkit.Process
	data    string // its folder
}

// serve starts a service of its own, for one journey.
func serve(t testing.TB) served {
	t.Helper()
	data := t.TempDir()
	return served{testkit.StartBinary(t, data), data}
}

// open opens an empty tab over the service, in a browser of its own.
func (s served) open(t testing.TB, l look, most time.Duration) *tab {
	t.Helper()
	chrome, err := exec.LookPath("chromium")
	if err != nil {
		testkit.Skip(t, "there is no chromium")
	}
	axe, err := os.ReadFile(filepath.Join("..", "..", "web", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		testkit.Skip(t, "web/node_modules is not there: npm ci in web installs it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chrome), chromedp.NoSandbox, chromedp.WindowSize(int(l.width), 800),
		chromedp.UserDataDir(t.TempDir()), chromedp.Env("TMPDIR="+socketFolder(t)))
	allocated, release := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(release)
	ctx, end := chromedp.NewContext(allocated)
	t.Cleanup(end)
	b := &tab{t: t, ctx: ctx, service: s.service, data: s.data, axe: string(axe), most: most}
	b.begin(l)
	return b
}

// socketFolder makes a folder for what the browser leaves behind, its sockets among it. Its path is short, as paths of sockets have to
// be.
func socketFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "browser")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove what the browser left behind: %v", err)
		}
	})
	return dir
}

// another opens a second tab of the same browser over the same service, for somebody else.
func (b *tab) another(l look) *tab {
	b.t.Helper()
	ctx, end := chromedp.NewContext(b.ctx)
	b.t.Cleanup(end)
	second := &tab{t: b.t, ctx: ctx, service: b.service, data: b.data, axe: b.axe, most: b.most}
	second.begin(l)
	return second
}

// begin loads an empty page, and hears and sees from now on as the look has it.
func (b *tab) begin(l look) {
	b.t.Helper()
	b.do("open a tab", chromedp.Navigate("about:blank"))
	ctx, cancel := context.WithTimeout(b.ctx, b.most)
	b.t.Cleanup(cancel)
	b.ctx = ctx
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		b.t.Fatal(err)
	}
	command(b, network.Enable, network.EnableParams{})
	command(b, log.Enable, cdp.Empty{})
	command(b, runtime.Enable, cdp.Empty{})
	command(b, runtime.AddBinding, runtime.AddBindingParams{Name: "quarryShift"})
	command(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watchShifts})
	command(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: l.width, Height: 800, DeviceScaleFactor: 1})
	command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: l.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// command runs a command of the browser.
func command[P, R any](b *tab, c cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, c, params); err != nil {
		b.t.Fatalf("%s: %v", c.Method, err)
	}
}

// hear notes what the browser reports.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		b.noise = append(b.noise, e.Entry.Text+" "+e.Entry.URL)
	case *runtime.EventExceptionThrown:
		b.noise = append(b.noise, fmt.Sprintf("exception: %s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			b.noise = append(b.noise, fmt.Sprintf("console: %s", e.Args[0].Value))
		}
	case *runtime.EventBindingCalled:
		b.hearShift(e.Payload)
	case *network.EventRequestWillBeSent: // the browser's own icon of a field for times is a picture in an address
		if u, err := url.Parse(e.Request.URL); err != nil || u.Scheme != "blob" && !strings.HasPrefix(e.Request.URL, "data:image/svg+xml") && "http://"+u.Host != b.service.URL {
			b.noise = append(b.noise, "request elsewhere: "+e.Request.URL)
		}
	}
}

// expect allows the browser to complain about an answer, by a part of what it says.
func (b *tab) expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, part)
}

// do runs actions; what they were for is named where they fail.
func (b *tab) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.fail(what, err)
	}
}

// fail ends the test with what the page shows.
func (b *tab) fail(what string, err error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), 5*time.Second)
	defer cancel()
	shown, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body.innerText`))
	b.t.Fatalf("%s: %v; the page shows:\n%s", what, err, shown)
}

// eval returns what an expression is, awaited.
func eval[T any](b *tab, what, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.fail(what, err)
	}
	return v
}

// visit goes to an address of the console.
func (b *tab) visit(path string) {
	b.t.Helper()
	b.do("visit "+path, chromedp.Navigate(b.service.URL+"/console"+path))
}

// patience is how long a text may take to come; other tests have the machine, too.
const patience = 2 * time.Minute

// reads waits until the page shows a text, which axe and people see alike. The page may be loaded anew meanwhile.
func (b *tab) reads(text string) {
	b.t.Helper()
	raw, _ := json.Marshal(text) // strings always encode
	look := chromedp.Evaluate[bool](`new Promise(seen => {
		const last = performance.now() + 1000
		const look = () => document.body.innerText.includes(`+string(raw)+`) ? seen(true) : performance.now() > last ? seen(false) : setTimeout(look, 20)
		look() })`, chromedp.EvalAwaitPromise)
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end) && b.ctx.Err() == nil; {
		var seen bool
		if seen, err = chromedp.Run(b.ctx, look); seen {
			return
		}
	}
	b.fail("read "+text, cmp.Or(err, errNever))
}

// errNever is a text that does not come.
var errNever = errors.New("it does not come")

// types types into what has the focus.
func (b *tab) types(text string) {
	b.t.Helper()
	b.do("type "+text, chromedp.KeyEvent(text))
}

// focused returns the name by which a screen reader knows what has the focus.
func (b *tab) focused() string {
	b.t.Helper()
	return strings.TrimSpace(eval[string](b, "see the focus", `(() => { const e = document.activeElement; if (!e || e === document.body) return '';
		return e.getAttribute('aria-label') || e.labels?.[0]?.innerText || e.innerText || e.placeholder || e.tagName })()`))
}

// tabTo presses Tab until something has the focus, as people do who use no mouse.
func (b *tab) tabTo(name string) {
	b.t.Helper()
	b.walkTo(name, "Tab")
}

// pressBefore goes back to a button that stands before what has the focus, and presses Enter.
func (b *tab) pressBefore(name string) {
	b.t.Helper()
	b.walkTo(name, "Shift-Tab", chromedp.KeyModifiers(chromedp.ModifierShift))
	b.do("press Enter", chromedp.KeyEvent("\r"))
}

// walkTo presses a key until something has the focus.
func (b *tab) walkTo(name, key string, with ...chromedp.KeyOption) {
	b.t.Helper()
	seen := []string{}
	for range 40 {
		at := b.focused()
		if at == name {
			return
		}
		seen = append(seen, at)
		b.do("press "+key, chromedp.KeyEvent("\t", with...))
	}
	b.t.Fatalf("%s does not reach %q: %q", key, name, seen)
}

// press goes to something by Tab and presses Enter.
func (b *tab) press(name string) {
	b.t.Helper()
	b.tabTo(name)
	b.do("press Enter", chromedp.KeyEvent("\r"))
}

// fill goes to a field by Tab and types into it.
func (b *tab) fill(name, text string) {
	b.t.Helper()
	b.tabTo(name)
	b.types(text)
}

// accessible asks axe about what is shown now.
func (b *tab) accessible(view string) {
	b.t.Helper()
	type violation struct {
		ID, Help string
		Nodes    []struct{ HTML, FailureSummary string }
	}
	eval[int](b, "load axe", b.axe+"; 0")
	for _, v := range eval[[]violation](b, "run axe", `axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(r => r.violations)`) {
		b.t.Errorf("%s: %s: %s %+v", view, v.ID, v.Help, v.Nodes)
	}
	if eval[bool](b, "measure", `document.documentElement.scrollWidth > document.documentElement.clientWidth`) {
		b.t.Errorf("%s: the page is wider than the window", view)
	}
}

// quiet fails the test where the browser complained, where a page jumped under its reader, or where the secret is anywhere but in
// the storage of the tab.
func (b *tab) quiet(secret string) {
	b.t.Helper()
	worst, what := b.still()
	if worst > mostShift {
		b.t.Errorf("what is shown jumps by %.3f, at most %.2f is allowed:\n\t%s", worst, mostShift, what)
	} else {
		b.t.Logf("layout shift: %.4f", worst)
	}
	b.silent(secret)
}

// silent is quiet for views that no reader has, such as texts of a megabyte: they may jump.
func (b *tab) silent(secret string) {
	b.t.Helper()
	kept := eval[[]string](b, "look for the secret", `[document.cookie, JSON.stringify(localStorage), location.href, document.title, document.documentElement.outerHTML]`)
	for i, text := range kept {
		if strings.Contains(text, secret) {
			b.t.Errorf("the secret stands in place %d of cookie, local storage, address, title and page", i)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.noise {
		if !contains(b.expected, n) {
			b.t.Errorf("the browser says: %s", n)
		}
	}
}

func contains(parts []string, text string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
