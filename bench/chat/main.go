// Command chat measures turns of chats with the embedded generator: a stored follow-up beside the same question as a query with
// an answer that goes into the history, and turn 1,000 of a chat beside turn 2. All kinds are asked in turns. It needs a built
// binary. The results are for docs/benchmarks.md.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"quarry/bench/service"
	"quarry/internal/query/measure"
)

func main() {
	binary := flag.String("binary", "./quarry", "the program")
	documents := flag.Int("documents", 200, "documents to index, of ten parts each")
	rounds := flag.Int("rounds", 20, "rounds; each asks ten questions of every kind")
	long := flag.Int("turns", 1000, "the turn of a long chat that is measured")
	flag.Parse()
	if err := run(*binary, *documents, *rounds, *long); err != nil {
		fmt.Fprintln(os.Stderr, "chat:", err)
		os.Exit(1)
	}
}

// bench is the running program, and the chat that has grown.
type bench struct {
	*service.Process
	grown string // the path of its turns
}

// reply is what a call answers.
type reply struct {
	Chat string `json:"chat_id"`
	Turn string `json:"turn_id"`
}

func run(binary string, documents, rounds, long int) error {
	dir, remove, err := service.Folder("")
	if err != nil {
		return err
	}
	defer remove()
	p, err := service.Start(binary, dir)
	if err != nil {
		return err
	}
	defer p.Stop()
	b := &bench{Process: p}
	if err := b.fill(documents); err != nil {
		return err
	}
	if err := b.grow(long - 1); err != nil {
		return err
	}
	kinds := b.kinds(long)
	for round := range rounds {
		for i := range kinds { // each kind is the first one as often as the others
			if err := b.measure(&kinds[(i+round)%len(kinds)], round); err != nil {
				return err
			}
		}
	}
	fmt.Printf("| what | p50, p95 | processor time | p50 ÷ that of |\n|---|---|---|---|\n")
	for i := range kinds {
		kinds[i].print(kinds)
	}
	return nil
}

// kind is one kind of question.
type kind struct {
	name    string
	over    int // the kind that it is compared with; itself for none
	save    bool
	prepare func() (path string, err error)
	after   func(path string, r reply) error // nil for nothing
	times   []time.Duration
	used    time.Duration
}

// kinds returns what is measured.
func (b *bench) kinds(long int) []kind {
	at := func(path string) func() (string, error) { return func() (string, error) { return path, nil } }
	return []kind{
		{name: "a query with an answer, in the history", over: 0, save: true, prepare: at("/v2/query")},
		{name: "the same as turn 1 of a chat", over: 0, prepare: at("/v2/chats")},
		{name: "as turn 2", over: 0, prepare: b.open},
		{name: fmt.Sprintf("as turn %d", long), over: 2, prepare: at(b.grown), after: func(path string, r reply) error {
			_, err := b.Must(http.StatusNoContent, http.MethodDelete, path+"/"+r.Turn, nil)
			return err
		}},
	}
}

// perRound is how many questions of a kind a round has: enough for the resolution of processor time.
const perRound = 10

// measure asks the questions of a round. What prepares a question and what cleans up after it is not measured.
func (b *bench) measure(k *kind, round int) (err error) {
	paths := make([]string, perRound)
	for i := range paths {
		if paths[i], err = k.prepare(); err != nil {
			return err
		}
	}
	for i, path := range paths {
		body := question(text(round*perRound + i))
		if k.save {
			body["generation"], body["save_history"] = map[string]any{}, true
		}
		before, err := b.ProcessorTime()
		if err != nil {
			return err
		}
		started := time.Now()
		r, err := b.send(path, body)
		if err != nil {
			return err
		}
		k.times = append(k.times, time.Since(started))
		now, err := b.ProcessorTime()
		if err != nil {
			return err
		}
		k.used += now - before // ticks of 10 ms, which are right on average
		if k.after != nil {
			if err := k.after(path, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// print prints the row of a kind: its ratio is the median of those of the rounds, which are neighbours in time.
func (k *kind) print(all []kind) {
	over := "–"
	if base := &all[k.over]; base != k {
		var ratios []float64
		for i := 0; i < len(k.times); i += perRound {
			ratios = append(ratios, float64(median(k.times[i:i+perRound]))/float64(median(base.times[i:i+perRound])))
		}
		slices.Sort(ratios)
		over = fmt.Sprintf("**%.2f** (median of rounds %.2f), %s", float64(median(k.times))/float64(median(base.times)), ratios[len(ratios)/2], base.name)
	}
	sorted := slices.Sorted(slices.Values(k.times))
	at := func(q float64) time.Duration { return measure.Percentile(sorted, q).Round(10 * time.Microsecond) }
	fmt.Printf("| %s | %v, %v | %v | %s |\n", k.name, at(0.5), at(0.95), (k.used / time.Duration(len(k.times))).Round(10*time.Microsecond), over)
}

func median(all []time.Duration) time.Duration {
	return measure.Percentile(slices.Sorted(slices.Values(all)), 0.5)
}

// send asks a question.
func (b *bench) send(path string, body map[string]any) (r reply, err error) {
	raw, err := b.Must(http.StatusOK, http.MethodPost, path, body)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(raw, &r)
}

// open opens a chat and returns the path of its turns.
func (b *bench) open() (string, error) {
	r, err := b.send("/v2/chats", question("How often is the filter of the pump inspected by the team?"))
	return "/v2/chats/" + r.Chat + "/turns", err
}

// grow opens the long chat, of n turns.
func (b *bench) grow(n int) (err error) {
	if b.grown, err = b.open(); err != nil {
		return err
	}
	for i := range n - 1 {
		if _, err := b.send(b.grown, question(text(i))); err != nil {
			return err
		}
	}
	return nil
}

var things = []string{"pump", "valve", "filter", "motor", "bearing", "shaft", "seal", "housing", "cover", "screw", "gasket", "sensor", "cable", "switch", "fuse", "relay", "display", "fan", "belt", "clutch"}

func thing(i int) string { return things[i%len(things)] }

// text returns a question that stands by itself.
func text(i int) string {
	return fmt.Sprintf("How often is the %s of the %s checked by team %d of the workshop?", thing(i), thing(i*3+1), i%40)
}

func question(text string) map[string]any {
	return map[string]any{"query": text, "search": map[string]any{"corpora": []any{map[string]any{"corpus_key": "b"}}}}
}

func (b *bench) fill(documents int) error {
	if _, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/corpora", map[string]any{"key": "b"}); err != nil {
		return err
	}
	for i := range documents {
		parts := make([]map[string]any, 10)
		for j := range parts {
			parts[j] = map[string]any{"text": fmt.Sprintf("The %s of the %s is checked every %d hours by team %d. If the %s is worn, replace it together with the %s. Write the date into book %d of the workshop.",
				thing(i*7+j*3), thing(i+j*5+1), 100+i*10+j, i%40, thing(i*7+j*3), thing(i+j), i*10+j)}
		}
		if _, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/corpora/b/documents", map[string]any{"type": "core", "id": fmt.Sprint("d", i), "document_parts": parts}); err != nil {
			return err
		}
	}
	return nil
}
