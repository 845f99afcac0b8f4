package browser

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// mostShift is how far the content of a page may jump under a reader: the score that browsers give it, of shifts that
// follow within a second of each other and are not the answer to a key, a click or what these had the service do.
const mostShift = 0.02

// shift is one jump of what a page shows.
type shift struct {
	Page   float64 // when the page was loaded, which no two pages share
	Path   string
	At     float64 // milliseconds since then
	Value  float64
	Recent bool     // it is the answer to a key or a click
	What   []string // the elements that moved, with how far down
}

// watchShifts is run in each page before its own scripts. It reports through the binding. Browsers take what moves within half a
// second of a key or a click for its answer; the same goes for what moves when the service has done what was asked, such as a form
// that closes, or has refused it, such as a reason at its field: what is drawn in the next frames once the answer was read, and once
// that was read which the page then asks for, however late they come on a busy machine. What searches find and answers say is not
// of these.
const watchShifts = `(() => {
	const answers = [] // from when to when what moves is the answer to a write
	const draws = frames => { const a = {from: performance.now(), to: Infinity}; answers.push(a)
		const next = () => { if (--frames > 0) requestAnimationFrame(next); else a.to = performance.now() }
		requestAnimationFrame(next) }
	const original = window.fetch
	window.fetch = async (to, how) => {
		const write = how?.method && how.method !== 'GET', anew = !write && answers.some(a => a.to === Infinity)
		try {
			const answer = await original(to, how)
			if (anew || write && !(answer.ok && /query|chats/.test(String(to)))) {
				draws(` + framesOfAnswer + `)
				for (const read of ['json', 'text', 'blob']) {
					const body = answer[read].bind(answer)
					answer[read] = () => body().finally(() => draws(` + framesOfAnswer + `))
				}
			}
			return answer
		} catch (failed) { if (write || anew) draws(` + framesOfAnswer + `); throw failed }
	}
	const name = n => n ? n.nodeName.toLowerCase() + (n.className && n.className.split ? '.' + n.className.split(' ').join('.') : '') : '?'
	const what = s => name(s.node?.nodeType === 1 ? s.node : s.node?.parentNode) + ' from ' + Math.round(s.previousRect.y) + ' to ' + Math.round(s.currentRect.y)
	const report = e => quarryShift(JSON.stringify({
		Page: performance.timeOrigin, Path: location.pathname, At: e.startTime, Value: e.value,
		Recent: e.hadRecentInput || answers.some(a => a.from <= e.startTime && e.startTime <= a.to), What: e.sources.map(what),
	}))
	new PerformanceObserver(list => list.getEntries().forEach(report)).observe({type: 'layout-shift', buffered: true})
})()`

// framesOfAnswer is how many frames show what an answer has changed.
const framesOfAnswer = "10"

// shifted returns the largest score of a page, as browsers count it: the sum over shifts that are less than a second apart, five
// seconds at most. It also returns what moved there.
func shifted(all []shift) (worst float64, what string) {
	var sum, page, from, last float64
	var moved []string
	for _, s := range all {
		if s.Recent {
			continue
		}
		if s.Page != page || s.At-last >= 1000 || s.At-from >= 5000 {
			page, from, sum, moved = s.Page, s.At, 0, nil
		}
		last = s.At
		sum += s.Value
		moved = append(moved, fmt.Sprintf("%.3f at %s: %s", s.Value, s.Path, strings.Join(s.What, ", ")))
		if sum > worst {
			worst, what = sum, strings.Join(moved, "\n\t")
		}
	}
	return worst, what
}

// still returns the largest score of the pages that were seen so far, and what moved.
func (b *tab) still() (float64, string) {
	b.t.Helper()
	eval[int](b, "wait for what is drawn", `new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => r(0)))))`)
	b.mu.Lock()
	defer b.mu.Unlock()
	return shifted(b.shifts)
}

// hearShift notes a report of a page; one that can't be read counts as a jump.
func (b *tab) hearShift(payload string) {
	s := shift{Value: math.Inf(1)}
	if err := json.Unmarshal([]byte(payload), &s); err != nil {
		s.What = []string{err.Error()}
	}
	b.shifts = append(b.shifts, s)
}
