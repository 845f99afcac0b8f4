package chats

import (
	"quarry/internal/api"
	"quarry/internal/chat"
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
