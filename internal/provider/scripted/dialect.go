package scripted

import (
	"encoding/json"
	"net/http"
)

// dialects are the wire formats by path pattern.
var dialects = map[string]func(*http.Request) dialect{
	"POST /v1/chat/completions":                              as(chat{}),
	"POST /chat/completions":                                 as(chat{}),
	"POST /openai/deployments/{deployment}/chat/completions": as(chat{}), // Azure
	"POST /v1/responses":                                     as(responses{}),
	"POST /v1/messages":                                      as(messages{}),
	"POST /model/{model}/invoke":                             as(bedrock{}),
	"POST /model/{model}/invoke-with-response-stream":        as(bedrock{}),
	"POST /v1beta/models/{rest...}":                          as(contents{}), // Google AI Studio
	"POST /v1/models/{rest...}":                              as(contents{}),
	"POST /v1/projects/{rest...}":                            google,
	"POST /v1beta1/projects/{rest...}":                       google,
	"POST /v1/publishers/{rest...}":                          google,
	"POST /v1beta1/publishers/{rest...}":                     google,
}

func as(d dialect) func(*http.Request) dialect { return func(*http.Request) dialect { return d } }

// sse is the common part of the formats that stream server-sent events.
type sse struct{}

func (sse) mime() string { return "text/event-stream" }

func (sse) frame(event string, data []byte) []byte {
	out := ""
	if event != "" {
		out = "event: " + event + "\n"
	}
	return []byte(out + "data: " + string(data) + "\n\n")
}

func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // impossible: v consists of literals
	}
	return raw
}

// Listed is a model in the list of models.
type Listed struct {
	ID      string
	Owner   string
	Context int // size in tokens; 0 leaves it out
}

// List sets the models that are listed. By default there is one, "small-chat".
func (s *Server) List(models ...Listed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = models
}

// lists registers the handler of the list of models, in OpenAI's format.
func (s *Server) lists() {
	s.mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		met := newRequest(r, nil)
		s.keep(met)
		defer close(met.Done)
		var data []obj
		for _, m := range s.listed() {
			one := obj{"id": m.ID, "object": "model", "created": 1900000000, "owned_by": m.Owner}
			if m.Context > 0 {
				one["max_model_len"] = m.Context // as vLLM does
			}
			data = append(data, one)
		}
		answer(w, http.StatusOK, obj{"object": "list", "data": data})
	})
}

func (s *Server) listed() []Listed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.models == nil {
		return []Listed{{ID: "small-chat", Owner: "scripted"}}
	}
	return s.models
}
