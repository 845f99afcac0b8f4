package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"quarry/internal/agent/artifact"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/form"
)

// maxParts is how many parts a form has at most: its files, and more others than the contract knows.
const maxParts = httpapi.MaxFiles + 16

// files are the files of an input, on their way into the session.
type files struct {
	kept *artifact.Service
	all  []artifact.Artifact
}

// release ends the holds of the files: their rows are written, or never will be.
func (f *files) release(ctx context.Context) { f.kept.Release(ctx, f.all...) }

// take keeps one file as it comes.
func (f *files) take(ctx context.Context, in *form.File) error {
	if in.N == httpapi.MaxFiles {
		return fault.InvalidField("body.files", "has more than %d files; send the others with another input", httpapi.MaxFiles)
	}
	at := fmt.Sprintf("body.files[%d]", in.N)
	name := in.Name
	if name == "" {
		name = artifact.Clean("")
	}
	metadata, err := json.Marshal(map[string]string{"original_filename": artifact.Original(name)})
	if err != nil {
		return fmt.Errorf("encode the name of a file: %w", err)
	}
	a, err := f.kept.Put(ctx, artifact.New{Filename: name, MIME: in.Type, Metadata: metadata}, in)
	if errors.Is(err, artifact.ErrTooLarge) {
		return fault.InvalidField(at, "has more than %d bytes, the setting max_artifact of this service", f.kept.Most)
	}
	if err != nil {
		return err
	}
	f.all = append(f.all, a)
	if a.Size == 0 {
		return fault.InvalidField(at, "must not be empty")
	}
	return nil
}

// readForm reads an input that comes as a form. Its files are kept and held, also when it returns an error: the caller releases
// them.
func (a *Turns) readForm(r *http.Request, c *httpapi.Call) (*inputBody, *files, error) {
	kept := &files{kept: a.files}
	members, err := form.Read(r, form.Spec{File: "files", Parts: maxParts, Take: func(in *form.File) error { return kept.take(r.Context(), in) }})
	if err != nil {
		return nil, kept, err
	}
	if err := c.NameParts(members); err != nil {
		return nil, kept, err
	}
	body, err := inputOf(members)
	return body, kept, err
}

// inputOf returns the input that the parts of a form beside its files are, checked like a JSON body. Blank parts count as left
// out.
func inputOf(members form.Members) (*inputBody, error) {
	said := map[string]json.RawMessage{}
	bad := fault.Invalid()
	for name, raw := range members {
		text := strings.TrimSpace(string(raw))
		if text == "" {
			continue
		}
		switch name {
		case "messages":
			bad.Gather(httpapi.CheckJSON(raw, "body.messages"))
			said[name] = raw
		case "message":
			said[name] = quoted(string(raw))
		case "since", "behavior": // the contract declares them as JSON, and clients send them as they are
			if said[name] = json.RawMessage(text); text[0] != '"' || !json.Valid(raw) {
				said[name] = quoted(text)
			}
		case "stream_response":
			if said[name] = json.RawMessage(text); text != "true" && text != "false" {
				bad.Field("body.stream_response", "must be true or false, not %q", text)
			}
		}
	}
	if err := bad.Err(); err != nil {
		return nil, err
	}
	whole, err := json.Marshal(said)
	if err != nil {
		return nil, fmt.Errorf("encode the parts of a form: %w", err)
	}
	checked, err := httpapi.CheckAs(whole, "body", "MultipartInputEvent")
	if err != nil {
		return nil, err
	}
	var body struct {
		inputBody
		Message string `json:"message"`
	}
	if err := httpapi.Decode(checked, &body); err != nil {
		return nil, err
	}
	if body.Messages == nil && body.Message != "" {
		body.Messages = []partBody{{Content: body.Message}}
	}
	return &body.inputBody, nil
}

// quoted returns a text as JSON.
func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text) // strings always encode
	return raw
}
