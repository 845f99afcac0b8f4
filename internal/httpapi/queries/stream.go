package queries

import (
	"net/http"

	"quarry/internal/httpapi"
	"quarry/internal/query"
)

// The events of a stream (QueryStreamedResponse).
type (
	foundEvent struct {
		Type      string        `json:"type"`
		Results   []result      `json:"search_results"`
		Absent    *absent       `json:"absent_document,omitempty"`
		Plan      []segmentStep `json:"plan,omitempty"` // ours
		Rewritten []rewritten   `json:"rewritten_queries,omitempty"`
	}
	promptEvent struct {
		Type      string `json:"type"`
		Prompt    string `json:"rendered_prompt"`
		Rephrased string `json:"rephrased_query,omitempty"` // of a chat alone
	}
	chunkEvent struct {
		Type  string `json:"type"`
		Chunk string `json:"generation_chunk"`
	}
	scoreEvent struct {
		Type  string  `json:"type"`
		Score float64 `json:"factual_consistency_score"`
	}
	writtenEvent struct {
		Type     string   `json:"type"`
		Evidence *float64 `json:"evidence,omitempty"` // ours
	}
	doneEvent struct {
		Type     string   `json:"type"`
		Warnings []string `json:"warnings,omitempty"` // ours, on the last event
	}
)

// Stream is the answer to a query in events, also to a question of a chat. Its caller closes it.
type Stream struct {
	*httpapi.Stream
	rephrased string
}

// NewStream returns the stream that answers a call.
func NewStream(w http.ResponseWriter, c *httpapi.Call) *Stream { return &Stream{Stream: c.Stream(w)} }

// Event writes an event of a query as one of the contract.
func (s *Stream) Event(e query.Event) error {
	switch {
	case e.Found != nil:
		s.rephrased = e.Found.Rephrased
		return s.Send("search_results", foundEvent{
			"search_results", wireResults(e.Found.Results), wireAbsent(e.Found.Absent), wirePlan(e.Found.Plan), wireRewritten(e.Found.Rewritten),
		})
	case e.Prompt != nil:
		return s.Send("generation_info", promptEvent{"generation_info", *e.Prompt, s.rephrased})
	case e.Score != nil:
		return s.Send("factual_consistency_score", scoreEvent{"factual_consistency_score", *e.Score})
	case e.Done:
		return s.Send("generation_end", writtenEvent{"generation_end", e.Evidence})
	}
	return s.Soon("generation_chunk", chunkEvent{"generation_chunk", e.Chunk})
}

// End writes the last events: how the answer failed, if it did, and the end. An error before the first event is returned, to
// be answered without a stream.
func (s *Stream) End(err error, warnings []string) error {
	if !s.Begun() {
		return err
	}
	if err != nil {
		_ = s.Fail(err) // the client may be gone
	}
	_ = s.Send("end", doneEvent{"end", warnings})
	return nil
}
