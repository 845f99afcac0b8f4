package toolservers

import (
	"encoding/json"
	"time"

	"quarry/internal/agent/tool/server"
	"quarry/internal/httpapi"
	"quarry/internal/opt"
)

// serverBody is ToolServer.
type serverBody struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Type        string            `json:"type"`
	Description *string           `json:"description,omitempty"`
	URI         string            `json:"uri"`
	Headers     map[string]string `json:"headers,omitempty"`
	Transport   string            `json:"transport"`
	Enabled     bool              `json:"enabled"`
	Metadata    json.RawMessage   `json:"metadata,omitempty"`
	Status      string            `json:"sync_status"`
	Message     *string           `json:"sync_message,omitempty"`
	Synced      *time.Time        `json:"last_synced_at,omitempty"`
	Created     time.Time         `json:"created_at"`
	Updated     time.Time         `json:"updated_at"`
}

func wireServer(v *server.Server) serverBody {
	return serverBody{
		ID: string(v.ID), Name: v.Name, Type: server.Type, Description: opt.NonZero(v.Description), URI: v.URI, Headers: v.Headers,
		Transport: v.Transport, Enabled: v.Enabled, Metadata: v.Metadata, Status: string(v.Sync.Status), Message: opt.NonZero(v.Sync.Message),
		Synced: opt.NonZero(v.Sync.At), Created: v.Created, Updated: v.Updated,
	}
}

// changeBody is CreateToolServerRequest and UpdateToolServerRequest.
type changeBody struct {
	Name        opt.Field[string]            `json:"name"`
	Description opt.Field[string]            `json:"description"`
	URI         opt.Field[string]            `json:"uri"`
	Transport   opt.Field[string]            `json:"transport"`
	Headers     opt.Field[map[string]string] `json:"headers"`
	Auth        opt.Field[server.Auth]       `json:"auth"`
	Enabled     opt.Field[bool]              `json:"enabled"`
	Metadata    opt.Field[json.RawMessage]   `json:"metadata"`
}

// parse decodes a checked body.
func parse(raw json.RawMessage) (server.Change, error) {
	var b changeBody
	err := httpapi.Decode(raw, &b)
	return server.Change(b), err
}

// listBody is ListToolServersResponse.
type listBody struct {
	Servers  []serverBody `json:"tool_servers"`
	Metadata struct {
		PageKey *string `json:"page_key,omitempty"`
	} `json:"metadata"`
}
