package chats

import (
	"net/http"

	"quarry/internal/chat"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/queries"
	"quarry/internal/id"
)

// Asking answers the operations that ask questions.
type Asking struct{ chats *chat.Service }

// NewAsking returns the area.
func NewAsking(s *chat.Service) *Asking { return &Asking{s} }

// Handlers implements httpapi.Area.
func (a *Asking) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"createChat": func(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error { return a.ask(w, r, c, "") },
		"createChatTurn": func(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
			return a.ask(w, r, c, chatID(c))
		},
	}
}

func (a *Asking) ask(w http.ResponseWriter, r *http.Request, c *httpapi.Call, continues id.Chat) error {
	req, err := queries.ParseChat(c.Body)
	if err != nil {
		return err
	}
	if err := queries.Allowed(c, req.Ask.Search.Sources); err != nil {
		return err
	}
	ask := chat.Ask{Ask: req.Ask, Chat: continues, Reader: reader(c)}
	if ask.Store, err = stores(c.Body); err != nil {
		return err
	}
	ask.Places = c
	if req.Stream {
		return a.stream(w, r, c, req, ask)
	}
	found, err := a.chats.Ask(r.Context(), ask, nil)
	name(c, found.Stored)
	if err != nil {
		return req.Failed(err, &found.Answer)
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireAnswer(&found))
}

func (a *Asking) stream(w http.ResponseWriter, r *http.Request, c *httpapi.Call, req *queries.Request, ask chat.Ask) error {
	s := queries.NewStream(w, c)
	defer s.Close()
	found, err := a.chats.Ask(r.Context(), ask, func(e chat.Event) error {
		if e.Turn != nil {
			return s.Send("chat_info", infoEvent{"chat_info", e.Turn.Chat, e.Turn.Turn})
		}
		return s.Event(e.Event)
	})
	name(c, found.Stored)
	return s.End(req.Fault(err), found.Warnings)
}

// name sets what the audit records as stored.
func name(c *httpapi.Call, stored chat.Ref) {
	if stored != (chat.Ref{}) {
		c.Named = map[string]string{"chat_id": string(stored.Chat), "turn_id": string(stored.Turn)}
	}
}
