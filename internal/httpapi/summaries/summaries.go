// Package summaries holds the handler of summaries of documents, whole and streamed. What a summary is made of is in package
// answer/summarize. Package app makes the Area.
package summaries

import (
	"encoding/json"
	"net/http"

	"quarry/internal/answer/summarize"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
)

// Area is the operation.
type Area struct{ summaries *summarize.Service }

// New returns the area.
func New(s *summarize.Service) *Area { return &Area{s} }

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{"summarizeCorpusDocument": a.summarize}
}

// body is SummarizeDocumentRequest; the schema has checked types. null means absent.
type body struct {
	LLM        string                   `json:"llm_name"`
	Template   string                   `json:"prompt_template"`
	Parameters *httpapi.ModelParameters `json:"model_parameters"`
	Stream     bool                     `json:"stream_response"`
}

func (a *Area) summarize(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var b body
	if err := json.Unmarshal(c.Body, &b); err != nil {
		return fault.InvalidField("body", "is not what this operation takes: %s", err)
	}
	asked := summarize.Request{
		Corpus: c.Path["corpus_key"], Document: c.Path["document_id"], LLM: b.LLM, Template: b.Template, Await: c.Await,
	}
	if b.Parameters != nil {
		asked.Parameters = b.Parameters.Parameters
	}
	if b.Stream {
		return a.stream(w, r, c, asked)
	}
	out, err := a.summaries.Run(r.Context(), asked, func(summarize.Event) error { return nil })
	if err != nil {
		return fault.Under(err, "body")
	}
	return httpapi.WriteJSON(w, http.StatusOK, summary{out.Text, out.Prompt, out.Warnings})
}

// stream writes the summary in events. An error before the first event is returned as usual.
func (a *Area) stream(w http.ResponseWriter, r *http.Request, c *httpapi.Call, asked summarize.Request) error {
	s := c.Stream(w)
	defer s.Close()
	out, err := a.summaries.Run(r.Context(), asked, func(e summarize.Event) error { return send(s, e) })
	err = fault.Under(err, "body")
	if !s.Begun() {
		return err
	}
	if err != nil {
		_ = s.Fail(err) // the client may be gone
	}
	_ = s.Send("end", event{Type: "end", Warnings: out.Warnings})
	return nil
}

// summary is SummarizeDocumentResponse.
type summary struct {
	Summary string `json:"summary"`
	Prompt  string `json:"rendered_prompt"`

	Warnings []string `json:"warnings,omitempty"` // ours
}

// event is an event of a stream (SummarizeDocumentStreamedResponse).
type event struct {
	Type   string  `json:"type"`
	Prompt *string `json:"rendered_prompt,omitempty"`
	Chunk  string  `json:"generation_chunk,omitempty"`

	Warnings []string `json:"warnings,omitempty"` // ours, on the last event
}

func send(s *httpapi.Stream, e summarize.Event) error {
	switch {
	case e.Prompt != nil:
		return s.Send("generation_info", event{Type: "generation_info", Prompt: e.Prompt})
	case e.Done:
		return s.Send("generation_end", event{Type: "generation_end"})
	}
	return s.Soon("generation_chunk", event{Type: "generation_chunk", Chunk: e.Chunk})
}
