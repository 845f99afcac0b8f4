package queries

import (
	"encoding/json"

	"quarry/internal/corpus/document"
	"quarry/internal/query"
	"quarry/internal/query/retrieve"
)

// Answer is QueryFullResponse. Members that do not apply are left out.
type Answer struct {
	Summary   *string       `json:"summary,omitempty"`
	Language  string        `json:"response_language,omitempty"`
	Results   []result      `json:"search_results"`
	Score     *float64      `json:"factual_consistency_score,omitempty"`
	Evidence  *float64      `json:"evidence,omitempty"` // ours
	Prompt    string        `json:"rendered_prompt,omitempty"`
	Absent    *absent       `json:"absent_document,omitempty"`
	Plan      []segmentStep `json:"plan,omitempty"`            // ours
	Rephrased string        `json:"rephrased_query,omitempty"` // of a chat alone
	Rewritten []rewritten   `json:"rewritten_queries,omitempty"`
	Warnings  []string      `json:"warnings,omitempty"`
}

// WireAnswer returns an answer in the form of the contract.
func WireAnswer(a *query.Answer) Answer {
	out := Answer{
		Results: wireResults(a.Results), Absent: wireAbsent(a.Absent), Plan: wirePlan(a.Plan), Rewritten: wireRewritten(a.Rewritten), Warnings: a.Warnings,
		Rephrased: a.Rephrased,
	}
	if g := a.Generated; g != nil {
		out.Summary, out.Language, out.Score, out.Evidence, out.Prompt = &g.Summary, g.Language, g.Score, g.Evidence, g.Prompt
	}
	return out
}

type absent struct {
	DocumentID string         `json:"document_id"`
	Stage      retrieve.Stage `json:"stage"`
	Detail     string         `json:"detail,omitempty"`
}

func wireAbsent(a *retrieve.Absent) *absent {
	if a == nil {
		return nil
	}
	return &absent{a.DocumentID, a.Stage, a.Detail}
}

type segmentStep struct {
	CorpusKey     string `json:"corpus_key"`
	Segment       int    `json:"segment"`
	Rows          int    `json:"rows"`
	Passing       int    `json:"passing"`
	Way           string `json:"way,omitempty"` // "" where vectors had no part in it
	ListsRead     int    `json:"lists_read"`
	Codes         int    `json:"codes"`
	Settled       int    `json:"settled"`
	Postings      int    `json:"postings"`
	SkippedBlocks int    `json:"skipped_blocks"`
}

func wirePlan(all []retrieve.Step) (out []segmentStep) {
	for _, s := range all {
		out = append(out, segmentStep{
			s.CorpusKey, s.Segment, s.Rows, s.Passing, s.Way, s.Lists, s.Codes, s.Settled, s.Postings, s.Skipped,
		})
	}
	return out
}

type part struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

type rewritten struct {
	CorpusKey  string     `json:"corpus_key"`
	Extraction extraction `json:"filter_extraction"`
}

func wireRewritten(all []query.Rewritten) (out []rewritten) {
	for _, x := range all {
		one := rewritten{CorpusKey: x.CorpusKey}
		if x.Warning == "" {
			one.Extraction = extraction{x.Text, x.Filter}
		}
		out = append(out, one)
	}
	return out
}

type result struct {
	Type             string          `json:"result_type"`
	Text             string          `json:"text"`
	Score            float64         `json:"score"`
	PartMetadata     json.RawMessage `json:"part_metadata"`
	DocumentMetadata json.RawMessage `json:"document_metadata"`
	DocumentID       string          `json:"document_id"`
	CorpusKey        string          `json:"corpus_key"`
	Source           int             `json:"request_corpora_index"`
	Table            *document.Table `json:"table,omitempty"`
	Image            *image          `json:"image,omitempty"`
	Explanation      []part          `json:"explanation,omitempty"`
}

type image struct {
	ID          string `json:"id"`
	Title       string `json:"title,omitempty"`
	Caption     string `json:"caption,omitempty"`
	Description string `json:"description,omitempty"`
	MimeType    string `json:"mime_type,omitempty"`
}

// wireResults maps results in their order. A table is written with the first of its results only; the later ones name it
// in part_metadata (contract: Tables, duplicate references).
func wireResults(all []retrieve.Result) []result {
	type place struct{ corpus, document, table string }
	shown := map[place]bool{}
	out := make([]result, len(all))
	for i, r := range all {
		out[i] = result{
			Type: "text", Text: r.Text, Score: r.Score, PartMetadata: r.PartMetadata, DocumentMetadata: r.DocumentMetadata,
			DocumentID: r.DocumentID, CorpusKey: r.CorpusKey, Source: r.Source, Table: r.Table,
		}
		for _, p := range r.Explanation {
			out[i].Explanation = append(out[i].Explanation, part{p.Name, p.Value})
		}
		if r.Table != nil {
			at := place{r.CorpusKey, r.DocumentID, r.Table.ID}
			if shown[at] {
				out[i].Table = nil
			}
			shown[at] = true
		}
		if m := r.Image; m != nil {
			out[i].Type = "image"
			out[i].Image = &image{m.ID, m.Title, m.Caption, m.Description, m.MimeType}
		}
	}
	return out
}
