package browser

import (
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"quarry/internal/provider/scripted"
)

// Benchmarks measure what needs a browser; bench/console, which runs them, measures the rest. What they measure is time, so no
// test asserts it.

var documents = flag.Int("documents", 100_000, "documents of BenchmarkDocuments")

// long bounds a benchmark.
const long = 30 * time.Minute

// before has every page run a script before its own.
func (b *tab) before(script string) {
	b.t.Helper()
	command(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// watchTasks keeps the beginning and length of each task over 50 ms, in milliseconds.
const watchTasks = `(() => { window.longTasks = []
	new PerformanceObserver(list => { for (const e of list.getEntries()) longTasks.push([e.startTime, e.duration]) }).observe({type: 'longtask', buffered: true}) })()`

// reportTasks reports the tasks over 50 ms that began since a time of the page.
func (b *tab) reportTasks(of *testing.B, since float64) {
	b.t.Helper()
	var longest float64
	n := 0
	for _, task := range eval[[][2]float64](b, "read the tasks", `longTasks`) {
		if task[0] < since {
			continue
		}
		n++
		longest = max(longest, task[1])
	}
	of.ReportMetric(float64(n), "tasks-over-50-ms")
	of.ReportMetric(longest, "longest-of-them-ms")
}

// reportShift reports how far what was shown has jumped.
func (b *tab) reportShift(of *testing.B) {
	b.t.Helper()
	worst, what := b.still()
	of.ReportMetric(worst, "layout-shift")
	if worst > mostShift {
		of.Log(what)
	}
}

// BenchmarkCorpora measures the time from an address to the first corpora of a hundred, with what the browser keeps of the
// console and without.
func BenchmarkCorpora(b *testing.B) {
	for _, kept := range []bool{false, true} {
		b.Run(map[bool]string{false: "first visit", true: "later visit"}[kept], func(b *testing.B) {
			t := openFor(b, looks[0], long)
			owner := t.service.Client()
			for i := range 100 {
				owner.Must(b, 201, "POST", "/v2/corpora", map[string]any{"key": fmt.Sprintf("c%02d", i), "name": fmt.Sprintf("Corpus %d", i)})
			}
			t.before(`new MutationObserver((_, o) => { const e = document.querySelector('.corpora > li')
				if (e?.offsetHeight > 0) { o.disconnect(); requestAnimationFrame(() => setTimeout(() => { window.shownAt = performance.now() })) } }).observe(document, {childList: true, subtree: true, attributes: true})`)
			t.visit("/corpora")
			t.signIn()
			t.reads("Corpus 99")
			var took []float64
			for b.Loop() {
				for range 30 {
					if !kept {
						command(t, network.ClearBrowserCache, cdp.Empty{})
					}
					t.do("leave", chromedp.Navigate(t.service.URL+"/health"))
					t.visit("/corpora")
					took = append(took, eval[float64](t, "see the corpora", `new Promise(r => { const look = () => window.shownAt ? r(shownAt) : setTimeout(look, 10); look() })`))
				}
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2], "p50-ms")
			b.ReportMetric(took[len(took)*95/100], "p95-ms")
			b.ReportMetric(0, "ns/op")
			t.reportShift(b)
		})
	}
}

// answer returns 5,000 tokens of Markdown, as a model streams them: paragraphs with citations, lists, tables and code.
func answer() []string {
	const part = "## Service\n\nThe filter of the **red pump** is replaced every 500 hours [1], and its oil is changed " +
		"every 90 days by whoever has *the day shift*; see the log of the control room for what was done before.\n\n" +
		"1. Close the inlet valve and tell the control room.\n2. Replace the filter `F-12`, then open the valve slowly.\n\n" +
		"| Part | Hours | Price |\n|---|---|---|\n| Filter | 500 | 12 |\n| Seal | 2000 | 30 |\n\n```sh\npump --check --valve inlet\n```\n\n"
	var out []string
	for len(out) < 5000 {
		out = append(out, strings.SplitAfter(part, " ")...)
	}
	return out[:5000]
}

// BenchmarkStream measures the tasks of the page while an answer of 5,000 tokens comes: 500 in a second, and as fast as the
// service sends them.
func BenchmarkStream(b *testing.B) {
	for name, pace := range map[string]time.Duration{"500 tokens a second": 2 * time.Millisecond, "at once": 0} {
		b.Run(name, func(b *testing.B) {
			t := openFor(b, looks[0], long)
			provider := scripted.Start(b)
			provider.Model("long", scripted.Reply{Pieces: answer(), Pace: pace})
			owner := t.service.Client()
			t.fills("pumps", 20)
			owner.Must(b, 201, "POST", "/v2/llms", map[string]any{
				"type": "openai-compatible", "name": "long", "model": "long", "uri": provider.URL + "/v1/chat/completions",
				"auth": map[string]any{"type": "bearer", "token": "sk-bench-0123456789"}, "test_model_parameters": map[string]any{},
			})
			t.before(watchTasks)
			t.visit("/corpora/pumps?llm=long&score=0")
			t.signIn()
			t.reads("20 documents")
			for b.Loop() {
				since := eval[float64](t, "read the time", `performance.now()`)
				began := time.Now()
				t.fill("Your question", "What about the pump?\r")
				t.waitsLong("the end", `document.querySelector('.progress button') === null && document.querySelectorAll('.passages > li').length > 0`)
				b.ReportMetric(time.Since(began).Seconds(), "seconds")
				t.reportTasks(b, since)
				b.ReportMetric(float64(eval[int](t, "count the words", `document.querySelector('.answer').innerText.split(/\s+/).length`)), "words-shown")
			}
			b.ReportMetric(0, "ns/op")
			t.reportShift(b)
		})
	}
}

// BenchmarkDocuments measures the list of many documents: the time to its first rows, and how many rows are in the page at most
// while it is scrolled to its end.
func BenchmarkDocuments(b *testing.B) {
	t := openFor(b, looks[0], long)
	t.fills("many", 0)
	ids := make(chan int)
	var senders sync.WaitGroup
	owner := t.service.Client()
	owner.HTTP.Transport = &http.Transport{MaxIdleConnsPerHost: 32}
	for range 32 {
		senders.Go(func() {
			for i := range ids {
				owner.Must(b, 201, "POST", "/v2/corpora/many/documents", map[string]any{
					"id": fmt.Sprintf("doc/%06d", i), "type": "core", "metadata": map[string]any{"title": fmt.Sprintf("Title %d", i), "year": 2000 + i%25},
					"document_parts": []any{map[string]any{"text": "Text."}},
				})
			}
		})
	}
	for i := range *documents {
		ids <- i
	}
	close(ids)
	senders.Wait()
	t.before(watchTasks)
	t.visit("/corpora/many/documents")
	t.signIn()
	t.waitsLong("the list", `document.querySelector('.grid .all [role=row]')`)
	for b.Loop() {
		t.visit("/corpora/many/documents")
		b.ReportMetric(eval[float64](t, "see the rows", `new Promise(r => { const look = () => document.querySelector('.grid .all [role=row]') ? r(performance.now()) : setTimeout(look, 5); look() })`), "first-rows-ms")
		since := eval[float64](t, "read the time", `performance.now()`)
		end := eval[[2]float64](t, "scroll to the end", fmt.Sprintf(`new Promise(done => {
			const grid = document.querySelector('.grid'), began = performance.now()
			let most = 0
			const step = () => {
				most = Math.max(most, document.querySelectorAll('.grid .all [role=row]').length)
				if (document.querySelector('[aria-rowindex="%d"]')) return done([most, performance.now() - began])
				grid.scrollTop = grid.scrollHeight
				requestAnimationFrame(step)
			}
			step() })`, *documents+1))
		b.ReportMetric(end[0], "most-rows")
		b.ReportMetric(end[1]/1000, "seconds-to-the-end")
		t.reportTasks(b, since)
	}
	b.ReportMetric(0, "ns/op")
	t.reportShift(b)
}
