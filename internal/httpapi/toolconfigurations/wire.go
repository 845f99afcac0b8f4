package toolconfigurations

import (
	"encoding/json"
	"fmt"
	"time"

	"quarry/internal/agent/tool/configuration"
	"quarry/internal/agent/tool/credential"
	"quarry/internal/httpapi"
	"quarry/internal/opt"
)

// headBody is what a ToolConfiguration has beside the members of its type.
type headBody struct {
	Key         string          `json:"key"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Enabled     bool            `json:"enabled"`
	Metadata    json.RawMessage `json:"metadata"`
	Created     time.Time       `json:"created_at"`
	Updated     time.Time       `json:"updated_at"`
}

// body is ToolConfiguration: the members of its type, which are as they came, and those of the head.
type body map[string]json.RawMessage

func wire(c *configuration.Configuration) (body, error) {
	out := body{}
	head, err := json.Marshal(headBody{c.Key, c.Name, c.Description, c.Enabled, c.Metadata, c.Created, c.Updated})
	if err == nil {
		err = json.Unmarshal(credential.MaskedOne(c.Entry), &out)
	}
	if err == nil {
		err = json.Unmarshal(head, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("write tool configuration %s: %w", c.Key, err)
	}
	return out, nil
}

// changeBody is what CreateToolConfigurationRequest and UpdateToolConfigurationRequest have beside the members of a type.
type changeBody struct {
	Key         string                     `json:"key"`
	Name        opt.Field[string]          `json:"name"`
	Description opt.Field[string]          `json:"description"`
	Enabled     opt.Field[bool]            `json:"enabled"`
	Metadata    opt.Field[json.RawMessage] `json:"metadata"`
}

// heads are the members of bodies that are no members of a type; those that the service writes itself are ignored.
var heads = []string{"key", "name", "description", "enabled", "metadata", "created_at", "updated_at"}

// parse decodes a checked body.
func parse(raw json.RawMessage) (key string, c configuration.Change, err error) {
	var b changeBody
	if err := httpapi.Decode(raw, &b); err != nil {
		return "", c, err
	}
	c = configuration.Change{Name: b.Name, Description: b.Description, Enabled: b.Enabled, Metadata: b.Metadata}
	if err := httpapi.Decode(raw, &c.Entry); err != nil {
		return "", c, err
	}
	for _, name := range heads {
		delete(c.Entry, name)
	}
	return b.Key, c, nil
}

// Shape checks an entry by the schema of the contract, and returns it as it is kept. Faults name its members.
func Shape(entry json.RawMessage) (json.RawMessage, error) {
	return httpapi.CheckAs(entry, "", "AgentToolConfiguration")
}

// listBody is ListToolConfigurationsResponse.
type listBody struct {
	Configurations []body `json:"tool_configurations"`
	Metadata       struct {
		PageKey *string `json:"page_key,omitempty"`
	} `json:"metadata"`
}
