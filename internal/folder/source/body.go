package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// errUndecided is the error of JSON that ends before it is clear whether it is a body.
var errUndecided = errors.New("it ends before its type and id")

// bodyID returns the id of a body of createCorpusDocument, and whether the content is one: an object with type core or
// structured, and a text as id. It reads no further than to both. Errors are those of reading and errUndecided.
func bodyID(r io.Reader) (id string, body bool, err error) {
	d := json.NewDecoder(r)
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", false, readFault(err)
	}
	var typed, named bool
	for !typed || !named {
		key, err := d.Token()
		if err != nil || key == json.Delim('}') {
			return "", false, readFault(err)
		}
		var text string
		switch key {
		case "type":
			if err = d.Decode(&text); err == nil && text != "core" && text != "structured" {
				return "", false, nil
			}
			typed = true
		case "id":
			if err = d.Decode(&id); err == nil && id == "" {
				return "", false, nil
			}
			named = true
		default:
			err = skip(d)
		}
		if err != nil {
			return "", false, readFault(err)
		}
	}
	return id, true, nil
}

// skip reads the next value without keeping it.
func skip(d *json.Decoder) error {
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// readFault returns nil for the errors of a decoder that mean other JSON, or none.
func readFault(err error) error {
	var syntax *json.SyntaxError
	var other *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax), errors.As(err, &other):
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errUndecided
	}
	return err
}

// lineID returns the id of a body that is a whole line, or what is wrong with the line.
func lineID(line []byte) (string, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(line, &whole); err != nil {
		return "", fmt.Errorf("it is not JSON: %w", err)
	}
	id, body, err := bodyID(bytes.NewReader(line))
	if err != nil || !body {
		return "", errors.New(noBody)
	}
	return id, nil
}
