package chats

import (
	"encoding/json"

	"quarry/internal/api"
	"quarry/internal/chat"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/queries"
	"quarry/internal/id"
	"quarry/internal/opt"
)

// wireChat maps a chat to what clients see.
func wireChat(c *chat.Chat) api.Chat {
	return api.Chat{Id: string(c.ID), FirstQuery: &c.Question, FirstAnswer: &c.Answer, Enabled: &c.Enabled, CreatedAt: &c.Created}
}

// wireTurn maps a turn to what clients see.
func wireTurn(t *chat.Turn) api.Turn {
	of := string(t.ChatID)
	return api.Turn{Id: string(t.ID), ChatId: &of, Query: &t.Question, Answer: &t.Answer, Enabled: &t.Enabled, CreatedAt: &t.Created}
}

// stores reports whether a body wants its turn stored.
func stores(raw json.RawMessage) (bool, error) {
	var b struct {
		Chat struct {
			Store *bool `json:"store"`
		} `json:"chat"`
	}
	err := httpapi.Decode(raw, &b)
	return opt.Deref(b.Chat.Store, true), err
}

// answer is ChatFullResponse: that of a query, whose summary has another name here. What is not stored has no ids.
type answer struct {
	ChatID id.Chat `json:"chat_id,omitempty"`
	TurnID id.Turn `json:"turn_id,omitempty"`
	Text   string  `json:"answer"`
	queries.Answer
}

func wireAnswer(a *chat.Answer) answer {
	out := answer{a.Stored.Chat, a.Stored.Turn, a.Generated.Summary, queries.WireAnswer(&a.Answer)}
	out.Summary = nil
	return out
}

// infoEvent is ChatInfoResponse.
type infoEvent struct {
	Type   string  `json:"type"`
	ChatID id.Chat `json:"chat_id"`
	TurnID id.Turn `json:"turn_id"`
}
