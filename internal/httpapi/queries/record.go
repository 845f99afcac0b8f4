package queries

import (
	"encoding/json"
	"time"

	"quarry/internal/query/history"
)

type historyPage struct {
	Queries  []summary `json:"queries"`
	Metadata struct {
		PageKey string `json:"page_key,omitempty"`
	} `json:"metadata"`
}

// summary is QueryHistorySummary; members that do not apply are left out.
type summary struct {
	ID          string    `json:"id"`
	Query       string    `json:"query"`
	CorpusKey   string    `json:"corpus_key,omitempty"`
	Started     time.Time `json:"started_at"`
	Latency     int64     `json:"latency_millis"`
	ChatID      string    `json:"chat_id,omitempty"`
	Generation  *string   `json:"generation,omitempty"`
	Consistency *float64  `json:"factual_consistency_score,omitempty"`
	Evidence    *float64  `json:"evidence,omitempty"` // ours, as below
	AgentKey    string    `json:"agent_key,omitempty"`
	SessionKey  string    `json:"session_key,omitempty"`
}

func wireSummaries(all []history.Summary) []summary {
	out := make([]summary, len(all))
	for i, s := range all {
		out[i] = summary{
			ID: string(s.ID), Query: s.Text, Started: s.Started, Latency: s.Latency.Milliseconds(), ChatID: s.ChatID,
			Generation: s.Generation, Consistency: s.Consistency, Evidence: s.Evidence, AgentKey: s.AgentKey, SessionKey: s.SessionKey,
		}
		if len(s.Corpora) > 0 {
			out[i].CorpusKey = s.Corpora[0].Key
		}
	}
	return out
}

// record is QueryHistory.
type record struct {
	ID         string          `json:"id"`
	Query      json.RawMessage `json:"query"`
	ChatID     string          `json:"chat_id,omitempty"`
	Latency    int64           `json:"latency_millis"`
	Started    time.Time       `json:"started_at"`
	AgentKey   string          `json:"agent_key,omitempty"`
	SessionKey string          `json:"session_key,omitempty"`
	Spans      []any           `json:"spans"`
}

// step is what every span has.
type step struct {
	Type    history.Type `json:"type"`
	Latency int64        `json:"latency_millis"`
	Started time.Time    `json:"started_at"`
}

type (
	rephraseSpan struct {
		step
		Rephrased string `json:"rephrased_query"`
	}
	rewrittenSpan struct {
		step
		CorpusKey  string     `json:"corpus_key"`
		Warnings   []string   `json:"warnings"`
		Extraction extraction `json:"filter_extraction"`
	}
	searchSpan struct {
		step
		Results []result `json:"search_results"`
	}
	rerankSpan struct {
		step
		Results []rerankedResult `json:"reranked_search_results"`
	}
	generationSpan struct {
		step
		Prompt     string   `json:"prompt"`
		Generation string   `json:"generation"`
		Evidence   *float64 `json:"evidence,omitempty"`
	}
	consistencySpan struct {
		step
		Score float64 `json:"score"`
	}
)

type extraction struct {
	Query  string `json:"query,omitempty"`
	Filter string `json:"metadata_filter,omitempty"`
}

type rerankedResult struct {
	Text     string  `json:"text"`
	Score    float64 `json:"score"`
	Original float64 `json:"original_score"`
}

func wireRecord(r *history.Record) record {
	out := record{
		ID: string(r.ID), Query: r.Request, ChatID: r.ChatID, Latency: r.Latency.Milliseconds(), Started: r.Started,
		AgentKey: r.AgentKey, SessionKey: r.SessionKey, Spans: make([]any, len(r.Spans)),
	}
	for i := range r.Spans {
		out.Spans[i] = wireSpan(&r.Spans[i])
	}
	return out
}

func wireSpan(s *history.Span) any {
	head := step{s.Type, s.Latency.Milliseconds(), s.Started.UTC()}
	switch s.Type {
	case history.Rephrase:
		return rephraseSpan{head, s.Rephrased}
	case history.Rewriting:
		out := rewrittenSpan{step: head, CorpusKey: s.CorpusKey, Warnings: append([]string{}, s.Warnings...)}
		if x := s.Extracted; x != nil {
			out.Extraction = extraction{x.Query, x.Filter}
		}
		return out
	case history.Search:
		return searchSpan{head, wireResults(s.Results)}
	case history.Rerank:
		out := rerankSpan{head, make([]rerankedResult, len(s.Reranked))}
		for i, x := range s.Reranked {
			out.Results[i] = rerankedResult{x.Text, x.Score, x.Original}
		}
		return out
	case history.Generation:
		return generationSpan{head, s.Prompt, s.Generation, s.Evidence}
	case history.Consistent:
		return consistencySpan{head, s.Score}
	}
	return head
}
