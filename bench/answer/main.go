// Command answer measures the embedded generator on collections of ../shared/data and prints the tables of
// docs/benchmarks.md, section Answers: how often the answer is in the sentences that it quotes, how often it says that
// there is none, with the passage that answers there and taken away, that every sentence is one of a passage, and how
// long an answer takes. Passages are found by the service's own search, with the settings of a query that asks for
// nothing.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"quarry/bench/shelf"
	"quarry/internal/app"
	"quarry/internal/config"
	"quarry/internal/embed"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin"
	"quarry/internal/query/evaluate"
	"quarry/internal/query/retrieve"
)

// passages is how many results an answer stands on.
const passages = 10

func main() {
	data := flag.String("data", "../shared/data", "folder of the collections")
	only := flag.String("only", "xquad/en,pubmedqa,scifact,xquad/de,xquad/es,xquad/ru,xquad/zh", "comma list of collections")
	vectors := flag.String("vectors", shelf.Default(), "folder that keeps vectors from run to run; empty for none")
	timed := flag.Int("timed", 200, "questions of each collection whose answers are timed")
	most := flag.Int("questions", 0, "questions of each collection, evenly spread; 0 for all")
	flag.Parse()
	if _, err := os.Stat(*data); err != nil {
		fmt.Println("skipped: the collections are not at", *data)
		return
	}
	fmt.Println("| collection | questions | answer in the first 1 / 2 / 3 sentences quoted | a sentence of the right passage | sentences | says none, wrongly | says none, its passage taken away | sentences of no passage | ms of one core, p50 / p95 (by the clock), vectors stored | not stored |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, name := range strings.Split(*only, ",") {
		b := bench{dir: filepath.Join(*data, name), vectors: *vectors, timed: *timed, most: *most}
		if err := b.run(context.Background(), name); err != nil {
			fmt.Fprintln(os.Stderr, "answer:", err)
			os.Exit(1)
		}
	}
}

// bench is the measurement of one collection.
type bench struct {
	dir, vectors string
	timed, most  int
	encoders     *embed.Registry
	generator    *builtin.Provider

	questions, answered  float64
	hits                 [3]float64
	right, sentences     float64
	noneWrong, noneRight float64
	strangers            int
	stored, bare         times
	spans                bool // the collection says what the answer is
}

// asked is a question with what was found for it.
type asked struct {
	text, answer string
	gold         map[string]bool
	found        []retrieve.Result
}

func (b *bench) run(ctx context.Context, name string) (err error) {
	d, err := evaluate.Read(b.dir)
	if err != nil {
		return err
	}
	var kept *shelf.Shelf
	keep := func(r *embed.Registry) {
		b.encoders = r
		if b.vectors != "" {
			r.Decorate(func(e embed.Encoder) embed.Encoder {
				if kept, err = shelf.Open(b.vectors, e); err != nil {
					return e
				}
				return kept
			})
		}
	}
	e, openErr := app.OpenEvaluation(ctx, config.Default(), d, func(string, int) func() { return func() {} }, keep)
	if err = errors.Join(err, openErr); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close(), kept.Close()) }()
	b.generator = builtin.New(b.encoders)
	if b.most > 0 && b.most < len(d.Queries) {
		d.Queries = spread(d.Queries, b.most)
	}
	every := max(1, len(d.Queries)/max(1, b.timed))
	for i, q := range d.Queries {
		a := asked{text: q.Text, gold: map[string]bool{}}
		var m struct{ Answer string }
		if json.Unmarshal(q.Metadata, &m) == nil {
			a.answer = m.Answer
		}
		for id, grade := range d.Judged[q.ID] {
			a.gold[id] = grade > 0
		}
		found, err := e.Retrieve().Run(ctx, retrieve.Query{
			Text: evaluate.Plain(q.Text), Limit: passages + len(a.gold), BestPerDocument: true,
			Sources: []retrieve.Source{{Corpus: app.EvaluationCorpus, Lambda: retrieve.DefaultLambda}},
		})
		if err != nil {
			return err
		}
		a.found = found.Results
		if err := b.ask(ctx, a, b.timed > 0 && i%every == 0); err != nil {
			return fmt.Errorf("question %s: %w", q.ID, err)
		}
	}
	b.print(name)
	return nil
}

