// Command answer measures the embedded generator on collections in ../shared/data and prints the tables of
// docs/benchmarks.md, section Answers: how often the answer is in the sentences that it quotes, how often it refuses to
// answer with and without the passage that holds the answer, whether every sentence is from a passage, and how long an
// answer takes. Passages are found by the service's own search with default settings. With -own it measures the questions of
// our own instead (bench/answer/own/README.md).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"quarry/bench/answer/own"
	"quarry/bench/cache"
	"quarry/internal/app"
	"quarry/internal/config"
	"quarry/internal/embed"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin"
	"quarry/internal/query/evaluate"
	"quarry/internal/query/retrieve"
	"quarry/internal/text/chunk"
)

// passages is the number of results from which an answer is generated.
const passages = 10

func main() {
	data := flag.String("data", "../shared/data", "folder of the collections")
	only := flag.String("only", "xquad/en,pubmedqa,scifact,xquad/de,xquad/es,xquad/ru,xquad/zh", "comma-separated list of collections")
	vectors := flag.String("vectors", cache.Default(), "folder of the vector cache; empty for none")
	timed := flag.Int("timed", 200, "questions of each collection whose answers are timed")
	most := flag.Int("questions", 0, "questions of each collection, evenly sampled; 0 for all")
	parts := flag.String("parts", "", "how documents are cut: sentence, a number of characters, or empty for whole documents")
	ours := flag.Bool("own", false, "the questions of our own over documents of packages instead of the collections")
	show := flag.Bool("show", false, "with -own: print each question of the seen half with what is expected and what was answered")
	fitted := flag.Bool("fit", false, "fit the weights and thresholds of confidence, and print them with how good they are")
	kept := flag.String("examples", "", "with -fit: file of the examples, written where it is missing; empty for none")
	flag.Parse()
	if *fitted {
		if err := fit(context.Background(), *data, *vectors, *kept, *most); err != nil {
			fmt.Fprintln(os.Stderr, "answer:", err)
			os.Exit(1)
		}
		return
	}
	if *ours {
		if err := own.Run(context.Background(), own.Options{Vectors: *vectors, Show: *show}); err != nil {
			fmt.Fprintln(os.Stderr, "answer:", err)
			os.Exit(1)
		}
		return
	}
	if _, err := os.Stat(*data); err != nil {
		fmt.Println("skipped: the collections are not at", *data)
		return
	}
	cut, err := strategy(*parts)
	if err != nil {
		fmt.Fprintln(os.Stderr, "answer: -parts:", err)
		os.Exit(2)
	}
	fmt.Println("| collection | questions | answer in the first 1 / 2 / 3 sentences quoted | in the first as printed | a sentence of the right passage | sentences | says none, wrongly | says none, its passage taken away | sentences of no passage | ms of one core, p50 / p95 (by the clock), vectors stored | not stored |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, name := range strings.Split(*only, ",") {
		b := bench{dir: filepath.Join(*data, name), vectors: *vectors, timed: *timed, most: *most, cut: cut}
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
	cut          *chunk.Strategy // of documents into parts; nil for whole documents
	encoders     *embed.Registry
	generator    *builtin.Provider

	questions, answered  float64
	hits                 [3]float64 // questions whose answer is in the first 1, 2 or 3 sentences quoted
	printed              float64    // questions whose answer is in the sentence printed first
	right, sentences     float64
	noneWrong, noneRight float64 // refusals with and without the passage that answers
	unsupported          int     // sentences that are in no passage
	stored, bare         times   // with the vectors of sentences stored, and without
	spans                bool    // the collection has the text of the answers
	fits                 string  // with -fit: the set whose examples are gathered
	examples             []example
}

// question is a question with its search results.
type question struct {
	text, answer string
	gold         map[string]bool
	found        []retrieve.Result
}

func (b *bench) run(ctx context.Context, name string) (err error) {
	d, err := evaluate.Read(b.dir)
	if err != nil {
		return err
	}
	parts := map[string]int{}
	if b.cut != nil {
		d.Documents = split(d.Documents, *b.cut)
	}
	for _, r := range d.Documents {
		parts[whole(r.ID)]++
	}
	var cached *cache.Encoder
	keep := func(r *embed.Registry) {
		b.encoders = r
		if b.vectors != "" {
			r.Decorate(func(e embed.Encoder) embed.Encoder {
				if cached, err = cache.Open(b.vectors, e); err != nil {
					return e
				}
				return cached
			})
		}
	}
	e, openErr := app.OpenEvaluation(ctx, config.Default(), d, func(string, int) func() { return func() {} }, keep)
	if err = errors.Join(err, openErr); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close(), cached.Close()) }()
	b.generator = builtin.New(b.encoders)
	if b.most > 0 && b.most < len(d.Queries) {
		d.Queries = spread(d.Queries, b.most)
	}
	every := max(1, len(d.Queries)/max(1, b.timed))
	for i, q := range d.Queries {
		a := question{text: q.Text, gold: map[string]bool{}}
		var m struct{ Answer string }
		if json.Unmarshal(q.Metadata, &m) == nil {
			a.answer = m.Answer
		}
		limit := passages
		for id, grade := range d.Judged[q.ID] {
			a.gold[id] = grade > 0
			limit += parts[id]
		}
		found, err := e.Retrieve().Run(ctx, retrieve.Query{
			Text: evaluate.Plain(q.Text), Limit: limit, BestPerDocument: true, Vectors: true,
			Sources: []retrieve.Source{{Corpus: app.EvaluationCorpus}},
		})
		if err != nil {
			return err
		}
		a.found = found.Results
		if b.fits != "" {
			err = b.examine(ctx, b.fits, a)
		} else {
			err = b.ask(ctx, a, b.timed > 0 && i%every == 0)
		}
		if err != nil {
			return fmt.Errorf("question %s: %w", q.ID, err)
		}
	}
	if b.fits == "" {
		b.print(name)
	}
	return nil
}

