package cli

import (
	"fmt"
	"strings"
)

type queryCmd struct {
	remote
	CorpusKey string   `arg:"" name:"corpus" help:"Key of the corpus; several with commas."`
	Question  []string `arg:"" name:"question" help:"What to look for."`
	Limit     int      `help:"Passages to show." default:"5"`
	Offset    int      `help:"Passages to skip."`
	Filter    string   `help:"Metadata filter, for example: doc.year >= 2024" placeholder:"FILTER"`
	Lambda    *float64 `help:"Share of the lexical score, 0 to 1 (lexical_interpolation)." placeholder:"N"`
	Before    int      `help:"Sentences of context before."`
	After     int      `help:"Sentences of context after."`
	Reranker  string   `help:"Reranker: none or customer_reranker." default:"none"`
}

func (queryCmd) Help() string {
	return "Example: quarry query docs \"which way do imports go?\" --limit 3"
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
	} `json:"search_results"`
}

func (c *queryCmd) Run(e *env) error {
	cl, err := c.connect()
	if err != nil {
		return err
	}
	var v answerView
	raw, err := cl.call(e.ctx, "POST", "/v2/query", c.body(), &v)
	if err != nil {
		return err
	}
	if c.JSON {
		printJSON(e.Out, raw)
		return nil
	}
	if len(v.Results) == 0 {
		fmt.Fprintln(e.Out, "no passage found")
		return nil
	}
	for i, r := range v.Results {
		title := documentTitle(r.Document, r.Part)
		if title != "" {
			title = "  " + title
		}
		fmt.Fprintf(e.Out, "%2d. %s%s  (%.3f)\n    %s\n", i+1+c.Offset, r.DocumentID, title, r.Score, clip(r.Text, 300))
	}
	return nil
}

// documentTitle joins the document's title with the headings above the passage.
func documentTitle(document, part map[string]any) string {
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

func (c *queryCmd) body() map[string]any {
	var corpora []map[string]any
	for key := range strings.SplitSeq(c.CorpusKey, ",") {
		one := map[string]any{"corpus_key": strings.TrimSpace(key)}
		if c.Filter != "" {
			one["metadata_filter"] = c.Filter
		}
		if c.Lambda != nil {
			one["lexical_interpolation"] = *c.Lambda
		}
		corpora = append(corpora, one)
	}
	search := map[string]any{
		"corpora": corpora, "limit": c.Limit, "offset": c.Offset,
		"reranker": map[string]any{"type": c.Reranker},
	}
	if c.Before > 0 || c.After > 0 {
		search["context_configuration"] = map[string]any{"sentences_before": c.Before, "sentences_after": c.After}
	}
	return map[string]any{"query": strings.Join(c.Question, " "), "search": search}
}
