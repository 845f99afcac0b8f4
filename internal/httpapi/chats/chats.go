// Package chats is the HTTP handlers of chats; wire.go is the only place where their wire types meet package chat, which has
// the rules. Package app makes the areas.
package chats

import (
	"context"
	"net/http"

	"quarry/internal/api"
	"quarry/internal/chat"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/page"
)

// Area answers the operations that read, disable and delete chats and turns.
type Area struct {
	chats   *chat.Service
	cursors *page.Cursors
}

// New returns the area; cursors sign its page keys.
func New(s *chat.Service, cursors *page.Cursors) *Area { return &Area{s, cursors} }

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"listChats": a.list, "getChat": a.get, "deleteChat": a.delete,
		"listChatTurns": a.turns, "getChatTurn": a.turn, "deleteChatTurn": a.deleteTurn, "updateChatTurn": a.updateTurn,
	}
}

// Resolvers check that the chat and the turn in a path exist for the caller.
func Resolvers(s *chat.Service) map[string]httpapi.Resolver {
	return map[string]httpapi.Resolver{
		"chat_id": func(ctx context.Context, c *httpapi.Call) error {
			found, err := s.Get(ctx, chatID(c), reader(c))
			c.Found = found
			return err
		},
		"turn_id": func(ctx context.Context, c *httpapi.Call) error {
			found, err := s.Turn(ctx, chatID(c), turnID(c))
			c.Found = found
			return err
		},
	}
}

// reader returns which chats the caller may see.
func reader(c *httpapi.Call) chat.Reader {
	all, keys := c.Corpora()
	return chat.Reader{All: all, Keys: keys}
}

func chatID(c *httpapi.Call) id.Chat { return id.Chat(c.Path["chat_id"]) }

func turnID(c *httpapi.Call) id.Turn { return id.Turn(c.Path["turn_id"]) }

// defaultLimit is the contract's; chats have larger pages than other lists.
const defaultLimit = 1000

func (a *Area) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope := c.Scope()
	after, err := c.After(a.cursors, &scope)
	if err != nil {
		return err
	}
	found, next, err := a.chats.List(r.Context(), after, c.LimitOr(defaultLimit))
	if err != nil {
		return err
	}
	out := make([]api.Chat, len(found))
	for i := range found {
		out[i] = wireChat(&found[i])
	}
	metadata := &api.ListMetadata{PageKey: a.cursors.Next(scope, next)}
	return httpapi.WriteJSON(w, http.StatusOK, api.ListChatsResponse{Chats: &out, Metadata: metadata})
}

// get answers with what the resolver has read, as turn does.
func (a *Area) get(w http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
	found, _ := c.Found.(chat.Chat)
	return httpapi.WriteJSON(w, http.StatusOK, wireChat(&found))
}

func (a *Area) delete(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.chats.Delete(r.Context(), chatID(c)))
}

func (a *Area) turns(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	found, err := a.chats.Turns(r.Context(), chatID(c))
	if err != nil {
		return err
	}
	out := make([]api.Turn, len(found))
	for i := range found {
		out[i] = wireTurn(&found[i])
	}
	return httpapi.WriteJSON(w, http.StatusOK, api.ListChatTurnsResponse{Turns: &out})
}

func (a *Area) turn(w http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
	found, _ := c.Found.(chat.Turn)
	return httpapi.WriteJSON(w, http.StatusOK, wireTurn(&found))
}

func (a *Area) deleteTurn(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.chats.DeleteTurn(r.Context(), chatID(c), turnID(c)))
}

func (a *Area) updateTurn(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var body api.UpdateTurnRequest
	if err := httpapi.Decode(c.Body, &body); err != nil {
		return err
	}
	changed, err := a.chats.UpdateTurn(r.Context(), chatID(c), turnID(c), chat.Change{Enabled: opt.From(body.Enabled)})
	if err != nil {
		return fault.Under(err, "body")
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireTurn(&changed))
}