// spread returns an even sample of n queries.
func spread(all []evaluate.Record, n int) []evaluate.Record {
	out := make([]evaluate.Record, n)
	for i := range out {
		out[i] = all[i*len(all)/n]
	}
	return out
}

// strategy reads the flag -parts.
func strategy(parts string) (*chunk.Strategy, error) {
	switch parts {
	case "":
		return nil, nil
	case "sentence":
		return &chunk.Strategy{}, nil
	}
	n, err := strconv.Atoi(parts)
	if err != nil || n < 1 {
		return nil, fmt.Errorf("%q is neither sentence nor a number of characters", parts)
	}
	return &chunk.Strategy{MaxChars: n}, nil
}

// split returns the parts of documents as documents of their own, each under the title of the whole.
func split(all []evaluate.Record, s chunk.Strategy) []evaluate.Record {
	var out []evaluate.Record
	for _, r := range all {
		for i, c := range chunk.Split(r.Text, s) {
			part := r
			part.ID, part.Text = fmt.Sprintf("%s#%d", r.ID, i), c.Text
			out = append(out, part)
		}
	}
	return out
}

// whole returns the document that a part is from.
func whole(id string) string {
	id, _, _ = strings.Cut(id, "#")
	return id
}

// ask measures one question, with all passages found and without those that answer it.
func (b *bench) ask(ctx context.Context, a question, timed bool) error {
	b.questions++
	r := request(a, true)
	quoted, err := b.generator.Quote(ctx, r)
	if err != nil {
		return err
	}
	if len(quoted) == 0 {
		b.noneWrong++
	} else {
		b.tally(a, quoted)
	}
	out, err := llm.Complete(ctx, b.generator, r)
	if err != nil {
		return err
	}
	b.unsupported += unsupported(out.Text, len(quoted), r.Evidence)
	if first := mark.Split(out.Text, 2)[0]; len(quoted) > 0 && a.answer != "" && strings.Contains(first, a.answer) {
		b.printed++
	}
	if quoted, err = b.generator.Quote(ctx, request(a, false)); err != nil {
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

// request returns the request to the generator; gold is whether the passages include those that answer.
func request(a question, gold bool) llm.Request {
	r := llm.Request{Question: a.text}
	for _, x := range a.found {
		if len(r.Evidence) < passages && (gold || !a.gold[whole(x.DocumentID)]) {
			r.Evidence = append(r.Evidence, llm.Evidence{N: len(r.Evidence) + 1, Text: x.Text, Score: x.Score, Title: title(x), Vector: x.Vector})
		}
	}
	return r
}

// title returns the title of a result's document, as the service gives it to generators.
func title(x retrieve.Result) string {
	var m struct{ Title string }
	_ = json.Unmarshal(x.DocumentMetadata, &m) // written by this command
	return m.Title
}

// tally counts where the answer is in the sentences quoted, which are in descending order of quality.
func (b *bench) tally(a question, quoted []builtin.Quotation) {
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
		if a.gold[whole(a.found[q.N-1].DocumentID)] {
			b.right++
			break
		}
	}
}

// mark matches the citation behind a sentence.
var mark = regexp.MustCompile(` \[\d+\]`)

// unsupported returns the number of sentences of an answer that are not in the passage that they cite.
func unsupported(answer string, sentences int, evidence []llm.Evidence) int {
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
		answer = strings.TrimPrefix(strings.TrimPrefix(rest, "\n\n"), " ") // on a line of its own, or on the same
	}
	if seen != sentences {
		n++
	}
	return n
}
