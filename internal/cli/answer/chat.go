package answer

import (
	"encoding/json"
	"fmt"
	"net/http"

	"quarry/internal/cli/command"
)

// ChatCmd holds the commands about chats. The first is also run without its name.
type ChatCmd struct {
	With   withCmd       `cmd:"" default:"withargs" help:"Ask corpora question after question; 'with' may be left out."`
	List   listChatsCmd  `cmd:"" help:"List the chats, newest first."`
	Show   showChatCmd   `cmd:"" help:"Print the questions and answers of a chat."`
	Delete deleteChatCmd `cmd:"" help:"Delete a chat with its turns."`
}

// Help explains the short form.
func (ChatCmd) Help() string {
	return "quarry chat CORPUS is short for quarry chat with CORPUS, which a corpus named list, show, delete or with needs.\n\n" +
		"Example: quarry chat docs"
}

// chats is the path of all chats.
const chats = "/v2/chats"

func chatPath(id string) string { return chats + "/" + command.Segment(id) }

func turnPath(chat, turn string) string { return chatPath(chat) + "/turns/" + command.Segment(turn) }

// chatView is a chat in a list.
type chatView struct {
	ID      string `json:"id"`
	Query   string `json:"first_query"`
	Enabled bool   `json:"enabled"`
	Created string `json:"created_at"`
}

// turnView is one question with its answer.
type turnView struct {
	ID      string `json:"id"`
	Query   string `json:"query"`
	Answer  string `json:"answer"`
	Enabled bool   `json:"enabled"`
}

type listChatsCmd struct {
	command.Remote
	command.Paging
}

func (listChatsCmd) Help() string { return "Example: quarry chat list --limit 10" }

func (c *listChatsCmd) Run(e *command.Env) error {
	return command.Listing[chatView]{
		Path: chats, Member: "chats", Paging: c.Paging, Empty: "no chats",
		Header: []string{"ID", "CREATED", "STATE", "FIRST QUESTION"},
		Row: func(v *chatView) []string {
			return []string{v.ID, command.Second(v.Created), command.State(v.Enabled), command.Clip(v.Query, 60)}
		},
	}.Print(e, c.Remote)
}

// oneChat is embedded by the commands on one chat.
type oneChat struct {
	command.Remote
	Chat string `arg:"" help:"Id of the chat." wire:"chat_id"`
}

type showChatCmd struct{ oneChat }

func (showChatCmd) Help() string {
	return "Turns that are disabled are marked: the model is not told of them.\n\nExample: quarry chat show cht_4b1e"
}

func (c *showChatCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	turns, raw, err := turnsOf(e, cl, c.Chat)
	switch {
	case err != nil:
		return err
	case c.JSON:
		command.PrintJSON(e.Out, raw)
		return nil
	}
	for i, t := range turns {
		if i > 0 {
			fmt.Fprintln(e.Out)
		}
		mark := ""
		if !t.Enabled {
			mark = "  (disabled)"
		}
		command.WrapAfter(e.Out, "> ", command.Bold(e.Out, command.Prose(t.Query))+mark)
		command.Wrap(e.Out, "", command.Prose(t.Answer))
	}
	return nil
}

// turnsOf returns the turns of a chat, oldest first, and the list of them as it came.
func turnsOf(e *command.Env, cl *command.Client, chat string) ([]turnView, json.RawMessage, error) {
	var answer struct {
		Turns json.RawMessage `json:"turns"`
	}
	if _, err := cl.Call(e.Ctx, http.MethodGet, chatPath(chat)+"/turns", nil, &answer); err != nil {
		return nil, nil, err
	}
	var turns []turnView
	if err := json.Unmarshal(answer.Turns, &turns); err != nil {
		return nil, nil, fmt.Errorf("read the turns of %s: %w", chat, err)
	}
	return turns, answer.Turns, nil
}

type deleteChatCmd struct{ oneChat }

func (deleteChatCmd) Help() string {
	return "What the query history keeps of its questions stays there.\n\nExample: quarry chat delete cht_4b1e"
}

func (c *deleteChatCmd) Run(e *command.Env) error {
	return c.Do(e, http.MethodDelete, chatPath(c.Chat), nil, "deleted chat "+c.Chat)
}
