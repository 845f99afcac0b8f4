// Package message is the tools of agents that send messages to people: slack_post_message and gchat_direct_message (contract:
// tools.md section 3.1). They send through connectors, which hold the credentials.
package message

import (
	"context"
	"encoding/json"
	"fmt"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/schema"
)

// The names of the tools.
const (
	Slack = "slack_post_message"
	Chat  = "gchat_direct_message"
)

// Connectors finds the connectors that messages are sent through.
type Connectors interface {
	// Credential returns the credential of a connector of the kind slack or gchat: the token of a bot, the key of a service
	// account as JSON. One that does not exist is fault.KindNotFound.
	Credential(ctx context.Context, kind, id string) (string, error)
}

// Sender sends messages by one service.
type Sender interface {
	// Send sends a text. If the recipient can't be reached, unreachable says why. Errors are *tool.Failure, or that of ctx, without the
	// credential.
	Send(ctx context.Context, credential, to, text string) (unreachable string, err error)
}

// Config is what the tools need. Without connectors they are disabled.
type Config struct {
	Connectors  Connectors
	Slack, Chat Sender
}

// definition is one of the tools.
type definition struct {
	kind, service, description, schema string
	recipient                          string // the argument that names it
	sender                             Sender
}

const output = `{
	"type": "object",
	"properties": {
		"delivered": {"type": "boolean", "description": "Whether the message was sent."},
		"reason": {"type": "string", "description": "Why the recipient can't be reached."}
	},
	"required": ["delivered"]
}`

// Tools returns the types of the tools by their names. They have no type of their own in the contract.
func Tools(c Config) (map[string]tool.Type, error) {
	out := map[string]tool.Type{}
	for name, d := range map[string]definition{
		Slack: {
			kind: "slack", service: "Slack", sender: c.Slack, recipient: "channel_id", schema: arguments("channel_id", "The id of the channel, as in C0123456789.", 40_000),
			description: "Posts a message to a channel of Slack and returns whether it was delivered, with the reason if it was not.",
		},
		Chat: {
			kind: "gchat", service: "Google Chat", sender: c.Chat, recipient: "user", schema: arguments("user", "The id of the user, as in 123456789 or users/123456789.", 4_096),
			description: "Sends a direct message to a person by Google Chat and returns whether it was delivered, with the reason if it was not.",
		},
	} {
		takes, err := schema.New(json.RawMessage(d.schema))
		if err != nil {
			return nil, fmt.Errorf("arguments of %s: %w", name, err)
		}
		gives, err := schema.New(json.RawMessage(output))
		if err != nil {
			return nil, fmt.Errorf("output of %s: %w", name, err)
		}
		out[name] = func(json.RawMessage) (*tool.Tool, error) {
			made := &tool.Tool{Name: name, Description: d.description, Schema: takes, Output: gives, Repeat: tool.Never, Run: d.run(c.Connectors)}
			if c.Connectors == nil || d.sender == nil {
				made.Disabled = true
				made.Why = fmt.Sprintf("it sends through a connector of the kind %s, and this service has none", d.kind)
			}
			return made, nil
		}
	}
	return out, nil
}

// arguments returns the schema of the arguments of a tool.
func arguments(recipient, meaning string, most int) string {
	return fmt.Sprintf(`{
	"type": "object",
	"properties": {
		"connector_id": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The id of the connector that the message is sent through."},
		%q: {"type": "string", "minLength": 1, "maxLength": 200, "description": %q},
		"text": {"type": "string", "minLength": 1, "maxLength": %d, "description": "The message."}
	},
	"required": ["connector_id", %q, "text"],
	"additionalProperties": false
}`, recipient, meaning, most, recipient)
}

// run returns Tool.Run.
func (d definition) run(connectors Connectors) func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error) {
	return func(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
		var args map[string]string // the schema has texts alone
		if err := json.Unmarshal(c.Arguments, &args); err != nil {
			return nil, &tool.Failure{Class: tool.InvalidInput, Text: fmt.Sprintf("the arguments can't be read: %s", err)}
		}
		credential, err := connectors.Credential(ctx, d.kind, args["connector_id"])
		if err != nil {
			return nil, err
		}
		unreachable, err := d.sender.Send(ctx, credential, args[d.recipient], args["text"])
		switch {
		case err != nil:
			return nil, err
		case unreachable != "":
			return json.Marshal(map[string]any{"delivered": false, "reason": unreachable})
		}
		return json.RawMessage(`{"delivered":true}`), nil
	}
}
