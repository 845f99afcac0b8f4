// Package query holds the commands that search corpora: for passages, for the prompt that a model would get. What they share
// with those that answer, which are in package answer, is exported.
package query

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"quarry/internal/cli/command"
)

// Cmd searches.
type Cmd struct {
	command.Remote
	CorpusKey string   `arg:"" name:"corpus" help:"Key of the corpus, or several separated by commas." wire:"search.corpora[].corpus_key"`
	Question  []string `arg:"" name:"question" help:"The query." wire:"query"`
	Limit     int      `help:"Passages to show." default:"5" wire:"search.limit"`
	Offset    int      `help:"Passages to skip." wire:"search.offset"`
	Scope
	Lambda   *float64 `help:"Share of the lexical score, 0 to 1 (lexical_interpolation)." placeholder:"N" wire:"search.corpora[].lexical_interpolation"`
	Before   int      `help:"Sentences of context before." wire:"search.context_configuration.sentences_before"`
	After    int      `help:"Sentences of context after." wire:"search.context_configuration.sentences_after"`
	Reranker string   `help:"Reranker: none, customer_reranker, mmr, or one as JSON; default: that of the service." placeholder:"TYPE" wire:"search.reranker"`
	Exact    bool     `help:"Rank by full scans alone, also where lists of vectors would do." wire:"search.exact"`
	Explain  bool     `help:"Show what each score is made of, and how each segment of the index was searched."`
	Missing  string   `help:"Show which step removed this document from the results." placeholder:"DOCUMENT" wire:"explain.document_id"`
}

func (Cmd) Help() string {
	return "Shows where in each passage the words of the query stand, and the passage's score, the same number that quarry ask shows: " +
		"by default from 0 to 1 and comparable between queries. --reranker none shows the score of retrieval. --json has whole " +
		"passages.\n\n" +
		"Example: quarry query docs \"which way do imports go?\" --limit 3"
}

// answerView is the part of a query's answer that is shown.
type answerView struct {
	Results []struct {
		Text       string         `json:"text"`
		Score      float64        `json:"score"`
		DocumentID string         `json:"document_id"`
		CorpusKey  string         `json:"corpus_key"`
		Document   map[string]any `json:"document_metadata"`
		Part       map[string]any `json:"part_metadata"`
		Parts      []scorePart    `json:"explanation"`
	} `json:"search_results"`
	Absent *struct {
		DocumentID string `json:"document_id"`
		Stage      string `json:"stage"`
		Detail     string `json:"detail"`
	} `json:"absent_document"`
	Plan []planStep `json:"plan"`
}

type scorePart struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

func (c *Cmd) Run(e *command.Env) error {
	body, err := c.body()
	if err != nil {
		return err
	}
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	var v answerView
	raw, err := cl.Call(e.Ctx, "POST", "/v2/query", body, &v)
	switch {
	case err != nil:
		return err
	case c.JSON:
		command.PrintJSON(e.Out, raw)
	default:
		c.show(e.Out, &v)
	}
	return nil
}

func (c *Cmd) show(w io.Writer, v *answerView) {
	if len(v.Results) == 0 {
		fmt.Fprintln(w, "no passage found")
	}
	for i, r := range v.Results {
		name := r.DocumentID
		if strings.Contains(c.CorpusKey, ",") {
			name = r.CorpusKey + ": " + name
		}
		head := command.Bold(w, command.Prose(name))
		if title := Title(r.Document, r.Part); title != "" {
			head += "  " + command.Prose(title)
		}
		command.WrapAfter(w, fmt.Sprintf("%2d. ", i+1+c.Offset), fmt.Sprintf("%s  (%.3f)", head, r.Score))
		lang, _ := r.Part["lang"].(string)
		printExcerpt(w, strings.Join(c.Question, " "), r.Text, lang)
		if c.Explain {
			breakdown(w, r.Parts, r.Score)
		}
	}
	switch a := v.Absent; {
	case a != nil:
		fmt.Fprintf(w, "%s is not among them: %s (%s)\n", a.DocumentID, a.Detail, a.Stage)
	case c.Missing != "":
		fmt.Fprintf(w, "%s is among them\n", c.Missing)
	}
	if c.Explain {
		c.printPlan(w, v.Plan)
	}
}

// breakdown prints the parts of a score with the sum that they reach one by one.
func breakdown(w io.Writer, parts []scorePart, score float64) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	total := 0.0
	for _, p := range parts {
		total += p.Value
		fmt.Fprintf(t, "      %s\t%+.4f\t%.4f\t\n", p.Name, p.Value, total)
	}
	fmt.Fprintf(t, "      %s\t\t%.4f\t\n", "score", score)
	_ = t.Flush() // w is the terminal or a buffer; its own errors have nowhere to go
}

// Title joins the document's title with the headings above the passage.
func Title(document, part map[string]any) string {
	var path []string
	if t, ok := document["title"].(string); ok && t != "" {
		path = append(path, t)
	}
	if above, ok := part["breadcrumb"].([]any); ok {
		for _, b := range above {
			path = append(path, fmt.Sprint(b))
		}
	}
	if t, ok := part["title"].(string); ok && t != "" {
		path = append(path, t)
	}
	out := path[:0]
	for _, p := range path {
		if len(out) == 0 || out[len(out)-1] != p {
			out = append(out, p)
		}
	}
	return strings.Join(out, " › ")
}

// weighted returns the corpora with the share of the lexical score.
func (c *Cmd) weighted(corpora []map[string]any) []map[string]any {
	if c.Lambda != nil {
		for _, one := range corpora {
			one["lexical_interpolation"] = *c.Lambda
		}
	}
	return corpora
}

// body returns the request.
func (c *Cmd) body() (map[string]any, error) {
	search := map[string]any{"limit": c.Limit, "offset": c.Offset, "corpora": c.weighted(c.Corpora(c.CorpusKey))}
	if c.Exact {
		search["exact"] = true
	}
	switch {
	case strings.HasPrefix(c.Reranker, "{"):
		var reranker map[string]any
		if err := json.Unmarshal([]byte(c.Reranker), &reranker); err != nil {
			return nil, fmt.Errorf("--reranker is not JSON: %w", err)
		}
		search["reranker"] = reranker
	case c.Reranker != "":
		search["reranker"] = map[string]any{"type": c.Reranker}
	}
	if c.Before != 0 || c.After != 0 {
		search["context_configuration"] = map[string]any{"sentences_before": c.Before, "sentences_after": c.After}
	}
	body := map[string]any{"query": strings.Join(c.Question, " "), "search": search}
	switch {
	case c.Missing != "":
		body["explain"] = map[string]any{"document_id": c.Missing}
	case c.Explain:
		body["explain"] = true
	}
	return body, nil
}
