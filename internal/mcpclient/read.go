package mcpclient

import (
	"bytes"
	"encoding/json"

	"quarry/internal/agent/tool/server"
)

// content is a part of a result as servers write it.
type content struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Data        []byte `json:"data"`
	MIME        string `json:"mimeType"`
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Resource    *struct {
		URI  string `json:"uri"`
		MIME string `json:"mimeType"`
		Text string `json:"text"`
		Blob []byte `json:"blob"`
	} `json:"resource"`
}

// readResult reads the result of a call.
func readResult(raw json.RawMessage) (server.Result, error) {
	var r struct {
		Content    []content       `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		Failed     bool            `json:"isError"`
		Asks       json.RawMessage `json:"inputRequests"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return server.Result{}, broken("its answer is no result of a call")
	}
	if given(r.Asks) != nil {
		return server.Result{}, broken("it asks for a model, a person or folders, which are not offered to tool servers")
	}
	out := server.Result{Structured: given(r.Structured), Failed: r.Failed}
	for _, c := range r.Content {
		b := server.Block{Type: c.Type, Text: c.Text, MIME: c.MIME, URI: c.URI, Name: c.Name, Data: c.Data}
		if c.Resource != nil {
			b.URI, b.MIME, b.Text, b.Data = c.Resource.URI, c.Resource.MIME, c.Resource.Text, c.Resource.Blob
		}
		if b.Type == "resource_link" && b.Text == "" {
			b.Text = c.Description
		}
		out.Content = append(out.Content, b)
	}
	return out, nil
}

// given returns a member that is there and not null, else nil.
func given(raw json.RawMessage) json.RawMessage {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return raw
}

// listed is a tool as servers write it.
type listed struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"inputSchema"`
	Output      json.RawMessage `json:"outputSchema"`
	Annotations struct {
		Title       string `json:"title"`
		ReadOnly    *bool  `json:"readOnlyHint"`
		Destructive *bool  `json:"destructiveHint"`
		Idempotent  *bool  `json:"idempotentHint"`
		OpenWorld   *bool  `json:"openWorldHint"`
	} `json:"annotations"`
}

// readList adds the tools of a page to all, up to one more than a server may have, and returns the cursor of the next page.
func readList(raw json.RawMessage, all *[]server.Listed) (next string, err error) {
	bad := broken("its answer is no list of tools")
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", bad
	}
	found := false
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return "", bad
		}
		switch name {
		case "nextCursor":
			var cursor *string
			if err := d.Decode(&cursor); err != nil {
				return "", bad
			}
			if cursor != nil {
				next = *cursor
			}
		case "tools":
			found = true
			if more, err := readTools(d, all); err != nil || !more {
				return "", err
			}
		default:
			var other json.RawMessage
			if err := d.Decode(&other); err != nil {
				return "", bad
			}
		}
	}
	if !found {
		return "", bad
	}
	return next, nil
}

// readTools reads the tools of a page one by one, and reports false when a server has more than it may have.
func readTools(d *json.Decoder, all *[]server.Listed) (more bool, err error) {
	bad := broken("its answer is no list of tools")
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return false, bad
	}
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return false, bad
		}
		var t listed
		if err := json.Unmarshal(raw, &t); err != nil {
			if t.Name == "" {
				return false, broken("the definition of its tool %d can't be read", len(*all)+1)
			}
			return false, broken("the definition of its tool %q can't be read", line(t.Name))
		}
		if len(raw) > server.MaxDefinition {
			var small bytes.Buffer
			if json.Compact(&small, raw) != nil || small.Len() > server.MaxDefinition {
				return false, broken("the definition of its tool %q has more than %d KiB", line(t.Name), server.MaxDefinition>>10)
			}
		}
		if t.Title == "" {
			t.Title = t.Annotations.Title
		}
		*all = append(*all, server.Listed{
			Name: t.Name, Title: t.Title, Description: t.Description, Input: given(t.Input), Output: given(t.Output),
			ReadOnly: t.Annotations.ReadOnly, Destructive: t.Annotations.Destructive, Idempotent: t.Annotations.Idempotent, OpenWorld: t.Annotations.OpenWorld,
		})
		if len(*all) > server.MaxTools {
			return false, nil
		}
	}
	_, err = d.Token()
	return err == nil, err
}
