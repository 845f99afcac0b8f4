package command

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
)

// Form is a body with files, which are read while they are sent.
type Form struct {
	Fields map[string]any // texts as they are, everything else as JSON
	Name   string         // of the parts that are files
	Files  []string       // paths
}

// request returns a request with a body: a form, or what JSON makes of it; nil for none.
func (c *Client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var in io.Reader
	var media string
	switch body := body.(type) {
	case nil:
	case *Form:
		in, media = body.open()
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		in, media = bytes.NewReader(raw), "application/json"
	}
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, in)
	if err != nil {
		return nil, Failed(ExitUsage, "%v", err)
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	return req, nil
}

// open returns the form as it is read, and its media type.
func (f *Form) open() (io.Reader, string) {
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() { _ = w.CloseWithError(f.write(form)) }() // ends when r is closed, too
	return r, form.FormDataContentType()
}

func (f *Form) write(form *multipart.Writer) error {
	for name, v := range f.Fields {
		text, isText := v.(string)
		if !isText {
			raw, err := json.Marshal(v)
			if err != nil {
				return err
			}
			text = string(raw)
		}
		if err := form.WriteField(name, text); err != nil {
			return err
		}
	}
	for _, path := range f.Files {
		if err := f.writeFile(form, path); err != nil {
			return err
		}
	}
	return form.Close()
}

func (f *Form) writeFile(form *multipart.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return Failed(ExitUsage, "%v", err)
	}
	defer file.Close()
	part, err := form.CreateFormFile(f.Name, filepath.Base(path))
	if err != nil {
		return err
	}
	_, err = io.Copy(part, file)
	return err
}