// spread takes n queries evenly.
func spread(all []evaluate.Record, n int) []evaluate.Record {
	out := make([]evaluate.Record, n)
	for i := range out {
		out[i] = all[i*len(all)/n]
	}
	return out
}

// ask measures one question, with what was found and without what answers it.
func (b *bench) ask(ctx context.Context, a asked, timed bool) error {
	b.questions++
	r, err := b.request(ctx, a, true)
	if err != nil {
		return err
	}
	quoted, err := b.generator.Quote(ctx, r)
	if err != nil {
		return err
	}
	if len(quoted) == 0 {
		b.noneWrong++
	} else {
		b.judge(a, quoted)
	}
	out, err := llm.Complete(ctx, b.generator, r)
	if err != nil {
		return err
	}
	b.strangers += strangers(out.Text, len(quoted), r.Evidence)
	without, err := b.request(ctx, a, false)
	if err != nil {
		return err
	}
	if quoted, err = b.generator.Quote(ctx, without); err != nil {
		return err
	}
	if len(quoted) == 0 {
		b.noneRight++
	}
	if timed {
		return b.time(ctx, r)
	}
	return nil
}

// request gives what the generator is asked; gold says whether what answers is among the passages.
func (b *bench) request(ctx context.Context, a asked, gold bool) (llm.Request, error) {
	r := llm.Request{Question: a.text}
	var texts []string
	for _, x := range a.found {
		if len(r.Evidence) < passages && (gold || !a.gold[x.DocumentID]) {
			r.Evidence = append(r.Evidence, llm.Evidence{N: len(r.Evidence) + 1, Text: x.Text, Score: x.Score})
			texts = append(texts, x.Text)
		}
	}
	e, err := b.encoders.Get("")
	if err != nil {
		return r, err
	}
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = make([]float32, e.Dim())
	}
	if err := embed.EncodeLong(ctx, e, embed.Answer, texts, vectors); err != nil {
		return r, err
	}
	for i, v := range vectors {
		r.Evidence[i].Vector = v
	}
	return r, nil
}

// judge looks for the answer in the sentences, the best first.
func (b *bench) judge(a asked, quoted []builtin.Quotation) {
	b.answered++
	b.sentences += float64(len(quoted))
	b.spans = b.spans || a.answer != ""
	for i, q := range quoted {
		if a.answer != "" && strings.Contains(q.Text, a.answer) {
			for k := i; k < len(b.hits); k++ {
				b.hits[k]++
			}
			break
		}
	}
	for _, q := range quoted {
		if a.gold[a.found[q.N-1].DocumentID] {
			b.right++
			break
		}
	}
}

// strangers counts the sentences of an answer that are in no passage that they cite.
func strangers(answer string, sentences int, evidence []llm.Evidence) int {
	n, seen := 0, 0
	for answer != "" && sentences > 0 {
		end, number := -1, 0
		for i := range evidence {
			mark := fmt.Sprintf(" [%d]", i+1)
			if at := strings.Index(answer, mark); at >= 0 && (end < 0 || at < end) {
				end, number = at, i+1
			}
		}
		if end < 0 {
			return n + 1
		}
		if !strings.Contains(evidence[number-1].Text, answer[:end]) {
			n++
		}
		seen++
		rest := answer[end+len(fmt.Sprintf(" [%d]", number)):]
		answer = strings.TrimPrefix(strings.TrimPrefix(rest, "\n\n"), " ") // a line of its own, or the same
	}
	if seen != sentences {
		n++
	}
	return n
}
