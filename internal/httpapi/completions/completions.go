// Package completions is the HTTP handlers of the operations that speak OpenAI's interface: chat completions, whole and
// streamed, and the list of models. request.go and wire.go are the only places where that interface meets packages
// llm and complete, which have the rules. Package app makes the Area.
package completions

import (
	"net/http"
	"sync"
	"time"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/llm/complete"
	"quarry/internal/llm/registry"
)

// patience is how long the head of a stream waits for the first event of the model, so that a failure before it is a
// status.
const patience = 15 * time.Second

// Area answers the operations.
type Area struct {
	complete *complete.Service
	models   *registry.Service
}

// New returns the area.
func New(c *complete.Service, models *registry.Service) *Area { return &Area{c, models} }

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"createChatCompletion": a.create, "createOpenAIChatCompletion": a.create,
		"listModels": a.list, "listOpenAIModels": a.list,
	}
}

func (a *Area) create(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	asked, err := parse(c.Body)
	if err != nil {
		return fault.Under(err, "body")
	}
	asked.Await = c.Await
	h := head{ID: id.NewCompletion(), Created: clock.Now().Unix(), Model: asked.Model}
	if asked.stream {
		return a.stream(w, r, c, asked, h)
	}
	answers, err := a.complete.Run(r.Context(), asked.Request, func(complete.Event) error { return nil })
	if err != nil {
		return fault.Under(err, "body")
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireCompletion(h, answers))
}

// stream writes the answers in chunks. A failure before the head is returned, a later one is a chunk.
func (a *Area) stream(w http.ResponseWriter, r *http.Request, c *httpapi.Call, asked *request, h head) error {
	s := c.Stream(w)
	defer s.Close()
	out := &writer{head: h, to: s, begun: make([]bool, asked.Answers), calls: make([]int, asked.Answers)}
	waited := time.AfterFunc(patience, out.begin)
	answers, err := a.complete.Run(r.Context(), asked.Request, out.event)
	waited.Stop()
	out.mu.Lock()
	defer out.mu.Unlock()
	out.ended = true
	if err != nil && !s.Begun() {
		return fault.Under(err, "body")
	}
	if err != nil {
		if failed := s.OpenAIError(fault.Under(err, "body")); failed != nil {
			_ = s.Chunk(h.chunk([]delta{}, nil, failed)) // an error means that the client is gone, here and below
		}
	} else if asked.usage {
		_ = s.Chunk(h.chunk([]delta{}, wireUsage(answers), nil))
	}
	_ = s.Done()
	return nil
}

// writer writes the chunks of a stream. begin runs beside the rest, so all hold mu.
type writer struct {
	head
	mu    sync.Mutex
	to    *httpapi.Stream
	begun []bool // by answer: its role was sent
	calls []int  // by answer: how many calls of tools were sent
	ended bool   // the handler writes the end by itself
}

// begin sends the head and the roles where the model takes its time.
func (w *writer) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n := range w.begun {
		if !w.ended {
			_ = w.role(n) // the next event finds that the client is gone
		}
	}
}

// role sends the role of an answer, which is before all else of it.
func (w *writer) role(n int) error {
	if w.begun[n] {
		return nil
	}
	w.begun[n] = true
	empty := ""
	return w.to.Opening(w.chunk([]delta{{Index: n, Delta: message{Role: "assistant", Content: &empty}}}, nil, nil))
}

func (w *writer) send(n int, m message, reason *llm.Reason) error {
	return w.to.Chunk(w.chunk([]delta{{Index: n, Delta: m, Reason: reason}}, nil, nil))
}

// event sends what has arrived.
func (w *writer) event(e complete.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.role(e.N); err != nil {
		return err
	}
	p := e.Piece
	switch {
	case e.Whole != nil:
		return w.end(e.N, e.Whole)
	case p.Call != nil:
		at := w.calls[e.N]
		w.calls[e.N]++
		call := wireCall(*p.Call)
		call.Index = &at
		return w.send(e.N, message{Calls: []toolCall{call}}, nil)
	case p.Reasoning != "":
		return w.send(e.N, message{Reasoning: p.Reasoning}, nil)
	}
	return w.send(e.N, message{Content: &p.Text}, nil)
}

// end sends why an answer ended, and in which words it was refused.
func (w *writer) end(n int, a *llm.Answer) error {
	if a.Refusal != "" {
		if err := w.send(n, message{Refusal: &a.Refusal}, nil); err != nil {
			return err
		}
	}
	reason := wireReason(a)
	return w.send(n, message{}, &reason)
}

func (a *Area) list(w http.ResponseWriter, r *http.Request, _ *httpapi.Call) error {
	found, err := a.models.Usable(r.Context())
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireModels(found))
}
